"""Golden values of metrics of numeric predictions, by other packages; see golden_classes.py.

netcal has metrics of these names, but over confidence levels and other bins.  PIT and coverage of
quantiles and samples are left to tests with known laws: they depend on how ties are drawn.
"""

import numpy as np
import scipy.stats
import scoringrules
import sklearn.metrics
from golden_classes import EXACT, NUMPY
from golden_sets import LEVELS

DECILES = np.arange(1, 10) / 10


def proper(rows):
    law = scipy.stats.norm(rows.mean, rows.std)
    z = (rows.target - rows.mean) / rows.std
    yield "crps", scoringrules.crps_normal(rows.target, rows.mean, rows.std).mean(), EXACT, "scoringrules crps_normal"
    yield "log", -law.logpdf(rows.target).mean(), EXACT, "SciPy norm.logpdf"
    yield "dss", np.mean(z**2 + 2 * np.log(rows.std)), EXACT, NUMPY
    yield "mse", sklearn.metrics.mean_squared_error(rows.target, rows.mean), EXACT, "scikit-learn mean_squared_error"
    losses = [
        sklearn.metrics.mean_pinball_loss(rows.target, law.ppf(level), alpha=level) for level in DECILES
    ]
    yield "pinball", np.mean(losses), EXACT, "scikit-learn mean_pinball_loss at SciPy norm.ppf"
    for level in (0.5, 0.9):
        low, high = law.ppf((1 - level) / 2), law.ppf((1 + level) / 2)
        score = scoringrules.interval_score(rows.target, low, high, 1 - level).mean()
        yield f"interval-score:level={level}", score, EXACT, "scoringrules interval_score"


def variances(rows):
    square, variance = (rows.target - rows.mean) ** 2, rows.std**2
    yield "mean-variance", variance.mean(), EXACT, NUMPY
    yield "sharpness", np.sqrt(variance.mean()), EXACT, NUMPY
    yield "variance-ratio", np.mean(square / variance), EXACT, NUMPY
    yield "variance-ratio sd", np.std(square / variance, ddof=1), EXACT, NUMPY
    parts = np.array_split(np.argsort(rows.std, kind="stable"), 15)
    error = np.array([square[i].mean() for i in parts])
    claimed = np.array([variance[i].mean() for i in parts])
    share = np.array([len(i) for i in parts]) / len(square)
    yield "ence", np.mean(abs(np.sqrt(claimed) - np.sqrt(error)) / np.sqrt(claimed)), EXACT, NUMPY
    yield "uce", share @ abs(error - claimed), EXACT, NUMPY


def distributions(rows):
    pit = scipy.stats.norm.cdf(rows.target, rows.mean, rows.std)
    yield "pit", scipy.stats.kstest(pit, "uniform").statistic, EXACT, "SciPy kstest"
    yield "pit mean", pit.mean(), EXACT, "SciPy norm.cdf"
    yield "pit variance", pit.var(), EXACT, "SciPy norm.cdf"
    levels = np.array([0.5, 0.8, 0.9, 0.95])
    shares = np.array([np.mean(abs(pit - 0.5) <= level / 2) for level in levels])
    yield "coverage", np.mean(abs(shares - levels)), EXACT, "SciPy norm.cdf"
    below = np.array([np.mean(pit <= level) for level in DECILES])
    yield "quantile-ce", np.mean(abs(below - DECILES)), EXACT, "SciPy norm.cdf"


def kernel(rows):
    """skce of normal predictions: exp(-Wasserstein), and a Gaussian kernel of targets."""
    mean, deviation, target = rows.mean, rows.std, rows.target
    distance = np.hypot(mean[:, None] - mean, deviation[:, None] - deviation)

    def bell(gap, variance):
        return np.exp(-(gap**2) / (2 * (1 + variance))) / np.sqrt(1 + variance)

    square = deviation**2
    both = square[:, None] + square
    inside = (
        bell(target[:, None] - target, 0)
        - bell(mean[:, None] - target, square[:, None])
        - bell(target[:, None] - mean, square)
        + bell(mean[:, None] - mean, both)
    )
    off = ~np.eye(len(mean), dtype=bool)
    yield "skce", (np.exp(-distance) * inside)[off].mean(), EXACT, NUMPY


def quantiles(rows):
    score = scoringrules.crps_quantile(rows.target, rows.quantiles, np.array(LEVELS)).mean()
    yield "crps", score, EXACT, "scoringrules crps_quantile"
    losses = [
        sklearn.metrics.mean_pinball_loss(rows.target, column, alpha=level)
        for column, level in zip(rows.quantiles.T, LEVELS)
    ]
    yield "pinball", np.mean(losses), EXACT, "scikit-learn mean_pinball_loss"
    score = scoringrules.interval_score(rows.target, rows.quantiles[:, 0], rows.quantiles[:, 4], 0.1)
    yield "interval-score:level=0.9", score.mean(), EXACT, "scoringrules interval_score"


def samples(rows):
    score = scoringrules.crps_ensemble(rows.target, rows.samples, estimator="fair").mean()
    yield "crps", score, EXACT, "scoringrules crps_ensemble, fair"


def values(rows):
    for family in (proper, variances, distributions, kernel):
        yield "normal", family(rows)
    yield "quantiles", quantiles(rows)
    yield "samples", samples(rows)
