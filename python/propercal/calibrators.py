"""One class for each calibrator of the library; ``list_calibrators()`` explains them."""

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
