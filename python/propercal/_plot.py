"""Figures from data or results."""

from collections.abc import Mapping
from typing import Any

from . import _core
from ._compare import models_of, open_models
from ._errors import UsageError
from ._figures import Figure
from ._inputs import KINDS, Data, gather, is_whole_table, lists_inputs
from ._results import Result
from ._settings import replica_count, settings
from ._tables import is_table_file


@lists_inputs("val", without=("ids", "first_row", "weights_are"))
def plot(
    figure: "str | Data | Result | Any" = "reliability",
    result: "Result | Data | Mapping[str, Any] | str | Any" = None,
    labels: Any = None,
    *,
    models: "Mapping[str, Any] | None" = None,
    kind: str = "probs",
    val: "Data | None" = None,
    calibrator: Any = None,
    interval: "float | None" = 0.95,
    replicas: int = 1000,
    theme: str = "auto",
    title: "str | None" = None,
    width: float = 0,
    height: float = 0,
    label: "str | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    ax: Any = None,
    **inputs: Any,
) -> Any:
    """Draws a figure: ``plot(probs, labels)``, ``plot("ks-graph", probs, labels)``, ``plot("ks-graph", data)`` or
    ``plot(data, "ks-graph")``.

    Parameters
    ----------
    figure : str, default='reliability'
        Name of the figure, with options as ``"ks-graph:rank=2"``; ``list_figures()`` shows them all.
        In its place probabilities, with labels as the second argument, draw the reliability diagram.
    result : Data, Result, mapping or array-like, default=None
        A ``Data``; a ``Result`` of ``measure`` for figures that need no more; several models as
        ``{"old": data, "new": other}``; or labels, or after the name of a figure probabilities.
        Without any, the arguments of ``Data`` by name.
    labels : array-like, default=None
        True classes, after the name of a figure and probabilities.
    models : mapping, default=None
        Several models by name, for ``reliability`` and ``range-bounds``: each a ``Data`` or scores of
        ``kind``, as ``plot("reliability", models={"old": p, "new": q}, labels=y)``; see ``compare``.
    kind : {'probs', 'logits', 'log_probs', 'confidence'}, default='probs'
        What the scores of ``models`` are.
    val : Data, default=None
        A second set, for figures that show one; also by name: ``val_logits``, ``val_labels``, ...
    calibrator : Calibrator, default=None
        A fitted calibrator, applied before drawing.
    interval : float, default=0.95
        Level of the intervals that the figure shows, or None.
    replicas : int, default=1000
        Number of replicas for the intervals.
    theme : {'auto', 'light', 'dark'}, default='auto'
        Colours of the SVG; ``'auto'`` follows the reader's system.
    title : str, default=None
        Title of the figure; None takes its default, ``""`` leaves it out.
    width, height : float, default=0
        Size in pixels; 0 takes the figure's default.
    label : str, default=None
        With ``ax``: draw the points as a line with this name in the legend, in the next colour of the
        Axes, so that several calls put several models on one Axes.
    ax : matplotlib.axes.Axes or sequence of them, default=None
        Draw with Matplotlib on this Axes (the main panel), or on several (all panels), in the colours
        of the style sheet.
    normalize, skip_missing, seed, threads, memory_limit, progress
        See ``measure``.
    **inputs
        Other inputs of ``Data`` by name.

    Returns
    -------
    Figure
        Or the Axes when ``ax`` is given.
    """
    if label is not None and ax is None:
        raise UsageError("label is for Matplotlib; give ax too")
    figure, result, labels = _in_order(figure, result, labels)
    if isinstance(result, Mapping):
        if models is not None:
            raise UsageError("models are given twice; give them once")
        models, result = result, None
    if isinstance(result, Result):
        if calibrator is not None or models is not None or val is not None or labels is not None or any(
            value is not None for value in inputs.values()
        ):
            raise UsageError("a result and data are both given; give one of them")
        drawn = result.figure(str(figure))
        return drawn if ax is None else drawn.draw(ax, label=label)
    first = inputs.pop("probs", None) if result is None else result
    if result is not None and is_whole_table(result, labels, inputs):
        inputs["data"], first = result, inputs.pop("probs", None)
    data, second = gather("plot", first, labels, inputs, val=val)
    given: "dict[str | None, tuple[Data, Data | None]]" = {None: (data, None)}
    if models is not None:
        if any(name in data.inputs for name in (*KINDS, "data")):
            raise UsageError("predictions are given both as models and directly; give one of them")
        given = models_of(_without_results(models), kind, data, None)
    with settings(threads, memory_limit, progress, seed) as how:
        svg, content = _core.draw(
            open_models(given, how),
            figure,
            None if second is None else data._val(second)._open(how),
            None if calibrator is None else calibrator._require(),
            bool(normalize),
            bool(skip_missing),
            float(interval or 0),
            replica_count(replicas),
            float(width),
            float(height),
            title,
            theme,
        )
    drawn = Figure(str(figure).split(":")[0], svg, lambda: content)
    if models is not None and ax is not None and not hasattr(ax, "__len__"):
        _check_one_panel(drawn.data, len(models))
    return drawn if ax is None else drawn.draw(ax, label=label)


def _check_one_panel(data: dict, models: int) -> None:
    """Refuses to draw the first of several models alone."""
    panels = sum(bool(panel.get("title")) for panel in data["panels"])
    if panels > 1:
        raise UsageError(
            f"these {models} models are drawn in {panels} panels; give as many Axes, leave ax out, or draw "
            "each model with ax=ax and label=its name"
        )


def _in_order(figure: Any, result: Any, labels: Any) -> "tuple[Any, Any, Any]":
    """The name of a figure, its data and labels; the first two may stand in either order or without a name."""
    if isinstance(figure, (Data, Result, Mapping)):
        return ("reliability" if result is None else result), figure, labels
    if is_table_file(figure) and (result is None or isinstance(result, str)):
        return ("reliability" if result is None else result), figure, labels
    if isinstance(figure, str):
        return figure, result, labels
    if isinstance(result, Mapping):
        raise UsageError("plot takes a figure's name before several models; give it first")
    if result is not None and labels is not None:
        raise UsageError("labels are given twice; give them once")
    return "reliability", figure, labels if result is None else result


def _without_results(models: "Mapping[str, Any]") -> "Mapping[str, Any]":
    for name, value in models.items():
        if isinstance(value, Result):
            raise UsageError(f"{name} is a Result; several models are drawn from data, give its Data")
    return models
