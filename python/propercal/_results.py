"""Results of measuring."""

import json
import os
from typing import Any, Callable, Iterator, NamedTuple

from . import _html
from ._errors import Error, UsageError, read_file, shown_name
from ._settings import memory_bytes
from ._figures import Figure
from ._inputs import WEIGHTS_ARE
from ._outputs import save_tables
from ._registry import identifier, rows

TEXT, JSON, CSV, MARKDOWN, LATEX = 1, 2, 3, 4, 5


_GROUP_COLUMNS = 6  # with more groups, a group is a line of a table


class Interval(NamedTuple):
    """An interval for the population value."""

    low: float
    high: float
    level: float
    se: float
    method: str


class Null(NamedTuple):
    """The value of a calibrated model, with its 95 % band."""

    mean: float
    low: float
    high: float
    p_value: float


class Difference(NamedTuple):
    """The difference from another model on the same rows; without an interval all fields but value
    are None.

    ``p_value`` is below 1 - level exactly when [low, high] excludes 0. ``method`` is "exchange" (the
    two models were exchanged row by row), "exchange-wide" (the same, but the models err in
    different ways, so the difference must also exceed its variation over replicas), "replicas"
    (they could not be exchanged, and standard errors alone decide) or "delong" (DeLong's test of two
    areas under the ROC curve). ``rows`` is the number of rows,
    or clusters, in which the models differ.
    """

    value: float
    low: "float | None"
    high: "float | None"
    p_value: "float | None"
    method: "str | None" = None
    rows: "int | None" = None


