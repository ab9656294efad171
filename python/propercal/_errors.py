"""Exceptions and warnings, with the sentences of the C library."""

import builtins
import os
import re
import stat
from typing import Any, Iterable

from . import _core


class Error(Exception):
    """Anything that propercal refuses or fails at.  ``row`` is the row at fault, or None."""

    row: "int | None" = None


class UsageError(Error, ValueError):
    """A name, option or argument is wrong."""


class DataError(Error, ValueError):
    """The data are wrong or do not fit what was asked."""


class IOError(Error, builtins.OSError):
    """A file could not be read or written."""


class MemoryError(Error, builtins.MemoryError):
    """Out of memory, or beyond the memory limit."""


class InternalError(Error, RuntimeError):
    """A fault in propercal itself."""


class ConvergenceWarning(UserWarning):
    """A fit stopped before it converged."""


class FitWarning(UserWarning):
    """A fit met something worth knowing."""


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

# The library speaks of the program's flags; here they are arguments.
_WORDS: "list[tuple[str, Any]]" = [
    (r"--header yes", "header=True"),
    (r"--header no", "header=False"),
    (r"the same --metric flags", "the same metrics"),
    (r"--metric (\S+)", r'metrics=["\1"]'),
    (r"--first-row (\d+)", r"first_row=\1"),
    (r"--(normalize|skip-missing)", r"\1=True"),
    (r"--([a-z]+(?:-[a-z]+)*)", r"\1"),
    (r"\b(log|skip|first)-(probs|missing|row)\b", r"\1_\2"),
    (r"`propercal list ([a-z]+)`", r"`propercal.list_\1()`"),
    (r"'list figures'", "`propercal.list_figures()`"),
    (r"`propercal measure state FILE`", "`Measure.save`"),
    (r"or the scores as CSV with a header", "or name the classes with classes=[...]"),
]


# Stands for a name from outside while the words around it are changed.
_PLACE = "\ue000{}\ue001"


def _reworded(sentence: str) -> str:
    for pattern, words in _WORDS:
        sentence = re.sub(pattern, words, sentence)
    return sentence


def _restored(sentence: str, quotes: "list[str]") -> str:
    return re.sub("\ue000([0-9]+)\ue001", lambda found: quotes[int(found[1])], sentence)


def reword(text: str, names: "Iterable[str]" = ()) -> str:
    """A text of the library in the words of this package; names from outside that it repeats,
    of classes and groups, stay as they are."""
    quotes = sorted({name for name in names if _reworded(name) != name}, key=len, reverse=True)
    for i, name in enumerate(quotes):
        text = text.replace(name, _PLACE.format(i))
    return _restored(_reworded(text), quotes)


def _sentence(message: bytes, quotes: "Iterable[tuple[int, int]]") -> str:
    """An error of the library in the words of this package; the bytes between quotes, such as
    names of files, stay as they are."""
    own, names, at = [], [], 0
    for begin, end in quotes:
        own.append(message[at:begin].decode("utf-8", "replace"))
        own.append(_PLACE.format(len(names)))
        names.append(message[begin:end].decode("utf-8", "replace"))
        at = end
    own.append(message[at:].decode("utf-8", "replace"))
    return _restored(_reworded("".join(own)), names)


def make(
    status: int, row: "int | None", message: bytes, quotes: "Iterable[tuple[int, int]]" = ()
) -> Error:
    """The exception for a failed call of the library."""
    error = _CLASSES.get(status, InternalError)(_sentence(message, quotes))
    error.row = row
    return error


def file_name(path: "str | bytes | os.PathLike[str]") -> "str | bytes":
    """A path for the extension module: bytes where it is not UTF-8."""
    name = os.fspath(path)
    if isinstance(name, bytes):
        return name
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name)
    return name


def shown_name(path: "str | bytes | os.PathLike[str]") -> str:
    """A path for sentences: what cannot be printed is escaped."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def read_file(path: "str | os.PathLike[str]") -> bytes:
    """The content of a file."""
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise IOError(f"{shown_name(path)} is a device, not a file; name a file")
            return file.read()
    except IOError:
        raise
    except builtins.OSError as error:
        raise IOError(f"{shown_name(path)}: {error.strerror}; is this the right path?") from None
