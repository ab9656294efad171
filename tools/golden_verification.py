"""Golden values of the verification of forecasts: events from predictions of a number.

Every value follows from the definition, by NumPy and SciPy; see golden_classes.py.
"""

import numpy as np
import scipy.stats

EXACT = 1e-9
LIMIT = 1.0  # of the event "> 1"


def scores(probs, occurred, source):
    """Scores of the probability of an event."""
    yield "brier:half=yes", np.mean((probs - occurred) ** 2), EXACT, source
    above, below = probs[occurred == 1][:, None], probs[occurred == 0][None, :]
    yield "auc", np.mean((above > below) + 0.5 * (above == below)), EXACT, source
    yield "oe-ratio", occurred.sum() / probs.sum(), EXACT, source


def normal(rows):
    probs = scipy.stats.norm.sf(LIMIT, rows.mean, rows.std)
    yield from scores(probs, rows.target > LIMIT, "SciPy norm.sf, then NumPy")


def samples(rows):
    probs = np.mean(rows.samples > LIMIT, axis=1)
    yield from scores(probs, rows.target > LIMIT, "NumPy, share of the samples")


def quantiles(rows, levels):
    """The levels at the quantiles joined by lines; half of the lowest below, the middle to 1 above."""
    below = [
        np.interp(LIMIT, row, levels, left=levels[0] / 2, right=(levels[-1] + 1) / 2) for row in rows.quantiles
    ]
    yield from scores(1 - np.array(below), rows.target > LIMIT, "NumPy interp")


def values(rows, levels):
    yield "normal-event", normal(rows)
    yield "samples-event", samples(rows)
    yield "quantiles-event", quantiles(rows, levels)
