"""Golden values of calibrators, by other packages: parameters, and what they make of other rows.

Each function takes the rows to fit on and the rows to apply to and yields (quantity, value,
tolerance, who computed it); see golden_classes.py.
"""

import warnings

import betacal
import numpy as np
import scipy.optimize
import scipy.special
import sklearn.calibration
import sklearn.isotonic
import sklearn.linear_model
import sklearn.metrics
import venn_abers
from golden_classes import EXACT, NUMPY
from golden_sets import Numbers

CELLS = (0, 1, 5, 17, 100, 333, 700)  # rows of the output that are compared one by one
# Both search for a minimum; a search that stops at a gradient of g leaves an error of g / curvature.
SEARCH = 1e-6
FLAT = 1e-4  # scikit-learn and betacal stop their searches earlier
# scikit-learn's isotonic regression drops differences of scores below 1e-7 or so when it
# interpolates; values agree to rounding elsewhere.


def outputs(probs, labels, tolerance, source):
    """Some cells, and two scores of the whole output."""
    matrix = np.column_stack([1 - probs, probs]) if probs.ndim == 1 else probs
    columns = probs[:, None] if probs.ndim == 1 else probs
    for row in CELLS:
        column = row % columns.shape[1]
        yield f"output {row} {column}", columns[row, column], tolerance, source
    truth = np.eye(matrix.shape[1])[labels]
    yield "brier", np.mean(np.sum((matrix - truth) ** 2, axis=1)), tolerance, source


def normalised(columns):
    return columns / columns.sum(axis=1, keepdims=True)


def class_scores(rows):
    return rows.logits[:, None] if rows.one_column else rows.logits


def class_probs(rows):
    return rows.probs[:, None] if rows.one_column else rows.matrix


def class_hits(rows):
    return rows.one_hot[:, 1:] if rows.one_column else rows.one_hot


def one_vs_rest(columns):
    """One column stays; several are rescaled to sum to one."""
    return columns[0] if len(columns) == 1 else normalised(np.column_stack(columns))


def wide(rows):
    return np.column_stack([np.zeros(len(rows.logits)), rows.logits]) if rows.one_column else rows.logits


def temperature(fit, other, objective="log"):
    logits, truth = wide(fit), fit.one_hot

    def slope(t):
        """Derivative of the mean score by the inverse temperature."""
        probs = scipy.special.softmax(logits * t, axis=1)
        centred = logits - np.sum(probs * logits, axis=1, keepdims=True)
        if objective == "log":
            return -np.mean(np.sum(truth * centred, axis=1))
        return np.mean(np.sum(2 * (probs - truth) * probs * centred, axis=1))

    inverse = scipy.optimize.brentq(slope, 0.05, 5, xtol=1e-15, rtol=1e-14)
    source = "SciPy brentq of the derivative"
    yield "parameter T", 1 / inverse, SEARCH_T, source
    if len(other.logits) > 1000:
        probs = scipy.special.softmax(wide(other) * inverse, axis=1)
        yield from outputs(probs[:, 1] if other.one_column else probs, other.labels, SEARCH_T, source)


SEARCH_T = 1e-8  # propercal documents T to 3 parts in 10^9


def temperature_brier(fit, other):
    return temperature(fit, other, "brier")


def platt(fit, other):
    """scikit-learn's sigmoid has Platt's smoothed targets too, and the other sign."""
    columns = []
    for k, (scores, hits) in enumerate(zip(class_scores(fit).T, class_hits(fit).T)):
        a, b = sklearn.calibration._sigmoid_calibration(scores, hits)
        yield f"parameter a.{k}", -a, FLAT, "scikit-learn sigmoid calibration"
        columns.append(scipy.special.expit(-(a * class_scores(other)[:, k] + b)))
    yield from outputs(one_vs_rest(columns), other.labels, FLAT, "scikit-learn sigmoid calibration")


def isotonic(fit, other):
    columns = []
    for k, (scores, hits) in enumerate(zip(class_probs(fit).T, class_hits(fit).T)):
        regression = sklearn.isotonic.IsotonicRegression(out_of_bounds="clip").fit(scores, hits)
        columns.append(regression.predict(class_probs(other)[:, k]))
    yield from outputs(one_vs_rest(columns), other.labels, EXACT, "scikit-learn IsotonicRegression")


