"""measure, one function for each metric, and measures that grow."""

import inspect
import json
import os
import threading
import warnings
import weakref
from typing import Any, Callable, Iterable

from . import _core, _registry
from ._documents import metric_document
from ._errors import DataError, UndefinedMetricWarning, UsageError
from ._errors import file_name, read_file, shown_name
from ._inputs import open_source
from ._parameters import INPUTS, POLICY, TAKEN
from ._results import Result
from ._running import settings


def _specs(metrics: Any) -> "tuple[str, ...]":
    if metrics is None:
        return ("default",)
    return (metrics,) if isinstance(metrics, str) else tuple(metrics)


def _policy(
    normalize: bool = False,
    skip_missing: bool = False,
    precision: str = "exact",
    interval: "float | None" = None,
    replicas: int = 0,
    interval_method: "str | None" = None,
    null: bool = False,
    by_cluster: bool = False,
    paired: bool = False,
) -> tuple:
    """What core_policy of the extension module takes."""
    if precision not in ("exact", "fast"):
        raise UsageError(f'precision is "exact" or "fast", not "{precision}"')
    level = float(interval or (0.95 if paired else 0))
    rows = bool(normalize), bool(skip_missing), precision == "fast"
    return *rows, level, int(replicas), interval_method, bool(null), by_cluster, paired


def measure(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    mean: Any = None,
    variance: Any = None,
    std: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    samples: Any = None,
    target: Any = None,
    weights: Any = None,
    weights_are: "str | None" = None,
    groups: Any = None,
    data: Any = None,
    metrics: Any = None,
    interval: "float | None" = None,
    null: bool = False,
    cluster: Any = None,
    ids: Any = None,
    replicas: int = 1000,
    interval_method: str = "auto",
    against_probs: Any = None,
    against_logits: Any = None,
    against_log_probs: Any = None,
    against_confidence: Any = None,
    against_correct: Any = None,
    against_mean: Any = None,
    against_variance: Any = None,
    against_std: Any = None,
    against_quantiles: Any = None,
    against_samples: Any = None,
    classes: "Iterable[str] | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    precision: str = "exact",
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | None" = None,
    progress: Any = None,
    first_row: int = 0,
    header: "bool | None" = None,
) -> Result:
    """How well calibrated are these predictions?

    Parameters
    ----------
    probs, logits, log_probs : rows x classes, or one column for the score of class 1
        Exactly one of them, or ``confidence``.  Whatever holds numbers: NumPy, PyTorch and JAX
        arrays on the processor, pandas, polars and pyarrow tables, lists, or the name of a file
        as on the command line (``"run.npz:logits"``).
    labels : class numbers from 0, one-hot rows, or names of the score columns
    confidence, correct : probability of the predicted label, and whether it was right
    mean, variance, std : of predicted normal distributions of a number; mean and one of the
        others, with ``target``
    quantiles, levels : predicted quantiles of a number, rows x levels, and their levels
    samples : of predicted distributions, or members of an ensemble, rows x samples
    target : the numbers that came true
    weights : weights of the rows
    weights_are : ``"frequency"`` (a row of weight 3 is three rows) or ``"importance"`` (it is one
        row that counts for more); None takes whole numbers for frequencies
    groups : a group for each row; results hold every group beside the total
    data : a table or a file; with a table the other arguments name its columns
    metrics : a spec such as ``"ece:bins=20,norm=l2"`` or the name of a group of metrics, or
        several; ``list_metrics()`` and ``list_groups()`` show them all
    interval : level of an interval for each value, as 0.95
    null : also what each metric would show if the model were calibrated
    cluster : a cluster for each row; intervals take clusters as a whole
    ids : an id for each row, each given once: random draws belong to it; without, to what a row
        says or, against another model, to its position
    replicas : how often rows are drawn anew for ``interval`` and ``null``
    interval_method : ``"auto"``, ``"normal"``, ``"percentile"``, ``"basic"`` or ``"bca"``
    against_probs, ... : predictions of another model for the same rows; values then hold the
        difference to it, with an interval and a p-value by exchanging the two models row by row
    classes : names of the classes
    normalize : rescale probability rows that are off by 1e-5 to 1e-2
    skip_missing : drop and count rows with a missing value
    precision : ``"exact"`` or ``"fast"``: exponentials of float32 logits in float32
    seed : of ``interval`` and ``null``; the same seed gives the same numbers
    threads : how many; None takes those that the process may use
    memory_limit : bytes that may be allocated; None: three quarters of what the machine or
        container offers (MemoryError beyond it, with a sentence that names what has grown)
    progress : True, ``"tqdm"``, or a function of what, done and total
    first_row : index given to the first row, for messages
    header : whether the first line of CSV files is a header; None decides

    Returns
    -------
    Result
    """
    if cluster is not None and groups is not None:
        raise UsageError("cluster and groups cannot go together; give one")
    common = {
        "labels": labels,
        "target": target,
        "levels": levels,
        "weights": weights,
        "weights_are": weights_are,
        "groups": groups if cluster is None else cluster,
        "ids": ids,
        "data": data,
    }
    mine = {
        "probs": probs,
        "logits": logits,
        "log_probs": log_probs,
        "confidence": confidence,
        "correct": correct,
        "mean": mean,
        "variance": variance,
        "std": std,
        "quantiles": quantiles,
        "samples": samples,
    }
    other = {
        "probs": against_probs,
        "logits": against_logits,
        "log_probs": against_log_probs,
        "confidence": against_confidence,
        "correct": against_correct,
        "mean": against_mean,
        "variance": against_variance,
        "std": against_std,
        "quantiles": against_quantiles,
        "samples": against_samples,
    }
    paired = any(value is not None for value in other.values())
    policy = _policy(
        normalize,
        skip_missing,
        precision,
        interval,
        replicas,
        interval_method,
        null,
        cluster is not None,
        paired,
    )
    with settings(threads, memory_limit, progress, seed) as how:
        source = open_source({**mine, **common}, how, classes, first_row, header)
        results = _core.measure(source, _specs(metrics), policy)
        if paired:
            if against_confidence is not None:
                common["labels"] = None
            source = open_source({**other, **common}, how, classes, first_row, header)
            results.against(_core.measure(source, _specs(metrics), policy))
    if metrics is None and results.only_label() >= 0:
        raise DataError(
            f"every label is class {results.only_label()}, and calibration cannot be judged from "
            "one class; check the labels, or name what you still want to know with metrics"
        )
    return Result(results)


