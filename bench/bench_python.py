"""The Python package, timed in one process; bench/run.py talks to it.

    PYTHONPATH=build/python .venv-bench/bin/python bench/bench_python.py FOLDER

A request is a line OPERATION DATA OPTION THREADS, its answer a line of JSON as in
bench/peers.py.

    ece-probs DATA exact     pc.ece of float32 probabilities with int64 labels
    ece-logits DATA exact    pc.ece of float32 logits; or fast
    ks DATA TYPE             pc.ks of float32 probabilities of class 1 with labels of this type
    import DATA exact        the time of import propercal after import numpy; DATA is not used
    overhead DATA exact      pc.ece of probabilities beyond the extension module's call inside it
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

import propercal as pc
from propercal import _core

PAIRS = 101  # of executions with and without the layer above, for the overhead


class Data:
    """A data set; probabilities are made once."""

    def __init__(self, folder, name):
        self.logits = np.load(folder / f"{name}-scores.npy")
        self.labels = np.load(folder / f"{name}-labels.npy").astype(np.int64)
        self.made = None

    def probs(self):
        if self.made is None:
            powers = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
            self.made = powers / powers.sum(axis=1, keepdims=True)
        return self.made


def timed(call):
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def ece_probs(data, precision, threads):
    probs, labels = data.probs(), data.labels
    return timed(lambda: pc.ece(probs, labels, threads=threads, precision=precision))


def ece_logits(data, precision, threads):
    logits, labels = data.logits, data.labels
    return timed(lambda: pc.ece(logits=logits, labels=labels, threads=threads, precision=precision))


def overhead(data, precision, threads):
    """The median over pairs: the whole, and the extension module on an open source."""
    probs, labels = data.probs(), data.labels
    parts = ("array", probs, None), ("array", labels, None), None, None, None
    names = "probs", "labels", "weights", "groups", "std"
    how = threads, 0, 0, None, True
    policy = False, False, False, 0.0, 0, None, False, False, False

    def inner():
        source = _core.open(1, parts, names, None, 0, 0, how, None)
        seconds, results = timed(lambda: _core.measure(source, ("ece",), policy))
        return seconds, results.first()[1]

    beyond = []
    for _ in range(PAIRS):
        whole, value = timed(lambda: pc.ece(probs, labels, threads=threads))
        beyond.append(whole - inner()[0])
    return max(statistics.median(beyond), 0.0), value


def ks(data, kind, threads):
    probs, labels = data.logits, data.labels.astype(kind)
    return timed(lambda: pc.ks(probs, labels, threads=threads))


def import_time(data, option, threads):
    """The median over pairs of processes with and without the package."""

    def process(code):
        return timed(lambda: subprocess.run([sys.executable, "-c", code], check=True))[0]

    beyond = [process("import numpy, propercal") - process("import numpy") for _ in range(5)]
    return max(statistics.median(beyond), 0.0), 0.0


OPERATIONS = {"import": import_time, "ks": ks, "ece-probs": ece_probs, "ece-logits": ece_logits, "overhead": overhead}


def resident(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak():
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def answer(data, operation, precision, threads):
    if operation in ("ece-probs", "overhead"):
        data.probs()
    measurable = reset_peak()
    base = resident("VmRSS")
    seconds, value = OPERATIONS[operation](data, precision, threads)
    peak = resident("VmHWM") - base if measurable else 0
    return {"seconds": seconds, "anonymous": peak, "heap": 0, "values": {"ece": value}}


def main():
    folder = pathlib.Path(sys.argv[1])
    kept_name, kept = None, None
    for line in sys.stdin:
        operation, name, precision, threads = line.split()[:4]
        try:
            if kept_name != name:
                kept = None
                kept_name, kept = name, Data(folder, name)
            reply = answer(kept, operation, precision, int(threads))
        except Exception as failure:  # the driver tells it and goes on
            reply = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
