"""measure, one function for each metric, and measures that grow."""

import inspect
import json
import os
import warnings
from typing import Any, Callable, Iterable

from . import _core, _registry
from ._docstrings import metric_document
from ._errors import DataError, UndefinedMetricWarning, UsageError
from ._errors import file_name, read_file, shown_name
from ._inputs import Data, gather, lists_inputs
from ._parameters import POLICY, TAKEN, metric_inputs, usual_names
from ._parquet import is_parquet, measured
from ._results import Result
from ._tables import files_of, with_columns
from ._settings import lasting, memory_bytes, replica_count, settings, shared_budget
from ._turns import Turns


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
    """The tuple that core_policy of the extension module reads."""
    if precision not in ("exact", "fast"):
        raise UsageError(f'precision is "exact" or "fast", not "{precision}"')
    level = float(interval or (0.95 if paired else 0))
    rows = bool(normalize), bool(skip_missing), precision == "fast"
    return *rows, level, int(replicas), interval_method, bool(null), by_cluster, paired


@lists_inputs("against")
def measure(
    probs: Any = None,
    labels: Any = None,
    *,
    metrics: "str | Iterable[str] | None" = None,
    interval: "float | None" = None,
    null: bool = False,
    cluster: Any = None,
    replicas: int = 1000,
    interval_method: str = "auto",
    against: "Data | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    precision: str = "exact",
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    **inputs: Any,
) -> Result:
    """Measures how well predictions are calibrated.

    Parameters
    ----------
    probs : array-like of shape (n_samples, n_classes) or (n_samples,), or Data
        Predicted probabilities; in their place a ``Data``, or other inputs of ``Data`` by name.
    labels : array-like of shape (n_samples,)
        True classes: numbers from 0, or names of the columns.
    metrics : str or sequence of str, default=None
        Specs such as ``"ece:bins=20,norm=l2"`` or names of groups of metrics; ``list_metrics()`` and
        ``list_groups()`` show them all.  None takes the usual ones.
    interval : float, default=None
        Level of an interval for each value, such as 0.95.
    null : bool, default=False
        Also measure what a calibrated model would show.
    cluster : array-like of shape (n_samples,), default=None
        Cluster of each row, such as a patient or the subject of a question; intervals, of level 0.95
        unless ``interval`` says otherwise, draw whole clusters.
    replicas : int, default=1000
        Number of replicas for ``interval`` and ``null``.
    interval_method : {'auto', 'normal', 'percentile', 'basic', 'bca', 'jackknife'}, default='auto'
        How intervals are computed.
    against : Data, default=None
        Predictions of another model for the same rows, as ``Data(logits=other)``; labels, weights and
        the like are those of the data.  Values then hold the difference to it, with an interval and
        a p-value.  Also by name: ``against_probs``, ``against_logits``, ...
    normalize : bool, default=False
        Rescale probability rows whose sums are off by 1e-5 to 1e-2.
    skip_missing : bool, default=False
        Drop and count rows with a missing value.
    precision : {'exact', 'fast'}, default='exact'
        ``'fast'`` computes exponentials of float32 logits in float32.
    seed : int, default=0
        Of random draws; the same seed gives the same numbers.
    threads : int, default=None
        Number of threads; None takes the processors that the process may use.
    memory_limit : int or str, default=None
        Bytes that may be allocated, also as ``"500MB"`` or ``"2GiB"``; None: three quarters of the
        memory of the machine or container.  Beyond it MemoryError is raised.
    progress : bool, {'tqdm'} or callable, default=None
        True prints progress, False nothing; a function is called as ``f(what, done, total)``. By
        default calls of more than two seconds print it on a terminal and in a notebook.
    **inputs
        Other inputs of ``Data`` by name.

    Returns
    -------
    Result
        The values by metric, with a verdict.
    """
    mine, other = gather("measure", probs, labels, inputs, against=against)
    if cluster is not None:
        if "groups" in mine._inputs:
            raise UsageError("cluster and groups cannot be combined; give one of them")
        mine = mine._with_clusters(cluster)
        interval = 0.95 if interval is None else interval
    policy = _policy(
        normalize,
        skip_missing,
        precision,
        interval,
        replica_count(replicas),
        interval_method,
        null,
        cluster is not None,
        other is not None,
    )
    data = mine._inputs.get("data")
    if data is not None and other is None and cluster is None and is_parquet(files_of(data)):
        given, shown = with_columns(mine.inputs), _shown(data)
        kept = {"interval": interval, "null": null, "replicas": replicas, "precision": precision}
        kept |= {"interval_method": interval_method, "normalize": normalize, "skip_missing": skip_missing}
        streamed = measured(given, shown, metrics, kept, (threads, seed, memory_limit, progress))
        if streamed is not None:
            return judged(streamed, metrics)
    with settings(threads, memory_limit, progress, seed) as how:
        results = _core.measure(mine._open(how), _specs(metrics), policy)
        if other is not None:
            source = mine._same_rows(other)._open(how)
            results.against(_core.measure(source, _specs(metrics), policy))
    return judged(results, metrics)


