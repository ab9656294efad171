"""Figures from data or results."""

from collections.abc import Mapping
from typing import Any

from . import _core
from ._compare import models_of, open_models
from ._errors import UsageError
from ._figures import Figure
from ._inputs import KINDS, Data, gather, lists_inputs
from ._results import Result
from ._settings import settings


@lists_inputs("val", without=("groups", "ids", "first_row", "weights_are"))
def plot(
    figure: "str | Data | Result" = "reliability",
    result: "Result | Data | str | None" = None,
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
    normalize: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    ax: Any = None,
    **inputs: Any,
) -> Any:
    """Draws a figure: ``plot("ks-graph", data)`` or ``plot(data, "ks-graph")``.

    Parameters
    ----------
    figure : its name, with options as ``"ks-graph:rank=2"``; ``list_figures()`` shows them all
    result : a ``Data``, or a ``Result`` of ``measure`` for figures that need no more; without
        either, the arguments of ``Data`` by name
    models : several models, for figures that draw them in their order, such as
        ``plot("range-bounds", models={"epoch10": p, "epoch20": q}, labels=y)``; see ``compare``
    kind : what the scores of ``models`` are: ``"probs"``, ``"logits"``, ...
    val : a second set, for figures that show one, as ``Data(logits=..., labels=...)``; also by
        name: ``val_logits``, ``val_labels``, ...
    calibrator : a fitted calibrator, applied before drawing
    interval : level of the intervals that the figure shows, or None
    replicas : number of replicas for the intervals
    theme : ``"light"``, ``"dark"`` or ``"auto"``, which follows the reader's system
    title : of the figure; None: its default
    width, height : in pixels; 0: the figure's default
    ax : draw with Matplotlib on this Axes (the main panel), or on a sequence of them
    normalize, skip_missing, seed, threads, memory_limit, progress : see ``measure``

    Returns
    -------
    Figure, or the Axes when ``ax`` is given
    """
    if isinstance(figure, (Data, Result)):
        figure, result = "reliability" if result is None else result, figure
    if isinstance(result, Result):
        if calibrator is not None or models is not None or val is not None or any(
            value is not None for value in inputs.values()
        ):
            raise UsageError("a result and data are both given; give one of them")
        drawn = result.figure(str(figure))
        return drawn if ax is None else drawn.draw(ax)
    first = result if isinstance(result, Data) else inputs.pop("probs", None)
    data, second = gather("plot", first, inputs.pop("labels", None), inputs, val=val)
    given: "dict[str | None, tuple[Data, Data | None]]" = {None: (data, None)}
    if models is not None:
        if any(name in data.inputs for name in (*KINDS, "data")):
            raise UsageError("predictions are given both as models and directly; give one of them")
        given = models_of(models, kind, data, None)
    with settings(threads, memory_limit, progress, seed) as how:
        svg, content = _core.draw(
            open_models(given, how),
            figure,
            None if second is None else data._val(second)._open(how),
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
    drawn = Figure(str(figure).split(":")[0], svg, lambda: content)
    return drawn if ax is None else drawn.draw(ax)
