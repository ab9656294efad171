"""Can the probabilities of your model be trusted, and how to repair them.

>>> import propercal as pc
>>> pc.measure(logits=logits, labels=labels)        # everything, with a verdict
>>> pc.ece(probs, labels, bins=20)                  # one number
>>> pc.Temperature(kind="logits").fit(logits, labels).predict_proba(new_logits)

Functions and classes come from the library's own tables: ``list_metrics()`` and
``list_calibrators()`` show what there is, ``help(pc.ece)`` explains one.
"""

import importlib as _importlib
import typing as _typing

from . import _core, _measuring, _registry
from ._comparing import Comparison, compare
from ._errors import (
    ConvergenceWarning,
    DataError,
    Error,
    FitWarning,
    InternalError,
    IOError,
    MemoryError,
    UndefinedMetricWarning,
    UsageError,
)
from ._figures import Figure
from ._measuring import Measure, measure
from ._registry import Option, Row
from ._reporting import Report, report
from ._results import Bin, Difference, Interval, Null, Result, Value, Values
from ._studying import Study, study
from ._tools import (
    Inspection,
    Simulation,
    inspect,
    list_calibrators,
    list_conventions,
    list_figures,
    list_groups,
    list_metrics,
    list_notions,
    list_studies,
    plot,
    simulate,
)

__version__ = _core.VERSION

_METRICS = {_registry.identifier(row.name): row for row in _registry.joined("metrics")}
globals().update({name: _measuring.metric(row) for name, row in _METRICS.items()})

# Made when first asked for, because they look for scikit-learn, which takes its time.
_CALIBRATORS = [_registry.class_name(row.name) for row in _registry.rows("calibrators")]
_LATER = {
    "CalibratedClassifier": "._classifier",
    "Calibrator": "._calibrator",
    "load": "._calibrator",
    **dict.fromkeys(_CALIBRATORS, ".calibrators"),
}


def __getattr__(name: str) -> _typing.Any:
    if name == "calibrators":
        return _importlib.import_module(".calibrators", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(_LATER[name], __name__), name)


def __dir__() -> "list[str]":
    return sorted({*globals(), *_LATER})


# Not among these: IOError and MemoryError, which would hide the built-in ones.
__all__ = [
    "Bin",
    "Comparison",
    "ConvergenceWarning",
    "DataError",
    "Difference",
    "Error",
    "Figure",
    "FitWarning",
    "Inspection",
    "InternalError",
    "Interval",
    "Measure",
    "Null",
    "Option",
    "Report",
    "Result",
    "Row",
    "Simulation",
    "Study",
    "UndefinedMetricWarning",
    "UsageError",
    "Value",
    "Values",
    "compare",
    "inspect",
    "list_calibrators",
    "list_conventions",
    "list_figures",
    "list_groups",
    "list_metrics",
    "list_notions",
    "list_studies",
    "measure",
    "plot",
    "report",
    "simulate",
    "study",
    *_LATER,
    *_METRICS,
]
