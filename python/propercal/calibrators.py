"""One class for each calibrator of the library; ``list_calibrators()`` explains them."""

import warnings as _warnings
from typing import Any as _Any

from . import _registry
from ._calibrator import Calibrator, load, make_class

globals().update(
    {
        _registry.class_name(row.name): make_class(row, __name__)
        for row in _registry.rows("calibrators")
    }
)

__all__ = [
    "Calibrator",
    "load",
    *(_registry.class_name(row.name) for row in _registry.rows("calibrators")),
]


def __getattr__(name: str) -> _Any:
    new = _registry.OLD_CLASS_NAMES.get(name)
    if new is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _warnings.warn(f"{name} is now called {new}", DeprecationWarning, stacklevel=3)
    return globals()[new]
