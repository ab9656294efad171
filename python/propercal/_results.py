"""What was measured."""

import html
import json
from typing import Any, Iterator, NamedTuple

from . import _core
from ._errors import UsageError
from ._figures import Figure
from ._registry import identifier

TEXT, JSON, CSV, MARKDOWN = 1, 2, 3, 4


class Value(float):
    """A measured number with everything that is known about it; NaN where it is undefined.

    metric, spec : the name, and the full spec it was measured with
    label : the spec with only what differs from the defaults
    group : name of the group, or None for all rows
    why : the reason when it is undefined or infinite, else None
    notion, bound : which calibration it estimates, and from which side
    parts : further numbers by name
    p_value : of a test, else None
    """

    metric: str
    spec: str
    label: str
    group: "str | None"
    why: "str | None"
    notion: "str | None"
    bound: "str | None"
    parts: "dict[str, float]"
    p_value: "float | None"

    @classmethod
    def _make(cls, fields: tuple) -> "Value":
        self = cls(fields[5] if fields[4] else float("nan"))
        self.metric, self.spec, self.label, self.group = fields[:4]
        self.why, self.notion, self.bound, self.parts, self.p_value = fields[6:]
        return self


class Bin(NamedTuple):
    """One bin of the reliability table."""

    low: float
    high: float
    weight: float
    confidence: float
    frequency: float


class Values:
    """Measured numbers: as attributes by metric, by spec, or one after the other."""

    def __init__(self, values: "list[Value]") -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> "Iterator[Value]":
        return iter(self._values)

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        found = [value for value in self._values if identifier(value.metric) == name]
        if len(found) == 1:
            return found[0]
        if not found:
            raise AttributeError(f"{name} was not measured; there are {self._labels()}")
        labels = " and ".join(f'["{value.label}"]' for value in found)
        raise AttributeError(f"{name} was measured in several ways; take one of {labels}")

    def __getitem__(self, spec: str) -> Value:
        for value in self._values:
            if spec in (value.label, value.spec):
                return value
        raise KeyError(f"{spec} was not measured; there are {self._labels()}")

    def __dir__(self) -> "list[str]":
        return [*super().__dir__(), *(identifier(value.metric) for value in self._values)]

    def __repr__(self) -> str:
        return "\n".join(f"{value.label:<12} {float(value):.5g}" for value in self._values)

    def _labels(self) -> str:
        return ", ".join(value.label for value in self._values)


class Result(Values):
    """Everything about one set of predictions.

    ``result.ece`` and ``result["ece:bins=20"]`` are numbers (see ``Value``), ``result.verdict``
    says what they mean, ``result.groups`` holds the same for each group.  In a notebook it shows
    itself as a table with the reliability diagram.
    """

    def __init__(self, core: Any) -> None:
        values = [Value._make(fields) for fields in core.all()]
        super().__init__([value for value in values if value.group is None])
        self._core = core
        names = dict.fromkeys(value.group for value in values if value.group is not None)
        #: the values of each group, by its name
        self.groups: "dict[str, Values]" = {
            name: Values([value for value in values if value.group == name]) for name in names
        }

    def __getitem__(self, spec: str) -> Value:
        try:
            wanted = Value._make(self._core.find(spec)).spec
        except UsageError as error:
            raise KeyError(str(error)) from None
        return super().__getitem__(wanted)

    @property
    def verdict(self) -> str:
        """A few sentences in plain words."""
        return self._core.verdict()

    @property
    def bins(self) -> "list[Bin]":
        """The reliability table of the natural view: 15 bins of equal width."""
        return [Bin(*fields) for fields in self._core.bins()]

    def figure(self, name: str = "reliability") -> Figure:
        """A figure by its name; ``propercal.list_figures()`` shows them all."""
        return Figure(self._core, name)

    def to_json(self) -> str:
        """The bytes that ``propercal measure --json`` prints, as text."""
        return self._core.write(JSON)

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists; undefined and infinite values are None."""
        return json.loads(self.to_json())

    def to_csv(self) -> str:
        """A line for each value and each part, as ``propercal measure --format csv``."""
        return self._core.write(CSV)

    def to_markdown(self) -> str:
        """A table in Markdown, with the verdict."""
        return self._core.write(MARKDOWN)

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each value; needs pandas."""
        import pandas

        groups = [value for group in self.groups.values() for value in group]
        names = ("metric", "spec", "group", "p_value", "notion", "bound", "why", "parts")
        table = pandas.DataFrame(
            [[getattr(value, name) for name in names] for value in [*self, *groups]],
            columns=list(names),
        )
        table.insert(3, "value", [float(value) for value in [*self, *groups]])
        return table

    def __repr__(self) -> str:
        return self._core.write(TEXT).rstrip()

    def _repr_html_(self) -> str:
        def cell(value: Any, tag: str = "td") -> str:
            return f"<{tag}>{html.escape(str(value))}</{tag}>"

        columns = [self, *self.groups.values()]
        head = "".join(cell(name, "th") for name in ("metric", "value", *self.groups))
        rows = "".join(
            "<tr>"
            + cell(value.label)
            + "".join(cell(f"{column._values[i]:.5g}") for column in columns)
            + cell(", ".join(filter(None, (value.notion, value.bound and f"{value.bound} bound"))))
            + "</tr>"
            for i, value in enumerate(self)
        )
        verdict = "".join(f"<p>{html.escape(line)}</p>" for line in self.verdict.splitlines())
        table = f"<table><thead><tr>{head}{cell('estimates', 'th')}</tr></thead>{rows}</table>"
        return f'<div style="max-width: 45em">{table}{self.figure().svg}{verdict}</div>'


def measured(core: Any) -> Result:
    """A result around what the extension module gave."""
    return Result(core)
