"""Measuring a Spark table: each partition answers a request, answers are merged, and the driver
decides whether the table must be read again.

Only the DataFrame interface is used, so all of it works over Spark Connect.  A job has two stages:
the first reads the partitions; the second merges their answers in MERGERS tasks, so that as many
answers reach the driver, however many partitions there are and whatever the settings of shuffles.  An error travels like an
answer: the driver raises that of the first row, by partition and position, for any number of
executors and retries (``_partitions``).
"""

from typing import Any, Iterable, Iterator

import pyarrow as arrow
from pyspark.sql import functions as sql

from . import _core
from ._errors import UsageError
from ._measure import Measure, _specs, judged
from ._partitions import Answer, Merge, RoundPart, Start, check_specs, conclude, merge_rounds, read_with_length
from ._plot import plot as draw
from ._results import Result
from ._rounds import Rounds, kept_settings, run_rounds
from ._spark_columns import Table, select
from ._spark_worker import ANSWERS, StatePart, answer_of, merge_states, merged_of, partition_number


#: tasks that merge answers; with replicas an answer may have 64 MB, and Spark lets a driver collect 1 GB
MERGERS = 8


def ask(table: Table, start: Start, request: bytes, merge: Merge, width: "int | None") -> bytes:
    """Sends a request to all partitions and merges their answers; one job.

    width : the length of lists of scores, where it is known (``_partitions.Reading``)
    """
    classes = table.classes

    def answer(batches: "Iterator[arrow.RecordBatch]") -> "Iterator[arrow.RecordBatch]":
        return answer_of(batches, partition_number(), start, request, classes, width)

    def merged(batches: "Iterator[arrow.RecordBatch]") -> "Iterator[arrow.RecordBatch]":
        return merged_of(batches, merge)

    answers = table.frame.mapInArrow(answer, ANSWERS)
    few = answers.repartition(MERGERS, "partition").mapInArrow(merged, ANSWERS)
    rows = (row.asDict() for row in few.collect())
    return conclude((Answer(**{**row, "answer": row["answer"] and bytes(row["answer"])}) for row in rows), merge)


def measure(
    df: Any,
    *,
    probs: Any = None,
    labels: "str | None" = None,
    logits: Any = None,
    log_probs: Any = None,
    confidence: "str | None" = None,
    correct: "str | None" = None,
    groups: "str | None" = None,
    weights: "str | None" = None,
    ids: "str | None" = None,
    metrics: "str | Iterable[str] | None" = None,
    interval: "float | None" = None,
    null: bool = False,
    replicas: int = 1000,
    interval_method: str = "auto",
    seed: int = 0,
    normalize: bool = False,
    skip_missing: bool = False,
    keep_scores: bool = False,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    as_frame: bool = False,
) -> Any:
    """Measures how well the predictions in a Spark table are calibrated.

    The result is bit for bit that of ``propercal.measure`` on all rows in one process, however
    they are divided, ordered or read again after a failure.

    Parameters
    ----------
    df : a DataFrame, of Spark or Spark Connect
    probs, logits, log_probs : the column of scores: arrays, vectors of ``pyspark.ml`` or numbers
        (the score of class 1); or a list of columns, one for each class
    labels : the column of class numbers from 0, or of names of the score columns
    confidence, correct : probability of the predicted label, and whether it was right
    groups, weights : columns of groups and weights
    ids : column of unique ids, the keys of random draws; without it equal rows are counted, which
        moves all rows once
    metrics, interval, null, replicas, interval_method, seed, normalize, skip_missing : as of
        ``propercal.measure``; a metric whose replicas need all rows at once has no interval and
        says so
    keep_scores : also measure what needs all scores at once, such as ``auc`` or
        the interval of ``ace``.  Scores, or whole rows, then reach the driver; otherwise a few
        megabytes do, for any number of rows
    memory_limit : bytes that merging on the driver may allocate
    progress : True, ``"tqdm"``, or a function called as ``f(what, done, total)`` for each round
    as_frame : return a DataFrame of one row, with a column for each metric

    Returns
    -------
    Result, or a DataFrame
    """
    columns = {"probs": probs, "logits": logits, "log_probs": log_probs, "confidence": confidence}
    columns |= {"labels": labels, "correct": correct, "groups": groups, "weights": weights}
    columns |= {"ids": ids}
    table = select(df, columns)
    specs = _specs(metrics)
    check_specs(specs, "Spark")
    policy = {"interval": interval, "null": null, "replicas": replicas}
    policy |= {"interval_method": interval_method, "normalize": normalize, "skip_missing": skip_missing}
    if keep_scores:
        found = _from_states(table, specs, policy, kept_settings(None, memory_limit, seed))
    else:
        rounds = Rounds(specs, kind=table.kind, memory_limit=memory_limit, seed=seed, **policy)
        found = _from_rounds(table, rounds, progress)
    result = judged(found, metrics)
    return frame_of(df.sparkSession, result) if as_frame else result


