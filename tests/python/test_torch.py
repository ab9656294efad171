"""What a user of PyTorch does: running measures, torchmetrics, images, masked classes, half precision."""

import os
import pickle
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import propercal as pc


# ---- Running measures ----


def test_measure_has_the_methods_of_torchmetrics(digits):
    running = pc.Measure(["ece", "nll"])
    assert repr(running) == "<Measure of 'ece', 'nll': 0 rows>"
    for part in np.array_split(np.arange(len(digits.labels)), 5):
        running.update(logits=digits.logits[part], labels=digits.labels[part])
    whole = pc.measure(logits=digits.logits, labels=digits.labels, metrics=["ece", "nll"])
    assert running.compute().ece == whole.ece and running.compute()["nll"] == whole["nll"]
    assert repr(running) == f"<Measure of 'ece', 'nll': {len(digits.labels)} rows>"
    assert running.reset() is running
    with pytest.raises(pc.UsageError, match="nothing was measured yet"):
        running.compute()
    running.update(digits.confidence, digits.correct)  # another kind of scores
    assert running.compute().ece == pc.ece(digits.confidence, digits.correct)


def test_running_intervals(digits):
    running = pc.Measure("ece", interval=0.9, null=True, replicas=200)
    for part in np.array_split(np.arange(len(digits.labels)), 3):
        running.update(digits.probs[part], digits.labels[part])
    whole = pc.measure(digits.probs, digits.labels, metrics="ece", interval=0.9, null=True, replicas=200)
    assert running.compute().ece.interval == whole.ece.interval
    assert running.compute().ece.null == whole.ece.null


# ---- Images ----


@pytest.fixture(scope="module")
def images():
    random = np.random.default_rng(0)
    logits = random.normal(size=(4, 3, 6, 5)).astype(np.float32)
    labels = (logits + 2 * random.normal(size=logits.shape)).argmax(axis=1)
    labels[:, 0] = 255
    rows = np.moveaxis(logits, 1, -1).reshape(-1, 3)
    return logits, labels, rows


def test_segmentation(images):
    logits, labels, rows = images
    kept = labels.ravel() != 255
    expected = pc.ece(logits=rows[kept], labels=labels.ravel()[kept])
    assert pc.ece(logits=logits, labels=labels, class_axis=1, ignore_index=255) == expected
    assert pc.Measure("ece").update(logits=logits, labels=labels, class_axis=1, ignore_index=255).compute().ece == expected
    one = dict(metrics="ece", interval=0.9, replicas=100)
    pixel = pc.measure(logits=rows[kept], labels=labels.ravel()[kept], cluster=np.repeat(range(4), 30)[kept], **one)
    image = pc.measure(
        logits=logits, labels=labels, class_axis=1, ignore_index=255, cluster=np.arange(4), **one
    )
    assert image.ece.interval == pixel.ece.interval
    with pytest.raises(pc.DataError, match="logits has 4 dimensions; give class_axis, .* class_axis=1"):
        pc.ece(logits=logits, labels=labels)
    with pytest.raises(pc.DataError, match=r"labels has the shape \(4, 5\), and the rows have \(4, 6, 5\)"):
        pc.ece(logits=logits, labels=labels[:, 0], class_axis=1)
    with pytest.raises(pc.UsageError, match="class_axis=7: logits has 4 dimensions"):
        pc.ece(logits=logits, labels=labels, class_axis=7)


def test_calibrated_images_keep_their_shape(images):
    logits, labels, rows = images
    fitted = pc.Temperature().fit_logits(logits, labels, class_axis=1, ignore_index=255)
    kept = labels.ravel() != 255
    assert fitted.T_ == pc.Temperature(kind="logits").fit(rows[kept], labels.ravel()[kept]).T_
    probs = fitted.predict_proba(logits, class_axis=1)
    assert probs.shape == logits.shape
    assert (np.moveaxis(probs, 1, -1).reshape(-1, 3) == fitted.predict_proba(rows)).all()
    assert fitted.predict(logits, class_axis=1).shape == labels.shape


# ---- Logits ----


def test_masked_classes_have_probability_0(digits):
    masked = digits.logits.copy()
    masked[:, 7:] = -np.inf
    kept = digits.labels < 7
    seven = pc.measure(logits=digits.logits[kept, :7].astype(float), labels=digits.labels[kept], metrics=["ece", "log", "brier"])
    ten = pc.measure(logits=masked[kept].astype(float), labels=digits.labels[kept], metrics=["ece", "log", "brier"])
    assert list(ten) == pytest.approx(list(seven), rel=1e-12)
    assert pc.brier(logits=masked, labels=digits.labels) > 0
    assert pc.log(logits=masked, labels=digits.labels) == np.inf
    with pytest.raises(pc.DataError, match="no logit of the row is finite"):
        pc.ece(logits=np.full((1, 3), -np.inf), labels=[0])
    with pytest.raises(pc.DataError, match="give log-softmax values as log_probs"):
        pc.Temperature(kind="logits").fit(masked, digits.labels)