class Measure:
    """A measure that grows batch by batch, as in a loop over a test set.

    >>> running = Measure(["ece", "brier"])
    >>> for logits, labels in batches:
    ...     running.update(logits=logits, labels=labels)
    >>> running.result()

    The result has the bits of one call of ``measure`` on all rows, however they were cut.
    ``save`` and ``Measure.load`` keep what was seen in the files of ``propercal merge``.
    """

    def __init__(
        self,
        metrics: Any = None,
        *,
        normalize: bool = False,
        skip_missing: bool = False,
        precision: str = "exact",
        threads: "int | None" = None,
        memory_limit: "int | None" = None,
    ) -> None:
        self._policy = _specs(metrics), _policy(normalize, skip_missing, precision)
        self._running = threads, memory_limit
        self._core: Any = None
        self._shape: "tuple[Any, ...]" = (0, 0, None)
        self._rows = 0
        self._lock = threading.Lock()
        _measures.add(self)

    def update(
        self,
        probs: Any = None,
        labels: Any = None,
        *,
        logits: Any = None,
        log_probs: Any = None,
        confidence: Any = None,
        correct: Any = None,
        mean: Any = None,
        variance: Any = None,
        std: Any = None,
        quantiles: Any = None,
        levels: Any = None,
        samples: Any = None,
        target: Any = None,
        weights: Any = None,
        weights_are: "str | None" = None,
        groups: Any = None,
        data: Any = None,
        classes: "Iterable[str] | None" = None,
        first_row: "int | None" = None,
    ) -> "Measure":
        """Adds rows, given as to ``measure``; after an error nothing has changed."""
        arguments = {
            "probs": probs,
            "labels": labels,
            "logits": logits,
            "log_probs": log_probs,
            "confidence": confidence,
            "correct": correct,
            "mean": mean,
            "variance": variance,
            "std": std,
            "quantiles": quantiles,
            "levels": levels,
            "samples": samples,
            "target": target,
            "weights": weights,
            "weights_are": weights_are,
            "groups": groups,
            "data": data,
        }
        first = self._rows if first_row is None else first_row
        with settings(*self._running) as how:
            source = open_source(arguments, how, classes, first)
            part = _core.measure_part(source, *self._policy)
        *shape, rows = source.shape()
        self._add(part, tuple(shape), first + rows)
        return self

    def merge(self, other: "Measure") -> "Measure":
        """Adds what another measure of the same metrics has seen."""
        with other._lock:
            seen = other._core, other._shape, other._rows
        if seen[0] is not None:
            self._add(*seen)
        return self

    def _add(self, part: Any, shape: "tuple[Any, ...]", rows: int) -> None:
        with self._lock:
            core = self._core
            if core is None:
                core = _core.measure_new(*shape, *self._policy, _HERE)
            core.merge(part)
            if self._core is None:
                self._core, self._shape = core, shape
            self._rows = max(self._rows, rows)

    def result(self) -> Result:
        """What was measured so far."""
        with self._lock:
            return Result(self._seen().finish())

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes what was seen, for ``Measure.load`` and ``propercal merge``."""
        with self._lock:
            _core.write_file(file_name(path), self._seen().save())

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Measure":
        """What ``save`` or ``propercal measure --state`` wrote, with its metrics and settings:
        ``update`` goes on with rows of the same sort."""
        self = cls()
        self._core = _core.measure_load(read_file(path), shown_name(path), _HERE)
        made = json.loads(self._core.describe())
        levels = made["levels"]
        self._shape = made["kind"], made["columns"], None if levels is None else tuple(levels)
        self._rows = made["next_row"]
        self._policy = (
            tuple(made["specs"]),
            _policy(
                made["normalize"],
                made["skip_missing"],
                "fast" if made["fast"] else "exact",
                made["interval"],
                made["replicas"],
                made["interval_method"],
                made["null"],
            ),
        )
        return self

    def _seen(self) -> Any:
        if self._core is None:
            raise UsageError("nothing was measured yet; call update first")
        return self._core


_HERE = (0, 0, 0, None, False)
_measures: "weakref.WeakSet[Measure]" = weakref.WeakSet()


def _after_fork() -> None:
    """Threads that held locks are gone in a child; nobody else would open those."""
    for each in list(_measures):
        each._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# ---- One function for each metric ----


def _parameters(row: _registry.Row) -> "list[inspect.Parameter]":
    leading, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return [
        *(inspect.Parameter(name, leading, default=None) for name in ("probs", "labels")),
        *(
            inspect.Parameter(
                _registry.identifier(option.name, TAKEN), keyword, default=option.default
            )
            for option in row.options
        ),
        *(inspect.Parameter(name, keyword, default=None) for name in INPUTS),
        *(inspect.Parameter(name, keyword, default=each[0]) for name, each in POLICY.items()),
    ]


def metric(row: _registry.Row) -> Callable[..., float]:
    """The function of a metric."""
    signature = inspect.Signature(_parameters(row), return_annotation=float)
    options = {_registry.identifier(option.name, TAKEN): option.name for option in row.options}

    def function(*args: Any, **kwargs: Any) -> float:
        given = signature.bind(*args, **kwargs).arguments
        chosen = {name: given.pop(key) for key, name in options.items() if key in given}
        how = {name: given.pop(name, each[0]) for name, each in POLICY.items()}
        classes = given.pop("classes", None)
        policy = _policy(how["normalize"], how["skip_missing"], how["precision"])
        with settings(how["threads"], how["memory_limit"], how["progress"]) as running:
            source = open_source(given, running, classes, header=how["header"])
            results = _core.measure(source, (_registry.spec(row.name, chosen),), policy)
        defined, value, why = results.first()
        if not defined:
            warnings.warn(f"{row.name}: {why}", UndefinedMetricWarning, stacklevel=2)
            return float("nan")
        return value

    function.__name__ = function.__qualname__ = _registry.identifier(row.name)
    function.__module__ = __name__.partition(".")[0]
    function.__doc__ = metric_document(row, TAKEN)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
