"""Tables in partitions that processes of a cluster read: what Spark, Dask and Ray share.

Each partition answers a request with bytes, or with its first failure.  A failure travels like an
answer: the driver raises that of the first row, by partition and position, for any number of processes
and retries, and then no answer counts.
"""

import json
from typing import Any, Callable, Iterable, NamedTuple, Protocol

import numpy as np
import pyarrow as arrow
from pyarrow.compute import list_value_length

from . import _errors
from ._errors import DataError, Error, UsageError
from ._measure import _specs, judged
from ._results import Result
from ._rounds import Rounds, RoundsWorker, merge_tallies, run_rounds

#: inputs of ``propercal.Data`` that name columns of a table
COLUMNS = ("probs", "logits", "log_probs", "confidence", "labels", "correct", "groups", "weights", "ids")
#: arguments of ``propercal.measure`` that a request carries
POLICY = ("interval", "null", "replicas", "interval_method", "normalize", "skip_missing")


class Answer(NamedTuple):
    """The answer of a partition, or its failure at a row; the other is None.

    lists : where scores are lists, the first of them, and the first one of another partition whose width
        differs, as JSON (``_first_lists``)
    """

    partition: int
    position: int
    answer: "bytes | None"
    failure: "str | None"
    lists: "str | None" = None

    def of_partition(self, number: int) -> "Answer":
        """The same for a partition that did not know its number."""
        lists = self.lists and json.dumps([[number, *each[1:]] for each in json.loads(self.lists)])
        return self._replace(partition=number, lists=lists)


class Worker(Protocol):
    """Adds up the rows of a partition; ``first_row`` is a position in it."""

    def update(self, *, first_row: int, **inputs: Any) -> None: ...

    def answer(self) -> bytes: ...


#: makes the worker of a partition from a request and its number
Start = Callable[[bytes, int], Worker]
#: merges two answers; also runs on the driver
Merge = Callable[[bytes, bytes], bytes]
#: reads the table once: the answer to a request, given the length of lists of scores where it is known
Reading = Callable[[bytes, "int | None"], bytes]
#: the length of lists in a table without any
NO_LISTS = 0


class RoundPart:
    """Answers a request of ``Rounds`` with a tally."""

    def __init__(self, request: bytes, partition: int) -> None:
        self._worker = RoundsWorker(request, threads=1)

    def update(self, *, first_row: int, **inputs: Any) -> None:
        self._worker.update(**inputs, first_row=first_row)

    def answer(self) -> bytes:
        return self._worker.tally()


def merge_rounds(first: bytes, second: bytes, memory_limit: "int | str | None" = None) -> bytes:
    return merge_tallies((first, second), memory_limit=memory_limit)


def _text(failure: Error) -> str:
    return json.dumps([type(failure).__name__, str(failure), failure.remedy])


# ---- Lists of scores ----


class FirstList(NamedTuple):
    """The first list of scores of a partition; sorts by partition and position."""

    partition: int
    position: int
    width: int
    name: str


def _first_lists(*texts: "str | None") -> "list[FirstList]":
    """Of the first lists of some partitions the very first one, and the first one of another width, if any."""
    found = sorted(FirstList(*each) for text in texts if text for each in json.loads(text))
    return found[:1] + [each for each in found if each.width != found[0].width][:1]


def _unequal(name: str, row: int, width: int, first: int) -> DataError:
    remedy = "give lists of equal length"
    error = DataError(f"{name}, row {row}: the list has {width} values and the first one {first}; {remedy}")
    error.row, error.remedy = row, remedy
    return error


class LengthNeeded(Exception):
    """All scores of a partition are null, so it does not know the length of lists.

    width : the length in other partitions, or NO_LISTS
    """

    def __init__(self, width: int = NO_LISTS) -> None:
        super().__init__(width)
        self.width = width


def read_with_length(read: Reading) -> "Callable[[bytes], bytes]":
    """Reads a table for each request, and once more where partitions of nulls alone need the length of lists."""
    known: "int | None" = None

    def answer(request: bytes) -> bytes:
        nonlocal known
        try:
            return read(request, known)
        except LengthNeeded as needed:
            known = needed.width
            return read(request, known)

    return answer