def test_half_precision_needs_no_normalize(digits):
    half = digits.probs.astype(np.float16)
    assert (np.abs(half.astype(float).sum(axis=1) - 1) > 1e-5).any()
    assert pc.ece(half, digits.labels) == pytest.approx(pc.ece(digits.probs, digits.labels), abs=2e-3)


def test_temperature_names_logits(digits):
    with pytest.raises(pc.UsageError, match=r"X holds logits.*Temperature\(kind='logits'\).fit.*fit_logits\(X, y\)"):
        pc.Temperature().fit(digits.logits, digits.labels)
    fitted = pc.Temperature().fit_logits(digits.logits, digits.labels)
    other = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    assert (fitted.predict_proba(digits.logits) == other.predict_proba(digits.logits)).all()


# ---- Tensors ----


def test_tensors_give_tensors(digits):
    torch = pytest.importorskip("torch")
    logits = torch.tensor(digits.logits)
    fitted = pc.Temperature(kind="logits").fit(logits, torch.tensor(digits.labels))
    probs = fitted.predict_proba(logits)
    assert isinstance(probs, torch.Tensor) and probs.dtype == torch.float32
    assert (probs.numpy() == fitted.predict_proba(digits.logits)).all()
    assert isinstance(fitted.transform(logits=logits), torch.Tensor)
    halves = torch.softmax(logits, 1).to(torch.bfloat16)
    assert pc.ece(halves, digits.labels) == pytest.approx(pc.ece(digits.probs, digits.labels), abs=0.02)