def beta(fit, other):
    """betacal drops a feature whose weight comes out negative, as propercal does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = betacal.BetaCalibration(parameters="abm").fit(fit.probs[:, None], fit.labels)
    probs = np.asarray(model.predict(other.probs[:, None])).ravel()
    yield from outputs(probs, other.labels, BETA, "betacal BetaCalibration")


BETA = 1e-3  # betacal's logistic regression has a penalty of 1e-99 and stops at 1e-4


def matrix(fit, other):
    """Unpenalised multinomial regression; SciPy, since scikit-learn stops early."""
    classes = fit.classes
    design = np.column_stack([fit.logits, np.ones(len(fit.logits))])

    def objective(flat):
        probs = scipy.special.log_softmax(design @ flat.reshape(classes + 1, classes), axis=1)
        slope = design.T @ (np.exp(probs) - fit.one_hot) / len(design)
        return -np.mean(np.sum(fit.one_hot * probs, axis=1)), slope.ravel()

    start = np.vstack([np.eye(classes), np.zeros(classes)]).ravel()
    best = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 0, "gtol": 1e-10}
    )
    weights = best.x.reshape(classes + 1, classes)
    probs = scipy.special.softmax(np.column_stack([other.logits, np.ones(len(other.logits))]) @ weights, axis=1)
    yield from outputs(probs, other.labels, SEARCH, "SciPy L-BFGS-B")


def vector(fit, other):
    classes = fit.classes

    def objective(flat):
        weight, shift = flat[:classes], flat[classes:]
        probs = scipy.special.log_softmax(fit.logits * weight + shift, axis=1)
        rest = np.exp(probs) - fit.one_hot
        slope = np.concatenate([np.mean(rest * fit.logits, axis=0), np.mean(rest, axis=0)])
        return -np.mean(np.sum(fit.one_hot * probs, axis=1)), slope

    start = np.concatenate([np.ones(classes), np.zeros(classes)])
    best = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 0, "gtol": 1e-10}
    )
    probs = scipy.special.softmax(other.logits * best.x[:classes] + best.x[classes:], axis=1)
    yield from outputs(probs, other.labels, SEARCH, "SciPy L-BFGS-B")


def venn(fit, other):
    model = venn_abers.VennAbers()
    model.fit(fit.matrix, fit.labels, precision=None)
    probs, _ = model.predict_proba(other.matrix)
    yield from outputs(probs[:, 1], other.labels, EXACT, "venn-abers VennAbers")


def histogram(fit, other):
    """Frequencies in bins (lo, hi]; bins without rows keep their midpoints."""
    columns = []
    for k, (scores, hits) in enumerate(zip(class_probs(fit).T, class_hits(fit).T)):
        place = np.clip(np.ceil(scores * 15).astype(int) - 1, 0, 14)
        rows = np.bincount(place, minlength=15)
        table = np.where(rows > 0, np.bincount(place, hits, 15) / np.maximum(rows, 1), (np.arange(15) + 0.5) / 15)
        columns.append(table[np.clip(np.ceil(class_probs(other)[:, k] * 15).astype(int) - 1, 0, 14)])
    yield from outputs(one_vs_rest(columns), other.labels, EXACT, NUMPY)


def variance_scale(rows):
    yield "parameter w", np.mean((rows.target - rows.mean) ** 2 / rows.std**2), EXACT, NUMPY


def variance_platt(rows):
    square, variance = (rows.target - rows.mean) ** 2, rows.std**2

    def objective(logs):
        claimed = np.exp(logs[0]) * variance + np.exp(logs[1])
        slope = (1 - square / claimed) / claimed
        parts = [np.mean(slope * variance) * np.exp(logs[0]), np.mean(slope) * np.exp(logs[1])]
        return np.mean(square / claimed + np.log(claimed)), np.array(parts)

    best = scipy.optimize.minimize(objective, np.log([1.0, 0.1]), jac=True, method="BFGS", options={"gtol": 1e-10})
    yield "parameter w", np.exp(best.x[0]), SEARCH, "SciPy BFGS"
    yield "parameter b", np.exp(best.x[1]), 1e-4, "SciPy BFGS; its minimum is flat along b"


FITS = (
    ("digits", "temperature", temperature),
    ("ten", "temperature", temperature),
    ("ten", "temperature:objective=brier", temperature_brier),
    ("ten", "platt", platt),
    ("ten", "isotonic", isotonic),
    ("ten", "histogram", histogram),
    ("ten", "vector", vector),
    ("ten", "matrix", matrix),
    ("two", "temperature", temperature),
    ("two", "matrix", matrix),
    ("one", "temperature", temperature),
    ("one", "platt", platt),
    ("one", "isotonic", isotonic),
    ("one", "histogram", histogram),
    ("one", "beta", beta),
    ("one", "venn-abers", venn),
)


def values(load):
    for name, method, function in FITS:
        yield name, method, function(load(name, "fit"), load(name, "measure"))
    yield "normal", "variance-scale", variance_scale(Numbers())
    yield "normal", "variance-platt", variance_platt(Numbers())
