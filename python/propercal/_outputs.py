"""The kind of array or table that calibrated probabilities are returned in, and tables as files."""

import os
import sys
from typing import Any

import numpy as np

from . import _core
from ._conversions import package_of
from ._errors import UsageError, file_name

_TABLES = ("default", "pandas", "polars")


def check_table(kind: "str | None") -> None:
    """Refuses a kind of output that set_output does not know."""
    if kind is not None and kind not in _TABLES:
        known = ", ".join(map(repr, _TABLES))
        raise UsageError(f"transform={kind!r} is unknown; give one of {known}")


def chosen_table(own: "str | None") -> str:
    """The kind that set_output has chosen for an estimator, else scikit-learn's configuration."""
    package = sys.modules.get("sklearn")
    if own is not None or package is None:
        return own or "default"
    return package.get_config()["transform_output"]


def as_table(array: np.ndarray, kind: str, names: "list[str]", X: Any) -> Any:
    """A table of pandas, with the index of X, or of polars."""
    columns = array if array.ndim == 2 else array[:, np.newaxis]
    if kind == "polars":
        import polars

        return polars.DataFrame(columns, schema=names, orient="row")
    import pandas

    return pandas.DataFrame(columns, columns=names, index=getattr(X, "index", None), copy=True)


def as_given(array: np.ndarray, X: Any) -> Any:
    """The array as a tensor of PyTorch or an array of CuPy or JAX where X is one, on its device."""
    if not isinstance(array, np.ndarray):  # computed where X is
        return array
    family = package_of(X)
    if family == "torch":
        return sys.modules["torch"].from_numpy(array.copy()).to(X.device)
    if family == "cupy":
        with X.device:
            return sys.modules["cupy"].asarray(array)
    if family in ("jax", "jaxlib"):
        devices = X.devices()  # of JAX, not ours to change
        return sys.modules["jax"].device_put(array, next(iter(devices)) if len(devices) == 1 else None)
    return array


def save_tables(prefix: Any, tables: "list[tuple[str, str]]") -> "list[str]":
    """Writes each table, (name, CSV), to PREFIX-NAME.csv, all of them or none, and returns the names of
    the files."""
    names = [f"{os.fspath(prefix)}-{name}.csv" for name, _ in tables]
    pairs = ((file_name(path), text.encode()) for path, (_, text) in zip(names, tables))
    _core.write_files(*(word for pair in pairs for word in pair))
    return names
