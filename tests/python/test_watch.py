"""Calibration over time."""

import pickle

import numpy as np
import pytest

import propercal as pc


@pytest.fixture
def stream():
    rng = np.random.default_rng(1)
    logits = 1.5 * rng.standard_normal(3000)
    labels = (rng.random(3000) < 1 / (1 + np.exp(-logits))).astype(int)
    factor = np.where(np.arange(3000) < 2000, 1, 2)
    return 1 / (1 + np.exp(-factor * logits)), labels


def test_alarm_after_the_change(stream, tmp_path):
    probs, labels = stream
    watch = pc.Watch()
    for day in range(0, 3000, 500):
        watch.update(probs[day : day + 500], labels[day : day + 500])
        assert watch.alarm == (day >= 2000)
    assert 2000 < watch.alarm_rows <= 2500 and watch.rows == 3000
    assert watch.e_value > 20 and watch.p_value < 0.05
    assert "alarm after" in repr(watch)
    whole = pc.Watch().update(probs, labels)
    assert whole.e_value == watch.e_value and whole.alarm_rows == watch.alarm_rows
    watch.save(tmp_path / "state.pcal")
    assert pc.Watch.load(tmp_path / "state.pcal").report == watch.report
    assert pickle.loads(pickle.dumps(watch)).report == watch.report


def test_same_rows_twice(stream):
    probs, labels = stream
    watch = pc.Watch().update(probs[:100], labels[:100])
    with pytest.raises(pc.DataError, match="these 100 rows are in the state already.*pass allow_repeat=True"):
        watch.update(probs[:100], labels[:100])
    assert watch.rows == 100
    assert watch.update(probs[:100], labels[:100], allow_repeat=True).rows == 200


def test_other_inputs(stream):
    probs, labels = stream
    assert pc.Watch().update(confidence=probs, correct=labels).report["event"] == "correct"
    rng = np.random.default_rng(2)
    number = pc.Watch().update(mean=np.zeros(500), std=np.full(500, 0.5), target=rng.standard_normal(500))
    assert number.alarm and "too narrow" in number.report["most_evidence"]
    with pytest.raises(pc.UsageError, match="alpha is the probability of a false alarm"):
        pc.Watch(alpha=2)


def test_files_that_are_no_state(tmp_path):
    with pytest.raises(pc.IOError, match="is a device"):
        pc.Watch.load("/dev/zero")
    with pytest.raises(pc.IOError, match="is this the right path"):
        pc.Watch.load(tmp_path / "none.pcal")
