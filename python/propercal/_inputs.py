"""From whatever holds predictions to a source of the library, without copying where possible.

An argument becomes a part, as python/core/core_source.c takes it: a file, an array or an Arrow
stream.  Only what the library cannot read by itself is touched here: texts become numbers with
names, unusual types of numbers usual ones.
"""

import os
from typing import Any, Iterable

import numpy as np

from . import _core
from ._errors import DataError, UsageError, file_name

KINDS = {
    "probs": 1,
    "logits": 2,
    "log_probs": 3,
    "confidence": 4,
    "mean": 5,  # with variance; 6 with std
    "quantiles": 7,
    "samples": 8,
}
#: kinds of predictions of a number
FORECASTS = ("mean", "quantiles", "samples")


def is_file(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _family(value: Any) -> str:
    """The package that a value comes from."""
    return type(value).__module__.partition(".")[0]


# ---- Arrays ----


def _from_torch(name: str, tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        raise UsageError(f"{name} is on the device {tensor.device}; pass {name}.cpu()")
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return tensor.numpy()


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
        raise DataError(f"{name} is no array of numbers; give numbers")
    return _coded((array.astype(str) if array.dtype.kind == "S" else array).tolist())


def _usual(name: str, array: np.ndarray) -> tuple:
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
    if kind not in "fiub":
        raise DataError(f"{name} has elements of type {array.dtype}; give numbers")
    if 0 in array.strides:  # repeated rows (numpy.broadcast_to): the library reads 0 as no gaps
        array = array.copy(order="C")
    return array, None


def _array(name: str, value: Any) -> tuple:
    if hasattr(value, "toarray"):
        raise DataError(f"{name} is a sparse matrix; pass {name}.toarray()")
    try:
        array = np.asanyarray(value)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is no array: {error}") from None
    return ("array", *_usual(name, array))


# ---- pandas ----


def _column_names(columns: Any) -> "tuple[str, ...] | None":
    names = [name for name in columns]
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def _from_pandas(name: str, value: Any) -> tuple:
    """A part, and the names of columns."""
    if value.ndim == 2:
        array = value.to_numpy()
        if array.dtype == object:
            array = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return _array(name, array), _column_names(value.columns)
    if value.dtype.kind in "fiub" and isinstance(value.dtype, np.dtype):
        return _array(name, value.to_numpy()), None
    if value.dtype.kind in "fiub":
        return _array(name, value.to_numpy(dtype=np.float64, na_value=np.nan)), None
    codes, names = value.factorize()
    return ("array", np.asarray(codes), tuple(str(each) for each in names)), None


def _arrow_pair(value: Any) -> tuple:
    pair = value.__arrow_c_array__()
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise UsageError(
            "__arrow_c_array__ did not give a schema and an array; check the program that made it"
        )
    return pair


# ---- Parts ----


def part(name: str, value: Any) -> tuple:
    """A part of a data set, and the names of its columns where they are known here."""
    if value is None:
        return None, None
    if is_file(value):
        return ("file", file_name(value)), None
    if isinstance(value, np.ndarray):
        return ("array", *_usual(name, value)), None
    family = _family(value)
    if family == "torch":
        return _array(name, _from_torch(name, value)), None
    if family == "pandas":
        return _from_pandas(name, value)
    if hasattr(value, "__arrow_c_stream__"):
        return ("stream", value.__arrow_c_stream__(), None), None
    if hasattr(value, "__arrow_c_array__"):
        return ("arrow", *_arrow_pair(value)), None
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = np.from_dlpack(value)
    return _array(name, value), None


def _choose(data: Any, columns: Any) -> Any:
    """One column of a table, or several."""
    if isinstance(columns, str):
        return data[columns]
    return data.select(list(columns)) if _family(data) == "pyarrow" else data[list(columns)]


def _chosen(data: Any, given: dict) -> dict:
    """The columns of a table that arguments name."""
    chosen = {}
    for name, value in given.items():
        named = isinstance(value, str) or (
            isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
        )
        chosen[name] = _choose(data, value) if named else value
    return chosen


def _check_inputs(given: dict) -> None:
    """Exactly one kind of scores is given, with the truth that goes with it."""
    found = [name for name in KINDS if name in given]
    if not found:
        raise UsageError(
            "there are no scores; give one of probs, logits, log_probs, confidence, mean, "
            "quantiles, samples or data"
        )
    if len(found) > 1:
        raise UsageError(f"{found[0]} and {found[1]} are both given; give only one of them")
    right = _truth(found[0])
    for wrong in {"labels", "correct", "target"} - {right}:
        if wrong in given:
            raise UsageError(f"{found[0]} goes with {right}; give it in place of {wrong}")
    if found[0] == "mean" and ("variance" in given) == ("std" in given):
        raise UsageError("mean goes with variance or std, which say how sure it is; give one")
    if found[0] != "mean" and ("variance" in given or "std" in given):
        raise UsageError("variance and std go with mean; give that too")


def _truth(scores: str) -> str:
    """What goes with a kind of scores."""
    return "target" if scores in FORECASTS else "correct" if scores == "confidence" else "labels"


def _levels(value: Any) -> "tuple[float, ...] | None":
    """Levels of quantiles from numbers or from a text such as 0.05/0.5/0.95."""
    if isinstance(value, str):
        value = value.split("/")
    return None if value is None else tuple(float(each) for each in value)


#: what weights may be, by the numbers of the library
WEIGHTS_ARE = (None, "frequency", "importance")


def _weights_are(word: "str | None") -> int:
    if word not in WEIGHTS_ARE:
        raise UsageError(f"weights_are {word!r} is unknown; give 'frequency' or 'importance'")
    return WEIGHTS_ARE.index(word)


def open_source(
    arguments: dict,
    settings: tuple,
    classes: "Iterable[str] | None" = None,
    first_row: int = 0,
    header: "bool | None" = None,
) -> Any:
    """A source from probs, logits, log_probs, confidence, labels, correct, weights, groups, ids
    and data, or mean, variance, std, quantiles, levels, samples and target, which may be missing
    or None; weights_are says what weights are."""
    given = {name: value for name, value in arguments.items() if value is not None}
    levels = _levels(given.pop("levels", None))
    weights_are = _weights_are(given.pop("weights_are", None))
    heading = 0 if header is None else 1 if header else 2
    data = given.get("data")
    if is_file(data) and not all(is_file(value) for value in given.values()):
        raise UsageError("a data file goes with files only; give arrays by themselves")
    if data is not None and not is_file(data):
        given = _chosen(given.pop("data"), given)
    files = classes is None and all(is_file(value) for value in given.values())
    if not files:
        _check_inputs(given)
    found = {name: part(name, value) for name, value in given.items()}
    if classes is None:
        classes = next((found[name][1] for name in KINDS if name in found), None)
    return _core.open(
        {name: each for name, (each, _) in found.items()},
        None if classes is None else tuple(str(each) for each in classes),
        first_row,
        heading,
        settings,
        levels,
        weights_are,
    )
