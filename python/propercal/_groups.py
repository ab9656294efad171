"""Several group columns as one: rows are in a group for each column, and in their intersections.

A row belongs to the combination of its values, which is called ``site=north & sex=f``; the library shows
all groups that combinations belong to.
"""

from typing import Any

import numpy as np

from ._array_types import is_missing
from ._errors import DataError

_AND = " & "


def _columns(groups: Any) -> "dict[str, list] | None":
    """The columns of a dict, a table or an array of two dimensions; None for one column."""
    if isinstance(groups, dict):
        return {str(name): list(values) for name, values in groups.items()}
    if hasattr(groups, "column_names"):  # pyarrow
        return {name: groups[name].to_pylist() for name in groups.column_names}
    if getattr(groups, "ndim", None) == 2 and hasattr(groups, "columns"):  # pandas
        return {str(name): groups[name].tolist() for name in groups.columns}
    if hasattr(groups, "columns") and hasattr(groups, "to_dict"):  # polars
        return {name: groups[name].to_list() for name in groups.columns}
    if isinstance(groups, (list, tuple)) and len(groups) > 0 and isinstance(groups[0], (list, tuple)):
        groups = np.array(groups, dtype=object)
    if isinstance(groups, np.ndarray) and groups.ndim == 2:
        return {str(c): groups[:, c].tolist() for c in range(groups.shape[1])}
    return None


def _text(name: str, value: Any) -> str:
    if is_missing(value) or str(value) in ("", "<NA>"):
        raise DataError(f"groups: the column {name} has a missing value; give every row a group")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if _AND in text:
        raise DataError(f"groups: a value of the column {name} contains ' & ', which joins names; rename it")
    return f"{name}={text}"


def joined(groups: Any) -> Any:
    """Groups of several columns as names of combinations; others stay as they are."""
    columns = _columns(groups)
    if columns is None:
        return groups
    if not 1 <= len(columns) <= 4:
        raise DataError(f"groups has {len(columns)} columns; give one to four")
    texts = [[_text(name, value) for value in values] for name, values in columns.items()]
    if len({len(each) for each in texts}) > 1:
        raise DataError("groups has columns of different lengths; give one value for each row")
    return np.array([_AND.join(row) for row in zip(*texts)], dtype=object)
