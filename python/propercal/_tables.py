"""Tables that other packages read: Excel and Feather files by name, DuckDB relations, lazy frames of
polars."""

import os
from typing import Any

from ._errors import UsageError, shown_name

_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_FEATHER = (".feather",)


def _ending(value: Any) -> str:
    return os.path.splitext(os.fsdecode(value))[1].lower() if isinstance(value, (str, os.PathLike)) else ""


def _named_columns(given: "dict[str, Any]") -> "list[str]":
    """The columns that arguments name, each once."""
    found: "dict[str, None]" = {}
    for name, value in given.items():
        words = [value] if isinstance(value, str) else value
        if name != "data" and isinstance(words, (list, tuple)):
            found.update(dict.fromkeys(word for word in words if isinstance(word, str)))
    return list(found)


def _read_excel(path: Any) -> Any:
    try:
        import pandas

        return pandas.read_excel(path)
    except ImportError as error:
        raise UsageError(
            f"{shown_name(path)}: Excel files are read by pandas and openpyxl; pip install pandas openpyxl"
        ) from error


def _read_feather(path: Any, columns: "list[str]") -> Any:
    try:
        import pyarrow.feather
    except ImportError as error:
        raise UsageError(f"{shown_name(path)}: Feather files are read by pyarrow; pip install pyarrow") from error
    return pyarrow.feather.read_table(path, columns=columns or None)


def table_of(data: Any, given: "dict[str, Any]") -> Any:
    """The table behind a name or a query, with the columns that arguments name; other data as given."""
    family = type(data).__module__.partition(".")[0].lstrip("_")
    if _ending(data) in _EXCEL:
        return _read_excel(data)
    if _ending(data) in _FEATHER:
        return _read_feather(data, _named_columns(given))
    if family == "duckdb" and hasattr(data, "select"):
        import duckdb

        columns = [duckdb.ColumnExpression(name) for name in _named_columns(given)]
        chosen = data.select(*columns) if columns else data
        return chosen.to_arrow_table() if hasattr(chosen, "to_arrow_table") else chosen.arrow()
    if family == "polars" and hasattr(data, "collect"):
        return data.select(_named_columns(given)).collect()
    return data
