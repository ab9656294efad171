"""Studies through the package: the tables of the program."""

import json
import os
import subprocess

import numpy as np
import pytest

import propercal as pc

PROGRAM = os.environ.get("PROPERCAL_PROGRAM")


def test_every_study_is_listed():
    names = [row.name for row in pc.list_studies()]
    assert "coverage" in names and "test-size" in names


def test_a_simulated_study():
    found = pc.study("coverage", rows=200, n_classes=3, sets=20, replicas=20, metrics=["brier"])
    (row,) = found.tables[0]
    assert row["metric"] == "brier" and row["rows"] == 200 and 0 <= row["coverage"] <= 1
    assert found.summary.startswith("20 sets") and "brier" in repr(found)
    assert found.figure.svg.startswith("<svg") or "<svg" in found.figure.svg
    assert "<svg" in found._repr_html_() and found.figure.data["panels"]
    assert len(found.to_pandas()) == 1
    again = pc.study("coverage", rows=200, n_classes=3, sets=20, replicas=20, metrics=["brier"])
    assert found.to_json() == again.to_json()


@pytest.mark.skipif(not PROGRAM, reason="the program is not there")
def test_the_bytes_of_the_program(digits, tmp_path):
    np.save(tmp_path / "z.npy", digits.logits)
    np.save(tmp_path / "y.npy", digits.labels)
    words = ["study", "test-size", "--logits", "z.npy", "--labels", "y.npy", "--repeats", "3"]
    words += ["-m", "ece", "-m", "brier", "--json"]
    done = subprocess.run([PROGRAM, *words], cwd=tmp_path, capture_output=True, check=True)
    found = pc.study(
        "test-size", logits=digits.logits, labels=digits.labels, repeats=3, metrics=["ece", "brier"]
    )
    assert json.loads(done.stdout) == found.to_dict()


def test_cases(digits):
    half = len(digits.labels) // 2
    case = {"logits": digits.logits[:half], "labels": digits.labels[:half]}
    other = {"logits": digits.logits[half:], "labels": digits.labels[half:]}
    found = pc.study("test-size", cases={"a": case, "b": other}, repeats=2, metrics=["brier"])
    assert found.tables[0]


def test_refused(digits):
    with pytest.raises(pc.UsageError, match="did you mean"):
        pc.study("covrage")
    with pytest.raises(pc.UsageError, match="predictions"):
        pc.study("test-size")
    with pytest.raises(TypeError, match="no argument"):
        pc.study("coverage", wrong=1)


def test_each_table_in_its_own_file(digits, tmp_path):
    found = pc.study("loss-surface", logits=digits.logits, labels=digits.labels)
    files = found.save_tables(tmp_path / "run")
    assert [os.path.basename(file) for file in files] == [
        "run-where-each-metric-is-lowest.csv",
        "run-metrics-by-temperature.csv",
    ]
    assert found.to_latex().count("\\begin{tabular}") == 2 and "\\textbf{" in found.to_latex()
