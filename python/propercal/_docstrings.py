"""Docstrings from the rows of the registry."""

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


_CLASS_INPUTS = (
    "probs, labels : predictions and true classes\n"
    "    Or a ``Data`` as the first argument, or one of ``logits``, ``log_probs``, or\n"
    "    ``confidence`` with ``correct``.  See ``Data`` for these and ``measure`` for the others.\n"
)
_NUMBER_INPUTS = (
    "data : a ``Data``, or a table or a file whose columns the other arguments name\n"
    "    Or ``mean`` with ``variance`` or ``std``, ``quantiles`` with ``levels``, or ``samples``,\n"
    "    each with ``target``.  See ``Data`` for these and ``measure`` for the others.\n"
)


def metric_document(row: Row, taken: "frozenset[str]", tasks: "frozenset[str | None]") -> str:
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
        + (_CLASS_INPUTS if None in tasks else _NUMBER_INPUTS)
        + options_section(row, taken),
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
        + "kind : {probs | logits | log_probs | confidence | mean | quantiles | samples}\n"
        "    kind of the scores X of ``fit``, ``transform`` and ``predict_proba``; default 'probs'\n"
        "normalize : bool, default False\n"
        "    rescale probability rows whose sums are off by 1e-5 to 1e-2\n"
        "skip_missing : bool, default False\n"
        "    leave rows with a missing value out of the fit\n"
        "threads : int or None, default None\n"
        "    number of threads; None: the processors that the process may use\n"
        "memory_limit : int, str or None, default None\n"
        "    bytes that a call may allocate, also as ``'500MB'``; None: see ``measure``",
        _source(row),
    )
