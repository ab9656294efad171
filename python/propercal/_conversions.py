"""Values of callers that the library cannot read as they are: tensors, dates, words for class 1, lists of
different lengths.
"""

import functools
import math
import os
from typing import Any

import numpy as np

from ._errors import DataError, UsageError
from ._tables import Files


@functools.lru_cache(maxsize=256)
def _names_files(kind: type) -> bool:
    return issubclass(kind, (str, os.PathLike, Files))


def is_file(value: Any) -> bool:
    """True for a name of a file, and for several files that are read as one.  Whether a type is one of
    paths takes long to find out, and is remembered."""
    return _names_files(type(value))


@functools.lru_cache(maxsize=256)
def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def package_of(value: Any) -> str:
    """The package that a value comes from."""
    return _package(type(value))


@functools.lru_cache(maxsize=64)
def _is_bfloat16(dtype: Any) -> bool:
    return str(dtype) == "torch.bfloat16"


def torch_array(tensor: Any) -> np.ndarray:
    """A tensor as an array on the processor, copied there from a GPU."""
    if tensor.requires_grad or not tensor.is_cpu:
        tensor = tensor.detach().cpu()
    return (tensor.float() if _is_bfloat16(tensor.dtype) else tensor).numpy()


def as_array(value: Any) -> Any:
    """A tensor, list or other array as an array of NumPy; files and tables stay as they are."""
    if is_file(value) or isinstance(value, np.ndarray) or package_of(value) in ("pandas", "polars", "pyarrow"):
        return value
    return np.asarray(torch_array(value) if package_of(value) == "torch" else value)


def outcomes(labels: Any, pos_label: Any) -> np.ndarray:
    """1 for the positive label, 0 for others, NaN for missing ones."""
    if labels is None:
        raise UsageError("pos_label is one of the labels; give labels too")
    values = np.asarray(as_array(labels))
    listed = [None if str(each) == "<NA>" or each != each else each for each in values.tolist()]
    found = np.array([np.nan if each is None else each == pos_label for each in listed], dtype=float)
    if not (found == 1).any():
        known = ", ".join(sorted({repr(each) for each in values[:1000].tolist()})[:8])
        raise UsageError(f"pos_label={pos_label!r} is none of the labels; they are {known}")
    return found


def seconds(times: Any) -> Any:
    """Dates and times as seconds since 1970 in UTC; texts and numbers stay as they are."""
    if is_file(times):
        return times
    if hasattr(times, "to_pandas"):
        times = times.to_pandas()
    if getattr(getattr(times, "dt", None), "tz", None) is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    array = np.asarray(times)
    if array.dtype == object and all(hasattr(each, "isoformat") for each in array.flat):
        return np.array([each.isoformat() for each in array.flat])
    if array.dtype.kind != "M":
        return times
    if np.isnat(array).any():
        raise DataError("a time is missing; give every row a time")
    return array.astype("datetime64[s]").astype(np.int64)


def _is_row(row: Any) -> bool:
    return isinstance(row, (list, tuple)) or getattr(row, "ndim", None) == 1


def padded(rows: Any) -> Any:
    """Lists or arrays of different lengths as an array that ends with NaN; anything else as it is."""
    if getattr(rows, "dtype", None) == object and rows.ndim == 1:  # an array of arrays, a column of a table
        rows = list(rows)
    if not isinstance(rows, (list, tuple)) or not all(_is_row(row) for row in rows):
        return rows
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[math.nan] * (width - len(row))] for row in rows], dtype=float)
