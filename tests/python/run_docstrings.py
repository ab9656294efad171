"""Runs the examples of docstrings, lines that begin with ">>>", by doctest.

Examples take names for granted, such as `labels`; tests give them.  What an example prints is compared where the docstring
shows it, and ignored where it shows nothing.
"""

import ast
import doctest
import importlib
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "python" / "propercal"
#: files whose examples need a cluster of this kind; tests/spark runs them
CLUSTERS = {"_spark_ml": "spark", "spark": "spark", "dask": "dask", "ray": "ray"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class WhatIsShown(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return want == "" or super().check_output(want, got, optionflags)


def docstrings(path):
    """Docstrings of a file that have examples: the name of what each describes, and its text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, DOCUMENTED)]
    texts = [(getattr(node, "name", path.stem), ast.get_docstring(node) or "") for node in nodes]
    return [(name, text) for name, text in texts if ">>>" in text]


def files():
    """Files with examples, and the kind of cluster that these need, "" for none."""
    found = [path for path in sorted(PACKAGE.glob("*.py")) if docstrings(path)]
    return [(path, CLUSTERS.get(path.stem, "")) for path in found]


def run(path, name, text, given):
    """The number of examples of a docstring, and what went wrong."""
    module = "propercal" if path.stem == "__init__" else f"propercal.{path.stem}"
    names = {**vars(importlib.import_module(module)), **given}
    test = doctest.DocTestParser().get_doctest(text, names, f"{path.stem}.{name}", str(path), 0)
    said = []
    runner = doctest.DocTestRunner(WhatIsShown())
    runner.run(test, out=said.append)
    return len(test.examples), "".join(said)