class _Rows:
    """Gives the rows of a partition to its worker.  Lists of scores must have the length of the first one;
    batches of nulls alone, which have no length, wait for it.

    width : the length in other partitions, NO_LISTS, or None: unknown
    """

    def __init__(self, worker: Worker, partition: int, width: "int | None") -> None:
        self.worker, self.partition, self.width, self.count = worker, partition, width, 0
        self.first: "FirstList | None" = None
        self._waiting: "list[tuple[dict[str, Any], str, int, int]]" = []

    def lists(self) -> "str | None":
        return None if self.first is None else json.dumps([self.first])

    def add(self, inputs: "dict[str, Any]", rows: int) -> None:
        name, lengths = _list_lengths(inputs)
        if lengths is None:
            self._give_waiting(NO_LISTS)
            self.worker.update(**inputs, first_row=self.count)
        else:
            self._add_lists(inputs, rows, name, lengths)
        self.count += rows

    def _add_lists(self, inputs: "dict[str, Any]", rows: int, name: str, lengths: "np.ndarray") -> None:
        present = np.flatnonzero(~np.isnan(lengths))
        if self.first is None and len(present) > 0:
            width = int(lengths[present[0]])
            self.first = FirstList(self.partition, self.count + int(present[0]), width, name)
            self._give_waiting(width)
        if self.first is None:
            self._waiting.append((inputs, name, rows, self.count))
            return
        other = present[lengths[present] != self.first.width]
        fitting = int(other[0]) if len(other) > 0 else rows
        if len(present) == 0 or fitting <= present[0]:
            self._give_nulls(inputs, name, fitting, self.count, self.first.width)
        else:
            self.worker.update(**_sliced(inputs, fitting), first_row=self.count)
        if fitting < rows:
            if self.count + fitting > 0:
                self.worker.answer()  # fails if an earlier row does
            raise _unequal(name, self.count + fitting, int(lengths[fitting]), self.first.width)

    def _give_nulls(self, inputs: "dict[str, Any]", name: str, rows: int, position: int, width: int) -> None:
        if rows > 0:
            self.worker.update(**with_nulls(_sliced(inputs, rows), name, rows, width), first_row=position)

    def _give_waiting(self, width: int) -> None:
        for inputs, name, rows, position in self._waiting:
            self._give_nulls(inputs, name, rows, position, width)
        self._waiting = []

    def answer(self) -> bytes:
        if self._waiting and self.width is None:
            raise LengthNeeded
        if self._waiting and self.width == NO_LISTS:
            _check_any_list(*self._waiting[0][:2])
        self._give_waiting(self.width or NO_LISTS)
        return self.worker.answer()


def _check_any_list(inputs: "dict[str, Any]", name: str) -> None:
    """Fails for lists in a table whose lists are all null."""
    if _scores(inputs, name).type != arrow.null():
        remedy = "give a list of scores for each row"
        error = DataError(f"{name}: every row of the table is null; {remedy}")
        error.row, error.remedy = 0, remedy
        raise error


def _scores(inputs: "dict[str, Any]", name: str) -> Any:
    given = inputs.get(name)
    return inputs["data"].column(given) if isinstance(given, str) and "data" in inputs else given


def with_nulls(inputs: "dict[str, Any]", name: str, rows: int, width: int) -> "dict[str, Any]":
    """Inputs whose scores are nulls alone, as lists of a known width or as numbers."""
    kind = arrow.float64() if width == NO_LISTS else arrow.list_(arrow.float64(), width)
    scores = arrow.nulls(rows, kind)
    if not isinstance(inputs[name], str):
        return {**inputs, name: scores}
    data = inputs["data"]
    return {**inputs, "data": data.set_column(data.schema.get_field_index(inputs[name]), inputs[name], scores)}


def _list_lengths(inputs: "dict[str, Any]") -> "tuple[str, np.ndarray | None]":
    """The name of the scores and the lengths of their lists, NaN for a null, also of a column without any value;
    None for other scores."""
    name = next((each for each in COLUMNS if each in inputs), "")
    given = _scores(inputs, name)
    kind = getattr(given, "type", None)
    if kind == arrow.null():
        return name, np.full(len(given), np.nan)
    if not isinstance(kind, arrow.DataType) or not (
        arrow.types.is_list(kind) or arrow.types.is_large_list(kind) or arrow.types.is_fixed_size_list(kind)
    ):
        return name, None
    lengths = list_value_length(given)
    if isinstance(lengths, arrow.ChunkedArray):
        lengths = lengths.combine_chunks()
    return name, lengths.cast(arrow.float64()).to_numpy(zero_copy_only=False)


def _sliced(inputs: "dict[str, Any]", rows: int) -> "dict[str, Any]":
    """The first rows of a batch."""
    return {name: each.slice(0, rows) if hasattr(each, "slice") else each for name, each in inputs.items()}


# ---- Answers ----

