"""Measures whether the probabilities of a model are calibrated, and recalibrates them.

>>> import propercal as pc
>>> test = pc.Data(logits=logits, labels=labels)
>>> pc.measure(test)                                # the usual metrics, with a verdict
>>> pc.ece(probs, labels, bins=20)                  # one number
>>> pc.compare(test, val=pc.Data(logits=val_logits, labels=val_labels)).calibrator
>>> pc.Temperature(kind="logits").fit(logits, labels).predict_proba(new_logits)

The functions of the metrics and the classes of the calibrators are made from the registry of the
library: ``list_metrics()`` and ``list_calibrators()`` list them, ``help(pc.ece)`` explains one.
"""

import difflib as _difflib
import functools as _functools
import importlib as _importlib
import typing as _typing

from . import _core, _measure, _registry
from ._compare import Comparison, compare
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
from ._measure import Measure, measure
from ._registry import Option, Row
from ._report import Report, report
from ._results import Bin, Change, Difference, Interval, Null, Result, Value, Values, Verdict
from ._rounds import FitRounds, Rounds, RoundsWorker, merge_tallies
from ._study import Study, study
from ._inputs import Data
from ._inspect import Inspection, inspect
from ._lists import (
    list_calibrators,
    list_conventions,
    list_figures,
    list_groups,
    list_metrics,
    list_notions,
    list_studies,
)
from ._plot import plot
from ._simulate import Simulation, simulate
from ._watch import Watch

__version__ = _core.VERSION

_METRICS = {_registry.identifier(row.name): row for row in _registry.joined("metrics")}
_ROWS = _registry.rows("metrics")
_TASKS = {
    name: frozenset(row.task for row in _ROWS if row.name == _METRICS[name].name) for name in _METRICS
}
globals().update({name: _measure.metric(row, _TASKS[name]) for name, row in _METRICS.items()})

# Made on first use, because importing scikit-learn takes time.
_CALIBRATORS = [_registry.class_name(row.name) for row in _registry.rows("calibrators")]
_LATER = {
    "CalibratedClassifier": "._classifier",
    "Calibrator": "._calibrator",
    "load": "._calibrator",
    "make_scorer": ".scorers",
    **dict.fromkeys(_CALIBRATORS, ".calibrators"),
}

_MODULES = ("calibrators", "scorers", "sklearn", "torch")


def __getattr__(name: str) -> _typing.Any:
    if name in _MODULES:
        return _importlib.import_module("." + name, __name__)
    if name in _registry.OLD_CLASS_NAMES:
        return getattr(_importlib.import_module(".calibrators", __name__), name)
    if name not in _LATER:
        return _aliased(name)
    return getattr(_importlib.import_module(_LATER[name], __name__), name)


#: functions that people look for, and what to write in their place
_HABITS = {
    "fit": "; fit a calibrator by its class, as in propercal.Temperature().fit(logits, labels)",
    "calibrate": "; fit a calibrator by its class, as in propercal.Platt().fit(probs, labels).predict_proba(probs)",
    "evaluate": "; call propercal.measure(probs, labels)",
    "apply": "; call predict_proba of a fitted calibrator",
    "reliability_diagram": "; call propercal.plot('reliability', probs, labels)",
    "calibration_curve": "; call propercal.plot('reliability', probs, labels)",
}


def _aliased(name: str) -> _typing.Any:
    """The function of a metric by a name that other packages use: ``nll`` is ``log``."""
    try:
        row, options = _registry.parse("metrics", _core.canonical(name))
    except UsageError:
        public = {each.lower(): each for each in __dir__() if not each.startswith("_")}
        near = _difflib.get_close_matches(name.lower(), public, 1)
        remedy = f"; did you mean {public[near[0]]!r}?" if near else ""
        remedy = _HABITS.get(name, remedy)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{remedy}") from None
    function = globals()[_registry.identifier(row.name)]
    changed = {each.name: options[each.name] for each in row.options if options[each.name] != each.default}
    return _functools.partial(function, **changed) if changed else function


def __dir__() -> "list[str]":
    return sorted({*globals(), *_LATER, *_MODULES})


# Not among these: IOError and MemoryError, which would hide the built-in ones.
__all__ = [
    "Bin",
    "Change",
    "Comparison",
    "ConvergenceWarning",
    "Data",
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
    "Rounds",
    "RoundsWorker",
    "Row",
    "Simulation",
    "Study",
    "UndefinedMetricWarning",
    "UsageError",
    "Value",
    "Values",
    "Verdict",
    "Watch",
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
    "merge_tallies",
    "plot",
    "report",
    "simulate",
    "study",
    *_LATER,
    *_METRICS,
]
