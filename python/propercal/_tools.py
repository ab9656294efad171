"""Simulation, inspection, and what exists."""

import json
import os
from collections.abc import Mapping
from typing import Any, Iterable, NamedTuple

import numpy as np

from . import _core, _registry
from ._errors import UsageError, file_name
from ._figures import Figure
from ._inputs import open_source
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
    mean: Any = None,
    variance: Any = None,
    std: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    samples: Any = None,
    target: Any = None,
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
        "mean": mean,
        "variance": variance,
        "std": std,
        "quantiles": quantiles,
        "levels": levels,
        "samples": samples,
        "target": target,
        "weights": weights,
        "groups": groups,
        "data": data,
    }
    heading = 0 if header is None else 1 if header else 2
    told = []
    with settings(threads, None, progress) as how:
        for form in (TEXT, JSON):
            if file is not None:
                told.append(_core.inspect_file(file_name(file), heading, form, how))
            else:
                source = open_source(arguments, how, classes, header=header)
                told.append(_core.inspect(source, form))
    return Inspection(told[0][0], told[1][0], told[0][1])


def plot(
    figure: str = "reliability",
    result: "Result | None" = None,
    *,
    probs: Any = None,
    labels: Any = None,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    mean: Any = None,
    variance: Any = None,
    std: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    samples: Any = None,
    target: Any = None,
    weights: Any = None,
    data: Any = None,
    models: "Mapping[str, Any] | None" = None,
    kind: str = "probs",
    val_probs: Any = None,
    val_labels: Any = None,
    val_logits: Any = None,
    val_log_probs: Any = None,
    val_confidence: Any = None,
    val_correct: Any = None,
    val_mean: Any = None,
    val_variance: Any = None,
    val_std: Any = None,
    val_quantiles: Any = None,
    val_samples: Any = None,
    val_target: Any = None,
    val_weights: Any = None,
    val_data: Any = None,
    calibrator: Any = None,
    interval: "float | None" = 0.95,
    replicas: int = 1000,
    theme: str = "auto",
    title: "str | None" = None,
    width: float = 0,
    height: float = 0,
    classes: "Iterable[str] | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    progress: Any = None,
    header: "bool | None" = None,
    ax: Any = None,
) -> Any:
    """Draws a figure.

    Parameters
    ----------
    figure : its name, with options as ``"ks-graph:rank=2"``; ``list_figures()`` shows them all
    result : what ``measure`` gave, for figures that need no more; without it, the data as for
        ``measure``
    models : several models of one ``kind`` for figures that draw them in their order, such as
        ``plot("range-bounds", models={"epoch10": p, "epoch20": q}, labels=y)``; all share the
        labels, or a model is a dictionary such as ``{"logits": z, "labels": y}``
    kind : what the scores of ``models`` are: ``"probs"``, ``"logits"``, ...
    val_probs, ... : a second set, for figures that show one
    calibrator : a fitted one; the figure shows the scores after it
    interval : level of what shows how sure a value is, or None
    replicas : how often rows are drawn anew for that
    theme : ``"light"``, ``"dark"`` or ``"auto"``: what the page asks for
    title : instead of the figure's own
    width, height : in pixels of the usual size; 0 is the figure's own
    ax : draw with Matplotlib on this Axes (the main panel), or on a sequence of them

    Returns
    -------
    Figure, or the Axes when ``ax`` is given
    """
    given = {
        "probs": probs,
        "labels": labels,
        "logits": logits,
        "log_probs": log_probs,
        "confidence": confidence,
        "correct": correct,
        "mean": mean,
        "variance": variance,
        "std": std,
        "quantiles": quantiles,
        "levels": levels,
        "samples": samples,
        "target": target,
        "weights": weights,
        "data": data,
    }
    second = {
        "probs": val_probs,
        "labels": val_labels,
        "logits": val_logits,
        "log_probs": val_log_probs,
        "confidence": val_confidence,
        "correct": val_correct,
        "mean": val_mean,
        "variance": val_variance,
        "std": val_std,
        "quantiles": val_quantiles,
        "levels": levels if val_quantiles is not None else None,
        "samples": val_samples,
        "target": val_target,
        "weights": val_weights,
        "data": val_data,
    }
    if result is not None:
        if any(value is not None for value in (*given.values(), *second.values(), calibrator, models)):
            raise UsageError("a result and data are both given; give one of them")
        drawn = result.figure(figure)
        return drawn if ax is None else drawn.draw(ax)
    named: "dict[str | None, dict[str, Any]]" = {None: given}
    if models is not None:
        scores = ("probs", "logits", "log_probs", "confidence", "mean", "quantiles", "samples", "data")
        if any(given[key] is not None for key in scores):
            raise UsageError("predictions are given as models and by themselves; give one of them")
        shared = {key: given[key] for key in ("labels", "correct", "target", "weights", "levels")}
        named = {
            str(name): {**shared, **(value if isinstance(value, Mapping) else {kind: value})}
            for name, value in models.items()
        }
    with settings(threads, None, progress, seed) as how:
        sources = tuple(
            (name, open_source(inputs, how, classes, header=header), None)
            for name, inputs in named.items()
        )
        other = None
        if any(value is not None for value in second.values()):
            other = open_source(second, how, classes, header=header)
        svg, content = _core.draw(
            sources,
            figure,
            other,
            None if calibrator is None else calibrator._require(),
            bool(normalize),
            bool(skip_missing),
            float(interval or 0),
            int(replicas),
            float(width),
            float(height),
            title,
            theme,
        )
    drawn = Figure(figure.split(":")[0], svg, lambda: content)
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


def list_studies() -> "list[_registry.Row]":
    """The experiments that ``study`` can run."""
    return _registry.rows("studies")


def list_figures() -> "list[_registry.Row]":
    """The figures."""
    return _registry.rows("figures")
