"""The Python boundary under atheris: calls with arrays, tables and arguments of every sort.

    fuzz_python.py [libFuzzer options] [CORPUS...]

Run by tools/fuzz-python.  Most calls are valid ones; the others differ in shape, type, strides, values or
arguments.

  1. A call returns, or raises one of the exceptions below; never SystemError, never a crash.
  2. What Python objects do to the module's own types directly (_core) is held to the same.

The share of calls that returned is written to the file that PROPERCAL_FUZZ_COUNTS names.
"""

import atexit
import os
import sys
import warnings

import atheris
import numpy as np

with atheris.instrument_imports(include=["propercal"]):
    import propercal as pc
    from propercal import _core

    pc.Calibrator, pc.load  # loads the modules that are made when first asked for

ALLOWED = (pc.UsageError, pc.DataError, pc.IOError, pc.MemoryError, TypeError, ValueError, OverflowError,
           BufferError, UnicodeError, KeyError, AttributeError, KeyboardInterrupt)
METRICS = [row.name for row in pc.list_metrics()]
METHODS = ["temperature", "platt", "beta", "isotonic", "histogram", "vector", "spline", "venn-abers"]
TYPES = ["<f4", "<f8", ">f4", ">f8", "<f2", "<i4", "<i8", "|u1", "|b1", "<c8", "O", "<U3", "<M8[s]", "|S4"]
counts = [0, 0]


def note():
    path = os.environ.get("PROPERCAL_FUZZ_COUNTS")
    if path:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f"{counts[0]} {counts[1]}\n")


def chance(data, of):
    return data.ConsumeIntInRange(1, of) == 1


def odd(data):
    """A value that no argument expects."""
    return data.PickValueInList([
        None, -1, 0, 2**40, 2**63, 1e308, float("nan"), "", "x", "\ud800", "a\0b", b"bytes", b"", (), [], {}, [[]],
        object(), np.nan, np.array([]), np.zeros((0, 3)), np.zeros((2, 2, 2)), np.array(None), range(3), True,
        memoryview(b"abcd"), type, "../../etc", "/dev/null", "y.npy"])


def scores(data, rows, classes):
    """Probabilities, in many layouts."""
    seed = np.random.default_rng(data.ConsumeIntInRange(0, 2**16))
    array = seed.dirichlet(np.ones(classes), rows)
    if chance(data, 4):
        array = array.astype(data.PickValueInList(TYPES[:5]))
    if chance(data, 6):
        array = np.asfortranarray(array)
    if chance(data, 6):
        array = array[::-1]
    if chance(data, 6):
        array = np.repeat(array, 2, axis=0)[::2]
    if chance(data, 12) and array.size:
        array = array.copy()
        array.flat[data.ConsumeIntInRange(0, array.size - 1)] = data.PickValueInList([np.nan, np.inf, -1, 2])
    if chance(data, 12):
        array = array.tolist()
    elif chance(data, 12):
        array = np.ma.masked_array(array)
    elif chance(data, 12):
        array.setflags(write=False)
    elif chance(data, 16):
        try:
            array = array.astype(data.PickValueInList(TYPES))
        except (ValueError, TypeError):
            pass
    return array


def labels(data, rows, classes):
    seed = np.random.default_rng(data.ConsumeIntInRange(0, 2**16))
    array = seed.integers(0, classes, rows)
    if chance(data, 4):
        return array.astype(data.PickValueInList(["<i8", "|u1", ">i2", "|i1", "<f8"]))
    if chance(data, 10):
        return array.tolist()
    if chance(data, 10):
        return np.eye(classes)[array]
    if chance(data, 20):
        array[0] = data.PickValueInList([-1, classes, 2**31])
    return array


def keywords(data):
    """A few keyword arguments, mostly right."""
    given = {}
    for name, good in (("interval", 0.9), ("replicas", 20), ("null", True), ("skip_missing", True),
                       ("threads", 1), ("seed", 7), ("normalize", True)):
        if chance(data, 5):
            given[name] = odd(data) if chance(data, 6) else good
    return given


def call_measure(data, probs, truth):
    metrics = [data.PickValueInList(METRICS) for _ in range(data.ConsumeIntInRange(1, 2))]
    result = pc.measure(probs=probs, labels=truth, metrics=metrics, **keywords(data))
    repr(result)
    for value in result:
        float(value) if isinstance(value, (int, float)) else repr(value)


def call_metric(data, probs, truth):
    getattr(pc, data.PickValueInList(["ece", "brier", "ks", "smece", "accuracy", "ace"]))(probs, truth)


def call_update(data, probs, truth):
    measure = pc.Measure(metrics=["ece", "brier"])
    for _ in range(data.ConsumeIntInRange(1, 3)):
        measure.update(probs=probs, labels=truth)
    other = pc.Measure(metrics=["ece", "brier"])
    other.update(probs=probs, labels=truth)
    measure.merge(other if not chance(data, 6) else odd(data))
    measure.result()


def call_fit(data, probs, truth):
    method = pc._calibrator.calibrator(data.PickValueInList(METHODS))
    method.fit(probs, truth)
    method.predict_proba(odd(data) if chance(data, 8) else probs)
    content = method.to_json().encode()
    if chance(data, 2):
        at = data.ConsumeIntInRange(0, len(content) - 1)
        content = content[:at] + bytes([data.ConsumeIntInRange(32, 126)]) + content[at + 1:]
    pc._calibrator.loads(content, "fuzz.json")


def call_core(data, probs, truth):
    """Types and functions of the extension module, with anything."""
    names = [name for name in dir(_core) if callable(getattr(_core, name)) and not name.startswith("__")]
    target = getattr(_core, data.PickValueInList(names))
    target(*[data.PickValueInList([probs, truth, odd(data), odd(data)])
             for _ in range(data.ConsumeIntInRange(0, 4))])


class Capsule:
    """An object that offers Arrow data, but not what it promises."""

    def __init__(self, value):
        self.value = value

    def __arrow_c_stream__(self, requested_schema=None):
        return self.value

    def __arrow_c_array__(self, requested_schema=None):
        return self.value, self.value


def call_arrow(data, probs, truth):
    pc.measure(probs=Capsule(odd(data)), labels=truth)


CALLS = [call_measure, call_measure, call_metric, call_update, call_fit, call_core, call_arrow]


def test_one_input(content):
    data = atheris.FuzzedDataProvider(content)
    rows, classes = data.ConsumeIntInRange(1, 12), data.ConsumeIntInRange(2, 4)
    probs, truth = scores(data, rows, classes), labels(data, rows, classes)
    if chance(data, 16):
        probs = odd(data)
    if chance(data, 16):
        truth = odd(data)
    counts[1] += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.PickValueInList(CALLS)(data, probs, truth)
        counts[0] += 1
    except ALLOWED:
        pass


if __name__ == "__main__":
    atexit.register(note)
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
