"""The examples of docstrings run; those of clusters in tests/spark."""

import importlib.util
import multiprocessing.pool
import pathlib
import types

import numpy as np
import pytest

import propercal as pc

spec = importlib.util.spec_from_file_location("run_docstrings", pathlib.Path(__file__).with_name("run_docstrings.py"))
run_docstrings = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_docstrings)

EXAMPLES = [
    pytest.param(path, name, text, id=f"{path.stem}-{name}")
    for path, cluster in run_docstrings.files()
    if not cluster
    for name, text in run_docstrings.docstrings(path)
]


def given(digits):
    """What docstrings take for granted: two sets of predictions, whole, in batches and in parts for other processes."""
    ends = np.array_split(np.arange(len(digits.labels)), 4)
    parts = [types.SimpleNamespace(probs=digits.probs[at], labels=digits.labels[at], first=int(at[0])) for at in ends]

    def measure_part(part):
        return pc.Measure("ece").update(part.probs, part.labels, first_row=part.first).to_bytes()

    return {
        "logits": digits.logits, "probs": digits.probs, "labels": digits.labels,
        "new_logits": digits.logits[:5], "val_logits": digits.logits[::2], "val_labels": digits.labels[::2],
        "batches": [(digits.logits[at], digits.labels[at]) for at in ends],
        "parts": parts, "measure_part": measure_part,
    }  # fmt: skip


@pytest.mark.parametrize("path, name, text", EXAMPLES)
def test_docstring(path, name, text, digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = given(digits)
    if path.stem == "torch":
        torch = pytest.importorskip("torch")
        pytest.importorskip("torchmetrics")
        names["batches"] = [(torch.tensor(logits), torch.tensor(labels)) for logits, labels in names["batches"]]
    with multiprocessing.pool.ThreadPool(2) as pool:
        count, complaint = run_docstrings.run(path, name, text, {**names, "pool": pool})
    assert count > 0 and complaint == ""


def test_every_example_is_in_a_docstring():
    for path in run_docstrings.PACKAGE.glob("*.py"):
        found = "".join(text for _, text in run_docstrings.docstrings(path))
        assert path.read_text(encoding="utf-8").count(">>> ") == found.count(">>> "), path.name


def test_examples_can_fail():
    path = run_docstrings.PACKAGE / "__init__.py"
    assert run_docstrings.run(path, "x", ">>> one + 1\n", {"one": 1}) == (1, "")
    assert run_docstrings.run(path, "x", ">>> one + 1\n2\n", {"one": 1}) == (1, "")
    assert "Expected" in run_docstrings.run(path, "x", ">>> one + 1\n3\n", {"one": 1})[1]
    assert "NameError" in run_docstrings.run(path, "x", ">>> two + 1\n", {"one": 1})[1]
