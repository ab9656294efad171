"""Other people's packages, timed in one process; bench/run.py talks to it.

    .venv-bench/bin/python bench/peers.py FOLDER

A request is a line OPERATION DATA PEER THREADS, its answer a line of JSON with the seconds of
one execution, the numbers it gave and the memory it took beyond the data.  Loading and
converting data is not timed.  Each peer is written as its users would write it, from the
package's own functions where it has them; "tuned" ones take more care.
"""

import importlib.metadata
import json
import os
import pathlib
import sys
import time
import warnings

import numpy as np
import scipy.special
import torch
from peer_fits import (
    apply_torch,
    dirichlet_double,
    dirichlet_torch,
    isotonic_sklearn,
    spline_numpy,
    temperature_classic,
    temperature_lbfgs,
    temperature_scipy,
    temperature_sklearn,
    vector_double,
    vector_scipy,
    vector_torch,
    venn_abers_package,
)

BINS = 15
warnings.filterwarnings("ignore")


class Data:
    """A data set in the forms that peers want; only the last one is kept."""

    def __init__(self, folder, name):
        self.scores = np.load(folder / f"{name}-scores.npy")
        self.labels = np.load(folder / f"{name}-labels.npy").astype(np.int64)
        self.made = {}

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def logits(self):
        return torch.from_numpy(self.scores)

    def targets(self):
        return torch.from_numpy(self.labels)

    def probs(self):
        return self.once("probs", lambda: torch.softmax(self.logits(), 1))


# ---- The additive set ---------------------------------------------------------------------


def additive_torch(data):
    """With one_hot and a loop over bins, as in the code that goes with Guo et al. 2017."""
    logits, labels = data.logits(), data.targets()
    probs = torch.softmax(logits, dim=1)
    confidence, predicted = torch.max(probs, 1)
    hits = predicted.eq(labels)
    one_hot = torch.nn.functional.one_hot(labels, probs.shape[1])
    edges = torch.linspace(0, 1, BINS + 1)
    ece = torch.zeros(1)
    for low, high in zip(edges[:-1], edges[1:]):
        inside = confidence.gt(low) & confidence.le(high)
        share = inside.float().mean()
        if share > 0:
            gap = confidence[inside].mean() - hits[inside].float().mean()
            ece += torch.abs(gap) * share
    return {
        "accuracy": hits.float().mean().item(),
        "brier": ((probs - one_hot) ** 2).sum(1).mean().item(),
        "log": torch.nn.functional.cross_entropy(logits, labels).item(),
        "ece": ece.item(),
    }


def additive_tuned(data):
    """One log-softmax, no one_hot, bins by counting, sums in double."""
    logits, labels = data.logits(), data.targets()
    log_probs = torch.log_softmax(logits, dim=1)
    own = log_probs.gather(1, labels[:, None])[:, 0].double()
    probs = log_probs.exp_()
    confidence, predicted = torch.max(probs, 1)
    confidence = confidence.double()
    hits = predicted.eq(labels).double()
    square = torch.linalg.vector_norm(probs, dim=1).double() ** 2
    bins = (torch.ceil(confidence * BINS).long() - 1).clamp_(0, BINS - 1)
    gaps = torch.bincount(bins, weights=confidence - hits, minlength=BINS)
    return {
        "accuracy": hits.mean().item(),
        "brier": (square - 2 * own.exp() + 1).mean().item(),
        "log": -own.mean().item(),
        "ece": gaps.abs().sum().item() / len(labels),
    }


def additive_torchmetrics(data):
    from torchmetrics.functional.classification import (
        binary_calibration_error,
        multiclass_calibration_error,
    )

    if data.scores.ndim == 1:
        value = binary_calibration_error(data.logits(), data.targets(), n_bins=BINS)
    else:
        value = multiclass_calibration_error(
            data.logits(), data.targets(), num_classes=data.scores.shape[1], n_bins=BINS
        )
    return {"ece": value.item()}


def additive_netcal(data):
    from netcal.metrics import ECE

    probs = data.once("numpy probs", lambda: data.probs().numpy())
    return {"ece": float(ECE(BINS).measure(probs, data.labels))}


# ---- ECE as the Python package gives it -----------------------------------------------------


def probs_torchmetrics(data):
    from torchmetrics.functional.classification import multiclass_calibration_error

    classes = data.scores.shape[1]
    value = multiclass_calibration_error(
        data.probs(), data.targets(), num_classes=classes, n_bins=BINS
    )
    return {"ece": value.item()}


