"""Golden values of metrics of class predictions, by other packages.

Every function yields (spec or "spec part", value, tolerance, who computed it).  Tolerances are
relative.  EXACT holds where the definitions agree and both work in double; each other tolerance
is explained where it stands.
"""

import warnings

import calibration  # the package uncertainty-calibration
import mpmath
import netcal.metrics
import numpy as np
import relplot
import scipy.optimize
import scipy.spatial.distance
import scipy.stats
import sklearn.calibration
import sklearn.isotonic
import sklearn.metrics
import statsmodels.api
import torch
import torchmetrics.functional.classification
from calibration.utils import get_equal_bins, get_equal_prob_bins

EXACT = 1e-9
FLOAT32 = 2e-5  # torchmetrics converts scores to float32 and adds up in it
INTEGRAL = 3e-6  # smece is an integral that propercal computes to 1e-6; so does the quadrature here
MESH = 2e-3  # relplot rounds scores to a grid and adds the integral up on a mesh
NUMPY = "NumPy, from the formula: no package has it"


def scores(rows):
    truth, classes = rows.labels, list(range(rows.classes))
    given = rows.probs
    yield "accuracy", sklearn.metrics.accuracy_score(truth, rows.matrix.argmax(axis=1)), EXACT, "scikit-learn accuracy_score"
    brier = sklearn.metrics.brier_score_loss(truth, given, labels=classes, scale_by_half=False)
    half = sklearn.metrics.brier_score_loss(truth, given, labels=classes, scale_by_half=True)
    yield "brier", brier, EXACT, "scikit-learn brier_score_loss, scale_by_half=False"
    yield "brier:half=yes", half, EXACT, "scikit-learn brier_score_loss, scale_by_half=True"
    yield "rbs", np.sqrt(brier), EXACT, "root of scikit-learn brier_score_loss"
    yield "log", sklearn.metrics.log_loss(truth, rows.matrix, labels=classes), EXACT, "scikit-learn log_loss"
    own = rows.matrix[np.arange(len(truth)), truth]
    yield "spherical", -np.mean(own / np.linalg.norm(rows.matrix, axis=1)), EXACT, NUMPY


def verified(rows):
    """Binned errors of uncertainty-calibration."""
    probs = rows.score if rows.one_column else rows.matrix
    said = "uncertainty-calibration "

    def error(p, debias, scheme, bins, mode="top-label"):
        return calibration.utils.lower_bound_scaling_ce(
            probs, rows.labels, p=p, debias=debias, num_bins=bins, binning_scheme=scheme, mode=mode
        )

    for bins in (5, 10, 15, 40):
        value = calibration.get_ece(probs, rows.labels, num_bins=bins)
        yield f"ece:bins={bins}", value, EXACT, said + "get_ece"
        value = calibration.get_ece_em(probs, rows.labels, num_bins=bins)
        yield f"ece:bins={bins},binning=mass", value, EXACT, said + "get_ece_em"
    name = said + "lower_bound_scaling_ce, "
    for scheme, binning in ((get_equal_prob_bins, "width"), (get_equal_bins, "mass")):
        yield f"ece:binning={binning},norm=l2", error(2, False, scheme, 15), EXACT, name + "p=2"
        yield f"tce:p=3,binning={binning}", error(3, False, scheme, 15), EXACT, name + "p=3"
        debiased = error(2, True, scheme, 15)
        yield f"tce:binning={binning},debias=yes", debiased, EXACT, name + "p=2, debias"
        yield f"ece:binning={binning},norm=l2,debias=yes", debiased, EXACT, name + "p=2, debias"
        if not rows.one_column:
            marginal = error(2, False, scheme, 15, "marginal")
            yield f"cwce:classes=mean,binning={binning}", marginal, EXACT, name + "marginal"
    yield "ece:convention=verified", calibration.get_ece(probs, rows.labels), EXACT, said + "get_ece"


def netcal_errors(rows):
    """netcal takes two columns for class 1 of two, so it is asked about one column, or many."""
    if not rows.one_column and rows.classes == 2:
        return
    probs = rows.score if rows.one_column else rows.matrix
    for bins in (10, 15):
        value = netcal.metrics.ECE(bins).measure(probs, rows.labels)
        yield f"ece:bins={bins},convention=netcal", value, EXACT, "netcal ECE"
    yield "mce:convention=netcal", netcal.metrics.MCE(15).measure(probs, rows.labels), EXACT, "netcal MCE"
    # Of one column netcal 1.4 (metrics/confidence/MMCE.py, measure) takes the score of class 1 as it
    # is, but compares the label with (score > 0.5): below 0.5 the difference is that of class 0 and
    # the score that of class 1. This is neither class 1 nor the predicted class, so it is no golden
    # value; of several columns it takes the largest score and whether that class is right, as mmce.
    if not rows.one_column:
        yield "mmce", netcal.metrics.MMCE().measure(probs, rows.labels), EXACT, "netcal MMCE"


