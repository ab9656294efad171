"""pc.Data: inputs by name, as the first argument and for val and against."""

import inspect
import pathlib
import pickle
import re
import warnings

import numpy as np
import pytest

import propercal as pc
from propercal import _parameters

Z = np.random.default_rng(1).normal(size=(300, 3))
Y = (Z + np.random.default_rng(2).gumbel(size=Z.shape)).argmax(axis=1)
DATA = pc.Data(logits=2 * Z, labels=Y)
BY_NAME = {"logits": 2 * Z, "labels": Y}


def test_every_function_takes_data():
    assert pc.measure(DATA).to_json() == pc.measure(**BY_NAME).to_json()
    assert pc.ece(DATA, bins=7) == pc.ece(**BY_NAME, bins=7)
    assert pc.plot(DATA).svg == pc.plot("reliability", **BY_NAME).svg
    assert pc.plot(DATA, "ks-graph").svg == pc.plot("ks-graph", DATA).svg
    assert pc.report(DATA, replicas=50).to_dict() == pc.report(**BY_NAME, replicas=50).to_dict()
    assert pc.inspect(DATA).to_dict() == pc.inspect(**BY_NAME).to_dict()
    measure = pc.Measure("ece").update(DATA)
    assert measure.result().ece == pc.ece(DATA)
    fitted = pc.Temperature().fit(DATA)
    assert fitted.T_ == pc.Temperature(kind="logits").fit(2 * Z, Y).T_
    assert (fitted.transform(DATA) == fitted.transform(logits=2 * Z)).all()


def test_second_sets():
    methods = ["temperature"]
    whole = pc.compare(DATA, val=pc.Data(logits=Z, labels=Y), methods=methods, replicas=50)
    named = pc.compare(**BY_NAME, val_logits=Z, val_labels=Y, methods=methods, replicas=50)
    assert whole.to_json() == named.to_json()
    value = pc.measure(DATA, against=pc.Data(logits=Z), metrics="brier", replicas=50).brier
    other = pc.measure(**BY_NAME, against_logits=Z, metrics="brier", replicas=50).brier
    assert value.difference == other.difference
    models = {"a": pc.Data(logits=Z, labels=Y), "b": {"logits": 2 * Z, "labels": Y}}
    assert pc.compare(models=models, replicas=50).chosen == "a"


def test_regression_with_data():
    target = Z[:, 0]
    data = pc.Data(mean=Z[:, 1], std=np.ones(300), target=target)
    assert pc.crps(data) == pc.crps(mean=Z[:, 1], std=np.ones(300), target=target)


def test_what_is_given_twice_or_unknown():
    with pytest.raises(pc.UsageError, match="Data and labels are both given"):
        pc.measure(DATA, Y)
    with pytest.raises(pc.UsageError, match="val and val_logits are both given; give one"):
        pc.compare(DATA, val=DATA, val_logits=Z)
    with pytest.raises(TypeError, match=r"measure\(\) has no argument 'logit'"):
        pc.measure(logit=Z, labels=Y)
    with pytest.raises(TypeError, match="val must be a propercal.Data"):
        pc.compare(DATA, val=Z)


def test_signatures_name_the_inputs_of_their_task():
    assert set(_parameters.INPUTS) <= set(inspect.signature(pc.Data).parameters)
    assert "logits" in inspect.signature(pc.measure).parameters
    assert "against_logits" in inspect.signature(pc.measure).parameters
    assert "val_labels" in inspect.signature(pc.compare).parameters
    crps = inspect.signature(pc.crps).parameters
    assert "target" in crps and "probs" not in crps and "labels" not in crps
    assert "target" not in inspect.signature(pc.ece).parameters
    with pytest.raises(TypeError, match="unexpected keyword argument 'probs'"):
        pc.crps(probs=Z, labels=Y)


def test_verdict_has_fields():
    verdict = pc.measure(DATA).verdict
    assert verdict.kind == "over-confident" and verdict.method == "temperature"
    assert str(verdict).startswith("Over-confident") and verdict.claimed > verdict.observed
    assert verdict.where.low < verdict.where.high
    assert verdict.test is None and verdict.test_count == 0
    again = pickle.loads(pickle.dumps(verdict))
    assert again == verdict and again.where == verdict.where


def test_verdict_names_the_test_that_contradicts_it():
    rows = pc.simulate(400, 3, seed=30)
    result = pc.measure(logits=rows.logits, labels=rows.labels, metrics=["ece", "spiegelhalter"])
    verdict = result.verdict
    assert verdict.kind == "uneven" and verdict.test == "spiegelhalter" and verdict.test_count == 1
    assert verdict.test_p_value == result.spiegelhalter.p_value < 0.05
    again = pickle.loads(pickle.dumps(verdict))
    assert (again.test, again.test_p_value) == (verdict.test, verdict.test_p_value)


def test_old_names_of_classes_warn():
    for old, new in pc._registry.OLD_CLASS_NAMES.items():
        with pytest.warns(DeprecationWarning, match=f"{old} is now called {new}"):
            assert getattr(pc, old) is getattr(pc, new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pc.MatrixODIR.__name__ == "MatrixODIR"
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "stability.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", page, re.M)
    assert dict(listed) == pc._registry.OLD_CLASS_NAMES


@pytest.mark.parametrize("limit", [10**9, "1GB", "1gib", "1000 MB", "1e9"])
def test_memory_limits(limit):
    assert pc.ece(DATA, memory_limit=limit) == pc.ece(DATA)
    assert pc.plot(DATA, memory_limit=limit).svg
    assert pc.inspect(DATA, memory_limit=limit).problems == 0
    assert len(pc.simulate(10, 2, memory_limit=limit).labels) == 10
    assert pc.Temperature(memory_limit=limit).fit(DATA).T_ > 1


def test_memory_limits_that_are_none():
    for limit in ("much", "5 apples", "-1GB"):
        with pytest.raises(pc.UsageError, match="memory_limit="):
            pc.ece(DATA, memory_limit=limit)
    with pytest.raises(pc.MemoryError):
        pc.measure(DATA, memory_limit="1kB")
