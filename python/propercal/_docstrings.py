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


def _sentence(text: str) -> str:
    """The help of an option with a capital letter, unless it begins with a name or a symbol."""
    word = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if len(word) > 1 and word.isalpha() else text


def _option(option: Option, taken: "frozenset[str]") -> str:
    name = _registry.identifier(option.name, taken)
    words = ", ".join(map(repr, option.words))
    plain = {INT: "int", REAL: "float", BOOL: "bool", REALS: "sequence of float"}
    kind = " or ".join(filter(None, (plain.get(option.type, ""), words and "{" + words + "}")))
    return f"{name} : {kind}, default={option.default!r}\n" + _fold(_sentence(option.help or ""), "    ")


def options_section(row: Row, taken: "frozenset[str]") -> str:
    return "\n".join(_option(option, taken) for option in row.options)


def _formula(row: Row) -> str:
    return "::\n\n" + textwrap.indent(row.formula, "    ") if row.formula else ""


def _source(row: Row) -> str:
    return "References\n----------\n" + _fold(row.citation) if row.citation else ""


def join(*sections: str) -> str:
    return "\n\n".join(section for section in sections if section) + "\n"


_CLASS_INPUTS = """\
probs : array-like of shape (n_samples, n_classes) or (n_samples,), or Data
    Predicted probabilities of the classes, or of class 1 of two.  In their place a ``Data``, or by name
    ``logits``, ``log_probs``, or ``confidence`` with ``correct``; see ``Data``.
labels : array-like of shape (n_samples,)
    True classes: numbers from 0, or names of the columns.
"""
_NUMBER_INPUTS = """\
data : Data, table or path-like
    A ``Data``, or a table or a file whose columns the other arguments name.  In its place ``mean`` with
    ``variance`` or ``std``, ``quantiles`` with ``levels``, or ``samples``, each with ``target``; see
    ``Data``.
"""
_MORE = """\

weights : array-like of shape (n_samples,), default=None
    Weights of the rows; None: every row counts once.
weights_are : {'frequency', 'importance'}, default=None
    What weights mean; None: frequencies if all are whole numbers.
normalize : bool, default=False
    Rescale probability rows whose sums are off by 1e-5 to 1e-2.
skip_missing : bool, default=False
    Leave rows with a missing value out.
precision : {'exact', 'fast'}, default='exact'
    ``'fast'`` computes exponentials of float32 logits in float32.
threads : int, default=None
    Number of threads; None takes the processors that the process may use.
memory_limit : int or str, default=None
    Bytes that the call may allocate, also as ``'500MB'``; None: see ``measure``.
progress : bool, {'tqdm'} or callable, default=None
    As for ``measure``."""


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
        + options_section(row, taken)
        + (_MORE if row.options else _MORE.lstrip()),
        "Returns\n-------\nfloat\n" "    NaN with a warning where it is undefined.",
        _source(row),
    )


_POLICY = """\
kind : {'probs', 'logits', 'log_probs', 'confidence', 'mean', 'quantiles', 'samples'}, default='probs'
    Kind of the scores X of ``fit``, ``transform`` and ``predict_proba``.
normalize : bool, default=False
    Rescale probability rows whose sums are off by 1e-5 to 1e-2.
skip_missing : bool, default=False
    Leave rows with a missing value out of the fit.
threads : int, default=None
    Number of threads; None takes the processors that the process may use.
memory_limit : int or str, default=None
    Bytes that a call may allocate, also as ``'500MB'``; None: see ``measure``."""


def calibrator_document(row: Row, taken: "frozenset[str]") -> str:
    return join(
        row.title[0].upper() + row.title[1:] + ".",
        _formula(row),
        _fold(row.about or ""),
        "Parameters\n----------\n"
        + (options_section(row, taken) + "\n" if row.options else "")
        + _POLICY,
        _source(row),
    )
