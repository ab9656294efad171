"""Arrays of unusual types: texts and objects become numbers with names, unusual numbers usual ones."""

from typing import Iterable

import numpy as np

from ._errors import DataError, NotNumbersError


def _coded(values: Iterable) -> tuple:
    """Numbers, and the names that they stand for."""
    index: dict = {}
    codes = [
        -1 if value is None or value != value else index.setdefault(str(value), len(index))
        for value in values
    ]
    return np.array(codes, dtype=np.int32), tuple(index)


def _from_objects(name: str, array: np.ndarray) -> tuple:
    if array.dtype == object and all(
        value is None or isinstance(value, (int, float, np.number, np.bool_))
        for value in array.flat
    ):
        return array.astype(np.float64), None
    if array.ndim != 1:
        kinds = {type(value).__name__ for value in array.flat if not isinstance(value, (int, float, np.number))}
        raise NotNumbersError(
            f"{name} has values of the type {sorted(kinds)[0]}; the argument must be an array without strings and "
            "other objects, of numbers alone"
        )
    return _coded((array.astype(str) if array.dtype.kind == "S" else array).tolist())


def usual(name: str, array: np.ndarray) -> tuple:
    """An array of numbers, and the names that they stand for, or None."""
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.ndim not in (1, 2):
        raise DataError(f"{name} has {array.ndim} dimensions; give one or two: rows, and columns")
    if array.ndim == 2 and array.shape[1] == 0:
        raise DataError(f"{name} has no columns; give at least one")
    kind = array.dtype.kind
    if kind in "OUSTM":
        return _from_objects(name, array)
    if kind == "V" and array.dtype.name == "bfloat16":
        return array.astype(np.float32), None
    if kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64), None
    if kind == "c":
        raise DataError(f"Complex data not supported: {name} has elements of type {array.dtype}; give real numbers")
    if kind not in "fiub":
        raise DataError(f"{name} has elements of type {array.dtype}; give numbers")
    if 0 in array.strides:  # repeated rows (numpy.broadcast_to): the library reads 0 as no gaps
        array = array.copy(order="C")
    return array, None
