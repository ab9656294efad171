"""Arrays on a GPU, with the driver of the unit tests in place of NVIDIA's: its GPU is memory at addresses that
cannot be followed."""

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = os.environ.get("PROPERCAL_PROGRAM")
#: where the build keeps that driver, libcuda.so.1
DRIVER = pathlib.Path(PROGRAM).resolve().parents[1] / "tests" / "unit" if PROGRAM else None

pytestmark = pytest.mark.skipif(
    DRIVER is None or not (DRIVER / "libcuda.so.1").exists(), reason="the driver of the unit tests is not built"
)

#: Arrays as CuPy has them, as far as propercal uses them, in memory of that driver.
START = '''
import ctypes
import json
import sys
import types

import numpy as np
import propercal as pc

driver = ctypes.CDLL("libcuda.so.1")
address_of = ctypes.c_uint64


class Ndarray:
    current = 0  # the GPU of new arrays
    stream = None

    def __init__(self, array):
        self.shape, self.dtype, self.ndim, self.gpu = array.shape, array.dtype, array.ndim, Ndarray.current
        self.at = address_of()
        driver.fake_cuda_use(self.gpu)
        assert driver.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(array.nbytes)) == 0
        held = np.ascontiguousarray(array)
        where = ctypes.c_void_p(held.ctypes.data)
        assert driver.cuMemcpyHtoDAsync_v2(self.at, where, ctypes.c_size_t(held.nbytes), None) == 0
        self.__cuda_array_interface__ = {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.at.value, False), "version": 3,
            "stream": Ndarray.stream,
        }
        self.data = types.SimpleNamespace(ptr=self.at.value)
        self.device = self

    def __enter__(self):
        Ndarray.current = self.gpu

    def __exit__(self, *_):
        Ndarray.current = 0

    def get(self):
        driver.fake_cuda_use(self.gpu)
        out = np.empty(self.shape, self.dtype)
        where = ctypes.c_void_p(out.ctypes.data)
        assert driver.cuMemcpyDtoHAsync_v2(where, self.at, ctypes.c_size_t(out.nbytes), None) == 0
        return out


Ndarray.__module__ = "cupy"
cupy = types.ModuleType("cupy")
cupy.ndarray, cupy.asarray = Ndarray, Ndarray
cupy.empty_like = lambda given: Ndarray(np.zeros(given.shape, given.dtype))
sys.modules["cupy"] = cupy



def on_gpu(number, array):
    Ndarray.current = number
    try:
        return Ndarray(array)
    finally:
        Ndarray.current = 0


random = np.random.default_rng(7)
labels = random.integers(0, 5, 3000)
logits = (random.normal(size=(3000, 5)) + 3 * np.eye(5)[labels]).astype("float32")
there = Ndarray(logits)


def without_device(result):
    found = json.loads(result.to_json())
    for each in found["results"]:
        each.pop("device", None)
    found.pop("device", None)
    return found

'''


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", START + code],
        env={**os.environ, "LD_LIBRARY_PATH": str(DRIVER)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_measures_have_the_same_bytes():
    run("""
here, result = pc.measure(logits=logits, labels=labels), pc.measure(logits=there, labels=labels)
assert without_device(here) == without_device(result)
assert {value.device for value in result} == {"cuda"}
assert pc.measure(logits=there, labels=labels, metrics=["auc"]).auc.device == "copied"
assert pc.measure(logits=there, labels=labels, metrics=["skce"]).skce.device == "pairs"
""")


def test_updates_have_the_same_bytes():
    run("""
running, expected = (pc.Measure(["ece", "brier", "ks"]) for _ in range(2))
for begin in range(0, 3000, 1000):
    part = slice(begin, begin + 1000)
    running.update(logits=Ndarray(logits[part]), labels=labels[part])
    expected.update(logits=logits[part], labels=labels[part])
assert without_device(running.compute()) == without_device(expected.compute())
assert {value.device for value in running.compute()} == {"cuda"}
""")


def test_fits_and_probabilities_stay_on_the_gpu():
    run("""
fitted = pc.Temperature(kind="logits").fit(there, labels)
assert fitted.to_json() == pc.Temperature(kind="logits").fit(logits, labels).to_json()
expected = fitted.predict_proba(logits)
for found in (fitted.predict_proba(there), fitted.transform(logits=there)):
    assert isinstance(found, Ndarray) and np.array_equal(found.get(), expected)
""")


def test_probabilities_of_other_fits_come_back_there():
    run("""
fitted = pc.Vector(kind="logits").fit(logits, labels)
found = fitted.predict_proba(there)
assert isinstance(found, Ndarray) and np.array_equal(found.get(), fitted.predict_proba(logits))
""")


def test_a_driver_that_is_too_old_is_told():
    run("""
driver.fake_cuda_fail(b"cuModuleLoadData", 222)
result = pc.measure(logits=there, labels=labels)
assert without_device(result) == without_device(pc.measure(logits=logits, labels=labels))
assert {value.device for value in result} == {"copied"}
assert "this GPU or its driver is too old to compute there" in " ".join(str(result).split())
""")


def test_a_gpu_without_memory_is_told():
    run("""
for symbol in (b"cuModuleLoadData", b"cuMemAlloc_v2"):
    driver.fake_cuda_fail(symbol, 2)
    try:
        pc.measure(logits=there, labels=labels)
        raise SystemExit("not refused")
    except MemoryError as error:
        assert "the GPU is out of memory" in str(error)
driver.fake_cuda_fail(b"", 0)
assert pc.measure(logits=there, labels=labels).ece.device == "cuda"
""")


def test_each_array_is_read_on_its_own_gpu():
    run("""
weights, groups = 0.5 + random.integers(0, 3, 3000), random.integers(0, 3, 3000)
expected = without_device(pc.measure(logits=logits, labels=labels, weights=weights, groups=groups, metrics=["default", "auc"]))
for where in range(16):
    given = {"logits": logits, "labels": labels, "weights": weights, "groups": groups}
    arrays = {name: on_gpu(where >> i & 1, array) for i, (name, array) in enumerate(given.items())}
    assert without_device(pc.measure(**arrays, metrics=["default", "auc"])) == expected, where
result = pc.measure(logits=on_gpu(1, logits), labels=on_gpu(0, labels))
assert {value.device for value in result} == {"cuda"}
""")


def test_the_second_gpu_fits_and_calibrates():
    run("""
fitted = pc.Temperature(kind="logits").fit(on_gpu(1, logits), on_gpu(0, labels))
assert fitted.to_json() == pc.Temperature(kind="logits").fit(logits, labels).to_json()
found = fitted.predict_proba(on_gpu(1, logits))
assert isinstance(found, Ndarray) and found.gpu == 1 and np.array_equal(found.get(), fitted.predict_proba(logits))
""")


def test_work_goes_to_the_stream_of_the_array():
    run("""
Ndarray.stream = 77
with_stream = Ndarray(logits)
driver.fake_cuda_stream(ctypes.c_void_p(77))
assert without_device(pc.measure(logits=with_stream, labels=labels)) == without_device(pc.measure(logits=logits, labels=labels))
assert driver.fake_cuda_strays() == 0 and driver.fake_cuda_unfinished() == 0
pc.measure(logits=there, labels=labels)
assert driver.fake_cuda_strays() > 0
""")


def test_a_stream_that_fails_is_one_sentence_and_loses_nothing():
    run("""
running, expected = (pc.Measure(["ece", "brier", "ks"]) for _ in range(2))
expected.update(logits=logits, labels=labels)
running.update(logits=there, labels=labels)
fitted = pc.Temperature(kind="logits").fit(logits, labels)
calls = [
    lambda: running.update(logits=there, labels=labels),
    lambda: pc.measure(logits=there, labels=labels),
    lambda: pc.measure(logits=there, labels=labels, metrics=["auc"]),
    lambda: pc.measure(logits=there, labels=labels, metrics=["skce"]),
    lambda: pc.Temperature(kind="logits").fit(there, labels),
    lambda: fitted.predict_proba(there),
]
for call in calls:
    driver.fake_cuda_fail(b"cuStreamSynchronize", 700)
    try:
        call()
        raise SystemExit("not refused")
    except OSError as error:
        assert str(error).endswith(" failed: an illegal memory access was encountered (CUDA error 700); "
                                   "check the program that uses the GPU"), error
        assert isinstance(error, pc.Error) and "\\n" not in str(error)
    driver.fake_cuda_fail(b"", 0)
assert without_device(running.compute()) == without_device(expected.compute())
assert np.array_equal(fitted.predict_proba(there).get(), fitted.predict_proba(logits))
assert driver.fake_cuda_unfinished() == 0
""")


def test_mmce_has_the_same_bytes_for_all_widths():
    run("""
specs = [f"mmce:width={width}" for width in (10, 0.4, 0.2, 0.0078125, 0.005)] + ["mmce:estimator=u"]
for rows, classes in ((700, 10), (65535, 2), (65536, 2), (65537, 3)):
    truth = random.integers(0, classes, rows)
    scores = (3 * random.normal(size=(rows, classes)) + 2 * np.eye(classes)[truth]).astype("float32")
    probs = np.exp(scores.astype("float64"))
    probs /= probs.sum(axis=1, keepdims=True)
    for more in ({}, {"weights": 1 + np.arange(rows) % 3}):
        for kind, array in (("logits", scores), ("probs", probs)):
            results = [pc.measure(**{kind: each}, labels=truth, metrics=specs, **more) for each in (array, Ndarray(array))]
            assert without_device(results[0]) == without_device(results[1]), (rows, kind, list(more))
""")
