"""Times of class-wise bins on a GPU, and of metrics whose scores are copied, beside those of the same tensors in
memory; prints a Markdown table for docs/benchmarks-gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/bench_classes.py

Device times and whole times as in bench_gpu.py.
"""

import sys

import propercal as pc
import torch
from bench_gpu import device_time, make, whole_time

METRICS = ("cwce:debias=yes", "scaled-brier", "gce:variant=10", "decomposition", "ace")
SIZES = ((1_000_000, 10), (50_000, 1000))


def cells(spec, there, here):
    """Device time, whole call and call in memory."""

    def measured(logits, labels):
        return pc.measure(logits=logits, labels=labels, metrics=spec)

    for each in (*there, *here):
        measured(*each)
    times = device_time(measured, there, 6), whole_time(measured, there, 10), whole_time(measured, here, 6)
    return [f"{time:.3g}" for time in times]


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    lines = {spec: [f"`{spec}`"] for spec in METRICS}
    for rows, classes in SIZES:
        there = [make(rows, classes, seed) for seed in range(2)]
        here = [tuple(each.cpu() for each in pair) for pair in there]
        for spec in METRICS:
            lines[spec] += cells(spec, there, here)
    print("| milliseconds | " + " | ".join(f"{rows:,} × {classes:,}: device | whole call | in memory" for rows, classes in SIZES) + " |")
    print("|---" + "|---:" * 3 * len(SIZES) + "|")
    for line in lines.values():
        print("| " + " | ".join(line) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