def test_jax_gives_jax(digits):
    jax = pytest.importorskip("jax")
    fitted = pc.Temperature(kind="logits").fit(jax.numpy.asarray(digits.logits), digits.labels)
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("rows",))
    logits = jax.device_put(digits.logits, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    for given in (jax.numpy.asarray(digits.logits), logits, logits):  # the devices of an array stay its own
        assert isinstance(fitted.predict_proba(given), jax.Array)
        assert given.devices() == set(jax.devices()[:1])


# ---- torchmetrics ----


def test_metric_of_torchmetrics(digits):
    torch = pytest.importorskip("torch")
    torchmetrics = pytest.importorskip("torchmetrics")
    metric = pc.torch.CalibrationMetric("ece", kind="logits")
    assert isinstance(metric, torchmetrics.Metric) and metric.higher_is_better is False
    logits, labels = torch.tensor(digits.logits), torch.tensor(digits.labels)
    for some in torch.arange(len(labels)).split(100):
        batch = metric(logits[some], labels[some])
    assert batch.item() == pc.ece(logits=digits.logits[some.numpy()], labels=digits.labels[some.numpy()])
    assert metric.compute().item() == pc.ece(logits=digits.logits, labels=digits.labels)
    again = pickle.loads(pickle.dumps(metric))
    assert again.compute().item() == metric.compute().item()
    metric.reset()
    assert metric.scores == []
    both = torchmetrics.MetricCollection(
        {"ece": pc.torch.CalibrationMetric("ece", kind="logits"), "own": pc.torch.CalibrationMetric(["log", "brier"], kind="logits")}
    )
    both.update(logits, labels)
    found = both.compute()
    assert found["log"].item() == pc.log(logits=digits.logits, labels=digits.labels)
    assert repr(metric) == "CalibrationMetric('ece', kind='logits')"
    assert repr(pc.torch.CalibrationMetric(["ece", "log"], ignore_index=255)) == "CalibrationMetric(['ece', 'log'], ignore_index=255)"
    with pytest.raises(pc.UsageError, match="kind is one of probs, logits, log_probs"):
        pc.torch.CalibrationMetric(kind="confidence")


def test_images_in_torchmetrics(images):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchmetrics")
    logits, labels, _ = images
    metric = pc.torch.CalibrationMetric("ece", kind="logits", ignore_index=255)
    metric.update(torch.tensor(logits), torch.tensor(labels))
    assert metric.compute().item() == pc.ece(logits=logits, labels=labels, class_axis=1, ignore_index=255)


# What torchmetrics' own tests check of every metric, in two processes on gloo: read-only attributes,
# scripting, clones, pickles, values of single batches (of this process, or of all at this step), empty
# state_dict, hash, and the value of all rows.
PROCESS = """
import copy
import pickle
import sys
import numpy as np
import torch
import torch.distributed as dist
import propercal as pc

rank, port = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
data = pc.simulate(1001, 5, factor=2)
parts = np.array_split(np.arange(1001), 8)
for on_step in (False, True):
    for specs in ("ece", ("ks", "brier")):
        metric = pc.torch.CalibrationMetric(specs, kind="logits", dist_sync_on_step=on_step)
        for name in ("is_differentiable", "higher_is_better"):
            try:
                setattr(metric, name, True)
            except RuntimeError:
                continue
            raise AssertionError(name)
        torch.jit.script(metric)
        assert type(metric.clone()) is type(metric) and metric.clone() is not metric
        metric = copy.deepcopy(pickle.loads(pickle.dumps(metric)))

        def expected(rows):
            found = pc.measure(logits=data.logits[rows], labels=data.labels[rows], metrics=specs)
            return [float(value) for value in found]

        def values(found):
            return [each.item() for each in (found.values() if isinstance(found, dict) else [found])]

        for step in range(rank, 8, 2):
            batch = metric(torch.tensor(data.logits[parts[step]]), torch.tensor(data.labels[parts[step]]))
            pair = np.concatenate(parts[step - rank : step - rank + 2])
            assert values(batch) == expected(pair if on_step else parts[step])
        assert hash(metric) and metric.state_dict() == {}
        assert values(metric.compute()) == expected(slice(None))
        metric.reset()
        assert metric.update_count == 0
dist.destroy_process_group()
"""

# With the folder `tests` of a checkout of torchmetrics its harness itself.
HARNESS = os.environ.get("TORCHMETRICS_TESTS")
HARNESS_CONFTEST = "from unittests.conftest import pytest_sessionfinish, pytest_sessionstart\n"
HARNESS_CASE = """
import functools
import pytest
import torch
import propercal as pc
from unittests import BATCH_SIZE, NUM_BATCHES, NUM_CLASSES
from unittests._helpers.testers import MetricTester

LOGITS = torch.randn(NUM_BATCHES, BATCH_SIZE, NUM_CLASSES, generator=torch.Generator().manual_seed(1))
LABELS = torch.randint(NUM_CLASSES, (NUM_BATCHES, BATCH_SIZE), generator=torch.Generator().manual_seed(2))

def reference(preds, target, specs):
    found = pc.measure(logits=preds.numpy(), labels=target.numpy(), metrics=specs)
    values = [torch.tensor(float(value), dtype=torch.float64) for value in found]
    return values[0] if isinstance(specs, str) else dict(zip(specs, values))

class TestCalibrationMetric(MetricTester):
    @pytest.mark.parametrize("ddp", [False, True])
    @pytest.mark.parametrize("on_step", [False, True])
    @pytest.mark.parametrize("specs", ["ece", "accuracy", "ks", ("brier", "log")])
    def test_class(self, ddp, on_step, specs):
        self.run_class_metric_test(
            ddp=ddp, preds=LOGITS, target=LABELS, metric_class=pc.torch.CalibrationMetric,
            reference_metric=functools.partial(reference, specs=specs), dist_sync_on_step=on_step,
            metric_args={"metrics": specs, "kind": "logits"},
        )

    def test_precision(self):
        for dtype in (torch.half, torch.bfloat16, torch.double):
            self.run_precision_test_cpu(
                LOGITS, LABELS, pc.torch.CalibrationMetric, metric_args={"kind": "logits"}, dtype=dtype
            )

    def test_gradients(self):
        self.run_differentiability_test(
            LOGITS.clone(), LABELS, pc.torch.CalibrationMetric, metric_args={"kind": "logits"}
        )
"""


def _where_found(*more):
    folder = os.path.dirname(os.path.dirname(pc.__file__))
    return os.pathsep.join(filter(None, (*more, folder, os.environ.get("PYTHONPATH"))))


@pytest.mark.skipif(HARNESS is None, reason="TORCHMETRICS_TESTS names no checkout of torchmetrics")
def test_harness_of_torchmetrics(tmp_path):
    pytest.importorskip("torchmetrics")
    (tmp_path / "conftest.py").write_text(HARNESS_CONFTEST)
    (tmp_path / "test_harness.py").write_text(HARNESS_CASE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": _where_found(str(tmp_path), HARNESS), "USE_PYTEST_POOL": "1"},
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0 and "18 passed" in done.stdout, done.stdout


def test_two_processes():
    pytest.importorskip("torch")
    pytest.importorskip("torchmetrics")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROCESS), str(rank), str(port)],
            env={**os.environ, "PYTHONPATH": _where_found()},
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    for each in started:
        errors = each.communicate(timeout=120)[1].decode()
        assert each.returncode == 0, errors
