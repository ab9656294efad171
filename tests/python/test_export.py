"""Exported models in ONNX Runtime, against apply."""

import numpy as np
import pytest

import propercal as pc
from propercal._calibrator import calibrator

METHODS = [row.name for row in pc.list_calibrators() if row.task is None]
SPECIAL = [
    "vector:on=log-probs",
    "matrix-odir:lambda=0.01,mu=0.01,ensemble=folds",
    "histogram:binning=mass", "spline:target=all", "spline:rank=2",
]
STAY = {
    "diag", "order-invariant", "order-preserving", "accuracy-transform", "label-conditional",
    "venn-abers", "conformal-sets", "group-boosting",
}


def softmax(logits):
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exp / exp.sum(axis=1, keepdims=True)


def draw(rows, classes, size, seed):
    """Logits of a size up to about 100, and labels at half of it."""
    rng = np.random.default_rng(seed)
    logits = np.clip(rng.normal(size=(rows, classes)) * size, -100, 100).astype(np.float32)
    probs = softmax(logits.astype(np.float64) / 2)
    labels = [rng.choice(classes, p=row) for row in probs]
    return logits, np.array(labels)


def run(path, scores):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"scores": scores})[0]


def fitted(spec, kind, scores, labels):
    return calibrator(spec, kind=kind).fit(scores, labels)


def exported(spec, method, path):
    """Whether the method could be exported: all but those that stay must be."""
    if spec.partition(":")[0] not in STAY:
        method.export(path)
        return True
    with pytest.raises(pc.UsageError, match="cannot be exported"):
        method.export(path)
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", METHODS + SPECIAL)
@pytest.mark.parametrize("size", [2, 30])
def test_logits(spec, size, tmp_path):
    logits, labels = draw(800, 4, size, 1)
    method = fitted(spec, "logits", logits, labels)
    if not exported(spec, method, tmp_path / "cal.onnx"):
        return
    other, _ = draw(500, 4, size, 2)
    got = run(tmp_path / "cal.onnx", other)
    assert got.dtype == np.float32
    assert np.abs(got - method.transform(other)).max() < 1e-6


def extreme(columns):
    """Logits up to 700 in size; a third of the rows has nothing but low ones."""
    rng = np.random.default_rng(5)
    logits = rng.uniform(-700, 700, size=(300, columns))
    logits[:100] = rng.uniform(-70, -30, size=(100, columns))
    logits[100:200] = rng.uniform(-700, -600, size=(100, columns))
    logits[-3], logits[-2], logits[-1] = -700, 700, 0
    return logits.astype(np.float32)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", METHODS + SPECIAL)
@pytest.mark.parametrize("columns", [1, 4])
def test_extremes(spec, columns, tmp_path):
    if columns == 1 and "rank" in spec:
        return
    logits, labels = draw(800, max(columns, 2), 2, 6)
    scores = logits if columns > 1 else logits[:, 1:] - logits[:, :1]
    method = fitted(spec, "logits", scores if columns > 1 else scores[:, 0], labels)
    if not exported(spec, method, tmp_path / "cal.onnx"):
        return
    wild = extreme(columns)
    expected = method.transform(wild if columns > 1 else wild[:, 0]).reshape(len(wild), -1)
    assert np.abs(run(tmp_path / "cal.onnx", wild) - expected).max() < 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", METHODS)
def test_probabilities_of_zero_and_one(spec, tmp_path):
    logits, labels = draw(800, 3, 3, 7)
    method = fitted(spec, "probs", softmax(logits).astype(np.float32), labels)
    if not exported(spec, method, tmp_path / "cal.onnx"):
        return
    edges = [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5], [1e-45, 1, 0], [0.25, 0.75, 0], [1e-30, 0, 1]]
    edges = np.array(edges, dtype=np.float32)
    assert np.abs(run(tmp_path / "cal.onnx", edges) - method.transform(edges)).max() < 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", METHODS)
def test_probabilities(spec, tmp_path):
    logits, labels = draw(800, 3, 3, 3)
    probs = softmax(logits).astype(np.float32)
    method = fitted(spec, "probs", probs, labels)
    if not exported(spec, method, tmp_path / "cal.onnx"):
        return
    assert np.abs(run(tmp_path / "cal.onnx", probs) - method.transform(probs)).max() < 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", METHODS)
def test_one_column(spec, tmp_path):
    logits, labels = draw(800, 2, 3, 4)
    score = logits[:, 1] - logits[:, 0]
    method = fitted(spec, "logits", score, labels)
    if not exported(spec, method, tmp_path / "cal.onnx"):
        return
    got = run(tmp_path / "cal.onnx", score[:, None])[:, 0]
    assert np.abs(got - method.transform(score)).max() < 1e-6


def test_refused(digits, tmp_path):
    method = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    with pytest.raises(pc.UsageError, match="to onnx or c"):
        method.export(tmp_path / "cal.txt")
    method.export(tmp_path / "cal.c", name="scale")
    assert "void scale(" in (tmp_path / "cal.c").read_text()
