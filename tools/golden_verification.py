"""Golden values of the verification of forecasts: events from predictions of a number, parts of the CRPS.

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


def crps_parts(rows):
    """Hersbach's decomposition, with the ends of the real line as further samples."""
    target, members = rows.target[:, None], np.sort(rows.samples, axis=1)
    count = members.shape[1]
    pairs = abs(members[:, :, None] - members[:, None, :]).mean(axis=(1, 2))
    score = np.mean(abs(members - target).mean(axis=1) - pairs / 2)
    yield "crps-decomposition", score, EXACT, "NumPy, mean |x - y| - mean |x - x'| / 2"
    uncertainty = abs(target - target.T).mean() / 2
    yield "crps-decomposition uncertainty", uncertainty, EXACT, "NumPy, mean |y - y'| / 2"
    padded = np.hstack([np.minimum(members[:, :1], target), members, np.maximum(members[:, -1:], target)])
    below = (np.clip(target, padded[:, :-1], padded[:, 1:]) - padded[:, :-1]).mean(axis=0)
    above = (padded[:, 1:] - np.clip(target, padded[:, :-1], padded[:, 1:])).mean(axis=0)
    level = np.arange(count + 1) / count
    frequency = above / (below + above)
    frequency[0], frequency[-1] = np.mean(target < members[:, :1]), np.mean(target <= members[:, -1:])
    width = below + above
    width[0], width[-1] = above[0] / frequency[0], below[-1] / (1 - frequency[-1])
    source = "NumPy, Hersbach 2000 equations 25 to 39"
    yield "crps-decomposition reliability", width @ (frequency - level) ** 2, EXACT, source
    yield "crps-decomposition resolution", uncertainty - width @ (frequency * (1 - frequency)), EXACT, source


def values(rows, levels):
    yield "samples", crps_parts(rows)
    yield "normal-event", normal(rows)
    yield "samples-event", samples(rows)
    yield "quantiles-event", quantiles(rows, levels)
