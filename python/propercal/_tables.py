"""Tables: files, queries and data frames whose columns arguments name.

1. A file name with ``*``, ``?`` or ``[`` that no file has is a pattern; several files are read in order as
   one.
2. Beside a file of the library (CSV, npz, ...) a plain word is a column of it: ``data="d.csv",
   probs="p"`` is ``probs="d.csv:p"``.
3. A table without arguments for its scores has columns of the usual names, which the library finds.
4. Excel files are read by pandas, ``"book.xlsx:sheet"`` names a sheet; Parquet and Feather by pyarrow.
"""

import difflib
import glob
import os
from typing import Any, Iterable

from . import _core
from ._errors import IOError, UsageError, shown_name
from ._parameters import SCORES
from ._parquet import is_parquet, open_data_set

_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_FEATHER = (".feather",)
#: inputs that are columns
_COLUMNS = (*SCORES, "variance", "std", "labels", "correct", "target", "weights", "groups", "ids", "time")


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _ending(value: Any) -> str:
    return os.path.splitext(os.fsdecode(value))[1].lower() if _is_path(value) else ""


def _family(value: Any) -> str:
    return type(value).__module__.partition(".")[0].lstrip("_")


def is_frame(value: Any) -> bool:
    """True for a data frame, an Arrow table, a query and the like: an object with named columns."""
    if isinstance(value, dict):
        return len(value) > 0 and all(isinstance(name, str) for name in value)
    return _family(value) in ("pandas", "polars", "pyarrow", "duckdb") and _names(value) is not None


def is_table_file(value: Any) -> bool:
    """True for a file of named columns, such as ``"scores.csv"``, without a choice of one, or several."""
    if value is None:
        return False
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(each, (str, os.PathLike)) and _ending(each) for each in value)
    name = os.fsdecode(value) if _is_path(value) else ""
    if name == "" or (":" in os.path.splitdrive(name)[1] and _sheet(name)[1] is None):
        return False
    return _ending(name) not in ("", ".npy") or os.path.isdir(name)


# ---- Names ----


def _names(table: Any) -> "list[str] | None":
    """The names of the columns; None if the table has none."""
    if isinstance(table, dict):
        return list(table)
    if hasattr(table, "collect_schema"):
        return list(table.collect_schema().names())
    for holder in ("schema_arrow", "schema"):
        names = getattr(getattr(table, holder, None), "names", None)
        if names is not None and not callable(names):
            return list(names)
    names = getattr(table, "columns", None)
    if names is None:
        names = getattr(getattr(table, "dtype", None), "names", None)
    if names is None and hasattr(table, "description"):  # a connection of DuckDB with a result
        names = [each[0] for each in table.description or ()]
    return None if names is None or callable(names) else list(names)


