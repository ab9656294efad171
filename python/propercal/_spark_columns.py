"""Columns of a Spark table, as workers read them."""

from typing import Any, NamedTuple

from pyspark.ml.functions import vector_to_array
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, DecimalType, NullType, NumericType, UserDefinedType

from ._errors import UsageError
from ._inputs import KINDS, _truth

#: kinds of scores that measures take; regression needs other columns
SCORES = ("probs", "logits", "log_probs", "confidence")


class Table(NamedTuple):
    """The columns of a call, under the names of the inputs of ``propercal.Data``."""

    frame: Any
    kind: str
    classes: "tuple[str, ...] | None"


def _type(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise UsageError(f'there is no column "{name}"; the table has {", ".join(frame.columns)}')
    return frame.schema[name].dataType


def is_vector(frame: Any, column: Any) -> bool:
    """Whether a column holds vectors of ``pyspark.ml``."""
    return isinstance(column, str) and isinstance(_type(frame, column), UserDefinedType)


def quoted(name: str) -> Any:
    """A column by its exact name, which may contain dots."""
    return sql.col("`" + name.replace("`", "``") + "`")


def unless_null(convert: Any, column: Any) -> Any:
    """A column converted between arrays and vectors; functions of ``pyspark.ml`` fail for nulls."""
    return sql.when(column.isNotNull(), convert(column))


def scores(frame: Any, column: Any) -> Any:
    """An array, a vector or a number as one column; several columns of numbers as an array."""
    if not isinstance(column, str):
        for name in column:
            if not isinstance(_type(frame, name), (NumericType, NullType)):
                raise UsageError(f'column "{name}" does not hold numbers; name one for each class')
        return sql.array(*(quoted(name).cast("double") for name in column))
    kind = _type(frame, column)
    if isinstance(kind, UserDefinedType):
        return unless_null(vector_to_array, quoted(column))
    decimal = isinstance(kind, DecimalType)
    if decimal or (isinstance(kind, ArrayType) and isinstance(kind.elementType, DecimalType)):
        return quoted(column).cast("double" if decimal else "array<double>")
    return quoted(column)


def _plain(frame: Any, column: str) -> Any:
    decimal = isinstance(_type(frame, column), DecimalType)
    return quoted(column).cast("double") if decimal else quoted(column)


def select(frame: Any, given: "dict[str, Any]") -> Table:
    """The table of one kind of scores with labels, and weights and groups where they are given."""
    given = {name: column for name, column in given.items() if column is not None}
    kinds = [name for name in KINDS if name in given]
    if len(kinds) != 1 or kinds[0] not in SCORES:
        raise UsageError(f"name the column of scores by one of {', '.join(SCORES)}")
    kind = kinds[0]
    truth = _truth(kind)
    if truth not in given:
        raise UsageError(f"{kind} goes with {truth}; name its column")
    columns = [scores(frame, given[kind]).alias(kind)]
    columns += [
        _plain(frame, given[name]).alias(name)
        for name in (truth, "weights", "groups", "ids")
        if name in given
    ]
    several = not isinstance(given[kind], str)
    return Table(frame.select(*columns), kind, tuple(given[kind]) if several else None)