def logits_netcal(data):
    from netcal.metrics import ECE

    probs = torch.softmax(data.logits(), 1).numpy()
    return {"ece": float(ECE(BINS).measure(probs, data.labels))}


# ---- Sorted views -------------------------------------------------------------------------


def curve_numpy(data):
    scores, labels = data.scores, data.labels
    order = np.argsort(scores)
    gaps = scores[order].astype(np.float64) - labels[order]
    ks = np.abs(np.cumsum(gaps)).max() / len(scores)
    mass = sum(abs(part.sum()) for part in np.array_split(gaps, BINS)) / len(scores)
    return {"ks": float(ks), "mass": float(mass)}


def curve_float32(data):
    """As published by Gupta et al.: the cumulated sums are float32."""
    scores, labels = data.scores, data.labels.astype(np.float32)
    order = np.argsort(scores)
    total = np.float32(len(scores))
    claimed = np.cumsum(scores[order] / total)
    true = np.cumsum(labels[order] / total)
    return {"ks": float(np.abs(claimed - true).max())}


def curve_sklearn(data):
    from sklearn.calibration import calibration_curve

    true, claimed = calibration_curve(
        data.labels, data.scores, n_bins=BINS, strategy="quantile"
    )
    return {"mass": float(np.abs(true - claimed).mean())}


