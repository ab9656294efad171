"""Calibration over time: a test that may be looked at after every row."""

import json
import os
from typing import Any

from . import _core
from ._errors import file_name, read_file
from ._inputs import gather, lists_inputs
from ._settings import memory_bytes, settings
from ._turns import Turns

_NORMALIZE, _SKIP_MISSING, _ALLOW_REPEAT = 1, 2, 4


class Watch:
    """Watches calibration as rows arrive, and raises an alarm.

    The e-value is the capital of bets against the predictions.  While they are calibrated it ever
    reaches ``1 / alpha`` with a probability of at most ``alpha``, however often one looks; rows
    must come in order of time.  ``propercal watch`` reads and writes the same files.

    >>> watch = Watch(alpha=0.05)
    >>> watch.update(probs, labels)
    >>> watch.alarm, watch.e_value

    Parameters
    ----------
    alpha : float, default=0.05
        Largest probability of a false alarm.
    """

    _lock: Turns

    def __new__(cls, *_: Any, **__: Any) -> "Watch":
        watch = super().__new__(cls)
        watch._lock = Turns()
        return watch

    def __init__(self, alpha: float = 0.05) -> None:
        self._take(_core.watch(None, alpha, None, 0))

    def _take(self, outcome: "tuple[bytes, str]") -> None:
        self._state, text = outcome
        self.report: "dict[str, Any]" = json.loads(text)

    @lists_inputs(without=("weights", "weights_are", "groups", "time", "every", "ids", "first_row"))
    def update(
        self,
        probs: Any = None,
        labels: Any = None,
        *,
        normalize: bool = False,
        skip_missing: bool = False,
        allow_repeat: bool = False,
        memory_limit: "int | str | None" = None,
        progress: Any = None,
        **inputs: Any,
    ) -> "Watch":
        """Adds rows, in order; inputs as for ``measure``.

        The event of a row is class 1 of two classes, and of more, or of ``confidence``, that the
        prediction is correct; ``mean`` with ``std`` or ``variance`` is tested by its PIT.  32 or more
        rows that were added before are refused unless ``allow_repeat`` is true."""
        (data,) = gather("Watch.update", probs, labels, inputs)
        flags = normalize * _NORMALIZE | skip_missing * _SKIP_MISSING | allow_repeat * _ALLOW_REPEAT
        with self._lock, settings(1, memory_limit, progress, 0) as how:
            self._take(_core.watch(self._state, 0.0, data._open(how), flags))
        return self

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self.report["rows"]

    @property
    def e_value(self) -> float:
        """Evidence against calibration after the last row."""
        value = self.report["e_value"]
        return float("inf") if value is None else value

    @property
    def p_value(self) -> float:
        """The reciprocal of the highest e-value so far, at most 1; valid at any time."""
        return self.report["p_value"]

    @property
    def alarm(self) -> bool:
        """True once the e-value has reached ``1 / alpha``."""
        return self.report["alarm"]

    @property
    def alarm_rows(self) -> "int | None":
        """Number of rows at the first alarm; None without one."""
        return self.report["alarm_rows"]

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the state; an existing file is replaced once the new one is complete."""
        _core.write_files(file_name(path), self._state)

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Watch":
        """Reads a state of ``save`` or of ``propercal watch``."""
        watch = cls.__new__(cls)
        watch._take(_core.watch(read_file(path, memory_bytes(None)), 0.0, None, 0))
        return watch

    def __getstate__(self) -> bytes:
        return self._state

    def __setstate__(self, state: bytes) -> None:
        self._take(_core.watch(state, 0.0, None, 0))

    def __repr__(self) -> str:
        word = f"alarm after {self.alarm_rows} rows" if self.alarm else "no alarm"
        return f"Watch({self.rows} rows, e-value {self.e_value:.3g}, {word})"
