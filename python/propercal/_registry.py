"""The registry of the library, from which all signatures of the package are generated."""

import keyword
import numbers
from typing import Any, NamedTuple

from . import _core

INT, REAL, BOOL, CHOICE, REALS = 1, 2, 3, 4, 5


class Option(NamedTuple):
    """An option of a metric or a calibrator."""

    name: str
    type: int
    fallback: str
    low: float
    high: float
    choices: "str | None"
    help: "str | None"

    @property
    def default(self) -> Any:
        """The default as a Python value; None where the option is not set."""
        return self.read(self.fallback)

    def read(self, text: str) -> Any:
        """A value as it stands in a spec, as a Python value."""
        if text == "":
            return None
        if self.type == BOOL:
            return text == "yes"
        if self.type == CHOICE:
            return text
        try:
            if self.type == REALS:
                return tuple(float(part) for part in text.split("/"))
            return _number(text, self.type)
        except ValueError:
            return text

    @property
    def words(self) -> "tuple[str, ...]":
        """The allowed words."""
        return tuple(self.choices.split("|")) if self.choices else ()


class Row(NamedTuple):
    """A metric, a group of metrics, a convention, a calibrator or a figure."""

    kind: str
    name: str
    title: str
    formula: "str | None"
    about: "str | None"
    citation: "str | None"
    notion: "str | None"
    bound: "str | None"
    machine: "str | None"
    task: "str | None"
    better: "str | None"
    is_test: bool
    options: "tuple[Option, ...]"

    @property
    def ranks(self) -> bool:
        """True if methods may be ranked by this metric: low or high values are better."""
        return self.better is not None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.title}>"


def rows(kind: str) -> "list[Row]":
    """The rows of a kind, in the order of the library."""
    return [
        Row._make((*row[:-1], tuple(Option(*each) for each in row[-1]))) for row in _core.rows(kind)
    ]


def joined(kind: str) -> "list[Row]":
    """The same, but one row for each name: where there is one for classes and one for
    regression, the first with the options of both."""
    found: "dict[str, Row]" = {}
    for row in rows(kind):
        first = found.get(row.name)
        if first is None:
            found[row.name] = row
            continue
        known = {option.name for option in first.options}
        more = tuple(option for option in row.options if option.name not in known)
        found[row.name] = first._replace(options=first.options + more)
    return list(found.values())


def parse(kind: str, spec: str) -> "tuple[Row, dict[str, Any]]":
    """The row of a canonical spec, and the values of its options."""
    name, _, words = spec.partition(":")
    row = next(row for row in joined(kind) if row.name == name)
    texts = dict(word.partition("=")[::2] for word in words.split(",") if word)
    return row, {option.name: option.read(texts.get(option.name, "")) for option in row.options}


def identifier(name: str, taken: "frozenset[str]" = frozenset()) -> str:
    """A name as Python can write it: hyphens become underscores, and a name that is a keyword
    or means something else already gets an underscore behind it."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) or name in taken else name


_CLASS_NAMES = {
    "diag": "DiagCalibrator",
    "dirichlet-odir": "DirichletODIR",
    "matrix": "MatrixScaling",
    "matrix-odir": "MatrixODIR",
    "network": "NetworkCalibrator",
    "vector": "VectorScaling",
}

#: names of classes before version 0.2, for one release
OLD_CLASS_NAMES = {
    "Diag": "DiagCalibrator",
    "DirichletOdir": "DirichletODIR",
    "Matrix": "MatrixScaling",
    "MatrixOdir": "MatrixODIR",
    "Network": "NetworkCalibrator",
    "Vector": "VectorScaling",
}


def class_name(name: str) -> str:
    """The class of a calibrator: ``scaling-binning`` is ``ScalingBinning``, ``ets`` is ``ETS``."""
    words = name.split("-")
    plain = "".join(word.upper() if len(word) < 4 else word.capitalize() for word in words)
    return _CLASS_NAMES.get(name, plain)


def _number(text: str, kind: int) -> "int | float":
    value = float(text)
    return int(value) if kind == INT or (value.is_integer() and "." not in text) else value


def write(value: Any) -> str:
    """A value as it stands in a spec."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return "/".join(write(item) for item in value)


def spec(name: str, options: "dict[str, Any]") -> str:
    """``name:key=value,key=value``; options that are None are left out."""
    words = [f"{key}={write(value)}" for key, value in options.items() if value is not None]
    return name + (":" + ",".join(words) if words else "")
