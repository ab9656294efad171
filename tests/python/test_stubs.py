"""Types: what the stubs say is what is there."""

import ast
import inspect
import pathlib
import subprocess
import sys

import pytest

import propercal as pc

FOLDER = pathlib.Path(pc.__file__).parent

USE = """
import numpy as np
import propercal as pc

value: float = pc.ece(np.zeros((3, 2)), [0, 1, 1], bins=20, norm="l2")
result = pc.measure(np.zeros((3, 2)), [0, 1, 1], metrics=["ece"])
share: float = result["ece"].parts["at"]
made: pc.Calibrator = pc.Temperature(objective="brier", kind="logits").fit([[0.0, 1.0]], [1])
probs: np.ndarray = made.predict_proba([[0.0, 1.0]])
drawn: pc.Figure = result.figure("reliability")
"""

MISUSE = {
    'pc.ece([[0.5, 0.5]], [1], norm="l3")': "arg-type",
    "pc.ece([[0.5, 0.5]], [1], bin=3)": "call-arg",
    "pc.Temperature(heat=3)": "call-arg",
    "pc.nothing": "attr-defined",
}


def mypy(tmp_path, text, *options):
    """What mypy says about a file."""
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(text)
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--cache-dir",
        str(tmp_path / "cache"),
        *options,
        "use.py",
    ]
    return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)


def test_marked_as_typed():
    assert (FOLDER / "py.typed").exists()
    assert (FOLDER / "__init__.pyi").exists() and (FOLDER / "calibrators.pyi").exists()


def test_signatures_are_those_of_the_stubs():
    tree = ast.parse((FOLDER / "__init__.pyi").read_text())
    reported = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(reported) == set(pc._METRICS)
    for name, node in reported.items():
        parameters = inspect.signature(getattr(pc, name)).parameters
        arguments = [*node.args.args, *node.args.kwonlyargs]
        assert [each.arg for each in arguments] == list(parameters)
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        found = [ast.literal_eval(each) for each in defaults]
        assert found == [each.default for each in parameters.values()]


def test_classes_are_those_of_the_stubs():
    tree = ast.parse((FOLDER / "calibrators.pyi").read_text())
    reported = {node.name: node.body[0] for node in tree.body if isinstance(node, ast.ClassDef)}
    assert set(reported) == set(pc._CALIBRATORS)
    for name, node in reported.items():
        parameters = inspect.signature(getattr(pc, name)).parameters
        assert [each.arg for each in node.args.kwonlyargs] == list(parameters)


def test_right_and_wrong_use(tmp_path):
    """Right use passes the strict checks; each wrong one is found."""
    wrong = USE.count("\n") + 1
    done = mypy(tmp_path, USE + "\n".join(MISUSE) + "\n", "--strict")
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(lines) == len(MISUSE), done.stdout + done.stderr
    for number, (line, kind) in enumerate(zip(lines, MISUSE.values()), wrong):
        assert line.startswith(f"use.py:{number}: error: ") and f"[{kind}]" in line
