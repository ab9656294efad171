"""What callers depend on in the Python package: public names, arguments, methods, attributes of results and of fitted calibrators.

    python tests/python/python_interface.py    prints it as JSON

tools/make-compatibility keeps it for each release, and test_compatibility.py compares.  Modules that need a package which is
often absent (Dask, PyTorch, Ray, Spark) are read as source.
"""

import ast
import inspect
import json
import pathlib
import types
import warnings

import numpy as np
import propercal as pc

FOLDER = pathlib.Path(pc.__file__).parent
ROWS = 160
SOURCES = ("dask", "ray", "spark", "torch")
METHODS = (types.FunctionType, classmethod, staticmethod)
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def arguments(function):
    """The arguments of a function as written() writes them; None if Python does not know."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return written((each.name, KINDS[each.kind], each.default is not inspect.Parameter.empty) for each in parameters if each.name != "self")


def written(given):
    """Name, kind and whether it may be left out, of each argument, as "probs, labels=, *, bins=, **more"."""
    words, only_keywords = [], False
    for name, kind, optional in given:
        if kind == "keyword" and not only_keywords:
            words.append("*")
        only_keywords |= kind in ("keyword", "*")
        words.append(f"{kind if '*' in kind else ''}{name}{'=' if optional else ''}")
    return ", ".join(words)


def parsed(text):
    """The same from such a text."""
    kind = "positional"
    for word in text.split(", ") if text else []:
        name = word.strip("*=")
        stars = word[: len(word) - len(word.lstrip("*"))]
        if name:
            yield name, stars or kind, word.endswith("=")
        if stars == "*":
            kind = "keyword"


def members(owner):
    """Public methods with their arguments, and other members, of the package's own classes."""
    found = {}
    for base in owner.__mro__:
        if base.__module__.startswith("propercal") and "standin" not in base.__module__:
            own = {name: value for name, value in vars(base).items() if not name.startswith("_")}
            found |= {name: value for name, value in own.items() if getattr(value, "__module__", "propercal").startswith("propercal")}
            found |= {name: None for name in vars(base).get("__annotations__", {}) if not name.startswith("_")}
    return {name: arguments(getattr(owner, name)) if isinstance(value, METHODS) else None for name, value in found.items()}


def described(prefix, names, module):
    found = {}
    for name in names:
        value = getattr(module, name)
        found[prefix + name] = arguments(value) if callable(value) else None
        if inspect.isclass(value):
            found |= {f"{prefix}{name}.{member}": given for member, given in members(value).items()}
    return found


def source_arguments(node):
    """The same of a function in source."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    first = len(plain) - len(given.defaults)
    found = [(each.arg, "positional", at >= first) for at, each in enumerate(plain) if each.arg not in ("self", "cls")]
    found += [(each.arg, "*", False) for each in [given.vararg] if each]
    found += [(each.arg, "keyword", default is not None) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    return written(found + [(each.arg, "**", False) for each in [given.kwarg] if each])


def source_definitions(name):
    """Functions and classes of a module, and of those of this package that it imports from, by name."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    found = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            there = source_definitions(node.module)[1]
            found |= {each.name: there[each.name] for each in node.names if each.name in there}
    return tree, found


def described_source(name):
    tree, definitions = source_definitions(name)
    public = next(node.value.elts for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    found = {}
    for each in (ast.literal_eval(entry) for entry in public if not isinstance(entry, ast.Starred)):
        node = definitions[each]
        if isinstance(node, ast.FunctionDef):
            found[f"{name}.{each}"] = source_arguments(node)
            continue
        methods = {part.name: source_arguments(part) for part in node.body if isinstance(part, ast.FunctionDef)}
        found[f"{name}.{each}"] = methods.get("__init__")
        found |= {f"{name}.{each}.{method}": given for method, given in methods.items() if not method.startswith("_")}
    return found


def inputs():
    """Small sets of each kind, which calibrators are fitted to."""
    draw = np.random.default_rng(5)
    logits = np.round(2 * draw.normal(size=(ROWS, 3)), 3)
    labels = np.where(draw.random(ROWS) < 0.6, logits.argmax(1), draw.integers(3, size=ROWS))
    mean = np.round(draw.normal(size=ROWS), 3)
    target = np.round(mean + 2 * draw.normal(size=ROWS), 3)
    return [("logits", logits, labels), ("probs", (1 + np.arange(ROWS)) / (2 * ROWS), (draw.random(ROWS) < 0.5).astype(int)),
            ("normal", np.column_stack([mean, np.ones(ROWS)]), target),
            ("quantiles", np.column_stack([mean - 1, mean, mean + 1]), target)]  # fmt: skip


def fitted_attributes():
    found = {}
    for name in pc._CALIBRATORS:
        for kind, scores, truth in inputs():
            try:
                levels = {"levels": [0.1, 0.5, 0.9]} if kind == "quantiles" else {}
                fitted = getattr(pc, name)(kind=kind, **levels).fit(scores, truth)
            except (pc.Error, TypeError):
                continue
            found |= {f"{name}.{each}": None for each in dir(fitted) if each.endswith("_") and not each.startswith("_")}
            break  # networks take seconds
    return found


def interface():
    found = described("", [name for name in dir(pc) if not name.startswith("_") and name not in pc._MODULES], pc)
    found |= {f"calibrators.{name}": None for name in pc.calibrators.__all__}  # the same objects
    for name in ("scorers", "sklearn"):
        module = getattr(pc, name)
        found |= described(f"{name}.", module.__all__, module)
    for name in SOURCES:
        found |= described_source(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return found | fitted_attributes()


def argument_faults(old, new):
    """Calls that were right and are not any longer; arguments that may be left out can be added."""
    old, new = list(parsed(old)), list(parsed(new))
    positional = [[name for name, kind, _ in each if kind == "positional"] for each in (old, new)]
    if positional[1][: len(positional[0])] != positional[0]:
        yield f"positional arguments were {', '.join(positional[0])}"
    now = {name: (kind, optional) for name, kind, optional in new}
    for name, kind, optional in old:
        if kind in ("*", "**"):
            if kind not in {each[1] for each in new}:
                yield f"{kind}{name} is no longer accepted"
        elif name not in now:
            yield f"the argument {name} is gone"
        elif optional and not now[name][1]:
            yield f"the argument {name} is now required"
    known = {name for name, _, _ in old}
    for name, kind, optional in new:
        if name not in known and kind in ("positional", "keyword") and not optional:
            yield f"the argument {name} is new and required"


def faults(old, new):
    for name, given in old.items():
        if name not in new:
            yield f"{name} is gone"
        elif given is not None and new[name] is None:
            yield f"{name} cannot be called"
        elif given is not None:
            yield from (f"{name}: {fault}" for fault in argument_faults(given, new[name]))


if __name__ == "__main__":
    print(json.dumps(interface()))
