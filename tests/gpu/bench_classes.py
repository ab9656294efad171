"""Times of class-wise metrics on a GPU, and of probabilities, weights and groups, beside those of the same tensors in
memory; prints a Markdown table for docs/benchmarks-gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/bench_classes.py

Device times and whole times as in bench_gpu.py.
"""

import sys

import propercal as pc
import torch
from bench_gpu import device_time, make, whole_time

METRICS = ("cwce:debias=yes", "scaled-brier", "gce:variant=10", "decomposition", "ace")
#: metrics of probabilities, of rows with weights, of rows in five groups
FORMS = (("default", "probs", ()), ("ece", "probs", ()), ("ace", "probs", ()), ("default", "logits", ("weights",)),
         ("cwce", "logits", ("weights",)), ("cwce", "logits", ("groups",)), ("default", "probs", ("weights", "groups")))  # fmt: skip
SIZES = ((1_000_000, 10), (50_000, 1000))


def with_columns(kind, names, pairs):
    """The tensors of measure, in the order of its arguments."""
    sets = []
    for logits, labels in pairs:
        rows = torch.arange(len(labels), device=labels.device)
        columns = {"weights": 0.5 + rows % 4, "groups": rows % 5}
        sets.append((torch.softmax(logits, 1) if kind == "probs" else logits, labels, *(columns[name] for name in names)))
    return sets


def cells(spec, there, here, kind="logits", names=()):
    """Device time, whole call and call in memory."""
    there, here = with_columns(kind, names, there), with_columns(kind, names, here)

    def measured(scores, labels, *columns):
        return pc.measure(labels=labels, metrics=spec, **{kind: scores}, **dict(zip(names, columns)))

    for each in (*there, *here):
        measured(*each)
    times = device_time(measured, there, 6), whole_time(measured, there, 10), whole_time(measured, here, 6)
    return [f"{time:.3g}" for time in times]


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    lines = {spec: [f"`{spec}`"] for spec in METRICS}
    forms = {form: [f"`{form[0]}` of " + " with ".join([{"probs": "probabilities"}.get(form[1], form[1]),
                                                        *([" and ".join(form[2])] if form[2] else [])])] for form in FORMS}  # fmt: skip
    for rows, classes in SIZES:
        there = [make(rows, classes, seed) for seed in range(2)]
        here = [tuple(each.cpu() for each in pair) for pair in there]
        for spec in METRICS:
            lines[spec] += cells(spec, there, here)
        for form in FORMS:
            forms[form] += cells(form[0], there, here, form[1], form[2])
    print("| milliseconds | " + " | ".join(f"{rows:,} × {classes:,}: device | whole call | in memory" for rows, classes in SIZES) + " |")
    print("|---" + "|---:" * 3 * len(SIZES) + "|")
    for line in (*lines.values(), *forms.values()):
        print("| " + " | ".join(line) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
