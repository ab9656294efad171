"""Arrays of unusual types: texts and objects become numbers with names, unusual numbers usual ones."""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ._errors import DataError, NotNumbersError

#: inputs whose values may be names; those of others are numbers
NAMED = frozenset({"labels", "correct", "groups", "ids", "time"})
#: types of missing values in pandas
_GAPS = {"NAType", "NaTType"}


def is_missing(value: Any) -> bool:
    """True for None, NaN, and NaT and NA of pandas; NA has no truth value."""
    unequal = value != value
    return value is None or type(value).__name__ in _GAPS or (isinstance(unequal, (bool, np.bool_)) and bool(unequal))


def _coded(values: list) -> tuple:
    """Numbers, and the names that they stand for."""
    try:
        missing = [value is None or bool(value != value) for value in values]
    except (TypeError, ValueError):  # NA of pandas, arrays
        missing = [is_missing(value) for value in values]
    index: dict = {}
    codes = [-1 if gap else index.setdefault(str(value), len(index)) for value, gap in zip(values, missing)]
    return np.array(codes, dtype=np.int32), tuple(index)


def _from_objects(name: str, array: np.ndarray) -> tuple:
    """Numbers of objects that all are numbers; codes and names of others, in one dimension."""
    types = set(map(type, array.flat)) if array.dtype == object else {array.dtype.type}
    others = {each.__name__ for each in types if not issubclass(each, (Real, Decimal, np.bool_, type(None)))}
    if not others:
        return array.astype(np.float64), None
    if others <= _GAPS:
        numbers = [np.nan if is_missing(each) else each for each in array.flat]
        return np.array(numbers, dtype=np.float64).reshape(array.shape), None
    if array.ndim != 1:
        raise NotNumbersError(
            f"{name} has values of the type {sorted(others - _GAPS)[0]}; the argument must be an array without strings "
            "and other objects, of numbers alone"
        )
    return _coded((array.astype(str) if array.dtype.kind == "S" else array).tolist())


def check_numbers(parts: "dict[str, tuple | None]") -> None:
    """Refuses names in an input of numbers, which would be taken as codes in the order of their appearance."""
    for name, part in parts.items():
        if part is not None and part[0] == "array" and part[2] is not None and name not in NAMED:
            raise NotNumbersError(f"{name} has values that are no numbers, such as {part[2][0]!r}; give an array of numbers alone")


def usual(name: str, array: np.ndarray) -> tuple:
    """An array of numbers, and the names that they stand for, or None."""
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "OUST":
        masked, array = np.ma.getmaskarray(array), array.data.astype(object)
        array[masked] = None
    elif isinstance(array, np.ma.MaskedArray):
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