def _shown(data: Any) -> str:
    """The name of a file in messages."""
    return shown_name(data) if isinstance(data, (str, os.PathLike)) else "data"


def judged(results: Any, metrics: Any) -> Result:
    """The results; refused if all labels are equal and nobody asked for certain metrics."""
    if metrics is None and results.only_label() >= 0:
        raise DataError(
            f"every label is class {results.only_label()}, and calibration cannot be judged from "
            "one class; check the labels, or choose metrics with metrics="
        )
    return Result(results)


class Measure:
    """A measure that grows batch by batch, as in a loop over a test set.

    >>> running = Measure(["ece", "brier"])
    >>> for logits, labels in batches:
    ...     running.update(logits=logits, labels=labels)
    >>> running.result()

    The result is bit for bit that of one call of ``measure`` on all rows, for any division into
    batches. ``save`` and ``Measure.load`` write and read the state files of ``propercal merge``;
    ``to_bytes``, ``Measure.from_bytes`` and pickles are the same without a file, so that other
    processes can measure parts:

    >>> total = Measure("ece")
    >>> for content in pool.map(measure_part, parts):  # each returns Measure(...).to_bytes()
    ...     total.merge(Measure.from_bytes(content))

    Each part must give ``first_row``, the index of its first row in the whole data set: a part
    that is merged twice is then refused.  A part without rows is allowed.

    Metrics of sorted scores, of pairs and of groups keep memory between updates; ``interval`` and
    ``null`` (see ``measure``) keep whole rows, unless a metric has a formula for them.
    ``memory_limit`` bounds all of it together with the running call; beyond it ``update`` raises
    MemoryError, which names what grew, and the measure stays as it was.
    """

    def __init__(
        self,
        metrics: Any = None,
        *,
        normalize: bool = False,
        skip_missing: bool = False,
        precision: str = "exact",
        interval: "float | None" = None,
        null: bool = False,
        replicas: int = 1000,
        interval_method: str = "auto",
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> None:
        sure = interval, replica_count(replicas) if interval or null else 0, interval_method if interval or null else None
        self._policy = _specs(metrics), _policy(normalize, skip_missing, precision, *sure, null)
        self._threads, self._memory_limit = threads, memory_limit
        self._budget = shared_budget(memory_limit)
        self._core: Any = None
        self._shape: "tuple[Any, ...]" = (0, 0, None)
        self._rows = 0
        self._lock = Turns()
        self._order = Turns()  # of updates whose rows follow those before

    @lists_inputs(without=("ids", "header"))
    def update(self, probs: Any = None, labels: Any = None, **inputs: Any) -> "Measure":
        """Adds rows: a ``Data``, or its arguments by name.  Arrays may be empty.  An error leaves
        the measure unchanged."""
        (data,) = gather("update", probs, labels, inputs)
        if data._inputs.get("prevalence") is not None:
            raise UsageError("prevalence needs all rows at once; give weights by class instead")
        if data._has_no_rows():
            return self
        if "first_row" in data._inputs:
            self._update(data, data._inputs["first_row"])
        else:
            with self._order:
                self._update(data, self._rows)
        return self

    def _update(self, data: Any, first: int) -> None:
        with settings(self._threads, budget=self._budget) as how:
            source = data._open(how, first_row=first)
            part = _core.measure_part(source, *self._policy)
        *shape, rows = source.shape()
        self._add(part, tuple(shape), first + rows)

    def merge(self, other: "Measure") -> "Measure":
        """Adds the rows of another measure of the same metrics.

        Rows are known by their indices, from ``first_row`` of ``update`` on.  A row that came from two
        measures made by ``from_bytes`` is refused.  Measures whose rows were given in this process are
        not compared, since without ``first_row`` the rows of each are counted from 0.
        """
        if other is self:
            raise UsageError("a measure cannot be merged with itself; give another one")
        with other._lock:
            seen = other._core, other._shape, other._rows
        if seen[0] is not None:
            self._add(*seen)
        return self

    def _add(self, part: Any, shape: "tuple[Any, ...]", rows: int) -> None:
        with self._lock:
            core = self._core
            if core is None:
                core = _core.measure_new(*shape, *self._policy, lasting(self._threads, self._budget))
            core.merge(part)
            if self._core is None:
                self._core, self._shape = core, shape
            self._rows = max(self._rows, rows)

    def result(self) -> Result:
        """The result of all rows so far."""
        with self._lock:
            return Result(self._seen().finish())

    def compute(self) -> Result:
        """The same as ``result``, by the name that torchmetrics has for it."""
        return self.result()

    def reset(self) -> "Measure":
        """Forgets all rows, and keeps metrics and settings."""
        with self._lock:
            self._core, self._shape, self._rows = None, (0, 0, None), 0
        return self

    def __repr__(self) -> str:
        words = ", ".join(map(repr, self._policy[0]))
        return f"<Measure of {words}: {self._rows} rows>"

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes a state file for ``Measure.load`` and ``propercal merge``."""
        with self._lock:
            _core.write_files(file_name(path), self._seen().save())

    @classmethod
    def load(
        cls,
        path: "str | os.PathLike[str]",
        *,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> "Measure":
        """Reads a state file of ``save`` or ``propercal measure --state``, with its metrics and
        settings; ``update`` adds rows of the same kind."""
        content = read_file(path, memory_bytes(memory_limit))
        return cls(threads=threads, memory_limit=memory_limit)._load(content, shown_name(path))

    def to_bytes(self) -> bytes:
        """The content of the file that ``save`` writes; works without rows too."""
        with self._lock:
            if self._core is None:
                return _NO_ROWS + json.dumps(self._policy).encode()
            return self._core.save()

    @classmethod
    def from_bytes(
        cls,
        content: bytes,
        *,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> "Measure":
        """A measure from the bytes of ``to_bytes`` or of a state file; see ``load``."""
        return cls(threads=threads, memory_limit=memory_limit)._load(bytes(content), "the state")

    def __reduce__(self) -> "tuple[Any, ...]":
        return _unpickle, (self.to_bytes(), self._threads, self._memory_limit)

    def _load(self, content: bytes, name: str) -> "Measure":
        if content.startswith(_NO_ROWS):
            try:
                specs, policy = json.loads(content[len(_NO_ROWS) :])
            except ValueError:
                raise DataError(f"{name} is damaged; copy it again or measure the part again") from None
            self._policy = tuple(specs), tuple(policy)
            return self
        self._core = _core.measure_load(content, name, lasting(self._threads, self._budget))
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


#: begins the bytes of a measure without rows: a state of the library knows the kind of its scores
_NO_ROWS = b"PCALNONE"


def _unpickle(
    content: bytes, threads: "int | None", memory_limit: "int | str | None"
) -> Measure:
    return Measure.from_bytes(content, threads=threads, memory_limit=memory_limit)


# ---- One function for each metric ----


def _parameters(row: _registry.Row, tasks: "frozenset[str | None]") -> "list[inspect.Parameter]":
    position, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    leading, named = metric_inputs(tasks)
    return [
        *(inspect.Parameter(name, position, default=None) for name in leading),
        *(
            inspect.Parameter(
                _registry.identifier(option.name, TAKEN), keyword, default=option.default
            )
            for option in row.options
        ),
        *(inspect.Parameter(name, keyword, default=None) for name in named),
        *(inspect.Parameter(name, keyword, default=each[0]) for name, each in POLICY.items()),
    ]


def metric(row: _registry.Row, tasks: "frozenset[str | None]") -> Callable[..., float]:
    """The function of a metric that serves these tasks (None: classes)."""
    signature = inspect.Signature(_parameters(row, tasks), return_annotation=float)
    options = {_registry.identifier(option.name, TAKEN): option.name for option in row.options}
    name = _registry.identifier(row.name)

    def function(*args: Any, **kwargs: Any) -> float:
        if len(args) == 1 and "probs" in kwargs and "data" not in kwargs:  # a table and its columns
            args, kwargs = (), {**kwargs, "data": args[0]}
        given = signature.bind(*args, **usual_names(name, kwargs)).arguments
        chosen = {name: given.pop(key) for key, name in options.items() if key in given}
        how = {name: given.pop(name, each[0]) for name, each in POLICY.items()}
        first = given.pop("probs" if None in tasks else "data", None)
        if not isinstance(first, Data) and None not in tasks:
            given["data"], first = first, None
        (data,) = gather(name, first, given.pop("labels", None), given)
        if how["header"] is not None:
            data = data._with(header=how["header"])
        policy = _policy(how["normalize"], how["skip_missing"], how["precision"])
        with settings(how["threads"], how["memory_limit"], how["progress"]) as running:
            spec = _registry.spec(row.name, chosen)
            results = _core.measure(data._open(running), (spec,), policy)
        defined, value, why = results.first()
        if not defined:
            warnings.warn(f"{row.name}: {why}", UndefinedMetricWarning, stacklevel=2)
            return float("nan")
        return value

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__.partition(".")[0]
    function.__doc__ = metric_document(row, TAKEN, tasks)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
