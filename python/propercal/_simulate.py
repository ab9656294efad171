"""Simulated predictions."""

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._errors import UsageError
from ._settings import settings


class Simulation(NamedTuple):
    """Predictions whose true calibration is known."""

    logits: np.ndarray
    labels: np.ndarray
    truth: "np.ndarray | None"


def simulate(
    rows: int = 10000,
    classes: int = 100,
    *,
    factor: float = 1.0,
    scale: float = 0.01,
    truth: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
) -> Simulation:
    """Draws predictions whose true calibration is known (Gruber & Buettner, G.1).

    Parameters
    ----------
    rows, classes : size of the data
    factor : logits are multiplied by this; 1: calibrated, above 1: over-confident
    scale : s of the inverse-Wishart scale matrix I/s
    truth : also return the true class probabilities
    seed : the same seed gives the same numbers everywhere
    threads, memory_limit, progress : see ``measure``

    Returns
    -------
    Simulation
        ``logits`` (float32), ``labels`` (int32) and ``truth`` (float64, or None)
    """
    if rows < 0 or classes < 0:
        raise UsageError("rows and classes are counts; give 0 or more")
    logits = np.empty((rows, classes), dtype=np.float32)
    labels = np.empty(rows, dtype=np.int32)
    known = np.empty((rows, classes)) if truth else None
    with settings(threads, memory_limit, progress, seed) as how:
        _core.simulate(rows, classes, factor, scale, logits, labels, known, how)
    return Simulation(logits, labels, known)
