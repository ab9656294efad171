"""The data sets of tools/make-golden, and what other packages want of them.

A set is what tests/golden/run_independent.py gives to the program: the flags of its inputs, for
measuring and for fitting.  {simulated} stands for the folder in which `propercal simulate` has
written NAME.csv; other files are part of the repository.
"""

import hashlib
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGRESSION = ROOT / "tests" / "golden" / "data" / "regression.csv"
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MEMBERS = 7
ROWS = 300

SIMULATED = {
    "ten": "--rows 2000 --classes 10 --scale 0.3 --factor 1.4 --seed 1",
    "ten-fit": "--rows 2000 --classes 10 --scale 0.3 --factor 1.4 --seed 2",
    "even": "--rows 1500 --classes 4 --scale 10 --factor 1 --seed 3",
    "two": "--rows 1200 --classes 2 --scale 30 --factor 1.5 --seed 4",
    "two-fit": "--rows 1200 --classes 2 --scale 30 --factor 1.5 --seed 5",
}


def columns(name, scores, kind="logits"):
    """Flags for columns and labels of a simulated set."""
    return [f"--{kind}", f"{{simulated}}/{name}.csv:{scores}", "--labels", f"{{simulated}}/{name}.csv:labels"]


def digits(part):
    folder = "examples/digits"
    return ["--logits", f"{folder}/logits_{part}.npy", "--labels", f"{folder}/labels_{part}.npy"]


def regression(*names):
    """Flags for columns of the regression set: mean, std, quantiles or samples."""
    path = "tests/golden/data/regression.csv"
    where = {
        "quantiles": f"{path}:q0..q{len(LEVELS) - 1}",
        "samples": f"{path}:s0..s{MEMBERS - 1}",
    }
    flags = []
    for name in (*names, "target"):
        flags += [f"--{name}", where.get(name, f"{path}:{name}")]
    if "quantiles" in names:
        flags += ["--levels", "/".join(map(str, LEVELS))]
    return flags


SETS = {
    "digits": {"measure": digits("test"), "fit": digits("val")},
    "ten": {
        "measure": columns("ten", "logits.0..logits.9"),
        "fit": columns("ten-fit", "logits.0..logits.9"),
    },
    "even": {"measure": columns("even", "logits.0..logits.3")},
    "two": {
        "measure": columns("two", "logits.0..logits.1"),
        "fit": columns("two-fit", "logits.0..logits.1"),
    },
    "unlabelled": {
        "measure": columns("two", "logits.0..logits.1"),
        "fit": columns("two-fit", "logits.0..logits.1")[:2],
    },
    "rare": {"measure": [*columns("two", "logits.0..logits.1"), "--prevalence", "0.1"]},
    "one": {"measure": columns("two", "logits.1"), "fit": columns("two-fit", "logits.1")},
    "normal": {"measure": regression("mean", "std"), "fit": regression("mean", "std")},
    "quantiles": {"measure": regression("quantiles")},
    "intervals": {"measure": regression("quantiles"), "fit": regression("quantiles")},
    "samples": {"measure": regression("samples")},
    "normal-event": {"measure": [*regression("mean", "std"), "--event", "> 1"]},
    "samples-event": {"measure": [*regression("samples"), "--event", "> 1"]},
    "quantiles-event": {"measure": [*regression("quantiles"), "--event", "> 1"]},
}


def simulate(program, folder):
    """Writes the simulated sets; the SHA-256 of each."""
    sums = {}
    for name, flags in SIMULATED.items():
        path = folder / f"{name}.csv"
        subprocess.run([program, "simulate", *flags.split(), "-q", "-o", path], check=True)
        sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def write_regression():
    """Targets, and forecasts of them that are too narrow and a little too low."""
    random = np.random.Generator(np.random.PCG64(20240607))
    centre = random.normal(0, 2, ROWS)
    spread = random.uniform(0.3, 2.0, ROWS)
    target = centre + 0.2 + 1.3 * spread * random.normal(size=ROWS)
    quantiles = np.sort(centre[:, None] + spread[:, None] * random.normal(size=(ROWS, 5)), axis=1)
    samples = centre[:, None] + spread[:, None] * random.normal(size=(ROWS, MEMBERS))
    table = np.column_stack([centre, spread, target, quantiles, samples])
    names = ["mean", "std", "target"]
    names += [f"q{i}" for i in range(len(LEVELS))] + [f"s{i}" for i in range(MEMBERS)]
    lines = [",".join(names)] + [",".join(f"{value:.4f}" for value in row) for row in table]
    REGRESSION.write_text("\n".join(lines) + "\n", encoding="ascii")


def softmax(logits):
    """In double; numerically the textbook formula."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class Rows:
    """Scores and labels of a set in double."""

    def __init__(self, logits, labels):
        self.logits = np.asarray(logits, dtype=np.float64)
        self.labels = np.asarray(labels, dtype=np.int64)
        self.one_column = self.logits.ndim == 1
        if self.one_column:
            self.probs = 1 / (1 + np.exp(-self.logits))
            self.score, self.hit = self.probs, self.labels.astype(float)
            self.matrix = np.column_stack([1 - self.probs, self.probs])
        else:
            self.probs = self.matrix = softmax(self.logits)
            self.score = self.matrix.max(axis=1)
            self.hit = (self.matrix.argmax(axis=1) == self.labels).astype(float)
        self.classes = self.matrix.shape[1]
        self.one_hot = np.eye(self.classes)[self.labels]


def load_csv(path):
    return np.genfromtxt(path, delimiter=",", names=True, deletechars="")


def load(name, part, folder):
    """The rows that the flags of SETS name."""
    if name == "digits":
        which = {"measure": "test", "fit": "val"}[part]
        here = ROOT / "examples" / "digits"
        return Rows(np.load(here / f"logits_{which}.npy"), np.load(here / f"labels_{which}.npy"))
    base = "two" if name == "one" else name
    table = load_csv(folder / (f"{base}.csv" if part == "measure" else f"{base}-fit.csv"))
    if name == "one":
        return Rows(table["logits.1"], table["labels"])
    names = [column for column in table.dtype.names if column.startswith("logits")]
    return Rows(np.column_stack([table[column] for column in names]), table["labels"])


class Numbers:
    """The regression set."""

    def __init__(self):
        table = load_csv(REGRESSION)
        self.mean, self.std, self.target = table["mean"], table["std"], table["target"]
        self.quantiles = np.column_stack([table[f"q{i}"] for i in range(len(LEVELS))])
        self.samples = np.column_stack([table[f"s{i}"] for i in range(MEMBERS)])
