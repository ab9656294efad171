"""Lists of the rows of the registry."""

import difflib
from . import _core, _html, _registry
from ._errors import UsageError


class Rows(list):  # type: ignore[type-arg]
    """Rows of the registry; notebooks display them as a table, and of one row its options."""

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return self._one(self[0])
        lines = [[row.name, row.title, row.notion or "", _options(row)] for row in self]
        return _html.box(_html.table(["name", "title", "notion", "options"], lines))

    @staticmethod
    def _one(row: _registry.Row) -> str:
        options = [[each.name, each.fallback, (each.choices or "").replace("|", " | "), each.help or ""] for each in row.options]
        parts = [_html.paragraphs(f"{row.name}: {row.title}")]
        parts += [_html.paragraphs(text, note=True) for text in (row.formula, row.about) if text]
        if options:
            parts.append(_html.table(["option", "default", "words", "meaning"], options))
        return _html.box(*parts, _html.paragraphs(row.citation or "", note=True))


def _options(row: _registry.Row) -> str:
    return ", ".join(f"{each.name}={each.fallback}" if each.fallback else each.name for each in row.options)


def _rows(kind: str, name: "str | None") -> Rows:
    """All rows of a kind, or those called name or with it as a word of their name."""
    found = _registry.rows(kind)
    if name is None:
        return Rows(found)
    usual = _usual(kind, name)
    chosen = [row for row in found if row.name == usual] or [row for row in found if _has_words(row, name)]
    if not chosen:
        near = difflib.get_close_matches(name, [row.name for row in found], 1)
        remedy = f'; did you mean "{near[0]}"?' if near else ""
        raise UsageError(f'there is no "{name}" among the {kind}{remedy}')
    return Rows(chosen)


def _usual(kind: str, name: str) -> str:
    """The name of a metric or calibrator for one that other packages use."""
    if kind == "calibrators":
        return _core.calibrator_name(name) or name
    if kind != "metrics":
        return name
    try:
        return _core.canonical(name).split(":")[0]
    except UsageError:
        return name


def _has_words(row: _registry.Row, name: str) -> bool:
    """Are all words of name among those of the row's name and title?"""
    words = {word.strip(",;:.()") for word in (*row.name.split("-"), *row.title.lower().split())}
    return words.issuperset(name.lower().split())


def list_metrics(name: "str | None" = None) -> "list[_registry.Row]":
    """The metrics, each with formula, options and source; with a name, that one or those whose name or
    title has it as a word."""
    return _rows("metrics", name)


def list_groups() -> "list[_registry.Row]":
    """Groups of metrics under one name; ``formula`` names the members."""
    return _rows("groups", None)


def list_notions() -> "list[_registry.Row]":
    """Notions of calibration, from the strongest to the weakest."""
    return _rows("notions", None)


def list_conventions() -> "list[_registry.Row]":
    """Binning rules of other packages."""
    return _rows("conventions", None)


def list_calibrators(name: "str | None" = None) -> "list[_registry.Row]":
    """The calibrators, each with formula, options and source; with a name as in ``list_metrics``."""
    return _rows("calibrators", name)


def list_studies(name: "str | None" = None) -> "list[_registry.Row]":
    """The experiments that ``study`` can run; with a name as in ``list_metrics``."""
    return _rows("studies", name)


def list_figures(name: "str | None" = None) -> "list[_registry.Row]":
    """The figures; with a name as in ``list_metrics``."""
    return _rows("figures", name)
