"""Parquet files, and folders of them: columns by name, read by pyarrow."""

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
