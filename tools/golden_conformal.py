"""Golden values of conformal intervals and sets, by MAPIE and from the formulas that it documents.

Thresholds are np.quantile(scores, ceil((n + 1) coverage) / n, method="inverted_cdf").  Where MAPIE and
propercal differ:

- Random draws of aps and raps are propercal's own, so their values here are those of random=no; MAPIE
  draws in conformalize, here with draws of 0, which is the same.
- The sets of aps with random=no are those of MAPIE with include_last_label=False, except that MAPIE
  adds the top class to an empty set.  include_last_label=True adds one more class to every set.
- MAPIE chooses penalty and rank of raps on a part of the rows, propercal is given them: raps is
  compared with the formula alone.
"""

import numpy as np
from golden_sets import LEVELS, Numbers
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

EXACT = 1e-9
NUMPY = "NumPy, from MAPIE's formulas"
MAPIE = "MAPIE"
CELLS = (0, 1, 5, 17, 100)


class Probabilities(ClassifierMixin, BaseEstimator):
    """A classifier that has predicted already: its inputs are probabilities."""

    def __init__(self, classes=2):
        self.classes = classes

    def fit(self, X=None, y=None):
        self.classes_, self.n_features_in_ = np.arange(self.classes), self.classes
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)


class Column(RegressorMixin, BaseEstimator):
    """A regressor whose prediction is a column of its inputs."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X=None, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


class NoDraws(np.random.RandomState):
    def uniform(self, low=0.0, high=1.0, size=None):
        return np.zeros(size)


def by_mapie(bounds):
    """The bounds of some rows, of MAPIE's array."""
    for row in CELLS:
        yield f"output {row} 0", bounds[row, 0, 0], EXACT, MAPIE
        yield f"output {row} 1", bounds[row, 1, 0], EXACT, MAPIE


def mapie_normal(rows, scaled):
    inputs = np.stack([rows.mean, rows.std], axis=1)
    score = "absolute"
    if scaled:
        score = ResidualNormalisedScore(residual_estimator=Column(1).fit(), prefit=True, sym=True)
    model = SplitConformalRegressor(Column(0).fit(), confidence_level=0.8, conformity_score=score)
    model.conformalize(inputs, rows.target)
    yield from by_mapie(model.predict_interval(inputs)[1])


def mapie_cqr(rows, each):
    low, middle, high = (int(np.argmin(np.abs(np.array(LEVELS) - level))) for level in (0.05, 0.5, 0.95))
    models = [Column(low).fit(), Column(high).fit(), Column(middle).fit()]
    model = ConformalizedQuantileRegressor(models, confidence_level=0.9, prefit=True)
    model.conformalize(rows.quantiles, rows.target)
    yield from by_mapie(model.predict_interval(rows.quantiles, symmetric_correction=not each)[1])


def mapie_sets(fit, other, rule, coverage):
    """The threshold, and the sets of rows where propercal's is not empty."""
    model = SplitConformalClassifier(
        Probabilities(fit.classes).fit(), confidence_level=coverage, conformity_score=rule, random_state=NoDraws(0)
    )
    model.conformalize(fit.matrix, fit.labels)
    how = {} if rule == "lac" else {"conformity_score_params": {"include_last_label": False}}
    inside = model.predict_set(other.matrix, **how)[1][:, :, 0]
    t = threshold(scores(fit.matrix, rule)[np.arange(len(fit.labels)), fit.labels], coverage)
    filled = np.flatnonzero((scores(other.matrix, rule) <= t).any(axis=1))
    for row in filled[list(CELLS)]:
        for column in sorted({0, int(row % other.classes)}):
            yield f"output {row} {column}", float(inside[row, column]), EXACT, MAPIE


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
    yield "normal", "conformal:coverage=0.8", mapie_normal(Numbers(), True)
    yield "normal", "conformal:coverage=0.8,scale=none", mapie_normal(Numbers(), False)
    yield "intervals", "cqr", mapie_cqr(Numbers(), False)
    yield "intervals", "cqr:sides=each", mapie_cqr(Numbers(), True)
    yield "ten", "conformal-sets", mapie_sets(fit, other, "lac", 0.9)
    yield "ten", "conformal-sets:coverage=0.8,rule=aps,random=no", mapie_sets(fit, other, "aps", 0.8)
