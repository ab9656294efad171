"""Several calibrators or models side by side."""

import html
import json
from typing import Any, Iterable, Mapping

from . import _core
from ._inputs import KINDS, open_source
from ._running import Progress, settings

# The second set, to fit on: these with val_ before them.
SECOND = (*KINDS, "variance", "std", "labels", "correct", "target", "weights", "data")


class Comparison:
    """What ``compare`` found: a row for each method or model, and the choice."""

    def __init__(self, text: str, content: str, calibrator: bytes) -> None:
        self._text, self._json, self._bytes = text, content, calibrator
        self._content = json.loads(content)

    @property
    def chosen(self) -> str:
        """The best: a spec, or the name of a model; ``"identity"`` means: leave it alone."""
        return self._content["chosen"]

    @property
    def advice(self) -> str:
        """What to do, in a few sentences."""
        return self._content["advice"].strip()

    @property
    def rows(self) -> "list[dict[str, Any]]":
        """A dictionary for each method: spec, status, metrics, improvement, behind, rank."""
        return self._content["methods"]

    @property
    def calibrator(self) -> Any:
        """The chosen calibrator, fitted to all rows that there were for fitting."""
        from ._calibrator import loads

        return loads(self._bytes, "comparison")

    def to_json(self) -> str:
        """The same as ``propercal compare --json``."""
        return self._json

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._json)

    def to_pandas(self) -> Any:
        """A table with a row for each method, the best on top."""
        import pandas

        by = self._content["by"]
        table = []
        for row in self.rows:
            gain = row["improvement"].get(by) or {}
            table.append(
                {
                    "name": row["name"],
                    "rank": row["rank"],
                    "gain": gain.get("value"),
                    "low": gain.get("low"),
                    "high": gain.get("high"),
                    **row["metrics"],
                    "status": row["status"],
                }
            )
        return pandas.DataFrame(table).set_index("name").sort_values("rank")

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def check_second(names: "Iterable[str]", function: str) -> None:
    """Refuses keywords that do not name the second set."""
    for name in names:
        if name.partition("val_")[2] not in SECOND or not name.startswith("val_"):
            raise TypeError(f"{function}() has no argument {name!r}")


def one_model(name: "str | None", inputs: "dict[str, Any]", how: tuple, classes: Any) -> tuple:
    """A model as the extension takes it, with a second set by keywords that begin with val_."""
    fitting = {key[4:]: inputs.pop(key) for key in list(inputs) if key.startswith("val_")}
    fitting = {key: value for key, value in fitting.items() if value is not None}
    second = open_source(fitting, how, classes) if fitting else None
    return name, open_source(inputs, how, classes), second


def _model(value: Any, kind: str) -> "dict[str, Any]":
    """Keywords of one model: a dictionary of them, or scores of a kind."""
    return dict(value) if isinstance(value, Mapping) else {kind: value}


def compare(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    mean: Any = None,
    variance: Any = None,
    std: Any = None,
    quantiles: Any = None,
    levels: "Iterable[float] | str | None" = None,
    samples: Any = None,
    target: Any = None,
    weights: Any = None,
    weights_are: "str | None" = None,
    data: Any = None,
    models: "Mapping[str, Any] | None" = None,
    kind: str = "probs",
    methods: "Iterable[str] | None" = None,
    metrics: "Iterable[str] | None" = None,
    by: "str | None" = None,
    folds: int = 5,
    interval: float = 0.95,
    replicas: int = 1000,
    normalize: bool = False,
    skip_missing: bool = False,
    classes: "Iterable[str] | None" = None,
    threads: "int | None" = None,
    memory_limit: "int | None" = None,
    progress: "bool | str | Progress | None" = None,
    seed: int = 0,
    **second: Any,
) -> Comparison:
    """Calibrators, or models, judged on rows that they have not seen.

    One model (``probs``, ``logits``, ...): every method of ``methods``, or all that suit the
    data, is fitted to a second set (``val_logits``, ``val_labels``, ...) or, without one, by
    cross-validation. Several models (``models={"old": p, "new": q}`` of one ``kind``) are
    compared as they are, and repaired by each of ``methods`` if there are any; a model of kind
    ``"mean"`` is a dictionary such as ``{"mean": m, "std": s}``. Ranked by a proper score
    (``by``: ``brier`` when not given, ``dss`` for means with variances, ``crps`` for quantiles
    and samples), with intervals of paired differences; ``Comparison.calibrator`` is the best
    one.
    """
    check_second(second, "compare")
    common = {"labels": labels, "correct": correct, "target": target, "weights": weights}
    common |= {"levels": levels, "weights_are": weights_are}
    one = {"probs": probs, "logits": logits, "log_probs": log_probs, "confidence": confidence}
    one |= {"mean": mean, "variance": variance, "std": std}
    one |= {"quantiles": quantiles, "samples": samples}
    given = {None: {**one, **common, "data": data}}
    if models is not None:
        given = {str(name): {**_model(value, kind), **common} for name, value in models.items()}
    fitting = {name: value for name, value in second.items() if value is not None}
    if fitting and levels is not None:
        fitting["val_levels"] = levels
    names = None if classes is None else tuple(classes)
    with settings(threads, memory_limit, progress, seed) as how:
        made = tuple(
            one_model(name, {**inputs, **fitting}, how, names) for name, inputs in given.items()
        )
        found = _core.compare(
            made,
            tuple(methods or ()),
            tuple(metrics or ()),
            by,
            0 if fitting else folds,
            interval,
            replicas,
            normalize,
            skip_missing,
        )
    return Comparison(*found)
