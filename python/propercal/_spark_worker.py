"""The parts of ``propercal.spark`` that run on executors.

Python workers of Spark import this module, so it imports neither pyspark.ml nor pandas.
"""

import json
from typing import Any, Callable, Iterable, Iterator, Protocol

import numpy as np
import pyarrow as arrow
from pyspark import TaskContext

from ._errors import Error
from ._inputs import Data
from ._measure import Measure
from ._rounds import RoundsWorker, merge_tallies

#: rows of a partition are numbered from its number times this
PARTITION_ROWS = 1 << 40

#: bytes of rows that a worker of a fit gathers before it uses them
FIT_BYTES = 64 << 20

#: an answer of a partition, or its first failure
ANSWERS = "partition int, position long, answer binary, failure string"
_SCHEMA = arrow.schema(
    [
        ("partition", arrow.int32()),
        ("position", arrow.int64()),
        ("answer", arrow.binary()),
        ("failure", arrow.string()),
    ]
)


class Worker(Protocol):
    """Adds up the rows of a partition; ``first_row`` is a position in it."""

    def update(self, *, first_row: int, **inputs: Any) -> None: ...

    def answer(self) -> bytes: ...


#: makes the worker of a partition from a request and its number
Start = Callable[[bytes, int], Worker]
#: merges two answers; also runs on the driver
Merge = Callable[[bytes, bytes], bytes]


# ---- Measuring ----


def _inputs(batch: arrow.RecordBatch, classes: "tuple[str, ...] | None") -> "dict[str, Any]":
    """The inputs of ``propercal.Data`` that a batch holds."""
    given = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
    return given if classes is None else {**given, "classes": classes}


def _batch(row: tuple) -> arrow.RecordBatch:
    arrays = [arrow.array([value], field.type) for value, field in zip(row, _SCHEMA)]
    return arrow.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _text(failure: Error) -> str:
    return json.dumps([type(failure).__name__, str(failure), failure.remedy])


def answer_of(
    batches: "Iterable[arrow.RecordBatch]",
    partition: int,
    start: Start,
    request: bytes,
    classes: "tuple[str, ...] | None",
) -> "Iterator[arrow.RecordBatch]":
    """The answer of one partition, or its first failure; nothing for one without rows."""
    position = 0
    try:
        worker = start(request, partition)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            worker.update(**_inputs(batch, classes), first_row=position)
            position += batch.num_rows
        content = worker.answer() if position > 0 else None
    except Error as failure:
        at = position if failure.row is None else failure.row
        yield _batch((partition, at, None, _text(failure)))
        return
    if content is not None:
        yield _batch((partition, position, content, None))


def first_of(failures: "Iterable[tuple]") -> "tuple | None":
    """The failure of the smallest partition and position."""
    return min(failures, key=lambda each: each[:2], default=None)


def merged_of(
    batches: "Iterable[arrow.RecordBatch]", partition: int, merge: Merge
) -> "Iterator[arrow.RecordBatch]":
    """One answer for many, or the first of their failures."""
    failures: "list[tuple]" = []
    content: "bytes | None" = None
    for batch in batches:
        for row in batch.to_pylist():
            if row["failure"] is not None:
                failures.append((row["partition"], row["position"], row["failure"]))
                continue
            try:
                content = row["answer"] if content is None else merge(content, row["answer"])
            except Error as failure:
                failures.append((row["partition"], 0, _text(failure)))
    worst = first_of(failures)
    if worst is not None:
        yield _batch((*worst[:2], None, worst[2]))
    elif content is not None:
        yield _batch((partition, 0, content, None))


def partition_number() -> int:
    """The number of the partition that a task reads."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


class RoundPart:
    """Answers a request of ``Rounds`` with a tally."""

    def __init__(self, request: bytes, partition: int) -> None:
        self._worker = RoundsWorker(request, threads=1)

    def update(self, *, first_row: int, **inputs: Any) -> None:
        self._worker.update(**inputs, first_row=first_row)

    def answer(self) -> bytes:
        return self._worker.tally()


class FitPart:
    """Answers a request of ``FitRounds``.  Each update of its worker runs the search of the fit, so
    batches are gathered and given many at once."""

    def __init__(self, request: bytes, partition: int) -> None:
        self._worker = RoundsWorker(request, threads=1)
        self._batches: "list[arrow.RecordBatch]" = []
        self._first = self._bytes = 0

    def update(self, *, first_row: int, **inputs: Any) -> None:
        batch = arrow.RecordBatch.from_pydict(inputs)
        if self._batches and self._bytes + batch.nbytes > FIT_BYTES:
            self._give()
        if not self._batches:
            self._first = first_row
        self._batches.append(batch)
        self._bytes += batch.nbytes

    def _give(self) -> None:
        table = arrow.Table.from_batches(self._batches)
        self._batches, self._bytes = [], 0
        columns = {name: table.column(name) for name in table.column_names}
        self._worker.update(**columns, first_row=self._first)

    def answer(self) -> bytes:
        self._give()
        return self._worker.tally()


def merge_rounds(first: bytes, second: bytes) -> bytes:
    return merge_tallies((first, second))


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
        found = given if valid is None else given.filter(valid)
        try:
            data = Data(**{fitted.kind_: found}, first_row=position)
            probs = fitted.transform(data) if len(found) else None
        except Error as error:
            raise type(error)(f"partition {partition_number()}: {error}") from None
        columns = [*batch.columns[:-1], _as_arrow(probs, valid, given)]
        yield arrow.RecordBatch.from_arrays(columns, names=[*batch.schema.names[:-1], output])
        position += batch.num_rows


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
