"""Parquet files, and folders of them: columns by name, read by pyarrow.

``measure`` reads them in rounds, batch by batch, so that they may be larger than memory; what rounds
cannot measure, and other calls, read the columns that they need into memory.
"""

import difflib
import os
from typing import Any, Iterator

from ._errors import DataError, IOError, UsageError

#: rows of a batch
_BATCH_ROWS = 65536


def is_parquet(value: Any) -> bool:
    """Whether a value names a Parquet file."""
    if not isinstance(value, (str, os.PathLike)):
        return False
    return os.fsdecode(value).endswith((".parquet", ".pq"))


def _names(given: "dict[str, Any]") -> "list[str]":
    """The columns that arguments name, each once."""
    found: "dict[str, None]" = {}
    for name, value in given.items():
        if name == "data":
            continue
        words = [value] if isinstance(value, str) else value
        if isinstance(words, (list, tuple)) and all(isinstance(word, str) for word in words):
            found.update(dict.fromkeys(words))
    return list(found)


def _open(path: Any, given: "dict[str, Any]") -> tuple:
    """The pyarrow data set of a path, and the columns to read."""
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise UsageError("reading Parquet files needs pyarrow; run pip install pyarrow") from None
    shown = os.fsdecode(path)
    try:
        data = pyarrow.dataset.dataset(shown, format="parquet")
    except FileNotFoundError:
        raise IOError(f"{shown} could not be opened; check its name") from None
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{shown} could not be read as Parquet: {error}") from None
    columns = _names(given)
    for name in columns:
        if name not in data.schema.names:
            near = difflib.get_close_matches(name, data.schema.names, 1)
            remedy = f'did you mean "{near[0]}"?' if near else f"it has {', '.join(data.schema.names)}"
            raise UsageError(f'{shown} has no column "{name}"; {remedy}')
    return data, columns


def table_of(path: Any, given: "dict[str, Any]") -> Any:
    """A table of the columns that the arguments name."""
    data, columns = _open(path, given)
    return data.to_table(columns=columns)


def batches_of(path: Any, given: "dict[str, Any]") -> "Iterator[Any]":
    """The same batch by batch, so that the file may be larger than memory."""
    data, columns = _open(path, given)
    few = {"batch_size": _BATCH_ROWS, "batch_readahead": 2, "fragment_readahead": 1}
    for batch in data.to_batches(columns=columns, use_threads=False, **few):
        if batch.num_rows > 0:
            yield batch


def _kind(given: "dict[str, Any]") -> "str | None":
    """The kind of scores, as ``Rounds`` calls it."""
    if "mean" in given:
        return "mean_variance" if "variance" in given else "mean_std"
    kinds = ("probs", "logits", "log_probs", "confidence", "quantiles", "samples")
    return next((name for name in kinds if name in given), None)


def _width(path: Any, given: "dict[str, Any]", name: str) -> "int | None":
    """The number of columns of the scores; None if the first rows do not show it."""
    if not isinstance(given[name], str):
        return len(given[name])
    for batch in batches_of(path, {name: given[name]}):
        column = batch.column(0)
        if not hasattr(column, "value_lengths"):
            return 1
        return next((each for each in column.value_lengths().to_pylist() if each), None)
    return None


def measured(data: Any, metrics: Any, policy: "dict[str, Any]", settings: tuple) -> Any:
    """The results of a Parquet file; None where rounds cannot measure it."""
    from ._rounds import Rounds, RoundsWorker, run_rounds

    given = {name: value for name, value in data.inputs.items() if value is not None}
    path, kind = given.pop("data"), _kind(given)
    if kind is None or "mean" in given or "header" in given:
        return None
    threads, seed, memory_limit, progress = settings
    limits = {"threads": threads, "memory_limit": memory_limit}
    try:
        wide = {"classes": _width(path, given, kind), "levels": given.get("levels")}
        rounds = Rounds(metrics, kind=kind, seed=seed, **wide, **policy, **limits)
    except UsageError:  # of a metric; the caller raises that of a wrong name
        return None

    def answer(request: bytes) -> bytes:
        worker, first = RoundsWorker(request, **limits), given.get("first_row", 0)
        for batch in batches_of(path, given):
            worker.update(type(data)(**{**given, "data": batch, "first_row": first}))
            first += batch.num_rows
        if first == given.get("first_row", 0):
            raise DataError(f"{os.fsdecode(path)} has no rows; give at least one")
        return worker.tally()

    return run_rounds(rounds, answer, progress)