class Value(float):
    """A measured number with its interval, null and further fields; NaN where it is undefined.

    Attributes
    ----------
    metric, spec, label : its name, its full spec, and its spec with what differs from the defaults
    group : name of the group, or None for all rows
    why : the reason when it is undefined or infinite, else None
    notion, bound : which calibration it estimates, and from which side
    parts : further numbers by name
    p_value : of a test, else None
    interval, null, difference : where asked for: how sure it is, what a calibrated model would
        show, and the difference to another model
    unsure : why one of these is missing or doubtful, else None
    device : "cuda" if a GPU has computed the sums or scores behind it; "pairs" if it has compared the pairs of
        rows; "copied" if the scores were copied from the GPU to memory and measured there; None without a GPU
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
    interval: "Interval | None"
    null: "Null | None"
    difference: "Difference | None"
    unsure: "str | None"
    device: "str | None"

    @classmethod
    def _make(cls, fields: "dict[str, Any]") -> "Value":
        self = cls(fields.pop("value"))
        for name, kind in (("interval", Interval), ("null", Null), ("difference", Difference)):
            if fields[name] is not None:
                fields[name] = kind(*fields[name])
        self.__dict__.update(fields)
        return self


class VerdictBin(NamedTuple):
    """The reliability bin that adds most to the error."""

    low: float
    high: float
    share: float
    rows: float
    claimed: float
    observed: float


class Verdict(str):
    """The verdict on calibration: a str with further attributes.

    A margin is the deviation that chance alone causes: a calibrated model stays within it 95
    times out of 100.  Fields of another task are 0.

    Attributes
    ----------
    kind : "calibrated", "over-confident", "under-confident", "too-high", "too-low", "uneven",
        "too-narrow" or "too-wide"
    shift : of too narrow and too wide predictions: 1 also too high, -1 also too low, else 0
    rows : effective sample size
    advice : "none", "gather" (more rows), "slope", "shift", "line", "shape", "graded",
        "variance", "quantiles", "wider", "other" or "classes" (an intercept for each class)
    method, alternative : calibrators to try, or None
    claimed, observed, margin : mean score, share of hits, and margin of their difference
    off_average : whether their difference exceeds the margin
    error, chance : ECE in 15 bins of equal width, and its mean for a calibrated model; nan with
        importance weights that differ, unless the null was drawn
    chance_is_drawn : whether chance is a mean over replicas of the null
    where : the bin that adds most to the error (low, high, share, rows, claimed, observed), or
        None
    mean, variance, mean_margin, variance_margin : of F(target), for predictions of a number
    lowest_level, highest_level, inside, inside_margin : share of targets between the outermost
        quantiles
    level, level_share, level_margin : the level that is most off
    test : the test of calibration among the results with the smallest p-value, if mean and error
        look calibrated and that p-value is below 0.05, else None
    test_p_value : its p-value; NaN if an interval excludes 0 instead
    test_count : tests of calibration among the results
    class_1 : whether class 1 was judged (two classes, in one column or two), not the top label
    classes_off : of more than two classes, how many are predicted too often or too rarely
    worst_class : index of the one that is farthest beyond chance, or None
    class_claimed, class_observed, class_margin : its mean score, its frequency, and margin of their
        difference
    """

    kind: str
    shift: int
    rows: float
    advice: str
    method: "str | None"
    alternative: "str | None"
    claimed: float
    observed: float
    margin: float
    off_average: bool
    error: float
    chance: float
    chance_is_drawn: bool
    where: "VerdictBin | None"
    mean: float
    variance: float
    mean_margin: float
    variance_margin: float
    lowest_level: float
    highest_level: float
    inside: float
    inside_margin: float
    level: float
    level_share: float
    level_margin: float
    test: "str | None"
    test_p_value: float
    test_count: int
    class_1: bool
    classes_off: int
    worst_class: "int | None"
    class_claimed: float
    class_observed: float
    class_margin: float

    @classmethod
    def _make(cls, fields: "dict[str, Any]") -> "Verdict":
        self = cls(fields.pop("text"))
        if fields["where"] is not None:
            fields["where"] = VerdictBin(*fields["where"])
        self.__dict__.update(fields)
        return self


class Bin(NamedTuple):
    """One bin of the reliability table."""

    low: float
    high: float
    weight: float
    confidence: float
    frequency: float


class Change(NamedTuple):
    """A result beside that of an earlier run; ``low`` and ``high`` are the interval of ``now - before``."""

    metric: str
    group: "str | None"
    before: float
    now: float
    low: float
    high: float
    worse: bool


class Values:
    """Measured numbers: by metric as attributes, by spec as items, or in a loop."""

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
        width = max((len(value.label) for value in self._values), default=0)
        return "\n".join(f"{value.label:<{width}}  {float(value):.5g}" for value in self._values)

    def _labels(self) -> str:
        return ", ".join(value.label for value in self._values)


class _Kept:
    """The content of a result, for copies and pickles of it."""

    def __init__(self, core: Any) -> None:
        self._all = core.all()
        self._bins, self._verdict = core.bins(), core.verdict()
        self._weights = core.weights()
        self._forms = {form: core.write(form) for form in (TEXT, JSON, CSV, MARKDOWN, LATEX)}
        self._tables = core.tables()
        self._figures: "dict[str, tuple[str, str]]" = {}
        for row in rows("figures"):
            try:
                self._figures[row.name] = core.figure(row.name), core.figure_data(row.name)
            except Error:  # not of these data
                pass

    def all(self) -> "list[dict[str, Any]]":
        return [dict(fields) for fields in self._all]

    def find(self, spec: str) -> "dict[str, Any]":
        for fields in self.all():
            if spec in (fields["label"], fields["spec"]):
                return fields
        raise UsageError(f"{spec} was not measured; a copied result has only the specs that it lists")

    def verdict(self) -> "dict[str, Any]":
        return self._verdict

    def bins(self) -> "list[tuple]":
        return self._bins

    def weights(self) -> "tuple[int, float]":
        return self._weights

    def write(self, form: int) -> str:
        return self._forms[form]

    def tables(self) -> "list[tuple[str, str]]":
        return self._tables

    def figure(self, name: str) -> str:
        return self._figure(name)[0]

    def figure_data(self, name: str) -> str:
        return self._figure(name)[1]

    def _figure(self, name: str) -> "tuple[str, str]":
        if name not in self._figures:
            raise UsageError(f"a copied result has no figure {name}; it has {', '.join(self._figures)}")
        return self._figures[name]


class _OnFirstRead:
    """A property that is computed when it is first read, and then kept.  Unlike
    ``functools.cached_property`` before Python 3.12 it has no lock, which all results would share and a
    forked process might inherit held; two threads may compute it at once, and the first value is kept."""

    def __init__(self, compute: "Callable[[Any], Any]") -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, result: Any, owner: "type | None" = None) -> Any:
        if result is None:
            return self
        return result.__dict__.setdefault(self._name, self._compute(result))


class Result(Values):
    """The results of one data set.

    ``result.ece`` and ``result["ece:bins=20"]`` are numbers (see ``Value``), ``result.verdict``
    is a ``Verdict``, ``result.groups["name"]`` holds the ``Values`` of a group.  Notebooks display
    it as a table with the reliability diagram.
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    @_OnFirstRead
    def _all(self) -> "list[Value]":
        return [Value._make(fields) for fields in self._core.all()]

    @_OnFirstRead
    def _values(self) -> "list[Value]":  # type: ignore[override]
        return [value for value in self._all if value.group is None]

    @_OnFirstRead
    def groups(self) -> "dict[str, Values]":
        """The values of each group, by its name."""
        groups: "dict[str, list[Value]]" = {}
        for value in self._all:
            if value.group is not None:
                groups.setdefault(value.group, []).append(value)
        return {name: Values(each) for name, each in groups.items()}

    def __getitem__(self, spec: str) -> Value:
        try:
            wanted = Value._make(self._core.find(spec)).spec
        except UsageError as error:
            raise KeyError(str(error)) from None
        return super().__getitem__(wanted)

    def __reduce__(self) -> "tuple[type, tuple]":
        return Result, (self._core if isinstance(self._core, _Kept) else _Kept(self._core),)

    @property
    def verdict(self) -> "Verdict | None":
        """What the results say about calibration: a few sentences, with fields.  None for several targets."""
        fields = dict(self._core.verdict())
        return None if fields["text"] is None else Verdict._make(fields)

    @property
    def weights_are(self) -> "str | None":
        """How the weights were used: ``"frequency"`` or ``"importance"``; None without weights."""
        return WEIGHTS_ARE[self._core.weights()[0]]

    @property
    def effective_sample_size(self) -> float:
        """The number of rows; with frequency weights their sum; with importance weights (sum w)^2 /
        sum w^2 (Kish 1965)."""
        return self._core.weights()[1]

    @property
    def bins(self) -> "list[Bin]":
        """The reliability table of the natural view: 15 bins of equal width."""
        return [Bin(*fields) for fields in self._core.bins()]

    def changes(self, baseline: "Result | str | os.PathLike[str]") -> "list[Change]":
        """The changes from an earlier run: a ``Result``, or the name of the file of its ``to_json``.  Both
        runs need ``interval``.  ``worse`` says that a result is worse by more than chance; the intervals of
        all changes hold together with 95 %, as if the runs were independent."""
        if isinstance(self._core, _Kept):
            raise UsageError("a copied result cannot be compared; call changes where it was measured")
        text: "str | bytes"
        if isinstance(baseline, Result):
            text, name = baseline.to_json(), "baseline"
        else:
            text, name = read_file(baseline, memory_bytes(None)), shown_name(baseline)
        return [Change(*fields) for fields in self._core.changes((text, name)) if fields is not None]

    def figure(self, name: str = "reliability") -> Figure:
        """A figure by its name; ``propercal.list_figures()`` shows them all."""
        return Figure(name, self._core.figure(name), lambda: self._core.figure_data(name))

    def report(self, title: "str | None" = None) -> Any:
        """A page made from this result alone, as a ``Report``: verdict, tables and, of classes, the
        reliability diagram.
        ``propercal.report`` has more figures, and needs the rows."""
        from ._report import Report

        if isinstance(self._core, _Kept):
            raise UsageError("a copied result has no report; call report where it was measured")
        return Report(*self._core.report(title))

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

    def to_latex(self) -> str:
        """A ``tabular`` for LaTeX with the rules of booktabs and units; the best group is bold."""
        return self._core.write(LATEX)

    def save_tables(self, prefix: "str | os.PathLike[str]") -> "list[str]":
        """Writes ``PREFIX-values.csv``, ``PREFIX-groups.csv`` (with groups) and ``PREFIX-bins.csv``.

        Parameters
        ----------
        prefix : the beginning of the file names, which may name a folder

        Returns
        -------
        list of str
            The names of the files.
        """
        return save_tables(prefix, self._core.tables())

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each value; needs pandas."""
        import pandas

        groups = [value for group in self.groups.values() for value in group]
        rows = [
            {
                "metric": value.metric,
                "spec": value.spec,
                "group": value.group,
                "value": float(value),
                "low": value.interval and value.interval.low,
                "high": value.interval and value.interval.high,
                "p_value": value.p_value,
                "notion": value.notion,
                "bound": value.bound,
                "why": value.why,
                "parts": value.parts,
            }
            for value in [*self, *groups]
        ]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return self._core.write(TEXT).rstrip()

    def _worst(self) -> str:
        """A line for each metric with a better direction that names its five worst groups."""
        better = {row.name: row.better for row in rows("metrics")}
        lines = []
        for i, value in enumerate(self):
            direction = better.get(value.metric)
            found = [(float(group._values[i]), name) for name, group in self.groups.items()]
            found = [each for each in found if each[0] == each[0]]
            if direction is None or not found:
                continue
            found.sort(key=lambda each: each[0], reverse=direction == "lower")
            lines.append(f"{value.label}, worst first: " + ", ".join(f"{name} {number:.3g}" for number, name in found[:5]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def shown(value: Value) -> str:
            between = value.interval
            text = f"{value:.5g}" + (f" [{between.low:.5g}, {between.high:.5g}]" if between else "")
            text += " unsure" if between and value.unsure else ""
            null = value.null
            if not null:
                return text
            mean = f"{null.mean:#.3g}".rstrip(".")  # the digits of the verdict
            return f"{text} (calibrated: {mean}, p = {null.p_value:.3g})"

        many = len(self.groups) > _GROUP_COLUMNS
        columns = [self] if many else [self, *self.groups.values()]
        lines = [
            [
                value.label,
                *(shown(column._values[i]) for column in columns),
                ", ".join(filter(None, (value.notion, value.bound and f"{value.bound} bound"))),
            ]
            for i, value in enumerate(self)
        ]
        parts = {"": self, **{f" of {name}": group for name, group in self.groups.items()}}
        notes = "\n".join(
            f"{value.label}{name}: {note}"
            for name, part in parts.items()
            for value in part
            for note in (value.why, value.unsure)
            if note
        )
        return _html.box(
            _html.paragraphs(self.verdict or ""),
            _html.table(["metric", "value", *([] if many else self.groups), "estimates"], lines),
            _html.paragraphs(self._worst()) if many else "",
            _html.table(
                ["group", *(value.label for value in self)],
                [[name, *(shown(value) for value in group)] for name, group in self.groups.items()],
            )
            if many
            else "",
            _html.paragraphs(notes, note=True),
            _html.figure(self.figure().svg),
        )
