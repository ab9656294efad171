"""One function for each metric, made from the library's table."""

import inspect
import math
import re
import warnings

import numpy as np
import pytest

import propercal as pc

ROWS = [row for row in pc.list_metrics() if row.task is None]


def function(row):
    return getattr(pc, row.name.replace("-", "_"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_metric_has_its_function(row, digits):
    call = function(row)
    signature = inspect.signature(call)
    assert list(signature.parameters)[:2] == ["probs", "labels"]
    for option in row.options:
        name = next(
            each
            for each in signature.parameters
            if each.rstrip("_") == option.name.replace("-", "_")
            and (each not in ("weights", "labels", "class", "lambda"))
        )
        assert signature.parameters[name].default == option.default
        assert f"{name} :" in call.__doc__
    assert row.title[1:] in call.__doc__
    assert call.__name__ == row.name.replace("-", "_") and call.__module__ == "propercal"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.UndefinedMetricWarning)
        value = call(digits.probs, digits.labels)
    assert type(value) is float
    measured = pc.measure(digits.probs, digits.labels, metrics=row.name)[row.name]
    assert value == measured or (math.isnan(value) and math.isnan(measured))


def test_no_name_hides_another():
    others = {name for name in pc.__all__ if name not in pc._METRICS}
    assert not others & set(pc._METRICS)
    assert len(pc.__all__) == len(set(pc.__all__))
    for name in pc.__all__:
        assert getattr(pc, name) is not None


def test_options_reach_the_library(digits):
    value = pc.ece(digits.probs, digits.labels, bins=20, norm="l2", debias=True, binning="mass")
    spec = "ece:bins=20,norm=l2,debias=yes,binning=mass"
    assert value == pc.measure(digits.probs, digits.labels, metrics=spec)[spec]
    assert (
        pc.ks(digits.probs, digits.labels, class_=3)
        == pc.measure(digits.probs, digits.labels, metrics="ks:class=3").ks
    )
    assert pc.log(digits.probs, digits.labels, clip=np.float64(0.25)) < 2
    assert pc.ece(digits.probs, digits.labels, bins=np.int64(20)) == pc.ece(
        digits.probs, digits.labels, bins=20
    )


def test_wrong_options(digits):
    with pytest.raises(TypeError, match="unexpected keyword argument 'bin'"):
        pc.ece(digits.probs, digits.labels, bin=20)
    with pytest.raises(pc.UsageError, match="bins"):
        pc.ece(digits.probs, digits.labels, bins=0)
    with pytest.raises(pc.UsageError, match="norm"):
        pc.ece(digits.probs, digits.labels, norm="l3")
    with pytest.raises(pc.UsageError, match="convention fixes the edges"):
        pc.ece(digits.probs, digits.labels, edges="right", convention="kull")


def test_other_inputs(digits):
    value = pc.ece(digits.probs, digits.labels)
    assert pc.ece(confidence=digits.confidence, correct=digits.correct) == value
    assert pc.ece(logits=digits.logits.astype(float), labels=digits.labels) == pytest.approx(value)
    weights = np.ones(len(digits.labels))
    assert pc.ece(digits.probs, digits.labels, weights=weights) == value


def test_infinite_and_undefined():
    assert pc.log([[0.0, 1.0], [0.5, 0.5]], [0, 1]) == math.inf
    with pytest.warns(pc.UndefinedMetricWarning, match="skce: "):
        assert math.isnan(pc.skce([[0.25, 0.75]], [1]))


def test_documents_speak_python():
    for row in ROWS:
        assert not re.search(r"(^|\s)--[a-z]|`propercal [a-z]", function(row).__doc__)


def test_names_of_other_packages():
    probs, labels = np.array([0.9, 0.2, 0.6, 0.4]), np.array([1, 0, 0, 1])
    assert pc.nll is pc.log
    assert pc.nll(probs, labels) == pc.log(probs, labels)
    assert pc.brier_score_loss(probs, labels) == pc.brier(probs, labels, half=True)
    assert pc.ece(probs, labels, n_bins=5) == pc.ece(probs, labels, bins=5)
    for name in ("y_prob", "y_proba", "y_score", "y_pred"):
        assert pc.ece(y_true=labels, **{name: probs}) == pc.ece(probs, labels)
    weights = np.array([1, 2, 3, 1])
    weighted = pc.measure(probs, labels, sample_weight=weights, metrics=["nll"])
    assert float(weighted["nll"]) == pc.log(probs, labels, weights=weights)
    assert pc.Data(y_true=labels, y_prob=probs).inputs.keys() == {"labels", "probs"}


def test_names_given_twice_and_mistyped():
    probs, labels = np.array([0.9, 0.2]), np.array([1, 0])
    with pytest.raises(TypeError, match="'bins' twice, also as 'n_bins'"):
        pc.ece(probs, labels, bins=3, n_bins=3)
    with pytest.raises(TypeError, match="'labels' twice"):
        pc.measure(probs, labels, y_true=labels)
    with pytest.raises(AttributeError, match="did you mean 'Temperature'"):
        pc.Temprature
    with pytest.raises(AttributeError, match="has no attribute 'qqqqqq'$"):
        pc.qqqqqq
