"""Golden values of the metrics of clinical prediction models and of selective prediction.

Every function yields (spec or "spec part", value, tolerance, who computed it), as in
golden_classes.py.
"""

import warnings

import numpy as np
import sklearn.metrics
import statsmodels.api

EXACT = 1e-9
FIT = 1e-7  # fits stop at a gradient of 1e-9 of the rows
NUMPY = "NumPy, from the formula: no package has it"


def event(rows):
    """Score and outcome of the event that is judged: class 1 of two, else a correct prediction."""
    if rows.classes == 2:
        return rows.matrix[:, 1], (rows.labels == 1).astype(float)
    return rows.score, rows.hit


def discrimination(rows):
    found = sklearn.metrics.roc_auc_score
    said = "scikit-learn roc_auc_score"
    if rows.classes == 2:
        yield "auc", found(rows.labels, rows.matrix[:, 1]), EXACT, said
    else:
        yield "auc", found(rows.labels, rows.matrix, multi_class="ovr"), EXACT, said + ", ovr"
        pairs = found(rows.labels, rows.matrix, multi_class="ovo")
        yield "auc:view=hand-till", pairs, EXACT, said + ", ovo"
    right = rows.matrix.argmax(axis=1) == rows.labels
    top = found(right, rows.matrix.max(axis=1))
    yield "failure-auroc", top, EXACT, said + " of correctness"


def logistic(outcome, design, **how):
    model = statsmodels.api.GLM(outcome, design, family=statsmodels.api.families.Binomial(), **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(tol=1e-14, maxiter=300)


def recalibration(score, hit):
    odds = np.log(score) - np.log1p(-score)
    said = "statsmodels GLM, Binomial"
    yield "oe-ratio", hit.sum() / score.sum(), EXACT, NUMPY
    ones = np.ones((len(hit), 1))
    large = logistic(hit, ones, offset=odds).params[0]
    yield "calibration-intercept", large, FIT, said + " with offset"
    both = logistic(hit, statsmodels.api.add_constant(odds)).params
    yield "calibration-slope", both[1], FIT, said
    yield "calibration-slope intercept", both[0], FIT, said


QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}


def spline(x, knots):
    """Harrell's restricted cubic spline."""
    first, before, last = knots[0], knots[-2], knots[-1]

    def cube(at):
        return np.maximum(x - at, 0) ** 3

    columns = [np.ones_like(x), x]
    for t in knots[:-2]:
        bend = cube(t) - cube(before) * (last - t) / (last - before) + cube(last) * (before - t) / (last - before)
        columns.append(bend / (last - first) ** 2)
    return np.column_stack(columns)


def smooth(score, hit):
    kept = np.clip(score, 1e-6, 1 - 1e-6)
    x = np.log(kept) - np.log1p(-kept)
    said = "statsmodels GLM on a restricted cubic spline, NumPy quantiles"
    for count, places in QUANTILES.items():
        rates = logistic(hit, spline(x, np.quantile(x, places))).fittedvalues
        distance = abs(score - rates)
        more = "" if count == 4 else f":knots={count}"
        yield f"ici{more}", distance.mean(), SMOOTH, said
        yield f"e50{more}", np.median(distance), SMOOTH, said
        yield f"e90{more}", np.quantile(distance, 0.9), SMOOTH, said
        yield f"emax{more}", distance.max(), SMOOTH, said


SMOOTH = 1e-6  # small differences of scores and fitted rates


def benefit(score, hit):
    for threshold in (0.1, 0.25, 0.5, 0.8):
        act = score >= threshold
        odds = threshold / (1 - threshold)
        value = np.mean(act * hit) - odds * np.mean(act * (1 - hit))
        everyone = hit.mean() - odds * (1 - hit.mean())
        yield f"net-benefit:threshold={threshold}", value, EXACT, NUMPY
        yield f"net-benefit:threshold={threshold} treat_all", everyone, EXACT, NUMPY


def scaled(rows):
    shares = np.bincount(rows.labels, minlength=rows.classes) / len(rows.labels)
    one_hot = np.eye(rows.classes)[rows.labels]
    brier = np.mean(np.sum((rows.matrix - one_hot) ** 2, axis=1))
    yield "scaled-brier", 1 - brier / (1 - np.sum(shares**2)), EXACT, NUMPY


def ranked(rows):
    """Errors by descending confidence; no two confidences of these sets are equal, but for those
    that are 1 in double."""
    top = rows.matrix.max(axis=1)
    right = rows.matrix.argmax(axis=1) == rows.labels
    return top, (~right)[np.argsort(-top, kind="stable")].astype(float)


def selective(rows):
    top, wrong = ranked(rows)
    if len(np.unique(top)) < len(top):
        return
    size = len(wrong)
    errors, count = np.cumsum(wrong), np.arange(1, size + 1)
    ideal = np.cumsum(np.sort(wrong)) / count
    yield "aurc", np.mean(errors / count), EXACT, NUMPY
    yield "aurc ideal", np.mean(ideal), EXACT, NUMPY
    yield "excess-aurc", np.mean(errors / count - ideal), FIT, NUMPY
    yield "augrc", np.trapezoid(np.concatenate([[0], errors]) / size, dx=1 / size), EXACT, "NumPy trapezoid"
    for coverage in (0.25, 0.8, 1):
        yield f"selective-risk:coverage={coverage}", np.interp(coverage * size, count, errors) / (coverage * size), EXACT, "NumPy interp"
    for risk in (0.02, 0.05, 0.2):
        below = count[errors <= risk * count]
        yield f"coverage-at-risk:risk={risk}", below.max() / size if len(below) else 0, EXACT, NUMPY


def values(rows):
    score, hit = event(rows)
    yield from discrimination(rows)
    yield from scaled(rows)
    yield from selective(rows)
    yield from benefit(score, hit)
    yield from smooth(score, hit)
    if score.max() < 1:  # else the logit of a score is infinite
        yield from recalibration(score, hit)
