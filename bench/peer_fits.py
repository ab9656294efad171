"""Other people's calibrators: the peers of our fits.  bench/peers.py times them.

A peer takes the data and gives its numbers; one that times itself gives its seconds, too.
"""

import time

import numpy as np
import scipy.optimize
import scipy.special
import torch

# ---- Temperature --------------------------------------------------------------------------


def temperature_lbfgs(data, rate=1.0, steps=100, search="strong_wolfe", start=1.0):
    logits, labels = data.logits(), data.targets()
    temperature = torch.nn.Parameter(torch.tensor([start]))
    optimizer = torch.optim.LBFGS(
        [temperature], lr=rate, max_iter=steps, line_search_fn=search
    )

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits / temperature, labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    evaluations = optimizer.state[temperature]["func_evals"]
    return {"T": temperature.item(), "evaluations": evaluations}


def temperature_classic(data):
    """The script that goes with Guo et al. 2017: start 1.5, rate 0.01, 50 iterations."""
    return temperature_lbfgs(data, rate=0.01, steps=50, search=None, start=1.5)


def temperature_scipy(data):
    """minimize_scalar on scikit-learn's log_loss."""
    from sklearn.metrics import log_loss

    classes = np.arange(data.scores.shape[1])
    count = 0

    def loss(temperature):
        nonlocal count
        count += 1
        probs = scipy.special.softmax(data.scores / np.float32(temperature), axis=1)
        return log_loss(data.labels, probs, labels=classes)

    found = scipy.optimize.minimize_scalar(loss, bounds=(0.05, 20.0), method="bounded")
    return {"T": float(found.x), "evaluations": count}


def temperature_sklearn(data):
    """What CalibratedClassifierCV(method="temperature") calls on each fold."""
    from sklearn.calibration import _TemperatureScaling

    fitted = _TemperatureScaling().fit(data.scores, data.labels)
    return {"T": 1.0 / float(fitted.beta_)}


def linear_torch(logits, labels, weights, shift, apply, penalty):
    """L-BFGS with strong Wolfe line search, as a script would call it, until it stops."""
    optimizer = torch.optim.LBFGS(
        [weights, shift], max_iter=1000, max_eval=2000, tolerance_grad=1e-7,
        tolerance_change=1e-9, history_size=20, line_search_fn="strong_wolfe"
    )

    def objective():
        scores = apply(logits, weights) + shift
        return torch.nn.functional.cross_entropy(scores, labels) + penalty()

    def closure():
        optimizer.zero_grad()
        loss = objective()
        loss.backward()
        return loss

    optimizer.step(closure)
    evaluations = optimizer.state[weights]["func_evals"]
    with torch.no_grad():
        return {"objective": objective().item(), "evaluations": evaluations}


def vector_torch(data, width=torch.float32):
    logits, classes = data.logits().to(width), data.scores.shape[1]
    weights = torch.nn.Parameter(torch.ones(classes, dtype=width))
    shift = torch.nn.Parameter(torch.zeros(classes, dtype=width))
    return linear_torch(
        logits, data.targets(), weights, shift, lambda z, w: z * w, lambda: 0.0
    )


def vector_double(data):
    return vector_torch(data, torch.float64)


def vector_scipy(data):
    """L-BFGS-B in NumPy, with the gradient written out."""
    scores, labels = data.once("doubles", lambda: data.scores.astype(np.float64)), data.labels
    rows, classes = scores.shape
    index = np.arange(rows)

    def objective(at):
        logs = scipy.special.log_softmax(scores * at[:classes] + at[classes:], axis=1)
        rest = np.exp(logs)
        rest[index, labels] -= 1.0
        gradient = np.concatenate([(rest * scores).mean(0), rest.mean(0)])
        return -logs[index, labels].mean(), gradient

    start = np.concatenate([np.ones(classes), np.zeros(classes)])
    limits = {"maxiter": 1000, "maxfun": 2000, "gtol": 1e-8, "ftol": 1e-15}
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", options=limits
    )
    return {"objective": float(found.fun), "evaluations": found.nfev}


