"""Experiments of the papers, as tables and a figure."""

import html
import json
from typing import Any, Iterable, Mapping

from . import _core
from ._comparing import check_second, one_model
from ._figures import Figure
from ._inputs import open_source
from ._running import Progress, settings


class Study:
    """What a study found: a summary, tables, and a figure."""

    def __init__(self, text: str, content: str, svg: str, drawing: str) -> None:
        self._text, self._json, self._svg, self._drawing = text, content, svg, drawing
        self._content = json.loads(content)

    @property
    def summary(self) -> str:
        """What was done, and what is seen."""
        return self._content["summary"]

    @property
    def tables(self) -> "list[list[dict[str, Any]]]":
        """The tables, each a list of rows."""
        return [table["rows"] for table in self._content["tables"]]

    @property
    def figure(self) -> "Figure | None":
        """The figure, or None where the study has none."""
        drawing = self._drawing
        return Figure(self._content["study"], self._svg, lambda: drawing) if self._svg else None

    def to_json(self) -> str:
        """The same as ``propercal study --json``."""
        return self._json

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._json)

    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables."""
        import pandas

        return pandas.DataFrame(self.tables[table])

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        return f"{self._svg}<pre>{html.escape(self._text)}</pre>"


def _list(value: Any) -> "tuple[float, ...]":
    if value is None:
        return ()
    return (value,) if isinstance(value, (int, float)) else tuple(value)


def study(
    name: str,
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    data: Any = None,
    cases: "Mapping[str, Mapping[str, Any]] | None" = None,
    features: Any = None,
    target: Any = None,
    methods: "Iterable[str] | None" = None,
    metrics: "Iterable[str] | None" = None,
    rows: "int | Iterable[int] | None" = None,
    factor: "float | Iterable[float] | None" = None,
    n_classes: int = 0,
    sets: int = 0,
    null_sets: int = 0,
    repeats: int = 0,
    interval: float = 0.95,
    replicas: int = 0,
    normalize: bool = False,
    skip_missing: bool = False,
    classes: "Iterable[str] | None" = None,
    threads: "int | None" = None,
    memory_limit: "int | None" = None,
    progress: "bool | str | Progress | None" = None,
    seed: int = 0,
    **second: Any,
) -> Study:
    """An experiment of the papers on your predictions, or on simulated ones.

    ``name`` is a study of ``list_studies()``, with its options:
    ``"test-size:space=squared"``. Predictions are given as to ``measure``, a second set to fit
    on as ``val_logits``, ``val_labels``, ...; several data sets as ``cases={"a": {"logits": z,
    "labels": y, "val_logits": ..., "val_labels": ...}, ...}``. ``rows``, ``factor`` and
    ``n_classes`` are those of simulated sets, one number or several; where nothing or 0 is
    given, the study has its own choice.
    """
    check_second(second, "study")
    one = {"probs": probs, "logits": logits, "log_probs": log_probs, "confidence": confidence}
    one |= {"labels": labels, "correct": correct, "data": data, **second}
    given = dict(cases or {})
    if any(value is not None for key, value in one.items()):
        given = {None: one}
    names = None if classes is None else tuple(classes)
    with settings(threads, memory_limit, progress, seed) as how:
        models = tuple(one_model(key, dict(value), how, names) for key, value in given.items())
        learnt = None
        if features is not None:
            learnt = open_source({"samples": features, "target": target}, how, None)
        found = _core.study(
            name,
            models,
            learnt,
            tuple(methods or ()),
            tuple(metrics or ()),
            _list(rows),
            _list(factor),
            n_classes,
            sets,
            null_sets,
            repeats,
            interval,
            replicas,
            normalize,
            skip_missing,
            how,
        )
    return Study(*found)
