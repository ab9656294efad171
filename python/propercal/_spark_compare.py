"""Calibrators side by side: fitted to one Spark table and judged on another."""

from typing import Any, Iterable

from . import _core, _registry
from ._errors import UsageError
from ._results import Result
from ._spark_measure import measure
from ._spark_ml import Calibration, CalibrationModel

#: the column of calibrated probabilities
_OUTPUT = "calibrated probabilities"


class TableComparison:
    """The result of ``compare``.

    Attributes
    ----------
    results : dict
        The ``Result`` of each method on the test table, the best first.
    models : dict
        The fitted ``CalibrationModel`` of each method.
    """

    def __init__(self, by: str, results: "dict[str, Result]", models: "dict[str, CalibrationModel]") -> None:
        self.by, self.results, self.models = by, results, models

    @property
    def chosen(self) -> str:
        """The spec of the best method."""
        return next(iter(self.results))

    @property
    def model(self) -> CalibrationModel:
        """The model of the best method."""
        return self.models[self.chosen]

    def to_pandas(self) -> Any:
        """A row for each method, the best first, and a column for each metric."""
        import pandas

        values = {name: {value.label: float(value) for value in each} for name, each in self.results.items()}
        return pandas.DataFrame.from_dict(values, orient="index")

    def __repr__(self) -> str:
        rows = [[name, *(f"{float(value):.6g}" for value in each)] for name, each in self.results.items()]
        head = ["method", *(value.label for value in next(iter(self.results.values())))]
        wide = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = (zip(row, wide) for row in [head, *rows])
        return "\n".join("  ".join(word.ljust(width) for word, width in line).rstrip() for line in lines)


def compare(
    df: Any,
    *,
    test: Any,
    methods: "Iterable[str]" = ("identity", "temperature", "isotonic"),
    by: str = "brier",
    metrics: "Iterable[str]" = ("log", "ece"),
    probs: "str | None" = None,
    logits: "str | None" = None,
    labels: "str | None" = None,
    weights: "str | None" = None,
    groups: "str | None" = None,
    interval: "float | None" = None,
    skip_missing: bool = False,
    memory_limit: str = "256MiB",
) -> TableComparison:
    """Fits calibrators to a Spark table and measures them on another one.

    Rows of a table have no order, so there are no folds: the second table is given, such as one part
    of ``df.randomSplit([0.5, 0.5], seed=0)``.  Each calibrator and each result is that of one process
    on all rows.

    Parameters
    ----------
    df : the table that calibrators are fitted to
    test : the table that they are judged on, with the same columns
    methods : specs of calibrators
    by : the metric that decides, of which low or high values are better
    metrics : other metrics to measure
    probs, logits, labels, weights, groups : columns, as of ``measure``; groups of the test table
    interval : level of intervals, as of ``measure``
    skip_missing : leave out rows of both tables with a missing value; results count those of the test table
    memory_limit : as ``memoryLimit`` of ``Calibration``

    Returns
    -------
    TableComparison
    """
    kinds = {name: column for name, column in (("probs", probs), ("logits", logits)) if column is not None}
    if len(kinds) != 1 or labels is None:
        raise UsageError("name the column of scores by one of probs and logits, and that of labels")
    ((kind, column),) = kinds.items()
    better = _registry.parse("metrics", _core.canonical(by))[0].better
    if better is None:
        raise UsageError(f"neither low nor high values of {by} are better; choose another metric")
    taken = [name for name in dict.fromkeys((column, labels, weights, groups)) if name is not None]
    asked = {"metrics": [by, *metrics], "interval": interval, "weights": weights, "groups": groups}
    asked |= {"skip_missing": skip_missing}
    models, results = {}, {}
    for spec in methods:
        estimator = Calibration(
            method=spec,
            probabilityCol=column,
            labelCol=labels,
            kind=kind,
            outputCol=_OUTPUT,
            handleInvalid="keep" if skip_missing else "error",
            skipMissing=skip_missing,
            memoryLimit=memory_limit,
            **({} if weights is None else {"weightCol": weights}),
        )
        models[spec] = estimator.fit(df)
        judged = models[spec].transform(test.select(*taken))
        results[spec] = measure(judged, probs=_OUTPUT, labels=labels, **asked)
    sign = -1 if better == "higher" else 1
    order = sorted(results, key=lambda spec: sign * float(next(iter(results[spec]))))
    return TableComparison(by, {spec: results[spec] for spec in order}, models)