def plot(
    df: Any,
    figure: str = "reliability",
    *,
    ax: Any = None,
    label: "str | None" = None,
    interval: "float | None" = 0.95,
    **given: Any,
) -> Any:
    """Draws the reliability diagram of a Spark table, measured in rounds.

    Parameters
    ----------
    df : a DataFrame
    figure : a figure that a result can draw; others need all rows, and say so
    ax, label : as of ``propercal.plot``
    interval : level of the intervals that the figure shows, or None
    given : other arguments of ``measure``

    Returns
    -------
    Figure, or the Axes
    """
    return draw(figure, measure(df, interval=interval, **given), ax=ax, label=label)


def report(
    df: Any, *, title: "str | None" = None, interval: "float | None" = 0.95, **given: Any
) -> Any:
    """A page about the predictions in a Spark table, measured in rounds: verdict, tables with intervals, and
    the reliability diagram.  The page says what it leaves out; ``propercal.report`` of a sample has it.

    Parameters
    ----------
    df : a DataFrame
    title : of the page
    interval : level of the intervals, or None
    given : other arguments of ``measure``

    Returns
    -------
    Report
        ``html``, ``markdown``, ``to_json()`` and ``save(path)``
    """
    return measure(df, interval=interval, **given).report(title)


def _joined(table: Table) -> Table:
    """Equal rows as one row with a weight; rows of equal content are in one partition."""
    names = table.frame.columns
    if "ids" in names:
        return table
    content = [name for name in names if name not in ("weights", "groups")]
    weight = sql.sum(_or_null(sql.col("weights"))) if "weights" in names else sql.count(sql.lit(1))
    keys = [name for name in names if name != "weights"]
    together = table.frame.repartition(*content).groupBy(*keys)
    return table._replace(frame=together.agg(weight.cast("double").alias("weights")))


def _or_null(weight: Any) -> Any:
    """Null in place of NaN: rows without a weight are left out of the sum of equal rows."""
    return sql.nanvl(weight.cast("double"), sql.lit(None).cast("double"))


def _from_rounds(table: Table, rounds: Rounds, progress: Any) -> Any:
    """Reads the table until no metric wants to know more.

    What a row draws depends on the number of rows that equal it: rounds that draw replicas read
    joined rows.  They have whole weights, since rows of other weights have no replicas.
    """

    def read(request: bytes, width: "int | None") -> bytes:
        return ask(_joined(table) if rounds.draws else table, RoundPart, request, merge_rounds, width)

    try:
        return run_rounds(rounds, read_with_length(read), progress)
    except UsageError as error:
        if "in one process" not in str(error):
            raise
        raise UsageError(f"{error}, as keep_scores=True does") from None


def _from_states(
    table: Table, specs: "tuple[str, ...]", policy: "dict[str, Any]", settings: tuple
) -> Any:
    """Reads the table once and keeps the scores."""
    empty = Measure(specs, **policy)
    read = read_with_length(lambda request, width: ask(table, StatePart, request, merge_states, width))
    state = read(empty.to_bytes())
    return _core.measure_load(state, "the state", settings).finish()


def frame_of(session: Any, result: Result) -> Any:
    """A result as a DataFrame of one row: a column for each value, the verdict, and all as JSON."""
    values = {value.label: float(value) for value in result}
    row = {**values, "verdict": str(result.verdict or ""), "json": result.to_json()}
    kinds = {name: "double" for name in values} | {"verdict": "string", "json": "string"}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in kinds.items())
    return session.createDataFrame([tuple(row.values())], schema)