def torchmetrics_errors(rows):
    if np.float32(rows.score).max() == 1:  # has a bin of its own there, and only in float32
        return
    said = "torchmetrics {}_calibration_error"
    truth = torch.from_numpy(rows.labels)
    for norm in ("l1", "l2", "max"):
        spec = f"ece:norm={norm},convention=torchmetrics"
        module = torchmetrics.functional.classification
        if rows.one_column:
            value = module.binary_calibration_error(torch.from_numpy(rows.score), truth, 15, norm)
            yield spec, float(value), FLOAT32, said.format("binary") + ", float32"
        else:
            matrix = torch.from_numpy(rows.matrix)
            value = module.multiclass_calibration_error(matrix, truth, rows.classes, 15, norm)
            yield spec, float(value), FLOAT32, said.format("multiclass") + ", float32"


def binned(score, hit, edges):
    """Counts and gaps of bins (lo, hi] by SciPy, which has [lo, hi): hence the minus signs."""
    flipped = -np.asarray(edges)[::-1]
    count, _, _ = scipy.stats.binned_statistic(-score, hit, "count", flipped)
    gaps = scipy.stats.binned_statistic(-score, score - hit, "sum", flipped)[0]
    filled = count > 0
    return count[filled][::-1], (gaps[filled] / count[filled])[::-1]


def scipy_errors(rows):
    said = "SciPy binned_statistic"
    for bins in (7, 15, 30):
        count, gap = binned(rows.score, rows.hit, np.arange(bins + 1) / bins)
        yield f"ece:bins={bins}", count @ abs(gap) / len(rows.hit), EXACT, said
        yield f"mce:bins={bins}", abs(gap).max(), EXACT, said
        yield f"tce:bins={bins}", np.sqrt(count @ gap**2 / len(rows.hit)), EXACT, said
    if rows.one_column:
        found, claimed = sklearn.calibration.calibration_curve(rows.labels, rows.score, n_bins=15)
        yield "mce:edges=left", abs(found - claimed).max(), EXACT, "scikit-learn calibration_curve"
        return
    for bins in (10, 15):
        edges = np.arange(bins + 1) / bins
        parts = [binned(rows.matrix[:, k], rows.one_hot[:, k], edges) for k in range(rows.classes)]
        first = [count @ abs(gap) / len(rows.hit) for count, gap in parts]
        second = [count @ gap**2 / len(rows.hit) for count, gap in parts]
        yield f"sce:bins={bins}", np.mean(first), EXACT, said + ", class by class"
        yield f"cwce:bins={bins}", np.sqrt(np.sum(second)), EXACT, said + ", class by class"
        yield f"cwce:p=1,bins={bins}", np.sum(first), EXACT, said + ", class by class"


def adaptive(score, hit, bins, power=1):
    """sum (n_b/n) |gap|^power over the bins of Nixon et al.'s published code: the edges are every
    n/R-th of the sorted scores, and belong to the upper bin."""
    places = np.round(np.arange(1, bins) * len(score) / bins).astype(int)
    place = np.digitize(score, np.sort(score)[places])
    parts = [(score - hit)[place == b] for b in range(bins)]
    return sum(len(part) * abs(part.mean()) ** power for part in parts if len(part)) / len(score)


def even_ranges(score, hit, bins):
    """The formula of their paper: ranges of equally many scores, which count alike."""
    gaps = (score - hit)[np.argsort(score, kind="stable")]
    return np.mean([abs(part.mean()) for part in np.array_split(gaps, bins)])


def adaptive_errors(rows):
    yield "rmsce", np.sqrt(adaptive(rows.score, rows.hit, 15, 2)), EXACT, NUMPY
    if rows.one_column:
        return
    for bins in (10, 15):
        columns = [(rows.matrix[:, k], rows.one_hot[:, k]) for k in range(rows.classes)]
        yield f"ace:bins={bins}", np.mean([adaptive(*pair, bins) for pair in columns]), EXACT, NUMPY
        ranges = [even_ranges(*pair, bins) for pair in columns]
        yield f"ace:bins={bins},weights=equal", np.mean(ranges), EXACT, NUMPY
        kept = [(score[score > 0.01], hit[score > 0.01]) for score, hit in columns]
        yield f"tace:bins={bins}", np.mean([adaptive(*pair, bins) for pair in kept]), EXACT, NUMPY


def cumulated(score, hit):
    order = np.argsort(score, kind="stable")
    return np.cumsum((score - hit)[order])