#: in place of a failure: the partition must be read again with the length of lists
_LENGTH_NEEDED = "length needed"


def answer_part(
    batches: "Iterable[tuple[int, dict[str, Any]]]",
    partition: int,
    start: Start,
    request: bytes,
    width: "int | None" = None,
) -> "Answer | None":
    """The answer of one partition to a request; None without rows.

    batches : the number of rows and the inputs of each
    width : the length of lists of scores, or NO_LISTS; None: unknown
    """
    try:
        taken = _Rows(start(request, partition), partition, width)
    except Error as failure:
        return Answer(partition, 0, None, _text(failure))
    try:
        for rows, inputs in batches:
            if rows > 0:
                taken.add(inputs, rows)
        return Answer(partition, taken.count, taken.answer(), None, taken.lists()) if taken.count > 0 else None
    except LengthNeeded:
        return Answer(partition, 0, None, _LENGTH_NEEDED)
    except Error as failure:
        at = taken.count if failure.row is None else failure.row
        return Answer(partition, at, None, _text(failure), taken.lists())


def merge_answers(answers: "Iterable[Answer | None]", merge: Merge) -> "Answer | None":
    """One answer for many, or the failure of the smallest partition and position."""
    worst, content, partition, lists = None, None, 0, None
    for each in answers:
        if each is None:
            continue
        partition = each.partition
        firsts = _first_lists(lists, each.lists)
        lists = json.dumps(firsts) if firsts else None
        try:
            if each.answer is not None and len(firsts) < 2:
                content = each.answer if content is None else merge(content, each.answer)
        except Error as failure:
            each = Answer(partition, 0, None, _text(failure))
        if each.failure is not None and (worst is None or each[:2] < worst[:2]):
            worst = each
    if worst is not None:
        return worst._replace(lists=lists)
    return None if content is None and lists is None else Answer(partition, 0, content, None, lists)


def conclude(answers: "Iterable[Answer | None]", merge: Merge, unit: str = "partition") -> bytes:
    """The merged answer of all partitions; raises their first failure, or LengthNeeded."""
    found = merge_answers(answers, merge)
    if found is None:
        raise DataError("the table has no rows; give at least one")
    firsts = _first_lists(found.lists)
    if len(firsts) > 1 and (found.failure is None or firsts[1][:2] <= found[:2]):
        odd = firsts[1]
        error = _unequal(odd.name, odd.position, odd.width, firsts[0].width)
        found = Answer(odd.partition, odd.position, None, _text(error))
    if found.failure == _LENGTH_NEEDED:
        raise LengthNeeded(firsts[0].width if firsts else NO_LISTS)
    if found.answer is not None:
        return found.answer
    name, message, remedy = json.loads(found.failure or "")
    kind = getattr(_errors, name)
    error = kind(message if kind is UsageError else f"{unit} {found.partition}: {message}")
    error.row, error.remedy = found.position, remedy
    raise error


def check_specs(specs: "tuple[str, ...]", system: str) -> None:
    for spec in specs:
        if "estimator=block" in spec:
            raise UsageError(
                f"{spec} forms blocks of consecutive rows, and the rows of a {system} table have no "
                "order; collect the rows, or use another metric"
            )


def named_columns(arguments: "dict[str, Any]") -> "tuple[dict[str, Any], dict[str, Any]]":
    """The columns that a call names, one of them of scores, and its other arguments."""
    for name in arguments:
        if name not in COLUMNS + POLICY:
            raise UsageError(f'there is no argument "{name}"; choose among {", ".join(COLUMNS + POLICY)}')
    given = {name: arguments[name] for name in COLUMNS if arguments.get(name) is not None}
    if sum(name in given for name in COLUMNS[:4]) != 1:
        raise UsageError(f"name the column of scores by one of {', '.join(COLUMNS[:4])}")
    return given, {name: arguments[name] for name in POLICY if name in arguments}


def column_list(given: "dict[str, Any]") -> "list[str]":
    """The names of all columns, each once."""
    words = ([each] if isinstance(each, str) else list(each) for each in given.values())
    return list(dict.fromkeys(name for some in words for name in some))


def measure_rounds(
    given: "dict[str, Any]",
    read: Reading,
    metrics: Any,
    system: str,
    progress: Any,
    policy: "dict[str, Any]",
) -> Result:
    """The result of a table whose partitions answer requests together."""
    specs = _specs(metrics)
    check_specs(specs, system)
    kind = next(name for name in COLUMNS if name in given)
    return judged(run_rounds(Rounds(specs, kind=kind, **policy), read_with_length(read), progress), metrics)
