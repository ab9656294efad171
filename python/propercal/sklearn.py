"""The metrics of classes with scikit-learn's order of arguments: ``sklearn.ece(y_true, y_prob)``.

Otherwise they are the functions of the package, with its options: ``sklearn.ece(y_true, y_prob, bins=20)``.
They need no scikit-learn.
"""

import functools as _functools
import inspect as _inspect
from typing import Any as _Any
from typing import Callable as _Callable

import numpy as _np

import propercal as _propercal

from . import _registry
from ._errors import UsageError as _UsageError
from ._responses import class_codes as _class_codes

_DOCUMENT = """{title} in scikit-learn's order of arguments.

Parameters
----------
y_true : array-like of shape (n_samples,)
    True classes: numbers or words.
y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
    Probability of the positive class, or of each class in sorted order.
labels : array-like of shape (n_classes,), default=None
    Classes in the order of the columns of ``y_prob``; None takes the classes of ``y_true``, sorted.
pos_label : int, float, bool or str, default=None
    Positive class, where ``y_prob`` has one column; None takes 1.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the rows.
**options
    Options of ``propercal.{name}``, such as ``normalize`` or ``threads``.

Returns
-------
float
    {value}

See Also
--------
propercal.{name} : The options, with the formula and the source.
"""

_HALF = """The value of ``brier_score_loss``: of two classes that of the positive class alone, half of
    ``propercal.brier(y_prob, y_true)``, which sums over both; ``half=False`` gives the sum."""


def _codes(y_true: _Any, columns: int, labels: _Any, pos_label: _Any) -> _np.ndarray:
    """Class numbers of true classes, for scores of so many columns."""
    y_true = _np.asarray(y_true)
    if pos_label is not None or (columns == 1 and labels is None):
        return _outcomes(y_true, columns, pos_label)
    classes = _np.unique(y_true) if labels is None else _np.asarray(labels)
    order = _np.argsort(classes, kind="stable")
    codes = order[_class_codes(classes[order], y_true)]
    if len(classes) != max(columns, 2):
        raise _UsageError(
            f"y_true has {len(classes)} classes and y_prob {columns} columns; give labels, the class of "
            "each column"
        )
    return codes.astype(_np.int32)


def _outcomes(y_true: _np.ndarray, columns: int, pos_label: _Any) -> _np.ndarray:
    if columns > 2:
        raise _UsageError("pos_label is for two classes; give labels, the class of each column")
    found = _np.unique(y_true)
    if pos_label is None and not set(found.tolist()) <= {-1, 0, 1}:
        known = ", ".join(map(repr, found.tolist()[:8]))
        raise _UsageError(f"y_true has the classes {known}; give pos_label, the one that y_prob is about")
    return (y_true == (1 if pos_label is None else pos_label)).astype(_np.int32)


def _swapped(row: _registry.Row, function: "_Callable[..., float]") -> "_Callable[..., float]":
    @_functools.wraps(function)
    def call(
        y_true: _Any,
        y_prob: _Any,
        *,
        labels: _Any = None,
        pos_label: _Any = None,
        sample_weight: _Any = None,
        **options: _Any,
    ) -> float:
        y_prob = _np.asarray(y_prob)
        columns = y_prob.shape[1] if y_prob.ndim == 2 else 1
        codes = _codes(y_true, columns, labels, pos_label)
        if row.name == "brier" and columns <= 2:  # scikit-learn's has one column for two classes
            options.setdefault("half", True)
        return function(y_prob, codes, weights=sample_weight, **options)

    call.__signature__ = _inspect.signature(call, follow_wrapped=False)  # type: ignore[attr-defined]
    title = row.title[0].upper() + row.title[1:]
    value = _HALF if row.name == "brier" else f"The value, as ``propercal.{function.__name__}(y_prob, y_true)``."
    call.__doc__ = _DOCUMENT.format(title=title, name=function.__name__, value=value)
    call.__module__ = __name__
    return call


_METRICS = {
    name: _swapped(row, getattr(_propercal, name))
    for row in _registry.rows("metrics")
    if row.task is None
    for name in [_registry.identifier(row.name)]
}
globals().update(_METRICS)

__all__ = [*_METRICS]


def __getattr__(name: str) -> "_Callable[..., float]":
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
