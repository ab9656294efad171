"""The bounds of docs/interval-coverage.md against closed forms: width_bounds.py TOOLS.

A value whose mean is the true error and whose deviation is the same for all factors: far from 0 the least mean width is
2 (z Phi(z) + phi(z)) deviations, z = Phi^-1(0.93), and the informed width 2 * 1.96.
"""

import math
import sys

sys.path.insert(0, sys.argv[1])
import coverage_bounds as bounds  # noqa: E402

ERRORS = {0.5: 40.0, 0.8: 20.0, 1.0: 0.0, 1.2: 20.0, 1.5: 40.0, 2.5: 60.0}


def family(bias):
    """Experiments by factor, with a deviation of 1 and values that chance makes larger by `bias` at an error of 0."""
    return {factor: {"true": error, "mean": math.hypot(error, bias), "sd": 1.0} for factor, error in ERRORS.items()}


def near(found, expected, tolerance, what):
    if abs(found - expected) > tolerance:
        sys.exit(f"{what}: {found}, not {expected}")


plain, biased = family(0.0), family(30.0)
z = bounds.QUANTILE
least = 2 * (0.93 * z + math.exp(-z * z / 2) / math.sqrt(2 * math.pi))
near(0.5 * math.erfc(-z / math.sqrt(2)), 0.93, 1e-5, "quantile")
near(bounds.least(bounds.family(plain), plain[1.5]), least, 0.06, "least, far from 0")
near(bounds.informed(bounds.family(plain), plain[1.5]), 2 * 1.96, 0.2, "informed, far from 0")
# At an error of 0 chance adds 30 deviations; up to an error of 20 the mean rises by hypot(20, 30) - 30.
slope = (math.hypot(20.0, 30.0) - 30.0) / 20.0
near(bounds.least(bounds.family(biased), biased[1.0]), 0.5 * least / slope, 0.06, "least, at 0")
rows = [{**one, "factor": factor, "metric": "m", "model": "k", "rows": 1, "oracle": 1.0, "near": factor == 1.0, "ratio": 9.0}
        for factor, one in biased.items()]
bounds.add_bounds(rows, lambda row: True)
if [row["verdict"] for row in rows] != [bounds.NO] * 6 or rows[4]["least"] is None:
    sys.exit(f"verdicts: {[row['verdict'] for row in rows]}")
for row in rows:
    row["true"] = 0.5  # a score
bounds.add_bounds(rows, lambda row: True)
if {row["verdict"] for row in rows} != {"-"}:
    sys.exit("a score has a bound")
print("bounds agree with their closed forms")
