"""Simulation, inspection, and what exists."""

import subprocess

import numpy as np
import pytest

import propercal as pc


def test_simulation(program, tmp_path):
    data = pc.simulate(300, 7, factor=2, seed=5, truth=True)
    assert data.logits.shape == (300, 7) and data.logits.dtype == np.float32
    assert data.labels.dtype == np.int32 and set(data.labels) <= set(range(7))
    assert np.allclose(data.truth.sum(axis=1), 1)
    assert pc.simulate(3, 2).truth is None
    again = pc.simulate(300, 7, factor=2, seed=5, threads=1)
    assert (again.logits == data.logits).all() and (again.labels == data.labels).all()
    assert (pc.simulate(300, 7, factor=2, seed=6).logits != data.logits).any()
    words = [program, "simulate", "--rows", "300", "--classes", "7", "--factor", "2", "--seed", "5"]
    subprocess.run([*words, "-o", str(tmp_path / "s.csv")], check=True, capture_output=True)
    reported = pc.measure(data=tmp_path / "s.csv", metrics="accuracy")
    assert reported.accuracy == pc.accuracy(logits=data.logits, labels=data.labels)
    with pytest.raises(pc.UsageError):
        pc.simulate(-1, 3)
    with pytest.raises(pc.UsageError):
        pc.simulate(10, 0)


def test_inspection(digits, digits_files, tmp_path, program):
    seen = pc.inspect(digits_files["logits"])
    assert seen.problems == 0 and "logits" in repr(seen)
    words = [program, "inspect", str(digits_files["logits"]), "--json"]
    printed = subprocess.run(words, check=True, capture_output=True, text=True)
    assert seen.to_json() == printed.stdout and seen.to_dict()
    labels = digits.labels.copy()
    labels[0] = 50
    assert pc.inspect(probs=digits.probs, labels=labels).problems > 0
    assert pc.inspect(probs=digits.probs, labels=digits.labels).problems == 0


def test_lists():
    assert {"ece", "brier"} <= {row.name for row in pc.list_metrics()}
    assert "default" in {row.name for row in pc.list_groups()}
    assert "torchmetrics" in {row.name for row in pc.list_conventions()}
    assert "temperature" in {row.name for row in pc.list_calibrators()}
    assert "reliability" in {row.name for row in pc.list_figures()}
    assert "top-label" in {row.name for row in pc.list_notions()}
    ece = next(row for row in pc.list_metrics() if row.name == "ece")
    assert ece.better == "lower" and ece.ranks and not ece.is_test
    kuiper = next(row for row in pc.list_metrics() if row.name == "kuiper")
    assert kuiper.is_test
    neither = {row.name for row in pc.list_metrics() if not row.ranks}
    assert neither == {
        "spiegelhalter", "mean-variance", "sharpness", "variance-ratio", "oe-ratio", "interval-coverage",
        "calibration-intercept", "calibration-slope",
    }  # fmt: skip
    assert repr(ece) == "<ece: expected calibration error>"
    bins = next(option for option in ece.options if option.name == "bins")
    assert bins.default == 15 and bins.low == 1


def test_version(program):
    printed = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    assert pc.__version__ in printed.stdout
