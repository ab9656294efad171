"""Shared by the attacks: a run of the program that is watched, data sets, and the tally."""

import gzip
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from run_cli_tests import csv_text, npy_bytes, npz_bytes, over_confident, softmax  # noqa: E402,F401

DOCUMENTED = {0, 1, 2, 3, 4, 6, 130}
PATIENCE = 60 * int(os.environ.get("PROPERCAL_PATIENCE", "1"))  # seconds after which a run hangs


class Attack:
    """Counts runs and failures of one attack within its time; a failure is kept with its files."""

    def __init__(self, name, options):
        self.name, self.program, self.options = name, options.program, options
        self.random = random.Random(f"{options.seed}-{name}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"propercal-attack-{name}-"))
        self.end = time.monotonic() + options.seconds
        self.runs, self.failures, self.outcomes = 0, [], {}

    def goes_on(self):
        return time.monotonic() < self.end and len(self.failures) < 10

    def note(self, outcome):
        self.runs += 1
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def fail(self, why, words, kept=()):
        """Keeps the files of a failing run below the folder for failures."""
        place = pathlib.Path(self.options.keep) / f"{self.name}-{len(self.failures)}"
        place.mkdir(parents=True, exist_ok=True)
        for path in kept:
            if pathlib.Path(path).is_file():
                shutil.copy(path, place)
        (place / "command.txt").write_text(" ".join(map(str, words)) + "\n" + why + "\n")
        self.failures.append(f"{why}\n    {' '.join(map(str, words))}\n    kept in {place}")

    def run(self, words, env=None, patience=PATIENCE):
        """Exit code (negative: a signal; None: it hangs), output and errors of the program."""
        process = subprocess.Popen(
            [self.program, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, b"", b""
        return process.returncode, out, err

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def wrong_ending(code, err):
    """What is wrong with how a run ended, or None."""
    if code is None:
        return f"no end after {PATIENCE} s"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    if code not in DOCUMENTED:
        return f"exit code {code}: {err[-300:]!r}"
    if b"AddressSanitizer" in err or b"runtime error" in err or b"ThreadSanitizer" in err:
        return f"a sanitizer reports: {err[:2000].decode(errors='replace')}"
    if code in (2, 3, 4, 6) and not err.startswith(b"propercal: "):
        return f"exit code {code} without a sentence: {err[:300]!r}"
    return None


def arrow_stream(batches):
    """An Arrow IPC stream: the record batches of a stored one, again and again."""
    data = (ROOT / "tests" / "fuzz" / "corpus" / "ipc" / "plain.arrows").read_bytes()
    head = 8 + struct.unpack("<i", data[4:8])[0]  # the schema
    return data[:head] + data[head:-8] * batches + data[-8:]


def data_files(attack, rows=200, classes=3, seed=1):
    """A data set in every format; flags for each of them."""
    logits, labels = over_confident(rows, classes, seed)
    groups = ["ab"[i % 2] for i in range(rows)]
    names = [f"logits.{c}" for c in range(classes)]
    days = [f"2026-0{1 + i * 3 // rows}-{1 + i % 28:02d}" for i in range(rows)]
    table = [[*row, label, group, day] for row, label, group, day in zip(logits, labels, groups, days)]
    attack.write("d.csv", csv_text([*names, "labels", "groups", "time"], table).encode())
    attack.write("d.csv.gz", gzip.compress((attack.folder / "d.csv").read_bytes(), 1))
    attack.write("d.arrows", arrow_stream(max(1, rows // 4)))
    attack.write("z.npy", npy_bytes("<f4", logits))
    attack.write("p.npy", npy_bytes("<f8", [softmax(row) for row in logits]))
    attack.write("y.npy", npy_bytes("<i4", labels))
    arrays = {"logits": npy_bytes("<f4", logits), "labels": npy_bytes("<i4", labels)}
    attack.write("d.npz", npz_bytes(True, **arrays))
    lines = "".join(f'{{"logits": {row}, "labels": {label}}}\n' for row, label in zip(logits, labels))
    attack.write("d.jsonl", lines.encode())
    return [["--data", "d.csv"], ["--logits", "z.npy", "--labels", "y.npy"],
            ["--probs", "p.npy", "--labels", "y.npy"], ["--data", "d.npz"], ["--data", "d.jsonl"],
            ["--data", "d.csv.gz"], ["--data", "d.arrows"]]


def models(attack, inputs):
    """Calibrator files, a state and a watch state, by the program itself."""
    for words in (["fit", *inputs, "-o", "cal.json", "-q"],
                  ["fit", *inputs, "-m", "isotonic", "-o", "iso.json", "-q"],
                  ["fit", *inputs, "-m", "conformal-sets", "-o", "sets.json", "-q"],
                  ["measure", *inputs, "--state", "s.pcal", "-q"],
                  ["watch", "w.pcal", *inputs, "-q"]):
        code, _, err = attack.run(words)
        if code not in (0, 1):  # 1: an alarm
            raise SystemExit(f"attack: {' '.join(words)}: {err.decode()}")