def sort_numpy(data):
    keys = data.scores.astype(np.float64)

    def run():
        keys.sort()

    seconds = timed(run)
    return {"low": keys[0], "middle": keys[len(keys) // 2], "high": keys[-1]}, seconds


# ---- Binned errors ------------------------------------------------------------------------


def gce_slice(scores, hits, threshold, adaptive, square):
    """The error of one slice: a loop over bins, edges as Nixon et al. place them."""
    kept = scores > threshold if threshold > 0 else slice(None)
    scores, hits = scores[kept], hits[kept]
    count = len(scores)
    if count == 0:
        return 0.0
    if adaptive:
        places = np.round(np.linspace(0, count, BINS, endpoint=False)).astype(int)
        edges = np.sort(scores)[np.minimum(places, count - 1)][1:]
    else:
        edges = np.linspace(0, 1, BINS + 1)[1:]
    bins = np.digitize(scores, edges)
    total = 0.0
    for b in range(len(edges) + 1):
        inside = bins == b
        if inside.any():
            gap = scores[inside].mean() - hits[inside].mean()
            total += inside.sum() / count * (gap * gap if square else abs(gap))
    return total


def gce_variant(probs, labels, bits):
    adaptive, every, pooled, cut, square = (bits >> place & 1 for place in (4, 3, 2, 1, 0))
    threshold = 0.01 if cut else 0.0
    classes = probs.shape[1]
    predicted = probs.argmax(1)
    slices = []
    if every and pooled:
        one_hot = labels[:, None] == np.arange(classes)
        slices.append((probs.ravel(), one_hot.ravel()))
    elif pooled:
        slices.append((probs.max(1), predicted == labels))
    for k in range(0 if pooled else classes):
        rows = slice(None) if every else predicted == k
        slices.append((probs[rows, k], labels[rows] == k))
    errors = [gce_slice(*one, threshold, adaptive, square) for one in slices]
    return np.sqrt(np.mean(errors)) if square else np.mean(errors)


def gce32_numpy(data):
    """Plain NumPy in double, from logits: the variants one after the other."""
    probs = scipy.special.softmax(data.scores.astype(np.float64), axis=1)
    values = [gce_variant(probs, data.labels, bits) for bits in range(32)]
    return {f"v{bits}": values[bits] for bits in (0, 9, 15, 18, 25, 30)}


# ---- Studies ------------------------------------------------------------------------------

SUBSETS = 20  # of each size but the last


def size_bins(scores, hits, edges):
    """Rows, confidence and accuracy of each bin that has rows: a loop over bins."""
    bins = np.searchsorted(edges, scores)
    for b in range(len(edges) + 1):
        inside = bins == b
        if inside.any():
            yield inside.sum(), scores[inside].mean(), hits[inside].mean()


def size_bincount(scores, hits, edges):
    """The same without a loop."""
    bins = np.searchsorted(edges, scores)
    counts = np.bincount(bins, minlength=len(edges) + 1)
    kept = counts > 0
    confidence = np.bincount(bins, scores, len(edges) + 1)[kept] / counts[kept]
    accuracy = np.bincount(bins, hits, len(edges) + 1)[kept] / counts[kept]
    return zip(counts[kept], confidence, accuracy)


def size_edges(bins):
    return np.arange(1, bins) / bins


def size_mass_edges(scores):
    parts = np.array_split(np.sort(scores), BINS)
    return np.unique([(a[-1] + b[0]) / 2 for a, b in zip(parts, parts[1:])])


def size_metrics(probs, labels, binned):
    """The estimators that Gruber & Buettner compare, without kernels."""
    count, classes = probs.shape
    top = probs.max(1)
    hits = probs.argmax(1) == labels
    one_hot = np.eye(classes)[labels]

    def squares(scores, came_true, bins):
        return sum(n / count * (c - a) ** 2 for n, c, a in binned(scores, came_true, size_edges(bins)))

    debiased = sum(
        n / count * ((c - a) ** 2 - a * (1 - a) / (n - 1))
        for n, c, a in binned(top, hits, size_mass_edges(top))
        if n > 1
    )
    order = np.argsort(top)
    gaps = np.abs(np.cumsum((top - hits)[order])) / count
    last = np.append(np.diff(top[order]) > 0, True)  # of equal scores
    return {
        "cwce": np.sqrt(sum(squares(probs[:, k], one_hot[:, k], BINS) for k in range(classes))),
        "cwce100": np.sqrt(sum(squares(probs[:, k], one_hot[:, k], 100) for k in range(classes))),
        "ece": sum(n / count * abs(c - a) for n, c, a in binned(top, hits, size_edges(BINS))),
        "tce100": np.sqrt(squares(top, hits, 100)),
        "tce_debiased": np.sqrt(max(debiased, 0.0)),
        "ks": gaps[last].max(),
        "rbs": np.sqrt(((probs - one_hot) ** 2).sum(1).mean()),
    }


def size_study(rows, measure):
    """Means over subsets; of all rows the values."""
    random = np.random.default_rng(0)
    sizes = np.rint(100 * (rows / 100) ** (np.arange(10) / 9)).astype(int)
    for size in sizes[:-1]:
        drawn = [measure(random.choice(rows, size, replace=False)) for _ in range(SUBSETS)]
        _ = {name: np.mean([values[name] for values in drawn]) for name in drawn[0]}
    return [measure(np.arange(rows)) for _ in range(2)][-1]


def size_study_numpy(data):
    def measure(rows):
        probs = scipy.special.softmax(data.scores[rows].astype(np.float64), axis=1)
        return size_metrics(probs, data.labels[rows], size_bins)

    return size_study(len(data.labels), measure)


def size_study_tuned(data):
    probs = scipy.special.softmax(data.scores.astype(np.float64), axis=1)
    return size_study(
        len(probs), lambda rows: size_metrics(probs[rows], data.labels[rows], size_bincount)
    )


# ---- Smooth estimators --------------------------------------------------------------------


def smece_relplot(data):
    import relplot

    labels = data.once("float labels", lambda: data.labels.astype(np.float64))
    return {"smece": float(relplot.smECE(data.scores, labels))}


def mmce_netcal(data):
    from netcal.metrics import MMCE

    probs = data.once("numpy probs", lambda: data.probs().numpy())
    return {"mmce": float(MMCE().measure(probs, data.labels))}


# ---- Pairs --------------------------------------------------------------------------------


def skce_torch(data):
    probs = torch.softmax(data.logits(), dim=1)
    gap = torch.nn.functional.one_hot(data.targets(), probs.shape[1]) - probs
    pairs = torch.exp(-torch.cdist(probs, probs)) * (gap @ gap.T)
    count = len(probs)
    total = pairs.sum(dtype=torch.float64) - pairs.diagonal().sum(dtype=torch.float64)
    return {"skce": total.item() / (count * (count - 1))}


def log_dirichlets(data, bandwidth):
    """log k(p_i; p_j / h + 1) for all i, j; a row does not see itself."""
    probs = data.probs()
    a = probs / bandwidth + 1
    log_beta = torch.lgamma(a).sum(1) - torch.lgamma(a.sum(1))
    logs = torch.log(probs) @ (a - 1).T - log_beta
    return logs.fill_diagonal_(-float("inf"))


def ce_kde_torch(data, bandwidth=0.01):
    """Popordanoska et al. 2022, canonical, p = 1: all pairs at once, in the log domain."""
    probs, labels = data.probs(), data.targets()
    logs = log_dirichlets(data, bandwidth)
    weights = torch.exp(logs - torch.logsumexp(logs, dim=1, keepdim=True))
    near = weights @ torch.nn.functional.one_hot(labels, probs.shape[1]).to(weights.dtype)
    return {"ce-kde": (near - probs).abs().sum(1).mean().item()}


def ce_kde_tuned(data, bandwidth=0.01):
    """The same with one fused softmax."""
    probs, labels = data.probs(), data.targets()
    weights = torch.softmax(log_dirichlets(data, bandwidth), dim=1)
    near = weights @ torch.nn.functional.one_hot(labels, probs.shape[1]).to(weights.dtype)
    return {"ce-kde": (near - probs).abs().sum(1).mean().item()}


def ce_kde_search(data):
    """The bandwidth of largest likelihood among the published candidates, then the error."""
    candidates = [*np.logspace(-5, -1, 15), *np.linspace(0.2, 1, 5)]
    likelihoods = [torch.logsumexp(log_dirichlets(data, h), dim=1).double().mean().item()
                   for h in candidates]
    return ce_kde_torch(data, candidates[int(np.argmax(likelihoods))])


PEERS = {
    ("additive", "torch"): additive_torch,
    ("additive", "torch-tuned"): additive_tuned,
    ("additive", "torchmetrics"): additive_torchmetrics,
    ("additive", "netcal"): additive_netcal,
    ("ece-probs", "torchmetrics"): probs_torchmetrics,
    ("ece-probs", "netcal"): additive_netcal,
    ("ece-logits", "torchmetrics"): additive_torchmetrics,
    ("ece-logits", "netcal"): logits_netcal,
    ("curve", "numpy"): curve_numpy,
    ("curve", "numpy-float32"): curve_float32,
    ("curve", "sklearn"): curve_sklearn,
    ("sort", "numpy"): sort_numpy,
    ("gce32", "numpy"): gce32_numpy,
    ("test-size", "numpy"): size_study_numpy,
    ("test-size", "numpy-tuned"): size_study_tuned,
    ("smece", "relplot"): smece_relplot,
    ("mmce", "netcal"): mmce_netcal,
    ("skce", "torch"): skce_torch,
    ("ce-kde", "torch"): ce_kde_torch,
    ("ce-kde", "torch-tuned"): ce_kde_tuned,
    ("ce-kde", "torch-search"): ce_kde_search,
    ("temperature", "lbfgs"): temperature_lbfgs,
    ("temperature", "classic"): temperature_classic,
    ("temperature", "scipy"): temperature_scipy,
    ("temperature", "sklearn"): temperature_sklearn,
    ("vector", "torch"): vector_torch,
    ("vector", "torch-double"): vector_double,
    ("vector", "scipy"): vector_scipy,
    ("dirichlet-odir", "torch"): dirichlet_torch,
    ("dirichlet-odir", "torch-double"): dirichlet_double,
    ("isotonic", "sklearn"): isotonic_sklearn,
    ("spline", "numpy"): spline_numpy,
    ("both:venn-abers", "package"): venn_abers_package,
    ("apply", "torch"): apply_torch,
}


# ---- Requests and answers -----------------------------------------------------------------


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def resident(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak():
    """Lets VmHWM start again from what is resident now; False where that cannot be done."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def answer(data, peer):
    if peer in (additive_netcal, mmce_netcal, probs_torchmetrics):
        data.probs()  # these start from probabilities
    measurable = reset_peak()
    base = resident("VmRSS") if measurable else 0
    start = time.perf_counter()
    values = peer(data)
    seconds = time.perf_counter() - start
    if isinstance(values, tuple):
        values, seconds = values
    peak = resident("VmHWM") - base if measurable else 0
    return {
        "seconds": seconds,
        "anonymous": peak,
        "values": {name: float(value) for name, value in values.items()},
    }


def versions():
    import netcal
    import sklearn
    import torchmetrics

    modules = [torch, np, scipy, sklearn, torchmetrics, netcal]
    names = ["PyTorch", "NumPy", "SciPy", "scikit-learn", "torchmetrics", "netcal"]
    found = {name: module.__version__ for name, module in zip(names, modules)}
    others = {name: importlib.metadata.version(name) for name in ("relplot", "venn-abers")}
    return {**found, **others}


def main():
    folder = pathlib.Path(sys.argv[1])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that no peer prints between the answers
    kept_name, kept = None, None
    for line in sys.stdin:
        operation, name, peer, threads = line.split()[:4]
        try:
            if operation == "versions":
                reply = versions()
            else:
                torch.set_num_threads(int(threads))
                if kept_name != name:
                    kept = None
                    kept_name, kept = name, Data(folder, name)
                reply = answer(kept, PEERS[operation, peer])
        except Exception as failure:  # the driver tells it and goes on
            reply = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
