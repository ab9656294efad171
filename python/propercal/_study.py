"""Experiments of the papers, as tables and a figure."""

import json
import os
from typing import Any, Iterable, Mapping

from . import _core, _html
from ._compare import models_of, open_models
from ._figures import Figure
from ._inputs import Data, gather, lists_inputs
from ._outputs import save_tables
from ._parameters import one_or_more
from ._settings import Progress, settings


class Study:
    """The result of a study: a summary, tables, and a figure."""

    def __init__(
        self, text: str, content: str, svg: str, drawing: str, latex: str, tables: "list[tuple[str, str]]"
    ) -> None:
        self._text, self._json, self._svg, self._drawing = text, content, svg, drawing
        self._latex, self._csv = latex, tables
        self._content = json.loads(content)

    @property
    def summary(self) -> str:
        """What was done, and what was found."""
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

    def to_latex(self) -> str:
        """A ``tabular`` for LaTeX for each table, with the rules of booktabs; the best values are bold."""
        return self._latex

    def save_tables(self, prefix: "str | os.PathLike[str]") -> "list[str]":
        """Writes each table to ``PREFIX-NAME.csv``, named by the first words of its title, and returns
        the names of the files."""
        return save_tables(prefix, self._csv)

    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables."""
        import pandas

        return pandas.DataFrame(self.tables[table])

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        parts = [_html.paragraphs(self.summary)]
        for table in self._content["tables"]:
            names = list(dict.fromkeys(name for row in table["rows"] for name in row))
            lines = [[row.get(name) for name in names] for row in table["rows"]]
            parts += [_html.paragraphs(table.get("title") or ""), _html.table(names, lines)]
        return _html.box(*parts, _html.figure(self._svg) if self._svg else "")


def _list(value: Any) -> "tuple[float, ...]":
    if value is None:
        return ()
    return (value,) if isinstance(value, (int, float)) else tuple(value)


@lists_inputs("val", without=("groups", "ids", "time", "every", "first_row"))
def study(
    name: str,
    probs: Any = None,
    labels: Any = None,
    *,
    val: "Data | None" = None,
    cases: "Mapping[str, Any] | None" = None,
    features: Any = None,
    target: Any = None,
    methods: "str | Iterable[str] | None" = None,
    metrics: "str | Iterable[str] | None" = None,
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
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: "bool | str | Progress | None" = None,
    seed: int = 0,
    **inputs: Any,
) -> Study:
    """Runs an experiment of the papers on your predictions, or on simulated ones.

    Parameters
    ----------
    name : a study of ``list_studies()`` with its options: ``"test-size:space=squared"``
    probs, labels, logits, ... : the data: a ``Data`` as the second argument, or its arguments by
        name
    val : other rows to fit on, as ``Data(logits=..., labels=...)``; also by name:
        ``val_logits``, ``val_labels``, ...
    cases : several data sets, each a ``Data`` or a dictionary such as ``{"logits": z, "labels":
        y, "val_logits": ..., "val_labels": ...}``
    features, target : numbers to learn from, and the number to predict
    methods, metrics : calibrators and metrics
    rows, factor, n_classes : of simulated sets, one number or several
    sets, null_sets, repeats : numbers of simulated sets, of calibrated sets, and of repetitions
    interval, replicas : level of intervals, and number of replicas
    normalize, skip_missing, threads, memory_limit, progress, seed : see ``measure``

    Where a value is None or 0, the study chooses it.

    Returns
    -------
    Study
    """
    data, second = gather("study", probs, labels, inputs, val=val)
    if target is not None and features is None:
        data = data._with(target=target)
    given = models_of(cases or {}, "probs", Data(), None)
    if data.inputs or second is not None:
        given = {None: (data, None if second is None else data._val(second))}
    with settings(threads, memory_limit, progress, seed) as how:
        models = open_models(given, how)
        learnt = None if features is None else Data(samples=features, target=target)._open(how)
        found = _core.study(
            name,
            models,
            learnt,
            one_or_more(methods),
            one_or_more(metrics),
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