def curves(rows):
    """ks, and the tests that look at the same sums; no two scores of these sets are equal."""
    path = cumulated(rows.score, rows.hit)
    size = len(path)
    yield "ks", abs(path).max() / size, EXACT, NUMPY
    deviation = np.sqrt(np.sum(rows.score * (1 - rows.score)))
    largest = abs(path).max() / deviation
    extent = (max(path.max(), 0) - min(path.min(), 0)) / deviation
    yield "ks-test", largest, EXACT, NUMPY
    yield "ks-test p_value", brownian_maximum(largest), EXACT, "mpmath, series of the law"
    yield "kuiper", extent, EXACT, NUMPY
    yield "kuiper p_value", brownian_range(extent), EXACT, "mpmath, series of the law"
    if rows.one_column or rows.classes == 2:
        return
    ranked = -np.sort(-rows.matrix, axis=1)
    place = np.argsort(-rows.matrix, axis=1, kind="stable")
    second = cumulated(ranked[:, 1], (place[:, 1] == rows.labels).astype(float))
    within = cumulated(ranked[:, :2].sum(axis=1), (place[:, :2] == rows.labels[:, None]).any(axis=1).astype(float))
    third = cumulated(rows.matrix[:, 3], rows.one_hot[:, 3])
    yield "ks:rank=2", abs(second).max() / size, EXACT, NUMPY
    yield "ks:within=2", abs(within).max() / size, EXACT, NUMPY
    yield "ks:class=3", abs(third).max() / size, EXACT, NUMPY


def brownian_maximum(x):
    """P(max |B| >= x) for a Brownian motion on [0, 1]."""
    with mpmath.workdps(120):
        x = mpmath.mpf(x)
        inside = sum(
            (-1) ** k * mpmath.exp(-((2 * k + 1) ** 2) * mpmath.pi**2 / (8 * x**2)) / (2 * k + 1)
            for k in range(400)
        )
        return float(1 - 4 / mpmath.pi * inside)


def brownian_range(x):
    """P(max B - min B >= x) for a Brownian motion on [0, 1] (Feller 1951)."""
    with mpmath.workdps(120):
        x = mpmath.mpf(x)
        inside = mpmath.mpf(0)
        for k in range(400):
            half = k + mpmath.mpf(1) / 2
            factor = 8 / x**2 + 2 / (half * mpmath.pi) ** 2
            inside += factor * mpmath.exp(-2 * (half * mpmath.pi / x) ** 2)
        return float(1 - inside)


def smooth(rows):
    """The s with s = integral |smoothed residuals|, by a trapezoid rule on 4001 points."""
    points = np.linspace(0, 1, 4001)
    rest = (rows.score - rows.hit) / len(rows.hit)
    near = (rows.score, -rows.score, 2 - rows.score, 2 + rows.score, rows.score - 2)
    images = np.concatenate(near)  # of a Gaussian reflected at 0 and 1

    def excess(width):
        kernel = np.exp(-0.5 * ((points[:, None] - images) / width) ** 2)
        total = kernel @ np.tile(rest, 5) / (width * np.sqrt(2 * np.pi))
        return np.trapezoid(abs(total), points) - width

    value = scipy.optimize.brentq(excess, 1e-3, 0.4, xtol=1e-9)
    yield "smece", value, INTEGRAL, "SciPy brentq and a trapezoid rule"
    if np.mean(rows.score > 0.9995) > 0.01:
        return  # relplot counts what its grid puts on 1 by half, as it is not mirrored
    relplot.config.smECE_mesh_pts = 20001  # not its 200
    found = relplot.metrics.smECE_sigma(rows.score, rows.hit, value)  # it searches to 2^-10 only
    yield "smece", found, MESH, "relplot smECE_sigma at that width"


def kernels(rows):
    rest = rows.one_hot - rows.matrix
    inner = rest @ rest.T
    size = len(rest)
    off = ~np.eye(size, dtype=bool)
    said = "SciPy cdist"
    euclidean = scipy.spatial.distance.cdist(rows.matrix, rows.matrix)
    variation = scipy.spatial.distance.cdist(rows.matrix, rows.matrix, "cityblock") / 2
    pairs = np.exp(-euclidean) * inner
    yield "skce", pairs[off].mean(), PAIRS, said
    yield "skce:estimator=biased", pairs.mean(), EXACT, said
    yield "kce", np.sqrt(pairs.mean()), EXACT, said
    yield "skce:distance=tv", (np.exp(-variation) * inner)[off].mean(), PAIRS, said
    bell = np.exp(-(euclidean**2) / 2) * inner
    yield "skce:kernel=gaussian", bell[off].mean(), PAIRS, said
    distance = abs(rows.score[:, None] - rows.score)
    gaps = rows.score - rows.hit
    square = np.exp(-distance / 0.4) * np.outer(gaps, gaps)
    yield "mmce:estimator=u squared", square[off].mean(), PAIRS, said
    yield "mmce:width=0.1", np.sqrt((np.exp(-distance / 0.1) * np.outer(gaps, gaps)).mean()), EXACT, NUMPY


