"""The parts of ``propercal.spark`` that run on executors.

Python workers of Spark import this module, so it imports neither pyspark.ml nor pandas.
"""

import itertools
from typing import Any, Iterable, Iterator

import numpy as np
import pyarrow as arrow
from pyspark import TaskContext

from ._errors import Error
from ._inputs import Data
from ._measure import Measure
from ._partitions import Answer, Merge, Start, answer_part, merge_answers
from ._rounds import RoundsWorker

#: rows of a partition are numbered from its number times this
PARTITION_ROWS = 1 << 40

#: bytes of rows that a worker of a fit gathers before it uses them
FIT_BYTES = 64 << 20

#: an answer of a partition, or its first failure
ANSWERS = "partition int, position long, answer binary, failure string, lists string"
_SCHEMA = arrow.schema(
    [
        ("partition", arrow.int32()),
        ("position", arrow.int64()),
        ("answer", arrow.binary()),
        ("failure", arrow.string()),
        ("lists", arrow.string()),
    ]
)


# ---- Measuring ----


def _inputs(batch: arrow.RecordBatch, classes: "tuple[str, ...] | None") -> "dict[str, Any]":
    """The inputs of ``propercal.Data`` that a batch holds."""
    given = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
    return given if classes is None else {**given, "classes": classes}


def _batch(row: tuple) -> arrow.RecordBatch:
    arrays = [arrow.array([value], field.type) for value, field in zip(row, _SCHEMA)]
    return arrow.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def answer_of(
    batches: "Iterable[arrow.RecordBatch]",
    partition: int,
    start: Start,
    request: bytes,
    classes: "tuple[str, ...] | None",
    width: "int | None",
) -> "Iterator[arrow.RecordBatch]":
    """The answer of one partition, or its first failure; nothing for one without rows."""
    given = ((batch.num_rows, _inputs(batch, classes)) for batch in batches)
    found = answer_part(given, partition, start, request, width)
    if found is not None:
        yield _batch(found)


def merged_of(
    batches: "Iterable[arrow.RecordBatch]", merge: Merge
) -> "Iterator[arrow.RecordBatch]":
    """One answer for many, or the first of their failures."""
    rows = (Answer(**row) for batch in batches for row in batch.to_pylist())
    found = merge_answers(rows, merge)
    if found is not None:
        yield _batch(found)


def partition_number() -> int:
    """The number of the partition that a task reads."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


class FitPart:
    """Answers a request of ``FitRounds``.  Each update of its worker runs the search of the fit, so
    batches are gathered and given many at once."""

    def __init__(self, request: bytes, partition: int) -> None:
        self._worker = RoundsWorker(request, threads=1)
        self._batches: "list[arrow.RecordBatch]" = []
        self._first = self._bytes = 0
        self._names: "dict[str, Any]" = {}

    def update(self, *, first_row: int, classes: "tuple[str, ...] | None" = None, **inputs: Any) -> None:
        self._names = {} if classes is None else {"classes": classes}
        batch = arrow.RecordBatch.from_pydict(inputs)
        if self._batches and self._bytes + batch.nbytes > FIT_BYTES:
            self._give()
        if not self._batches:
            self._first = first_row
        self._batches.append(batch)
        self._bytes += batch.nbytes

    def _give(self) -> None:
        batches, first = self._batches, self._first
        self._batches, self._bytes = [], 0
        for _, alike in itertools.groupby(batches, lambda batch: batch.schema):  # lists of nulls have a type of their own
            table = arrow.Table.from_batches(list(alike))
            columns = {name: table.column(name) for name in table.column_names}
            self._worker.update(**columns, **self._names, first_row=first)
            first += table.num_rows

    def answer(self) -> bytes:
        self._give()
        return self._worker.tally()


class StatePart:
    """Keeps the scores of a partition, in a measure whose rows have numbers of their own."""

    def __init__(self, request: bytes, partition: int) -> None:
        self._request, self._first = request, partition * PARTITION_ROWS
        self._measure = Measure.from_bytes(request, threads=1)

    def update(self, *, first_row: int, **inputs: Any) -> None:
        try:
            self._measure.update(**inputs, first_row=self._first + first_row)
        except Error:  # again, for the position in the partition
            Measure.from_bytes(self._request, threads=1).update(**inputs, first_row=first_row)
            raise

    def answer(self) -> bytes:
        return self._measure.to_bytes()


def merge_states(first: bytes, second: bytes) -> bytes:
    part = Measure.from_bytes(second, threads=1)
    return Measure.from_bytes(first, threads=1).merge(part).to_bytes()


# ---- Applying ----


def applied_to(
    batches: "Iterator[arrow.RecordBatch]", content: bytes, output: str, keep: bool
) -> "Iterator[arrow.RecordBatch]":
    """Replaces the last column, the scores, by calibrated probabilities."""
    from ._calibrator import loads  # may import scikit-learn, which takes time

    fitted = loads(content, "the calibrator")
    fitted.threads = 1
    position = 0
    for batch in batches:
        given = batch.column(batch.num_columns - 1)
        valid = given.is_valid() if keep else None
        found = _with_length(given, fitted) if valid is None else given.filter(valid)
        try:
            probs = _probs_of(fitted, found, position, given, valid)
        except Error as error:
            raise type(error)(f"partition {partition_number()}: {error}") from None
        columns = [*batch.columns[:-1], _as_arrow(probs, valid, given)]
        yield arrow.RecordBatch.from_arrays(columns, names=[*batch.schema.names[:-1], output])
        position += batch.num_rows


def _with_length(given: arrow.Array, fitted: Any) -> arrow.Array:
    """The scores; lists that are all null have the length that the calibrator needs."""
    if len(given) == 0 or given.null_count < len(given) or not hasattr(given, "value_lengths"):
        return given
    return arrow.nulls(len(given), arrow.list_(arrow.float64(), len(fitted.classes_)))


def _probs_of(fitted: Any, found: arrow.Array, position: int, given: arrow.Array, valid: Any) -> Any:
    """Probabilities of the scores that are not null; an error names the row by its position among all rows."""
    try:
        return fitted.transform(Data(**{fitted.kind_: found}, first_row=position)) if len(found) else None
    except Error:
        if len(found) == len(given):
            raise
        kept = np.flatnonzero(valid.to_numpy(zero_copy_only=False))
        for run in np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1):  # again, where no null is between them
            rows = given.slice(run[0], len(run))
            fitted.transform(Data(**{fitted.kind_: rows}, first_row=position + int(run[0])))
        raise


def _as_arrow(probs: "np.ndarray | None", valid: Any, given: arrow.Array) -> arrow.Array:
    """Probabilities as the scores came: numbers or lists, null where no score was."""
    rows = len(given)
    present = np.ones(rows, bool) if valid is None else valid.to_numpy(zero_copy_only=False)
    lists = arrow.types.is_list(given.type) or arrow.types.is_large_list(given.type)
    if probs is None:
        return arrow.nulls(rows, arrow.list_(arrow.float64()) if lists else arrow.float64())
    values = probs.astype(np.float64, copy=False)
    if not lists:
        out = np.zeros(rows)
        out[present] = values
        return arrow.array(out, mask=~present)
    width = values.shape[1] if values.ndim == 2 else 1
    ends = np.concatenate(([0], np.cumsum(np.where(present, width, 0)))).astype(np.int32)
    mask = None if present.all() else arrow.array(~present)
    return arrow.ListArray.from_arrays(ends, arrow.array(values.ravel()), mask=mask)
