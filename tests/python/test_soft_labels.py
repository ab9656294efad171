"""Labels of shape (n_samples, n_classes) that are distributions over classes."""

import numpy as np
import propercal as pc
import pytest


def drawn(rows=300, seed=1):
    draw = np.random.default_rng(seed)
    logits = draw.normal(0, 1.5, (rows, 4))
    probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    truth = draw.dirichlet(np.ones(4), rows)
    return logits, probs, truth


def test_scores_are_linear_in_the_truth():
    _, probs, truth = drawn()
    result = pc.measure(probs=probs, labels=truth, metrics=["brier", "log", "accuracy"])
    eye = np.eye(4)
    brier = sum(truth[:, k] * ((probs - eye[k]) ** 2).sum(1) for k in range(4))
    assert float(result["brier"]) == pytest.approx(brier.mean(), abs=1e-12)
    assert float(result["log"]) == pytest.approx(-(truth * np.log(probs)).sum(1).mean(), abs=1e-12)
    assert float(result["accuracy"]) == pytest.approx(truth[np.arange(300), probs.argmax(1)].mean(), abs=1e-12)


def test_intervals_count_rows():
    """The standard error is that of the row means, not of weighted rows."""
    _, probs, truth = drawn(2000)
    result = pc.measure(probs=probs, labels=truth, metrics=["log"], interval=0.95, replicas=400)
    rows = -(truth * np.log(probs)).sum(1)
    interval = result["log"].interval
    assert (interval.high - interval.low) / 2 == pytest.approx(1.96 * rows.std() / np.sqrt(len(rows)), rel=0.15)


def test_intervals_of_few_rows():
    """No outcome was drawn, so that few right rows are no reason for a wider interval."""
    _, probs, truth = drawn(300, seed=3)
    result = pc.measure(probs=probs, labels=truth, metrics=["brier", "accuracy"], interval=0.95, replicas=400)
    eye = np.eye(4)
    rows = {
        "brier": sum(truth[:, k] * ((probs - eye[k]) ** 2).sum(1) for k in range(4)),
        "accuracy": truth[np.arange(300), probs.argmax(1)],
    }
    assert rows["accuracy"].sum() < 100
    for name, values in rows.items():
        interval, reach = result[name].interval, 1.96 * values.std() / np.sqrt(300)
        assert interval.high - values.mean() == pytest.approx(reach, rel=0.2)
        assert values.mean() - interval.low == pytest.approx(reach, rel=0.2)


def test_rows_with_shares_as_weights_are_the_same():
    """What compare, report and plot take: each row once for every class."""
    logits, probs, truth = drawn()
    rows, classes = truth.shape
    spread = dict(
        labels=np.tile(np.arange(classes), rows), weights=truth.ravel(), weights_are="importance",
        probs=np.repeat(probs, classes, axis=0),
    )  # fmt: skip
    soft = pc.measure(probs=probs, labels=truth, metrics=["brier", "ece"])
    hard = pc.measure(metrics=["brier", "ece"], cluster=np.repeat(np.arange(rows), classes), **spread)
    assert float(hard["brier"]) == pytest.approx(float(soft["brier"]), abs=1e-12)
    assert float(hard["ece"]) == pytest.approx(float(soft["ece"]), abs=1e-12)
    table = pc.compare(methods=["temperature"], cluster=np.repeat(np.arange(rows), classes), **spread)
    assert table.rows[0]["metrics"]["brier"] == pytest.approx(float(soft["brier"]), abs=1e-12)
    with pytest.raises(pc.UsageError, match=r"with weights \(importance\), each row once for every class"):
        pc.compare(probs=probs, labels=truth, methods=["temperature"])


def test_fit():
    """The temperature minimises the cross entropy to the shares."""
    logits, _, truth = drawn()
    fitted = pc.Temperature().fit(logits=logits, labels=truth)

    def loss(t):
        z = logits / t
        return -(truth * (z - np.log(np.exp(z).sum(1, keepdims=True)))).sum()

    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda u: loss(np.exp(u)), bounds=(-3, 6), method="bounded", options={"xatol": 1e-10}).x
    assert fitted.T_ == pytest.approx(np.exp(best), rel=1e-5)


def test_one_hot_rows_are_labels():
    _, probs, truth = drawn()
    labels = truth.argmax(1)
    plain = pc.measure(probs=probs, labels=labels, metrics=["brier", "skce"])
    hot = pc.measure(probs=probs, labels=np.eye(4)[labels], metrics=["brier", "skce"])
    assert float(plain["brier"]) == float(hot["brier"]) and float(plain["skce"]) == float(hot["skce"])


def test_sentences():
    _, probs, truth = drawn()
    with pytest.raises(pc.UsageError, match="mmce is not defined for labels that are distributions over classes"):
        pc.measure(probs=probs, labels=truth, metrics=["mmce"])
    with pytest.raises(pc.DataError, match="is the sum of the shares"):
        pc.measure(probs=probs, labels=truth * 0.9, metrics=["brier"])
