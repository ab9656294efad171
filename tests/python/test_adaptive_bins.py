"""Intervals of errors in adaptive bins are for the bins of the data."""

import numpy as np

import propercal as pc

FACTOR, ROWS, BINS, SETS = 2.5, 5000, 15, 60
METRICS = ["ace", "gce:variant=25"]


def probability(logits):
    return 1 / (1 + np.exp(np.minimum(logits[:, 0] - logits[:, 1], 700)))


def population_errors(score, true, edges):
    """ACE and its root mean square of a population in bins with these edges; both classes have the same gaps."""
    order = np.argsort(score)
    sums = np.concatenate([[0], np.cumsum((true - score)[order])])
    at = np.concatenate([[0], np.searchsorted(score[order], edges), [len(score)]])
    gaps = np.diff(sums[at]) / np.maximum(np.diff(at), 1)
    return np.mean(np.abs(gaps)), np.sqrt(np.mean(gaps**2))


def test_intervals_hold_the_value_on_the_bins_of_the_data():
    """The value itself depends on the edges, because gaps of both signs cancel in a bin that holds them."""
    logits = pc.simulate(300_000, 2, factor=FACTOR, seed=20000).logits.astype(float)
    score, true = probability(logits), probability(logits / FACTOR)
    own = population_errors(score, true, np.quantile(score, np.arange(1, BINS) / BINS))
    covered, covered_own, truths = np.zeros(2), np.zeros(2), []
    for seed in range(SETS):
        draw = np.random.default_rng(seed)
        rows = draw.integers(0, len(score), ROWS)
        labels = (draw.random(ROWS) < true[rows]).astype(int)
        result = pc.measure(logits=logits[rows], labels=labels, metrics=METRICS, interval=0.95, replicas=100)
        ranked = np.sort(score[rows])
        first = np.arange(1, BINS) * ROWS // BINS
        truths.append(population_errors(score, true, (ranked[first - 1] + ranked[first]) / 2))
        for m, value in enumerate(result):
            interval = value.interval
            covered[m] += interval.low <= truths[-1][m] <= interval.high
            covered_own[m] += interval.low <= own[m] <= interval.high
    assert np.all(covered >= 0.87 * SETS)  # fewer with a probability below 1 % if 95 % are covered
    assert np.all(covered_own < covered)  # the edges of the population are other ones
    assert np.all(np.std(truths, axis=0) > 0.1 * np.array(own))
