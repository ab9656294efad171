"""Locks of objects whose calls take turns."""

import os
import threading
import weakref
from typing import Any


class Turns:
    """A lock for ``with``.  A call from a callback of the call that holds it is an error, and a forked
    child finds it free, since the threads that held it do not exist there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: "int | None" = None
        _all.add(self)

    def __enter__(self) -> None:
        if self._holder == threading.get_ident():
            raise RuntimeError("this object is in use by the call that runs this callback")
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(self, *_: Any) -> None:
        self._holder = None
        self._lock.release()

    def _after_fork(self) -> None:
        if self._holder != threading.get_ident():  # else the call that forked goes on
            self._lock, self._holder = threading.Lock(), None


_all: "weakref.WeakSet[Turns]" = weakref.WeakSet()


def _after_fork() -> None:
    for each in list(_all):
        each._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
