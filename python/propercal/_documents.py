"""Docstrings from the rows of the library's tables."""

import textwrap

from . import _registry
from ._registry import BOOL, INT, REAL, REALS, Option, Row

WIDTH = 88


def _fold(text: str, indent: str = "") -> str:
    words = " ".join(text.split())
    return textwrap.fill(words, WIDTH, initial_indent=indent, subsequent_indent=indent)


def annotation(option: Option) -> str:
    """The type of an option's values, as source text."""
    words = ", ".join(f'"{word}"' for word in option.words)
    literal = f"Literal[{words}]" if words else ""
    plain = {INT: "int", REAL: "float", BOOL: "bool", REALS: "Sequence[float]"}.get(option.type, "")
    kinds = [kind for kind in (plain, literal) if kind]
    if option.default is None:
        kinds.append("None")
    return " | ".join(kinds)


def _option(option: Option, taken: "frozenset[str]") -> str:
    name = _registry.identifier(option.name, taken)
    words = " | ".join(option.words)
    plain = {INT: "int", REAL: "float", BOOL: "bool", REALS: "sequence of float"}
    kind = ", ".join(filter(None, (plain.get(option.type, ""), words and "{" + words + "}")))
    default = "not set" if option.default is None else f"default {option.default!r}"
    return f"{name} : {kind}, {default}\n" + _fold(option.help or "", "    ")


def options_section(row: Row, taken: "frozenset[str]") -> str:
    return "\n".join(_option(option, taken) for option in row.options)


def _formula(row: Row) -> str:
    return "::\n\n" + textwrap.indent(row.formula, "    ") if row.formula else ""


def _source(row: Row) -> str:
    return "References\n----------\n" + _fold(row.citation) if row.citation else ""


def join(*sections: str) -> str:
    return "\n\n".join(section for section in sections if section) + "\n"


def metric_document(row: Row, taken: "frozenset[str]") -> str:
    notion = f"Estimates {row.notion} calibration" if row.notion else ""
    if row.notion == "proper":
        notion = "A proper score"
    bound = {"lower": ", from below", "upper": ", from above"}.get(row.bound or "", "")
    return join(
        row.title[0].upper() + row.title[1:] + ".",
        _formula(row),
        _fold(row.about or ""),
        f"{notion}{bound}." if notion else "",
        "Parameters\n----------\n"
        "probs, labels : predictions and truth\n"
        "    Or one of ``logits``, ``log_probs``, or ``confidence`` with ``correct``; see\n"
        "    ``measure`` for these and the other arguments.\n" + options_section(row, taken),
        "Returns\n-------\nfloat\n" "    NaN with a warning where it is undefined.",
        _source(row),
    )


def calibrator_document(row: Row, taken: "frozenset[str]") -> str:
    return join(
        row.title[0].upper() + row.title[1:] + ".",
        _formula(row),
        _fold(row.about or ""),
        "Parameters\n----------\n"
        + (options_section(row, taken) + "\n" if row.options else "")
        + "kind : {probs | logits | log_probs | confidence}, default 'probs'\n"
        "    what the first argument of ``fit`` and of what follows it holds\n"
        "normalize : bool, default False\n"
        "    rescale probability rows that are off by 1e-5 to 1e-2\n"
        "skip_missing : bool, default False\n"
        "    leave rows with a missing value out of the fit\n"
        "threads : int or None, default None\n"
        "    how many; None takes those that the process may use",
        _source(row),
    )
