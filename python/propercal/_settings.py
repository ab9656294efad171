"""Settings of a call: threads, memory, progress, seed."""

import functools
import os
import sys
import threading
import time
from typing import Any, Callable

from . import _core
from ._errors import UsageError, markup

_MOST_THREADS = 1024

Progress = Callable[[str, int, int], Any]


def _integer(value: Any) -> "int | None":
    """A whole number of any numeric type; None for anything else."""
    try:
        number = int(value)
        return number if number == value else None
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(name: str, value: Any) -> int:
    """Checks that a number fits an unsigned 64-bit integer."""
    number = value if type(value) is int else _integer(value)
    if number is None or not 0 <= number < 2**64:
        raise UsageError(f"{name}={value}: this must be a whole number from 0 to 2**64 - 1")
    return number


_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS |= {_letter: 1000**_power, _letter + "b": 1000**_power}
    _UNITS |= {_letter + "i": 1024**_power, _letter + "ib": 1024**_power}


def replica_count(replicas: int) -> int:
    """The number of replicas, at least 1: the library takes 0 for its default."""
    if _whole("replicas", replicas) < 1:
        raise UsageError(f"replicas is {replicas}; give a whole number, 1 or more")
    return int(replicas)


def _bytes(size: "int | str | None") -> int:
    """A memory limit: bytes, or a text such as 500MB or 2GiB; None and 0: the default."""
    if size is None:
        return 0
    if not isinstance(size, str):
        return _whole("memory_limit", size)
    number = size.strip().rstrip("kKmMgGtTiIbB")
    unit = size.strip()[len(number) :].lower()
    try:
        return _whole("memory_limit", int(float(number) * _UNITS[unit]))
    except (KeyError, ValueError, OverflowError):
        raise UsageError(
            f"memory_limit={size!r}: this must be a size such as '500MB' or '2GiB'"
        ) from None


@functools.lru_cache(maxsize=1)
def _processors(mask: int) -> int:
    """Control groups are read once for each process and affinity mask: that takes time."""
    return _core.processors()


@functools.cache
def _memory_default() -> int:
    return _core.memory_default()


def _after_fork() -> None:
    """A child may be in another control group."""
    _processors.cache_clear()
    _memory_default.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def memory_bytes(memory_limit: "int | str | None") -> int:
    """A memory limit in bytes; 0: none, where the memory of the machine is unknown."""
    return (0 if memory_limit is None else _bytes(memory_limit)) or _memory_default()


def shared_budget(memory_limit: "int | str | None") -> Any:
    """One memory limit for several calls, for ``settings`` and ``lasting``."""
    limit = memory_bytes(memory_limit)
    return _core.budget(limit) if limit else 0


def _thread_count(threads: "int | None") -> int:
    if threads is None:
        return _processors(_core.affinity_size())
    count = _integer(threads)
    if count is None:
        raise UsageError(f"threads={threads}: this must be a whole number, or None")
    if count > _MOST_THREADS:
        raise UsageError(f"threads={threads}: this must be at most {_MOST_THREADS}")
    return count if count > 0 else _processors(_core.affinity_size())


_SHOWN_AFTER = 2.0  # seconds without progress, unless it was asked for


def _time_left(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f", {seconds / size:.0f} {unit} left"
    return f", {seconds:.0f} s left"


class _Lines:
    """Progress on one line of standard error, with the time left, from `after` seconds on."""

    def __init__(self, after: float = 0.0) -> None:
        self.begin = time.monotonic() + after
        self.what, self.since, self.first, self.done = "", 0.0, 0, 0
        self.width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self.what or done < self.done:  # another step
            self.what, self.since, self.first = what, now, done
        self.done = done
        if now < self.begin:
            return
        line = f"{what}: {100 * done // total} %" if total else f"{what}: {done}"
        passed = now - self.since
        if total and passed > 1.0 and done > self.first:
            line += _time_left(passed * (total - done) / (done - self.first))
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def close(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")


def _is_watched() -> bool:
    """True on a terminal and in a notebook."""
    return _in_notebook() or bool(sys.stderr and sys.stderr.isatty())


class _Display:
    """Progress as a bar below the cell of a notebook, which disappears at the end."""

    _PAUSE = 0.2  # seconds between two updates

    def __init__(self, after: float = 0.0) -> None:
        self.next, self.handle = time.monotonic() + after, None

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() < self.next:
            return
        from IPython.display import HTML, display

        self.next = time.monotonic() + self._PAUSE
        share = f' value="{done}" max="{total}"' if total else ""
        bar = HTML(f"<progress{share}></progress> {markup(what)}" + (f", {100 * done // total} %" if total else ""))
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)

    def close(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))


class _Bars:
    """Progress as bars of tqdm, one for each step."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self.make, self.what = tqdm, ""
        self.bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self.bar is None or what != self.what or done < self.bar.n:
            self.close()
            self.bar, self.what = self.make(total=total or None, desc=what, unit=""), what
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _in_notebook() -> bool:
    """True in the kernel of a notebook."""
    return "ipykernel" in sys.modules


def lasting(threads: "int | None", budget: Any) -> tuple:
    """The settings of an object that outlives its calls: no progress, no signals."""
    return _thread_count(threads), 0, budget, None, False


def _shown(progress: "bool | str | Progress | None") -> Any:
    """The function that shows the progress of a call, or None."""
    if progress is None:
        return (_Display if _in_notebook() else _Lines)(_SHOWN_AFTER) if _is_watched() else None
    if progress is False:
        return None
    if progress is True:
        return _Display() if _in_notebook() else _Lines()
    if progress == "tqdm":
        return _Bars()
    if not callable(progress):
        raise TypeError('progress must be True, "tqdm" or a function of (what, done, total)')
    return progress


class settings:
    """The settings of a call, as the extension module takes them: ``with settings(...) as how``."""

    def __init__(
        self,
        threads: "int | None" = None,
        memory_limit: "int | str | None" = None,
        progress: "bool | str | Progress | None" = None,
        seed: int = 0,
        budget: Any = None,
    ) -> None:
        self._shown = _shown(progress)
        main = threading.current_thread() is threading.main_thread()
        limit = memory_bytes(memory_limit) if budget is None else budget
        self._how = _thread_count(threads), _whole("seed", seed), limit, self._shown, main

    def __enter__(self) -> tuple:
        return self._how

    def __exit__(self, *_: Any) -> None:
        if self._shown is not None and isinstance(self._shown, (_Lines, _Display, _Bars)):
            self._shown.close()
