"""Results beside those of an earlier run."""

import copy
import math

import numpy as np
import propercal as pc
import pytest


def rows(factor, n=800, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n)
    labels = (rng.uniform(size=n) < 1 / (1 + np.exp(-logits))).astype(int)
    return 1 / (1 + np.exp(-factor * logits)), labels


def measured(factor, **more):
    return pc.measure(*rows(factor), metrics=["ece", "accuracy", "oe-ratio"], interval=0.95, **more)


def test_changes_from_a_result_and_from_a_file(tmp_path):
    before, now = measured(1), measured(6)
    changes = now.changes(before)
    assert [(change.metric, change.group, change.worse) for change in changes] == [
        ("ece", None, True),
        ("accuracy", None, False),
    ]
    ece = changes[0]
    assert (ece.before, ece.now) == (before.ece, now.ece) and 0 < ece.low < ece.now - ece.before < ece.high
    path = tmp_path / "main.json"
    path.write_text(before.to_json(), encoding="utf-8")
    assert now.changes(path) == changes
    assert not any(change.worse for change in before.changes(now))
    assert not any(change.worse for change in before.changes(before))


def test_changes_by_group():
    groups = np.where(np.arange(800) % 2 == 0, "north", "south")
    now = measured(6, groups=groups)
    assert {change.group for change in now.changes(now)} == {None, "north", "south"}


def test_a_value_that_is_lost_is_worse():
    now = pc.measure([0.9, 1.0], [0, 0], metrics="log", interval=0.95)
    (change,) = now.changes(pc.measure([0.9, 0.2], [1, 0], metrics="log", interval=0.95))
    assert change.worse and math.isnan(change.low)


def test_what_cannot_be_compared():
    plain = pc.measure(*rows(1), metrics="ece")
    with pytest.raises(pc.DataError, match="no result with an interval that can be compared"):
        plain.changes(plain)
    with pytest.raises(pc.UsageError, match="a copied result cannot be compared"):
        copy.copy(measured(1)).changes(measured(1))


def test_files_that_are_no_baseline(tmp_path):
    now = measured(1)
    with pytest.raises(pc.IOError, match="missing.json"):
        now.changes(tmp_path / "missing.json")
    with pytest.raises(pc.Error):
        now.changes("/dev/zero")
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"results": "\xe9"}')
    with pytest.raises(pc.Error):
        now.changes(latin)
    path = tmp_path / "main.json"
    path.write_text(now.to_json(), encoding="utf-8")
    assert now.changes(str(path).encode()) == now.changes(now)
