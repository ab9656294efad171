"""Exceptions and warnings, with the messages of the C library."""

import builtins
import os
import stat
import sys
from typing import IO

from . import _core


class Error(Exception):
    """Base class of all errors that propercal raises.

    Attributes, each None where the failure has none:

    argument : name of the argument at fault, such as ``"probs"``
    subject : the file, array, metric or method at fault
    row : the row at fault, counted from 0
    line : its line in a text file, counted from 1
    column : the column of the scores at fault, counted from 0
    remedy : what to do about it, the end of the message
    """

    argument: "str | None" = None
    subject: "str | None" = None
    row: "int | None" = None
    line: "int | None" = None
    column: "int | None" = None
    remedy: "str | None" = None


class UsageError(Error, ValueError):
    """A name, option or argument is wrong."""


class DataError(Error, ValueError):
    """The data are wrong or do not fit what was asked."""


class NotNumbersError(DataError, TypeError):
    """Something other than a number among scores; a ``TypeError`` too, as scikit-learn's checks want it."""


class IOError(Error, builtins.OSError):
    """A file could not be read or written."""


class MemoryError(Error, builtins.MemoryError):
    """Out of memory, or beyond the memory limit."""


class InternalError(Error, RuntimeError):
    """A fault in propercal itself."""


class ConvergenceWarning(UserWarning):
    """A fit stopped before it converged."""


class FitWarning(UserWarning):
    """A fit gave a warning, for example about a class without rows; or the rows have groups that the fit
    did not see."""


class UndefinedMetricWarning(UserWarning):
    """A metric has no value for these data, and the result is NaN."""


_CLASSES = {
    _core.STATUSES[name]: kind
    for name, kind in {
        "USAGE": UsageError,
        "DATA": DataError,
        "IO": IOError,
        "INTERNAL": InternalError,
        "MEMORY": MemoryError,
    }.items()
}

def make(
    status: int,
    message: str,
    remedy: str,
    subject: str,
    argument: "str | None",
    row: "int | None",
    line: "int | None",
    column: "int | None",
) -> Error:
    """The exception for a failed call of the library."""
    error = _CLASSES.get(status, InternalError)(message)
    error.remedy = remedy
    error.subject = subject or None
    error.argument = argument
    error.row = row
    error.line = line
    error.column = column
    return error


def markup(text: str) -> str:
    """Text for HTML; characters that hide or change the direction of writing become U+FFFD."""
    return _core.escape(text.replace("\0", "\ufffd"), 4)  # PCAL_FOR_MARKUP


def file_name(path: "str | bytes | os.PathLike[str]") -> "str | bytes":
    """A path for the extension module: bytes where it is not UTF-8."""
    name = os.fspath(path)
    if isinstance(name, bytes):
        return name
    try:
        name.encode()
    except UnicodeEncodeError:
        return _encoded(name)
    return name


def caller_level() -> int:
    """The ``stacklevel`` by which a warning of the function that calls this names the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "propercal":
        level, frame = level + 1, frame.f_back
    return level


def _encoded(name: "str | bytes") -> bytes:
    """A path as bytes; Python writes a byte that is not UTF-8 as a surrogate."""
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:
        raise UsageError(
            f"{ascii(name)} has a lone surrogate, which no file name has; check the name"
        ) from None


def shown_name(path: "str | bytes | os.PathLike[str]") -> str:
    """A path for messages; unprintable characters are escaped."""
    name = _encoded(os.fspath(path)).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _content(file: "IO[bytes]", name: str, limit: int) -> bytes:
    """All bytes of an open file, at most limit (0: all)."""
    parts, size = [], 0
    while part := file.read(1 << 20):
        parts.append(part)
        size += len(part)
        if 0 < limit < size:
            raise MemoryError(
                f"{name} holds more than the memory limit of {limit} bytes; check the file, or raise "
                "memory_limit"
            )
    return b"".join(parts)


def read_file(path: "str | os.PathLike[str]", limit: int = 0) -> bytes:
    """The content of a file, at most limit bytes (0: all)."""
    shown = shown_name(path)
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise IOError(f"{shown} is a device, not a file; name a file")
            return _content(file, shown, limit)
    except IOError:
        raise
    except builtins.OSError as error:
        raise IOError(f"{shown}: {error.strerror}; is this the right path?") from None
    except ValueError:  # open refuses NUL
        raise UsageError(f"{shown} has a NUL character; check the name") from None
