"""Comparisons of calibrators and models, against the program."""

import json
import subprocess

import numpy as np
import pytest

import propercal as pc


def test_methods(digits, digits_files, program):
    methods = ["temperature", "histogram"]
    found = pc.compare(
        logits=digits.logits, labels=digits.labels, methods=methods, replicas=50, threads=2
    )
    reported = json.loads(
        subprocess.check_output(
            [program, "compare", "--json", "--replicas", "50", "-m", "temperature", "-m", "histogram"]
            + ["--logits", digits_files["logits"], "--labels", digits_files["labels"]]
        )
    )
    assert found.to_dict() == reported
    assert found.chosen == reported["chosen"]
    assert found.advice in repr(found)
    assert "<table" in found._repr_html_()
    assert [row["spec"].split(":")[0] for row in found.rows] == ["identity", *methods]
    assert found.calibrator.transform(logits=digits.logits).shape == digits.logits.shape


def test_second_set(digits):
    half = len(digits.labels) // 2
    found = pc.compare(
        logits=digits.logits[half:], labels=digits.labels[half:],
        val_logits=digits.logits[:half], val_labels=digits.labels[:half],
        methods=["temperature"], replicas=50,
    )
    fitted = pc.Temperature(kind="logits").fit(digits.logits[:half], digits.labels[:half])
    probs = fitted.predict_proba(digits.logits[half:].astype(np.float64))
    expected = pc.brier(probs, digits.labels[half:])
    assert found.rows[1]["metrics"]["brier"] == pytest.approx(expected, rel=1e-9)


def test_models(digits):
    models = {"plain": digits.logits, "half": digits.logits / 2}
    found = pc.compare(labels=digits.labels, models=models, kind="logits", replicas=50)
    assert [row["name"] for row in found.rows] == ["plain", "half"]
    assert found.rows[0]["metrics"]["brier"] == pytest.approx(
        pc.brier(logits=digits.logits, labels=digits.labels), rel=1e-9
    )


def test_table(digits):
    pandas = pytest.importorskip("pandas")
    found = pc.compare(digits.probs, digits.labels, methods=["temperature"], replicas=50)
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table["rank"]) == [1, 2]


def test_errors(digits):
    with pytest.raises(TypeError, match="val_nothing"):
        pc.compare(digits.probs, digits.labels, val_nothing=1)
    with pytest.raises(pc.UsageError, match="there is no calibrator"):
        pc.compare(digits.probs, digits.labels, methods=["nothing"])


def test_tables_for_a_paper(digits, tmp_path):
    found = pc.compare(logits=digits.logits, labels=digits.labels, methods=["temperature"], replicas=20)
    assert "\\textbf{" in found.to_latex() and "accuracy (\\%)" in found.to_latex()
    (file,) = found.save_tables(tmp_path / "run")
    assert file.endswith("run-methods.csv")
    assert (tmp_path / "run-methods.csv").read_text(encoding="utf-8") == found.to_csv()
    pandas = pytest.importorskip("pandas")
    assert list(pandas.read_csv(file)["method"]) == ["identity", "temperature"]


def test_infinite_values_are_shown():
    """JSON has no number for infinity; tables and pages do."""
    probs = np.array([0.0, 1.0, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1])
    labels = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1])
    table = pc.compare(probs, labels, methods=["platt"], metrics=["log"], folds=2)
    first = table.to_dict()["methods"][0]
    assert first["metrics"]["log"] is None and first["infinite"] == ["log"]
    assert "<td class=pcal-number>inf</td>" in table._repr_html_()
    assert table.to_pandas().loc["identity", "log"] == np.inf
    assert "infinite" not in table.to_dict()["methods"][1]