def _words(value: Any) -> "list[str] | None":
    """The columns that an argument names, or None if it is data."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value):
        return list(value)
    return None


def _named_columns(given: "dict[str, Any]") -> "list[str]":
    """The columns that arguments name, each once."""
    found: "dict[str, None]" = {}
    for name in _COLUMNS:
        found.update(dict.fromkeys(_words(given.get(name)) or ()))
    return list(found)


def _check_columns(shown: str, known: "Iterable[Any]", given: "dict[str, Any]") -> None:
    known = list(known)
    for name in _named_columns(given):
        if name not in known:
            near = difflib.get_close_matches(name, [str(each) for each in known], 1)
            listed = ", ".join(str(each) for each in known[:8]) + (" ..." if len(known) > 8 else "")
            remedy = f'did you mean "{near[0]}"?' if near else f"it has {listed}"
            raise UsageError(f'{shown} has no column "{name}"; {remedy}')


def _with_usual_names(shown: str, names: "list[Any]", given: "dict[str, Any]") -> "dict[str, Any]":
    """Arguments, and columns of the usual names for those that are missing."""
    if any(name in given for name in SCORES):
        return given
    texts = [name for name in names if isinstance(name, str)]
    found: "dict[str, list[str]]" = {}
    for name, role in zip(texts, _core.find_columns(shown, tuple(texts))):
        if role is not None:
            found.setdefault(role, []).append(name)
    taken = {"labels", "correct", "target"} & set(given)
    filled = dict(given)
    for role, columns in found.items():
        outcome = role in ("labels", "correct", "target") and taken
        periods = "every" in given
        if role in given or outcome or (role == "time" and not periods) or (role == "groups" and periods):
            continue
        filled[role] = columns[0] if columns[0].find(".") < 0 or role not in SCORES else columns
        if role in SCORES and len(columns) > 1:
            ends = [name.partition(".")[2] for name in columns]
            filled.setdefault("levels" if role == "quantiles" else "classes", ends)
    if "samples" in filled or "quantiles" in filled:
        filled.pop("classes", None)
    return filled


# ---- Reading ----


def _sheet(name: str) -> "tuple[str, str | None]":
    """The file and the sheet of ``"book.xlsx:sheet"``."""
    path, colon, sheet = name.rpartition(":")
    return (path, sheet) if colon and _ending(path) in _EXCEL else (name, None)


def _read_excel(path: Any, given: "dict[str, Any]") -> Any:
    name, sheet = _sheet(os.fsdecode(path))
    try:
        import pandas

        sheets = pandas.read_excel(name, sheet_name=None)
    except ImportError as error:
        raise UsageError(
            f"{shown_name(name)}: Excel files are read by pandas and openpyxl; pip install pandas openpyxl"
        ) from error
    except FileNotFoundError:
        raise IOError(f"{shown_name(name)} could not be opened; check its name") from None
    known = ", ".join(shown_name(str(each)) for each in sheets)
    if sheet is None and len(sheets) > 1:
        fits = [each for each, table in sheets.items() if set(_named_columns(given)) <= set(table.columns)]
        if len(fits) != 1:
            first = shown_name(f"{os.path.basename(name)}:{next(iter(sheets))}")
            raise UsageError(f'{shown_name(name)} has the sheets {known}; choose one as in "{first}"')
        sheet = fits[0]
    if sheet is not None and sheet not in sheets:
        raise UsageError(f'{shown_name(name)} has no sheet "{shown_name(sheet)}"; it has {known}')
    return sheets[next(iter(sheets)) if sheet is None else sheet]


def _read_feather(path: Any) -> Any:
    try:
        import pyarrow.feather
    except ImportError as error:
        raise UsageError(f"{shown_name(path)}: Feather files are read by pyarrow; pip install pyarrow") from error
    try:
        return pyarrow.feather.read_table(path, memory_map=False)  # a mapped file that shrinks ends the process
    except FileNotFoundError:
        raise IOError(f"{shown_name(path)} could not be opened; check its name") from None


def _matches(name: Any) -> "list[Any]":
    """The files of a pattern, sorted by name; other names as they are."""
    text = os.fsdecode(name)
    if not any(sign in text for sign in "*?[") or os.path.exists(text):
        return [name]
    found = sorted(glob.glob(text), key=os.fsencode)
    if not found:
        raise IOError(f"{shown_name(text)}: no file matches the pattern; check it")
    return list(found)


class Files(tuple):  # type: ignore[type-arg]
    """Names of several files that are read in this order as one."""


def files_of(data: Any) -> Any:
    """The files of a pattern or a list; one file and other data as given."""
    listed = isinstance(data, (list, tuple)) and len(data) > 0 and all(_is_path(each) for each in data)
    if not listed and not _is_path(data):
        return data
    found = Files(file for each in (data if listed else [data]) for file in _matches(each))
    return found[0] if len(found) == 1 else found


def _columns_of_file(files: "tuple[Any, ...]", given: "dict[str, Any]") -> "dict[str, Any]":
    """Rule 2, for one file or several."""
    changed = dict(given)
    for name in _COLUMNS:
        words = _words(given.get(name))
        if words is None or any(each == "-" or set(each) & set(":/") or _ending(each) in _READ for each in words):
            continue
        chosen = [f"{os.fsdecode(file)}:{','.join(words)}" for file in files]
        changed[name] = chosen[0] if len(chosen) == 1 else Files(chosen)
    if any(changed.get(name) is not given.get(name) for name in SCORES):
        changed.pop("data")
    return changed


#: endings of files that the library reads
_READ = (".npy", ".npz", ".csv", ".tsv", ".jsonl", ".ndjson", ".arrow", ".ipc", ".arrows", ".gz", ".zst")


def with_columns(given: "dict[str, Any]") -> "dict[str, Any]":
    """Inputs with ``data`` as a table, if the library cannot read the file, whose columns are all named."""
    data = files_of(given["data"])
    files = data if isinstance(data, Files) else (data,)
    if is_parquet(data):
        data = open_data_set(data)
    elif _ending(_sheet(os.fsdecode(data))[0] if _is_path(data) else data) in _EXCEL:
        data = _read_excel(data, given)
    elif _ending(data) in _FEATHER:
        data = _read_feather(data)
    elif all(_is_path(each) for each in files):
        return _columns_of_file(files, {**given, "data": data})
    names = _names(data)
    if names is None:
        raise UsageError(
            f"data is a {type(data).__name__}, which has no named columns; give a table or a file, or arrays as probs "
            "and labels"
        )
    shown = shown_name(files[0]) if _is_path(files[0]) else "data"
    filled = _with_usual_names(shown, names, {**given, "data": data})
    _check_columns(shown, names, filled)
    return filled


def is_foreign(data: Any) -> bool:
    """True for data that only other packages can read."""
    if not _is_path(data) and not isinstance(data, (list, tuple)):
        return is_frame(data)
    files = files_of(data)
    ending = _ending(_sheet(os.fsdecode(files))[0]) if _is_path(files) else ""
    return is_parquet(files) or ending in _EXCEL


def table_of(data: Any, given: "dict[str, Any]") -> Any:
    """A table in memory with the columns that arguments name."""
    columns = _named_columns(given)
    family = _family(data)
    if family == "duckdb" and hasattr(data, "select"):
        import duckdb

        chosen = data.select(*(duckdb.ColumnExpression(name) for name in columns))
        return chosen.to_arrow_table() if hasattr(chosen, "to_arrow_table") else chosen.arrow()
    if family == "duckdb":  # a connection with a result
        return data.fetchnumpy()
    if family == "polars" and hasattr(data, "collect"):
        return data.select(columns).collect()
    if family == "pyarrow" and hasattr(data, "read_all"):
        return data.read_all()
    if family == "pyarrow" and hasattr(data, "read"):
        return data.read(columns=columns)
    if family == "pyarrow" and hasattr(data, "to_table"):
        return data.to_table(columns=columns)
    return data
