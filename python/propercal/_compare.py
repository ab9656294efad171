"""Several calibrators or models side by side."""

import json
import math
import os
from typing import Any, Iterable, Mapping

from . import _core, _html
from ._errors import UsageError
from ._inputs import Data, gather, lists_inputs
from ._outputs import save_tables
from ._parameters import one_or_more
from ._settings import Progress, replica_count, settings


class Comparison:
    """The result of ``compare``: a row for each method or model, and the best one."""

    def __init__(self, text: str, content: str, calibrator: bytes, latex: str, csv: str) -> None:
        self._text, self._json, self._bytes = text, content, calibrator
        self._latex, self._csv = latex, csv
        self._content = json.loads(content)

    @property
    def chosen(self) -> str:
        """The best: a spec, or the name of a model; ``"identity"``: no calibrator improves it."""
        return self._content["chosen"]

    @property
    def advice(self) -> str:
        """Advice in a few sentences."""
        return self._content["advice"].strip()

    @property
    def rows(self) -> "list[dict[str, Any]]":
        """A dictionary for each method: spec, status, metrics, improvement, behind, rank."""
        return self._content["methods"]

    @property
    def calibrator(self) -> Any:
        """The chosen calibrator, fitted to all rows available for fitting."""
        from ._calibrator import loads

        return loads(self._bytes, "comparison")

    def to_json(self) -> str:
        """The same as ``propercal compare --json``."""
        return self._json

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._json)

    def to_csv(self) -> str:
        """The table as CSV, as ``propercal compare --format csv``."""
        return self._csv

    def to_latex(self) -> str:
        """A ``tabular`` for LaTeX with the rules of booktabs and units; the best values are bold."""
        return self._latex

    def save_tables(self, prefix: "str | os.PathLike[str]") -> "list[str]":
        """Writes ``PREFIX-methods.csv``, or ``PREFIX-models.csv``, and returns its name in a list."""
        models = any("model" in row for row in self.rows)
        return save_tables(prefix, [("models" if models else "methods", self._csv)])

    @staticmethod
    def _values(row: "dict[str, Any]") -> "dict[str, float | None]":
        """The metrics of a row; JSON has no number for infinite ones."""
        return {**row["metrics"], **dict.fromkeys(row.get("infinite", ()), math.inf)}

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
                    **self._values(row),
                    "status": row["status"],
                }
            )
        return pandas.DataFrame(table).set_index("name").sort_values("rank")

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        by = self._content["by"]
        metrics = list(dict.fromkeys(name for row in self.rows for name in row["metrics"]))
        ordered = sorted(self.rows, key=lambda row: (row["rank"] is None, row["rank"]))
        best = next((i for i, row in enumerate(ordered) if row["name"] == self.chosen), None)
        lines = []
        for row in ordered:
            gain = row["improvement"].get(by) or {}
            between = f"[{gain['low']:.3g}, {gain['high']:.3g}]" if gain.get("low") is not None else ""
            values = [self._values(row).get(name) for name in metrics]
            lines.append([row["rank"], row["name"], gain.get("value"), between, *values, row["status"]])
        head = ["rank", "name", f"gain in {by}", "interval", *metrics, "status"]
        return _html.box(_html.paragraphs(self.advice), _html.table(head, lines, best))


def models_of(
    models: "Mapping[str, Any]", kind: str, data: Data, val: "Data | None"
) -> "dict[str | None, tuple[Data, Data | None]]":
    """Several models with their second sets: each a Data, a dictionary of its inputs (val_... for
    the second set), or scores of a kind.  Rows have the labels and weights of data."""
    shared = {
        name: value
        for name, value in data.inputs.items()
        if name in ("labels", "correct", "target", "weights", "weights_are", "levels", "classes", "header", "event", "groups")
    }
    found: "dict[str | None, tuple[Data, Data | None]]" = {}
    for name, value in models.items():
        if isinstance(value, Data):
            value = value.inputs
        inputs = dict(value) if isinstance(value, Mapping) else {kind: value}
        own, second = gather("models", None, None, inputs, val=None)
        own = Data(**{**shared, **own.inputs})
        second = val if second is None else second
        found[str(name)] = own, None if second is None else own._val(second)
    return found


def open_models(
    models: "dict[str | None, tuple[Data, Data | None]]", how: tuple
) -> "tuple[tuple, ...]":
    """Models as the extension module takes them."""
    return tuple(
        (name, data._open(how), None if val is None else val._open(how))
        for name, (data, val) in models.items()
    )


@lists_inputs("val", without=("groups", "ids", "time", "every"))
def compare(
    probs: Any = None,
    labels: Any = None,
    *,
    models: "Mapping[str, Any] | None" = None,
    kind: str = "probs",
    val: "Data | None" = None,
    methods: "str | Iterable[str] | None" = None,
    metrics: "str | Iterable[str] | None" = None,
    by: "str | None" = None,
    folds: int = 5,
    interval: float = 0.95,
    replicas: int = 1000,
    cluster: Any = None,
    budget: "float | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: "bool | str | Progress | None" = None,
    seed: int = 0,
    **inputs: Any,
) -> Comparison:
    """Compares calibrators or models on rows that they have not seen.

    Parameters
    ----------
    probs, labels, logits, ... : the data of one model: a ``Data`` as the first argument, or its
        arguments by name
    models : several models, compared without a calibrator and with each of ``methods``: for each
        name a ``Data``, a dictionary of its inputs such as ``{"mean": m, "std": s}``, or scores
        of ``kind``; labels and weights are those of the data where a model has none
    kind : what the scores of ``models`` are: ``"probs"``, ``"logits"``, ...
    val : other rows to fit the calibrators on, as ``Data(logits=..., labels=...)``; without them
        cross-validation.  Also by name: ``val_logits``, ``val_labels``, ...
    methods : calibrator specs; None: for one model all that suit the data
    metrics : metrics of the table
    by : metric to rank by; None: ``brier``, for means with variances ``dss``, for quantiles
        and samples ``crps``
    folds : of the cross-validation
    interval, replicas : level of the intervals of paired differences, and number of replicas
    cluster : cluster of each row, such as a patient with several scans: its rows are in one fold,
        and intervals exchange whole clusters
    budget : seconds for fitting and judging methods, cheap ones first; those that are not fitted
        in time are listed with that reason.  None: no limit
    normalize, skip_missing, threads, memory_limit, progress, seed : see ``measure``

    Returns
    -------
    Comparison
        ``chosen``, ``rows``, ``advice``, and ``calibrator``, the best one
    """
    if not interval:
        raise UsageError(f"interval is {interval}, and methods are compared by intervals; give a level such as 0.95")
    data, second = gather("compare", probs, labels, inputs, val=val)
    data = data._with_clusters(cluster)
    given: "dict[str | None, tuple[Data, Data | None]]" = {
        None: (data, None if second is None else data._val(second))
    }
    if models is not None:
        found_models = models_of(models, kind, data, second)
        given = {name: (own._with_clusters(cluster), other) for name, (own, other) in found_models.items()}
    fitting = any(pair[1] is not None for pair in given.values())
    with settings(threads, memory_limit, progress, seed) as how:
        found = _core.compare(
            open_models(given, how),
            one_or_more(methods),
            one_or_more(metrics),
            by,
            0 if fitting else folds,
            interval,
            replica_count(replicas),
            normalize,
            skip_missing,
            0.0 if budget is None else budget,
        )
    return Comparison(*found)
