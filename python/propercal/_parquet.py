"""Parquet files, and folders of them: columns by name, read by pyarrow.

``measure`` reads them in rounds, batch by batch, so that they may be larger than memory; what rounds
cannot measure, and other calls, read the columns that they need into memory.
"""

import json
import os
from typing import Any, Iterator

from ._errors import DataError, IOError, UsageError
from ._parameters import SCORES

#: rows of a batch
_BATCH_ROWS = 65536


def is_parquet(value: Any) -> bool:
    """True for Parquet files by name, folders, and data sets of pyarrow."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(is_parquet(each) for each in value)
    if not isinstance(value, (str, os.PathLike)):
        return type(value).__module__.startswith("pyarrow") and hasattr(value, "to_batches") and hasattr(value, "scanner")
    return os.fsdecode(value).endswith((".parquet", ".pq")) or os.path.isdir(value)


def open_data_set(value: Any) -> Any:
    """The pyarrow data set of a file, a folder or several files; of itself, if it is one."""
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise UsageError("reading Parquet files needs pyarrow; run pip install pyarrow") from None
    if isinstance(value, pyarrow.dataset.Dataset):
        return value
    files = [os.fsdecode(each) for each in (value if isinstance(value, tuple) else [value])]
    try:
        return pyarrow.dataset.dataset(files if len(files) > 1 else files[0], format="parquet")
    except FileNotFoundError:
        lost = next((file for file in files if not os.path.exists(file)), files[0])
        raise IOError(f"{lost} could not be opened; check its name") from None
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{', '.join(files)} could not be read as Parquet: {error}") from None


def _columns(given: "dict[str, Any]") -> "list[str]":
    """The columns that arguments name, each once."""
    found: "dict[str, None]" = {}
    for name in (*SCORES, "variance", "std", "labels", "correct", "target", "weights", "groups", "ids", "time"):
        words = given.get(name)
        found.update(dict.fromkeys([words] if isinstance(words, str) else words or ()))
    return list(found)


def _pieces(data: Any) -> "Iterator[Any]":
    """The row groups of Parquet files; other data sets as a whole.  pyarrow reads ahead as far as 1 GB, of a row
    group no more than there is."""
    if getattr(getattr(data, "format", None), "default_extname", "") != "parquet":
        yield data
        return
    try:
        files = data.get_fragments()
    except ValueError:  # a filter chooses among its rows
        yield data
        return
    for file in files:
        yield from file.split_by_row_group()


def _batches(data: Any, columns: "list[str]") -> "Iterator[Any]":
    """A data set batch by batch, so that it may be larger than memory."""
    few: "dict[str, Any]" = {"batch_size": _BATCH_ROWS, "batch_readahead": 2, "fragment_readahead": 1}
    for piece in _pieces(data):
        schema = {} if piece is data else {"schema": data.schema}
        for batch in piece.to_batches(columns=columns, use_threads=False, **schema, **few):
            if batch.num_rows > 0:
                yield batch


def _kind(given: "dict[str, Any]") -> "str | None":
    """The kind of scores, as ``Rounds`` calls it."""
    if "mean" in given:
        return "mean_variance" if "variance" in given else "mean_std"
    kinds = ("probs", "logits", "log_probs", "confidence", "quantiles", "samples")
    return next((name for name in kinds if name in given), None)


def _width(data: Any, columns: Any) -> "int | None":
    """The number of columns of the scores; None if no row shows it."""
    if not isinstance(columns, str):
        return len(columns)
    for batch in _batches(data, [columns]):
        column = batch.column(0)
        if not hasattr(column, "value_lengths"):
            return 1
        found = next((each for each in column.value_lengths().to_pylist() if each), None)
        if found is not None:
            return found
    return None


def _with_lists(batch: Any, scores: Any, width: "int | None") -> Any:
    """A batch whose lists of scores are not all null, or nulls as lists of the width of the others."""
    from ._partitions import with_nulls

    column = batch.column(scores) if isinstance(scores, str) and width is not None else None
    if column is None or column.null_count < len(column) or not hasattr(column, "value_lengths"):
        return batch
    return with_nulls({"data": batch, "scores": scores}, "scores", len(batch), width)["data"]


def _outcomes(batch: Any, column: str, pos_label: Any) -> Any:
    """A batch whose labels are true for the positive one."""
    import pyarrow
    import pyarrow.compute

    labels = batch.column(column)
    if hasattr(labels, "dictionary_decode"):
        labels = labels.dictionary_decode()
    try:
        equal = pyarrow.compute.equal(labels, pyarrow.scalar(pos_label, type=labels.type))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # a label of another type equals none
        equal = pyarrow.array([False] * len(labels))
    return batch.set_column(batch.schema.get_field_index(column), column, equal)


def _first_labels(data: Any, column: str) -> str:
    """Some of the labels, for a message."""
    for batch in _batches(data, [column]):
        found = sorted({repr(each) for each in batch.column(0)[:1000].to_pylist() if each is not None})
        if found:
            return ", ".join(found[:8])
    return "all missing"


def measured(given: "dict[str, Any]", shown: str, metrics: Any, policy: "dict[str, Any]", settings: tuple) -> Any:
    """The results of a data set with named columns; None where rounds cannot measure it."""
    from ._inputs import Data
    from ._rounds import Rounds, RoundsWorker, run_rounds

    given = dict(given)
    data, kind, pos_label = given.pop("data"), _kind(given), given.pop("pos_label", None)
    columns = _columns(given)
    named = all(isinstance(each, str) for each in columns)
    if kind is None or "mean" in given or "header" in given or not named or (pos_label is not None and "labels" not in given):
        return None
    threads, seed, memory_limit, progress = settings
    limits = {"threads": threads, "memory_limit": memory_limit}
    try:
        wide = {"classes": _width(data, given[kind]), "levels": given.get("levels")}
        rounds = Rounds(metrics, kind=kind, seed=seed, **wide, **policy, **limits)
    except UsageError:  # of a metric; the caller raises that of a wrong name
        return None

    def answer(request: bytes) -> bytes:
        worker, first = RoundsWorker(request, **limits), given.get("first_row", 0)
        positive = pos_label is None
        for batch in _batches(data, columns):
            if pos_label is not None:
                batch = _outcomes(batch, given["labels"], pos_label)
                positive = positive or batch.column(given["labels"]).true_count > 0
            batch = _with_lists(batch, given[kind], wide["classes"])
            worker.update(Data(**{**given, "data": batch, "first_row": first}))
            first += batch.num_rows
        if first == given.get("first_row", 0):
            raise DataError(f"{shown} has no rows; give at least one")
        if not positive:
            known = _first_labels(data, given["labels"])
            raise UsageError(f"pos_label={pos_label!r} is none of the labels; they are {known}")
        return worker.tally()

    found = run_rounds(rounds, answer, progress)
    return None if (policy["interval"] or policy["null"]) and _lacks(found) else found


def _lacks(results: Any) -> bool:
    """True if a value has no interval or null that one process with all rows would have."""
    from ._results import JSON

    return any("in one process" in row.get("unsure", "") for row in json.loads(results.write(JSON))["results"])
