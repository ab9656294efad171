"""Tables in partitions that processes of a cluster read: what Spark, Dask and Ray share.

Each partition answers a request with bytes, or with its first failure.  A failure travels like an
answer: the driver raises that of the first row, by partition and position, for any number of processes
and retries, and then no answer counts.
"""

import json
from typing import Any, Callable, Iterable, NamedTuple, Protocol

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
    """The answer of a partition, or its failure at a row; the other is None."""

    partition: int
    position: int
    answer: "bytes | None"
    failure: "str | None"


class Worker(Protocol):
    """Adds up the rows of a partition; ``first_row`` is a position in it."""

    def update(self, *, first_row: int, **inputs: Any) -> None: ...

    def answer(self) -> bytes: ...


#: makes the worker of a partition from a request and its number
Start = Callable[[bytes, int], Worker]
#: merges two answers; also runs on the driver
Merge = Callable[[bytes, bytes], bytes]


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


def answer_part(
    batches: "Iterable[tuple[int, dict[str, Any]]]", partition: int, start: Start, request: bytes
) -> "Answer | None":
    """The answer of one partition to a request; None without rows.

    batches : the number of rows and the inputs of each
    """
    position = 0
    try:
        worker = start(request, partition)
        for rows, inputs in batches:
            if rows > 0:
                worker.update(**inputs, first_row=position)
                position += rows
        return Answer(partition, position, worker.answer(), None) if position > 0 else None
    except Error as failure:
        at = position if failure.row is None else failure.row
        return Answer(partition, at, None, _text(failure))


def merge_answers(answers: "Iterable[Answer | None]", merge: Merge) -> "Answer | None":
    """One answer for many, or the failure of the smallest partition and position."""
    worst, content, partition = None, None, 0
    for each in answers:
        if each is None:
            continue
        partition = each.partition
        try:
            if each.answer is not None:
                content = each.answer if content is None else merge(content, each.answer)
        except Error as failure:
            each = Answer(partition, 0, None, _text(failure))
        if each.failure is not None and (worst is None or each[:2] < worst[:2]):
            worst = each
    return worst or (None if content is None else Answer(partition, 0, content, None))


def conclude(answers: "Iterable[Answer | None]", merge: Merge, unit: str = "partition") -> bytes:
    """The merged answer of all partitions; raises their first failure."""
    found = merge_answers(answers, merge)
    if found is None:
        raise DataError("the table has no rows; give at least one")
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
    answer: "Callable[[bytes], bytes]",
    metrics: Any,
    system: str,
    progress: Any,
    policy: "dict[str, Any]",
) -> Result:
    """The result of a table whose partitions answer requests together."""
    specs = _specs(metrics)
    check_specs(specs, system)
    kind = next(name for name in COLUMNS if name in given)
    return judged(run_rounds(Rounds(specs, kind=kind, **policy), answer, progress), metrics)
