"""Golden values of prior-shift and of measuring under another prevalence, from the formulas.

Every function takes the rows to fit on and the rows to apply to, as in golden_fits.py.
"""

import numpy as np
import scipy.optimize

EXACT = 1e-9
NUMPY = "NumPy, from the formula: no package has it"
CELLS = (0, 1, 5, 17, 100, 333, 700)


def shifted(probs, ratio):
    weighed = probs * ratio
    return weighed / weighed.sum(axis=1, keepdims=True)


def outputs(probs, source):
    for row in CELLS:
        yield f"output {row} {row % 2}", probs[row, row % 2], EXACT, source


def given(fit, other):
    """Bayes' rule from the shares of the labels to 10 %."""
    old = np.bincount(fit.labels, minlength=2) / len(fit.labels)
    yield "parameter old.1", old[1], EXACT, NUMPY
    yield from outputs(shifted(other.matrix, np.array([0.9, 0.1]) / old), NUMPY)


def estimated(fit, other):
    """The prevalence of the largest likelihood, where EM of Saerens et al. ends."""
    first, second = fit.matrix[:, 0] / 0.7, fit.matrix[:, 1] / 0.3

    def slope(share):
        return np.mean((second - first) / ((1 - share) * first + share * second))

    share = scipy.optimize.brentq(slope, 1e-9, 1 - 1e-9, xtol=1e-14)
    source = "SciPy brentq on the derivative of the likelihood"
    yield "parameter new.1", share, 1e-7, source
    probs = shifted(other.matrix, np.array([(1 - share) / 0.7, share / 0.3]))
    for row in CELLS:
        yield f"output {row} {row % 2}", probs[row, row % 2], 1e-7, source


def as_if(rows):
    """Scores when class 1 has a prevalence of 0.1."""
    share = np.bincount(rows.labels, minlength=2) / len(rows.labels)
    weights = (np.array([0.9, 0.1]) / share)[rows.labels]
    truth = np.eye(2)[rows.labels]
    loss = ((rows.matrix - truth) ** 2).sum(axis=1)
    yield "brier", np.average(loss, weights=weights), EXACT, NUMPY
    right = rows.matrix.argmax(axis=1) == rows.labels
    yield "accuracy", np.average(right, weights=weights), EXACT, NUMPY
    yield "log", -np.average(np.log(rows.matrix[np.arange(len(truth)), rows.labels]), weights=weights), EXACT, NUMPY


def values(load):
    fit, other = load("two", "fit"), load("two", "measure")
    yield "two", "prior-shift:prevalence=0.1", given(fit, other)
    yield "unlabelled", "prior-shift:from=0.3", estimated(fit, other)
    yield "rare", "", as_if(other)
