"""Writes the type stubs of the functions and classes that the package makes from the registry.

    make_stubs.py EXTENSION PACKAGE OUTPUT...

EXTENSION is the built _core module, PACKAGE the folder with the package's Python files; each
OUTPUT is a file called __init__.pyi or calibrators.pyi.  Runs while the package is built, so it
uses nothing but the parts of it that need no other package.
"""

import ast
import importlib
import importlib.util
import pathlib
import sys
import types

HEAD = '''"""Made by make_stubs.py from the library's tables; not written by hand."""

from typing import Any, Callable, Iterable, Literal, Sequence

'''


def load(extension, package):
    """The registry, without importing the package as a whole."""
    parent = types.ModuleType("propercal")
    parent.__path__ = [str(package)]
    sys.modules["propercal"] = parent
    spec = importlib.util.spec_from_file_location("propercal._core", extension)
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    sys.modules["propercal._core"] = parent._core = core
    return importlib.import_module("propercal._registry")


def exports(package):
    """The imports of __init__.py, as explicit exports."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = ", ".join(f"{name.name} as {name.name}" for name in node.names)
            yield f"from .{node.module} import {names}\n"


def options(registry, row, taken):
    from propercal._docstrings import annotation

    for option in row.options:
        name = registry.identifier(option.name, taken)
        yield f"    {name}: {annotation(option)} = {option.default!r},\n"


def metric(registry, row, tasks):
    from propercal._parameters import POLICY, TAKEN, metric_inputs

    name = registry.identifier(row.name)
    leading, named = metric_inputs(tasks)
    yield f"def {name}(\n"
    yield from (f"    {each}: Any = None,\n" for each in leading)
    yield "    *,\n"
    yield from options(registry, row, TAKEN)
    yield from (f"    {each}: Any = None,\n" for each in named)
    for each, (default, kind) in POLICY.items():
        yield f"    {each}: {kind} = {default!r},\n"
    yield ") -> float: ...\n"


def package_stub(registry, package):
    rows = registry.joined("metrics")
    calibrators = [registry.class_name(row.name) for row in registry.rows("calibrators")]
    yield HEAD
    yield from exports(package)
    yield "from ._calibrator import Calibrator as Calibrator, load as load\n"
    yield "from ._classifier import CalibratedClassifier as CalibratedClassifier\n"
    yield "from .scorers import make_scorer as make_scorer\n"
    yield "from . import calibrators as calibrators, scorers as scorers, sklearn as sklearn\n"
    for name in calibrators:
        yield f"from .calibrators import {name} as {name}\n"
    yield "\n__version__: str\n__all__: list[str]\n\n"
    for row in rows:
        tasks = frozenset(each.task for each in registry.rows("metrics") if each.name == row.name)
        yield from metric(registry, row, tasks)


def calibrator(registry, row):
    from propercal._parameters import CALIBRATOR_POLICY, CALIBRATOR_TAKEN

    yield f"\nclass {registry.class_name(row.name)}(Calibrator):\n"
    yield "    def __init__(\n        self,\n        *,\n"
    for line in options(registry, row, CALIBRATOR_TAKEN):
        yield "    " + line
    for each, (default, kind) in CALIBRATOR_POLICY.items():
        yield f"        {each}: {kind} = {default!r},\n"
    yield "    ) -> None: ...\n"


def calibrators_stub(registry, package):
    yield HEAD
    yield "from ._calibrator import Calibrator as Calibrator, load as load\n"
    for row in registry.rows("calibrators"):
        yield from calibrator(registry, row)


def main():
    extension, package = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    registry = load(extension.resolve(), package.resolve())
    writers = {"__init__.pyi": package_stub, "calibrators.pyi": calibrators_stub}
    for output in map(pathlib.Path, sys.argv[3:]):
        output.write_text("".join(writers[output.name](registry, package)), encoding="utf-8")


if __name__ == "__main__":
    main()
