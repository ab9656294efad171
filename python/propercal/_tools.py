"""Simulation, inspection, and what exists."""

import json
import os
from typing import Any, Iterable, NamedTuple

import numpy as np

from . import _core, _registry
from ._errors import UsageError
from ._inputs import open_source
from ._measuring import measure
from ._results import JSON, TEXT, Result
from ._running import settings


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
    progress: Any = None,
) -> Simulation:
    """Draws predictions whose true calibration is known (Gruber & Buettner, G.1).

    Parameters
    ----------
    rows, classes : size of the data
    factor : logits are multiplied by this; 1 is calibrated, above 1 over-confident
    scale : s of the inverse-Wishart scale matrix I/s
    truth : also give the true class probabilities
    seed : the same seed gives the same numbers everywhere

    Returns
    -------
    Simulation
        ``logits`` (float32), ``labels`` (int32) and ``truth`` (float64, or None)
    """
    if rows < 0 or classes < 0:
        raise UsageError("rows and classes are numbers of things; give positive ones")
    logits = np.empty((rows, classes), dtype=np.float32)
    labels = np.empty(rows, dtype=np.int32)
    known = np.empty((rows, classes)) if truth else None
    with settings(threads, None, progress, seed) as how:
        _core.simulate(rows, classes, factor, scale, logits, labels, known, how)
    return Simulation(logits, labels, known)


class Inspection:
    """What is in a file or a data set, and what would keep it from being measured: ``problems``
    is the number of such things, and printing it tells all."""

    def __init__(self, text: str, content: str, problems: int) -> None:
        self._text, self._content = text, content
        self.problems = problems

    def to_json(self) -> str:
        """The bytes that ``propercal inspect --json`` prints, as text."""
        return self._content

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._content)

    def __repr__(self) -> str:
        return self._text.rstrip()


def inspect(
    file: "str | os.PathLike[str] | None" = None,
    *,
    probs: Any = None,
    labels: Any = None,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    weights: Any = None,
    groups: Any = None,
    data: Any = None,
    classes: "Iterable[str] | None" = None,
    threads: "int | None" = None,
    progress: Any = None,
    header: "bool | None" = None,
) -> Inspection:
    """Says what is in a file, or in a data set given as to ``measure``, and what is wrong."""
    arguments = {
        "probs": probs,
        "labels": labels,
        "logits": logits,
        "log_probs": log_probs,
        "confidence": confidence,
        "correct": correct,
        "weights": weights,
        "groups": groups,
        "data": data,
    }
    heading = 0 if header is None else 1 if header else 2
    told = []
    with settings(threads, None, progress) as how:
        for form in (TEXT, JSON):
            if file is not None:
                told.append(_core.inspect_file(os.fspath(file), heading, form, how))
            else:
                source = open_source(arguments, how, classes, header=header)
                told.append(_core.inspect(source, form))
    return Inspection(told[0][0], told[1][0], told[0][1])


def plot(
    figure: str = "reliability",
    result: "Result | None" = None,
    *,
    ax: Any = None,
    **data: Any,
) -> Any:
    """Draws a figure of measured data.

    Parameters
    ----------
    figure : its name; ``list_figures()`` shows them all
    result : what ``measure`` gave; without it, the arguments of ``measure``
    ax : draw with Matplotlib on this Axes (the main panel), or on a sequence of them

    Returns
    -------
    Figure, or the Axes when ``ax`` is given
    """
    if result is None:
        result = measure(metrics=data.pop("metrics", "ece"), **data)
    elif data:
        raise UsageError("a result and data are both given; give one of them")
    drawn = result.figure(figure)
    return drawn if ax is None else drawn.draw(ax)


# ---- What exists ----


def list_metrics() -> "list[_registry.Row]":
    """The metrics, each with formula, options and source."""
    return _registry.rows("metrics")


def list_groups() -> "list[_registry.Row]":
    """Groups of metrics that ``measure`` knows by one name; ``formula`` names the members."""
    return _registry.rows("groups")


def list_notions() -> "list[_registry.Row]":
    """What it can mean to be calibrated."""
    return _registry.rows("notions")


def list_conventions() -> "list[_registry.Row]":
    """Rules of other packages for who owns a score on a bin edge."""
    return _registry.rows("conventions")


def list_calibrators() -> "list[_registry.Row]":
    """The calibrators, each with formula, options and source."""
    return _registry.rows("calibrators")


def list_figures() -> "list[_registry.Row]":
    """The figures."""
    return _registry.rows("figures")
