"""Golden values of conformal intervals and sets, from the formulas that MAPIE documents.

Thresholds are np.quantile(scores, ceil((n + 1) coverage) / n, method="inverted_cdf").  Random draws of
aps and raps are propercal's own, so their values here are those of random=no (MAPIE:
include_last_label=True).
"""

import numpy as np
from golden_sets import LEVELS, Numbers

EXACT = 1e-9
NUMPY = "NumPy, from MAPIE's formulas"
CELLS = (0, 1, 5, 17, 100)


def threshold(scores, coverage):
    rank = int(np.ceil((len(scores) + 1) * coverage - 1e-9))
    return np.sort(scores)[rank - 1]


def intervals(low, high):
    for row in CELLS:
        yield f"output {row} 0", low[row], EXACT, NUMPY
        yield f"output {row} 1", high[row], EXACT, NUMPY


def normal(rows, scaled):
    scale = rows.std if scaled else np.ones_like(rows.std)
    t = threshold(np.abs(rows.target - rows.mean) / scale, 0.8)
    yield "parameter threshold", t, EXACT, NUMPY
    yield from intervals(rows.mean - t * scale, rows.mean + t * scale)


def cqr(rows, each):
    low = rows.quantiles[:, np.argmin(np.abs(np.array(LEVELS) - 0.05))]
    high = rows.quantiles[:, np.argmin(np.abs(np.array(LEVELS) - 0.95))]
    below, above = low - rows.target, rows.target - high
    a = threshold(below, 0.95) if each else threshold(np.maximum(below, above), 0.9)
    b = threshold(above, 0.95) if each else a
    yield "parameter low", a, EXACT, NUMPY
    yield "parameter high", b, EXACT, NUMPY
    yield from intervals(low - a, high + b)


def scores(probs, rule, penalty=0.01, rank=5):
    """Of every class of every row."""
    if rule == "lac":
        return 1 - probs
    order = np.argsort(-probs, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probs, order, axis=1), axis=1)
    if rule == "raps":
        sums = sums + penalty * np.maximum(0, np.arange(1, probs.shape[1] + 1) - rank)
    found = np.empty_like(probs)
    np.put_along_axis(found, order, sums, axis=1)
    return found


def sets(fit, other, rule):
    t = threshold(scores(fit.matrix, rule)[np.arange(len(fit.labels)), fit.labels], 0.9)
    yield "parameter threshold", t, EXACT, NUMPY
    inside = (scores(other.matrix, rule) <= t).astype(float)
    for row in CELLS:
        for column in (0, row % other.classes):
            yield f"output {row} {column}", inside[row, column], EXACT, NUMPY


def covered(rows):
    low = rows.quantiles[:, np.argmin(np.abs(np.array(LEVELS) - 0.05))]
    high = rows.quantiles[:, np.argmin(np.abs(np.array(LEVELS) - 0.95))]
    yield "interval-coverage", np.mean((low <= rows.target) & (rows.target <= high)), EXACT, NUMPY
    yield "interval-coverage width", np.mean(high - low), EXACT, NUMPY


def values(load):
    fit, other = load("ten", "fit"), load("ten", "measure")
    yield "normal", "conformal:coverage=0.8", normal(Numbers(), True)
    yield "normal", "conformal:coverage=0.8,scale=none", normal(Numbers(), False)
    yield "intervals", "cqr", cqr(Numbers(), False)
    yield "intervals", "cqr:sides=each", cqr(Numbers(), True)
    yield "ten", "conformal-sets", sets(fit, other, "lac")
    yield "ten", "conformal-sets:score=aps,random=no", sets(fit, other, "aps")
    yield "ten", "conformal-sets:score=raps,random=no", sets(fit, other, "raps")
    yield "intervals", "", covered(Numbers())
