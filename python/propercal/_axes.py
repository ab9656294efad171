"""Arrays with more than two dimensions, such as the logits (N, K, H, W) of a segmentation, as rows.

A pixel is a row.  Arrays with one value for each image apply to all its pixels.  Rows whose label is
ignored are left out.
"""

from typing import Any

import numpy as np

from ._errors import DataError, UsageError

#: inputs that have one value for each row
_OF_ROWS = ("labels", "correct", "weights", "groups", "ids", "time")


def scores_as_rows(name: str, scores: np.ndarray, class_axis: "int | None") -> np.ndarray:
    """Scores with the classes in the last of two dimensions."""
    if class_axis is None:
        if scores.ndim <= 2:
            return scores
        raise DataError(
            f"{name} has {scores.ndim} dimensions; give class_axis, the axis of the classes, such as "
            "class_axis=1"
        )
    if not -scores.ndim <= class_axis < scores.ndim:
        raise UsageError(f"class_axis={class_axis}: {name} has {scores.ndim} dimensions; give one of them")
    last = np.moveaxis(scores, class_axis, -1)
    return last.reshape(-1, last.shape[-1])


def scores_as_given(rows: np.ndarray, shape: "tuple[int, ...]", class_axis: int) -> np.ndarray:
    """The reverse: rows of classes in the shape that the scores had."""
    others = list(shape)
    del others[class_axis]
    return np.moveaxis(rows.reshape(*others, rows.shape[-1]), -1, class_axis)


def _values_of_rows(name: str, value: np.ndarray, shape: "tuple[int, ...]") -> np.ndarray:
    """One value for each row; `shape` is that of the scores without the axis of classes."""
    if value.shape == shape:
        return value.reshape(-1)
    if value.ndim == 1 and len(shape) > 1 and len(value) == shape[0]:
        return np.repeat(value, int(np.prod(shape[1:])))
    if value.size == np.prod(shape) and value.ndim == 1:
        return value
    raise DataError(f"{name} has the shape {value.shape}, and the rows have {shape}; give one value for each")


def flatten(
    given: "dict[str, Any]", scores: "str | None", class_axis: "int | None", ignore_index: "int | None"
) -> "dict[str, Any]":
    """Arrays as rows: scores of two dimensions, other inputs of one."""
    found = dict(given)
    if scores is None or isinstance(given[scores], str):
        if class_axis is not None or ignore_index is not None:
            raise UsageError("class_axis and ignore_index are for arrays; give the scores as one")
        return found
    shape = np.shape(given[scores])
    if class_axis is not None or len(shape) > 2:
        found[scores] = scores_as_rows(scores, given[scores], class_axis)
        rows = tuple(np.delete(shape, class_axis).tolist())
        for name in _OF_ROWS:
            if name in found:
                found[name] = _values_of_rows(name, np.asarray(found[name]), rows)
    if ignore_index is not None:
        if "labels" not in found:
            raise UsageError("ignore_index is a label; give labels too")
        kept = np.asarray(found["labels"]) != ignore_index
        for name in (scores, *_OF_ROWS):
            if name in found:
                found[name] = np.asarray(found[name])[kept]
    return found
