"""Measuring, and fitting to, rows that no single process reads: in rounds."""

from typing import Any, Callable, Iterable

from . import _core
from ._errors import UsageError
from ._inputs import gather, lists_inputs
from ._measure import _policy, _specs
from ._results import Result
from ._settings import lasting, replica_count, settings, shared_budget
from ._turns import Turns

#: kinds of scores by the names of the arguments that hold them: numbers of pcal_kind
_KINDS = {
    "probs": 1,
    "logits": 2,
    "log_probs": 3,
    "confidence": 4,
    "mean_variance": 5,
    "mean_std": 6,
    "quantiles": 7,
    "samples": 8,
}


class _Coordinator:
    """The coordinator of rounds."""

    _core: Any
    _fits: bool

    @classmethod
    def resume(
        cls,
        request: bytes,
        tallies: "Iterable[bytes]" = (),
        *,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> Any:
        """Goes on after the process of a coordinator has ended.

        Parameters
        ----------
        request : the first request
        tallies : the merged tallies that were absorbed since, in their order
        threads, memory_limit : as for ``measure``
        """
        rounds = cls.__new__(cls)
        rounds._core = _core.rounds_resume(bytes(request), kept_settings(threads, memory_limit, 0))
        if rounds._core.is_fit() != cls._fits:
            other = "Rounds" if cls._fits else "FitRounds"
            raise UsageError(f"the request is one of {other}; call {other}.resume")
        for tally in tallies:
            rounds.absorb(tally)
        return rounds

    @property
    def done(self) -> bool:
        """True if the outcome is known."""
        return self._core.done()

    @property
    def round(self) -> int:
        """The number of the current request, from 1."""
        return self._core.round()

    def request(self) -> bytes:
        """The current request, for every worker."""
        return self._core.request()

    def absorb(self, tally: bytes) -> None:
        """Takes the merged tally of all rows.  A refused one leaves the rounds as they were."""
        self._core.absorb(bytes(tally))


def kept_settings(threads: "int | None", memory_limit: "int | str | None", seed: int) -> tuple:
    """Settings that the rounds keep."""
    _, _, budget, *others = lasting(threads, shared_budget(memory_limit))
    return lasting(threads, budget)[0], int(seed), budget, *others


class Rounds(_Coordinator):
    """Measures a table whose rows are read by many processes, in rounds.

    The coordinator has a request; workers answer it over their rows with tallies; tallies merge
    in any order; the coordinator absorbs their sum, until it is done.

    >>> rounds = Rounds(["ece", "ks"], kind="probs")
    >>> while not rounds.done:
    ...     tallies = []
    ...     for part in parts:                              # on any machine, in any order
    ...         worker = RoundsWorker(rounds.request())
    ...         worker.update(probs=part.probs, labels=part.labels)
    ...         tallies.append(worker.tally())
    ...     rounds.absorb(merge_tallies(tallies))
    >>> rounds.result()

    The result is bit for bit that of ``measure`` on all rows.  Requests and tallies are bytes
    whose size does not depend on the number of rows (unless weights are not whole numbers and a
    metric needs sorted scores).  All workers together must read the same rows in every round:
    ``absorb`` raises ``DataError`` where they do not.

    Parameters
    ----------
    metrics, normalize, skip_missing, precision, interval, null, replicas, interval_method : as
        for ``measure``; metrics that need all rows at once are refused by name
    kind : ``"probs"``, ``"logits"``, ``"log_probs"``, ``"confidence"``, ``"mean_variance"``,
        ``"mean_std"``, ``"quantiles"`` or ``"samples"``
    classes : number of columns of scores; None: as many as the data have
    levels : of quantiles
    seed : of random draws
    threads, memory_limit : as for ``measure``
    """

    _fits = False

    def __init__(
        self,
        metrics: Any = None,
        *,
        kind: str = "probs",
        classes: "int | None" = None,
        levels: "Iterable[float] | None" = None,
        interval: "float | None" = None,
        null: bool = False,
        replicas: int = 1000,
        interval_method: str = "auto",
        normalize: bool = False,
        skip_missing: bool = False,
        precision: str = "exact",
        seed: int = 0,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> None:
        if kind not in _KINDS:
            raise UsageError(f'kind is one of {", ".join(_KINDS)}, not "{kind}"')
        if classes is not None and classes < 1:
            raise UsageError(f"classes={classes}: this must be at least 1, or None")
        policy = _policy(
            normalize, skip_missing, precision, interval, replica_count(replicas), interval_method, null
        )
        chosen = None if levels is None else tuple(float(each) for each in levels)
        columns = classes or (0 if chosen is None else len(chosen))
        how = kept_settings(threads, memory_limit, seed)
        self._core = _core.rounds_new(_KINDS[kind], columns, chosen, _specs(metrics), policy, how)

    @property
    def draws(self) -> bool:
        """True if the current request draws replicas: equal rows must then be in one part, or be
        joined into one row with a whole weight, or have ids."""
        return self._core.draws()

    def result(self) -> Result:
        """The result, once the rounds are done."""
        return Result(self._core.finish())


class FitRounds(_Coordinator):
    """Fits a calibrator to a table whose rows are read by many processes, in rounds.

    As ``Rounds``: workers answer each request over their rows.  A round is one pass of the fit over
    all rows, and each ``update`` of a worker runs the search up to that pass: give it many rows at
    once.

    >>> rounds = FitRounds("temperature")
    >>> while not rounds.done:
    ...     worker = RoundsWorker(rounds.request())
    ...     rounds.absorb(worker.update(logits=logits, labels=labels).tally())
    >>> rounds.calibrator().T_

    The calibrator file is byte for byte that of a fit to all rows in one process.

    Parameters
    ----------
    method : spec of a calibrator, such as ``"temperature:objective=brier"``; methods that need all
        rows at once are refused by name
    normalize, skip_missing : as for calibrators
    seed : of random draws
    threads, memory_limit : as for ``measure``
    """

    _fits = True

    def __init__(
        self,
        method: str = "temperature",
        *,
        normalize: bool = False,
        skip_missing: bool = False,
        seed: int = 0,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> None:
        how = kept_settings(threads, memory_limit, seed)
        self._core = _core.rounds_new_fit(method, bool(normalize), bool(skip_missing), how)

    def calibrator(self) -> Any:
        """The fitted calibrator, once the rounds are done."""
        from ._calibrator import loads

        made = loads(self._core.calibrator().save(), "the calibrator")
        made._warn()
        return made


def answer_rounds(
    rounds: _Coordinator, answer: "Callable[[bytes], bytes]", progress: Any
) -> None:
    """Rounds whose requests a function answers with the tally of all rows, until they are done."""
    with settings(progress=progress) as (_, _, _, shown, _):
        while not rounds.done:
            if shown is not None:
                shown("readings of the table", rounds.round, 0)
            rounds.absorb(answer(rounds.request()))


def run_rounds(rounds: Rounds, answer: "Callable[[bytes], bytes]", progress: Any) -> Any:
    """The core result of rounds, as ``answer_rounds`` makes them."""
    answer_rounds(rounds, answer, progress)
    return rounds._core.finish()


class RoundsWorker:
    """Answers one request of ``Rounds`` over some of the rows.

    A worker whose ``update`` has failed gives no tally; answer the request again with a new one.
    """

    def __init__(
        self,
        request: bytes,
        *,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
    ) -> None:
        self._threads, self._budget, self._rows = threads, shared_budget(memory_limit), 0
        self._order = Turns()  # of updates whose rows follow those before
        self._core = _core.rounds_worker_new(bytes(request), lasting(threads, self._budget))

    @lists_inputs(without=("header",))
    def update(self, probs: Any = None, labels: Any = None, **inputs: Any) -> "RoundsWorker":
        """Adds rows: a ``Data``, or its arguments by name."""
        (data,) = gather("update", probs, labels, inputs)
        with self._order, settings(self._threads, budget=self._budget) as how:
            first = data.inputs.get("first_row", self._rows)
            source = data._open(how, first_row=first)
            self._core.update(source)
            self._rows = first + source.shape()[-1]
        return self

    def tally(self) -> bytes:
        """The tally of the rows; the worker accepts no more of them.  Without rows it changes
        nothing when it is merged."""
        return self._core.tally()


def merge_tallies(
    tallies: "Iterable[bytes]", *, memory_limit: "int | str | None" = None
) -> bytes:
    """Merges tallies of one request, at least one, in any order."""
    given = tuple(bytes(each) for each in tallies)
    if not given:
        raise UsageError("there are no tallies to merge; give at least one")
    return _core.merge_tallies(given, lasting(1, shared_budget(memory_limit)))