PAIRS = 1e-8  # sums of pairs that nearly cancel, which NumPy adds up in double


def tests(rows):
    score, hit = rows.score, rows.hit
    weight = 1 - 2 * score
    z = np.sum((hit - score) * weight) / np.sqrt(np.sum(weight**2 * score * (1 - score)))
    yield "spiegelhalter", z, EXACT, NUMPY
    yield "spiegelhalter p_value", 2 * scipy.stats.norm.sf(abs(z)), EXACT, "SciPy norm.sf"
    for bins in (10, 20):
        parts = np.array_split(np.argsort(score, kind="stable"), bins)
        total = sum(np.sum(hit[i] - score[i]) ** 2 / np.sum(score[i] * (1 - score[i])) for i in parts)
        original = sum(
            np.sum(hit[i] - score[i]) ** 2 / (len(i) * score[i].mean() * (1 - score[i].mean()))
            for i in parts
        )
        yield f"hosmer-lemeshow:bins={bins},expected=0", total, EXACT, NUMPY
        yield f"hosmer-lemeshow:bins={bins},expected=0,variance=mean", original, NEAR_ONE, NUMPY
        if total < 500:
            p = scipy.stats.chi2.sf(total, bins)
            yield f"hosmer-lemeshow:bins={bins},expected=0 p_value", p, EXACT, "SciPy chi2.sf"
    if score.max() < 1:  # else the logit of a score is infinite
        yield from cox(score, hit)


def cox(score, hit):
    odds = np.log(score) - np.log1p(-score)
    design = statsmodels.api.add_constant(odds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = statsmodels.api.Logit(hit, design).fit(method="newton", disp=0, tol=1e-14, maxiter=200)
    before = np.sum(hit * np.log(score) + (1 - hit) * np.log1p(-score))
    ratio = 2 * (fitted.llf - before)
    yield "cox", ratio, COX, "statsmodels Logit"
    yield "cox slope", fitted.params[1], COX, "statsmodels Logit"
    yield "cox intercept", fitted.params[0], COX, "statsmodels Logit"
    yield "cox p_value", scipy.stats.chi2.sf(ratio, 2), COX_TAIL, "statsmodels Logit, SciPy chi2.sf"


NEAR_ONE = 1e-8  # 1 - m of a mean m next to 1 loses digits in NumPy
COX = 1e-8  # 1 - p of confident scores has lost digits before statsmodels sees it
COX_TAIL = 1e-6  # a tail at 2 x: an error of x in the ratio is multiplied by about half of it


def expected(rows):
    """ece-expected: means of |normal| by SciPy."""
    edges = np.arange(16) / 15
    count, gap = binned(rows.score, rows.hit, edges)
    place = np.clip(np.ceil(rows.score * 15).astype(int) - 1, 0, 14)
    inside = [place == b for b in range(15) if (place == b).any()]
    spread = np.array([rows.score[i].var() + rows.hit[i].mean() * (1 - rows.hit[i].mean()) for i in inside])
    deviation = np.sqrt(spread / count)
    sure = deviation == 0  # a bin of one row
    mean = scipy.stats.foldnorm.mean(abs(gap) / np.where(sure, 1, deviation), scale=deviation)
    mean = np.where(sure, abs(gap), mean)
    yield "ece-expected", count @ mean / len(rows.hit), EXACT, "SciPy foldnorm"
    null = deviation * scipy.stats.halfnorm.mean()
    yield "ece-expected null", count @ null / len(rows.hit), EXACT, "SciPy halfnorm"


def corp(rows):
    """Parts of the Brier score by isotonic regression (Dimitriadis, Gneiting and Jordan 2021)."""
    score, hit = rows.score, rows.hit
    fitted = sklearn.isotonic.IsotonicRegression().fit(score, hit).predict(score)
    base = np.mean((hit.mean() - hit) ** 2)
    risk, best = np.mean((score - hit) ** 2), np.mean((fitted - hit) ** 2)
    said = "scikit-learn IsotonicRegression"
    yield "decomposition:by=corp calibration", risk - best, EXACT, said
    yield "decomposition:by=corp sharpness", base - best, EXACT, said
    yield "decomposition:by=corp entropy", base, EXACT, said


FAMILIES = (
    scores, verified, netcal_errors, torchmetrics_errors, scipy_errors, adaptive_errors, curves,
    smooth, kernels, tests, expected, corp,
)


def values(rows):
    for family in FAMILIES:
        yield from family(rows)
