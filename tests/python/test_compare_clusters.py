"""compare with clusters: folds and intervals keep them whole."""

import numpy as np
import propercal as pc
import pytest


def test_copies_of_rows_are_rows():
    draw = np.random.default_rng(1)
    p = draw.random(60)
    y = (draw.random(60) < p).astype(int)
    alone = pc.compare(p, y, methods="isotonic", replicas=100)
    copies = np.repeat(np.arange(60), 4)
    kept = pc.compare(p[copies], y[copies], cluster=copies, methods="isotonic", replicas=100)
    torn = pc.compare(p[copies], y[copies], methods="isotonic", replicas=100)
    brier = [next(r for r in c.rows if r["name"] == "isotonic")["metrics"]["brier"] for c in (alone, kept, torn)]
    assert brier[1] == pytest.approx(brier[0], abs=1e-12)
    assert brier[2] < brier[0] - 0.01


def test_several_models():
    draw = np.random.default_rng(2)
    p = draw.random(90)
    y, cluster = (draw.random(90) < p).astype(int), np.repeat(np.arange(30), 3)
    models = {"good": p, "bad": 1 - p}
    found = pc.compare(labels=y, models=models, cluster=cluster, replicas=100)
    assert found.chosen == "good"


def test_one_cluster():
    p, y = np.linspace(0.1, 0.9, 20), np.arange(20) % 2
    with pytest.raises(pc.DataError, match="all rows are in one cluster"):
        pc.compare(p, y, cluster=np.zeros(20, int), methods="platt")


def test_groups_are_no_clusters():
    draw = np.random.default_rng(3)
    p = draw.random(90)
    y, site = (draw.random(90) < p).astype(int), np.repeat(np.arange(3), 30)
    plain = pc.Data(probs=p, labels=y)
    grouped = pc.Data(probs=p, labels=y, groups=site)
    found = [pc.compare(data, methods="platt", replicas=100).rows for data in (plain, grouped)]
    assert found[0] == found[1]
    models = {"one": grouped, "other": pc.Data(probs=1 - p, labels=y)}
    assert pc.compare(models=models, replicas=100).chosen == "one"


def test_levels():
    p, y = np.linspace(0.1, 0.9, 20), np.arange(20) % 2
    for level in (0, None):
        with pytest.raises(pc.UsageError, match="give a level such as 0.95"):
            pc.compare(p, y, interval=level, methods="platt")