def dirichlet_torch(data, width=torch.float32):
    """The objective of Kull et al. 2019 with lambda = mu = 0.001."""
    logs = torch.log_softmax(data.logits().to(width), dim=1)
    classes = logs.shape[1]
    weights = torch.nn.Parameter(torch.eye(classes, dtype=width))
    shift = torch.nn.Parameter(torch.zeros(classes, dtype=width))
    off = 1.0 - torch.eye(classes, dtype=width)

    def penalty():
        return 0.001 * ((weights * off) ** 2).sum() + 0.001 * (shift**2).sum()

    return linear_torch(
        logs, data.targets(), weights, shift, lambda z, w: z @ w.T, penalty
    )


def dirichlet_double(data):
    return dirichlet_torch(data, torch.float64)


# ---- Calibrators of one score -------------------------------------------------------------

COMPARED = 50_000  # rows whose calibrated scores are compared


def told(calibrated):
    calibrated = np.asarray(calibrated, dtype=np.float64)
    return {"mean": calibrated.mean(), "square": (calibrated**2).mean()}


def isotonic_sklearn(data):
    from sklearn.isotonic import IsotonicRegression

    scores = data.scores.ravel()
    start = time.perf_counter()
    found = IsotonicRegression(out_of_bounds="clip").fit(scores, data.labels)
    seconds = time.perf_counter() - start
    return told(found.predict(scores[:COMPARED])), seconds


def natural_basis(places, knots):
    """Values and slopes at places of natural cubic splines that are 1 at one knot, 0 at others."""
    h = knots[1] - knots[0]
    count = len(knots)
    second = np.zeros((count, count))  # from values at knots to second derivatives there
    inner = np.zeros((count - 2, count))
    for i in range(count - 2):
        inner[i, i : i + 3] = 1.0, -2.0, 1.0
    bend = 4.0 * np.eye(count - 2) + np.eye(count - 2, k=1) + np.eye(count - 2, k=-1)
    second[1:-1] = np.linalg.solve(bend, 6.0 * inner / h**2)
    left = np.clip(np.searchsorted(knots, places, side="right") - 1, 0, count - 2)
    a = ((knots[left + 1] - places) / h)[:, None]
    b = 1.0 - a
    unit = np.eye(count)
    value = (a * unit[left] + b * unit[left + 1]
             + ((a**3 - a) * second[left] + (b**3 - b) * second[left + 1]) * h**2 / 6.0)
    slope = ((unit[left + 1] - unit[left]) / h
             + ((1.0 - 3.0 * a**2) * second[left] + (3.0 * b**2 - 1.0) * second[left + 1]) * h / 6.0)
    return value, slope


def spline_numpy(data):
    """A natural cubic spline with 6 knots through the cumulated errors at distinct scores."""
    scores = data.scores.ravel().astype(np.float64)
    start = time.perf_counter()
    order = np.argsort(scores)
    ordered, rows = scores[order], len(scores)
    errors = np.cumsum(data.labels[order] - ordered) / rows
    distinct, first, count = np.unique(ordered, return_index=True, return_counts=True)
    last = first + count - 1
    knots = np.linspace(0.0, 1.0, 6)
    value, _ = natural_basis(last / (rows - 1), knots)
    share = np.sqrt(count)
    heights = np.linalg.lstsq(value * share[:, None], errors[last] * share, rcond=None)[0]
    _, slope = natural_basis(np.arange(rows) / (rows - 1), knots)
    steps = np.add.reduceat(slope @ heights, first) / count
    mapped = np.clip(distinct + steps, 0.0, 1.0)
    seconds = time.perf_counter() - start
    return told(np.interp(scores[:COMPARED], distinct, mapped)), seconds


def venn_abers_package(data):
    from venn_abers import VennAbers

    scores = data.scores.ravel().astype(np.float64)
    both = np.column_stack([1.0 - scores, scores])
    start = time.perf_counter()
    found = VennAbers()
    found.fit(both, data.labels)
    merged, _ = found.predict_proba(both)
    seconds = time.perf_counter() - start
    return told(merged[:, 1]), seconds


def apply_torch(data):
    probs = torch.softmax(data.logits() / 2.0, dim=1)
    return {"first": probs[:, 0].double().mean().item()}
