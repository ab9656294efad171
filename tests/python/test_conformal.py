"""Conformal intervals and sets."""

import numpy as np
import propercal as pc


def test_intervals_cover():
    rng = np.random.default_rng(1)
    std = rng.uniform(0.5, 2, 4000)
    mean = rng.normal(size=4000)
    target = mean + 3 * std * rng.standard_t(4, 4000)
    fit, test = slice(0, 2000), slice(2000, None)
    intervals = pc.Conformal(coverage=0.9).fit(mean=mean[fit], std=std[fit], target=target[fit])
    low, high = intervals.transform(mean=mean[test], std=std[test]).T
    scores = np.sort(np.abs(target - mean)[fit] / std[fit])
    assert np.isclose(intervals.threshold_, scores[int(np.ceil(2001 * 0.9)) - 1])
    covered = np.mean((low <= target[test]) & (target[test] <= high))
    assert abs(covered - 0.9) < 4 * np.sqrt(2 * 0.09 / 2000)
    found = pc.measure(
        quantiles=np.column_stack([low, high]), levels=[0.05, 0.95], target=target[test], metrics="interval-coverage"
    )
    assert np.isclose(found["interval-coverage"], covered)


def test_sets_cover_for_any_order():
    rng = np.random.default_rng(2)
    probs = rng.dirichlet([0.5] * 5, 3000)
    labels = np.array([rng.choice(5, p=0.5 * row + 0.1) for row in probs])
    fit, test = slice(0, 1500), slice(1500, None)
    for rule in ("lac", "aps", "raps"):
        sets = pc.ConformalSets(coverage=0.8, rule=rule).fit(probs[fit], labels[fit])
        inside = sets.transform(probs[test])
        assert set(np.unique(inside)) <= {0.0, 1.0} and inside.shape == (1500, 5)
        covered = inside[np.arange(1500), labels[test]].mean()
        assert abs(covered - 0.8) < 4 * np.sqrt(2 * 0.16 / 1500)
        order = rng.permutation(1500)
        again = pc.ConformalSets(coverage=0.8, rule=rule).fit(probs[fit][order], labels[fit][order])
        assert again.threshold_ == sets.threshold_
        assert np.array_equal(again.transform(probs[test][order]), inside[order])
