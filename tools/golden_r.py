"""Golden values of clinical metrics and their standard errors by R, of the Debian packages r-base-core
and r-cran-proc.

tools/golden_r.R computes them; here its rows are written and its answer is read.
"""

import subprocess

import golden_sets
import numpy as np

PROGRAM = golden_sets.ROOT / "tools" / "golden_r.R"
TOLERANCE = 1e-6  # small differences of scores and fitted rates
PACKAGES = {"R": "cat(as.character(getRversion()))", "R pROC": "cat(as.character(packageVersion('pROC')))"}


def versions():
    """Versions of R and of its package, by name."""
    return {
        name: subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True).stdout
        for name, code in PACKAGES.items()
    }


def values(rows, folder):
    """Yields (quantity, value, tolerance, who computed it)."""
    top, right = rows.matrix.max(axis=1), rows.matrix.argmax(axis=1) == rows.labels
    binary = rows.classes == 2
    score, hit = (rows.matrix[:, 1], rows.labels == 1) if binary else (top, right)
    path = folder / "for-r.csv"
    np.savetxt(path, np.column_stack([score, hit, top, right]), "%.17g", ",", header="score,hit,top,right", comments="")
    done = subprocess.run(["Rscript", PROGRAM, path], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        quantity, value, source = line.split("\t")
        yield quantity, float(value), TOLERANCE, source
