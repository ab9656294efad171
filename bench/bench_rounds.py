#!/usr/bin/env python3
"""Cost and sizes of rounds over rows that are generated anew for each round, by processes of this machine.

    python bench/bench_rounds.py [--rows N,...] [--metrics SPEC+...,...] [--processes P] [--part ROWS]
                                 [--off SHARE] [--copies C] [--double]

Scores are float32 probabilities of class 1 of a model whose distance from 1/2 is SHARE (0.02) too large; nothing is
stored, so a billion rows need no disk.  With --copies each score (with --double a double) stands for C rows, whose
labels are two rows with weights: this counts rounds and bytes for numbers of rows that would take hours.  Prints, for each number of rows and list of metrics: rounds, bytes of the
largest request and tally, processor nanoseconds for a row and round (generating, then measuring) and
the growth of the coordinator's memory.
"""

import argparse
import collections
import concurrent.futures
import resource
import time

import numpy as np

import propercal as pc

CHUNK = 1 << 21


def chunk(number, rows, model):
    """The rows of one chunk: the same in every round.  Scores, labels and weights (None: 1)."""
    off, copies, kind = model
    rng = np.random.Generator(np.random.SFC64(number))
    if copies > 1:
        scores = np.maximum(rng.random(rows // 2, dtype=kind), kind(2**-24))
        lean = 0.5 + (scores - 0.5) * (1 - off)
        drawn = copies * lean + np.sqrt(copies * lean * (1 - lean)) * rng.standard_normal(len(scores), dtype=kind)
        hits = np.clip(np.rint(drawn), 0, copies)
        labels = np.repeat(np.array([1, 0], np.uint8), len(scores))
        return np.tile(scores, 2), labels, np.concatenate((hits, copies - hits))
    scores = np.maximum(rng.random(rows, dtype=np.float32), np.float32(2**-24))
    lean = 0.5 + (scores - 0.5) * np.float32(1 - off)
    return scores, (rng.random(rows, dtype=np.float32) < lean).view(np.uint8), None


def answer(request, first, rows, model):
    """The tally of some chunks, and the seconds of generating and of measuring them."""
    worker, seconds = pc.RoundsWorker(request, threads=1), [0.0, 0.0]
    for at in range(0, rows, CHUNK):
        start = time.process_time()
        scores, labels, weights = chunk((first + at) // CHUNK, min(CHUNK, rows - at), model)
        middle = time.process_time()
        worker.update(scores, labels, weights=weights)
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
    start = time.process_time()
    tally = worker.tally()
    seconds[1] += time.process_time() - start
    return tally, *seconds


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(pool, rows, metrics, part, model):
    """One table row."""
    before, given = memory(), rows
    rows = rows if model[1] == 1 else 2 * rows // model[1]
    rounds = pc.Rounds(metrics, kind="probs", classes=1)
    requests, tallies, made, used = [], [], 0.0, 0.0
    while not rounds.done:
        request = rounds.request()
        starts = range(0, rows, part)
        jobs = collections.deque(pool.submit(answer, request, at, min(part, rows - at), model) for at in starts)
        merged = None
        while jobs:
            tally, first, second = jobs.popleft().result()
            merged = tally if merged is None else pc.merge_tallies((merged, tally))
            made, used = made + first, used + second
        rounds.absorb(merged)
        requests.append(len(request))
        tallies.append(len(merged))
    result = rounds.result()
    per_row = 1e9 / rows / len(requests)
    print(
        f"| {'+'.join(metrics)} | {given:.0e} | {len(requests)} | {max(requests)} | {max(tallies)} | "
        f"{made * per_row:.1f} | {used * per_row:.1f} | {memory() - before:.0f} MB | "
        + ", ".join(f"{value.label} {float(value):.4g}" for value in result)
        + " |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="1e7")
    parser.add_argument("--metrics", default="brier+log+ece,ks,default")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--part", type=float, default=1 << 24)
    parser.add_argument("--off", type=float, default=0.02)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--double", action="store_true")
    given = parser.parse_args()
    kind = np.float64 if given.double else np.float32
    print("| metrics | rows | rounds | request | tally | generate, ns | measure, ns | memory | values |")
    print("|---|---|---|---|---|---|---|---|---|")
    with concurrent.futures.ProcessPoolExecutor(given.processes) as pool:
        for rows in given.rows.split(","):
            for metrics in given.metrics.split(","):
                part = int(given.part) // CHUNK * CHUNK
                measure(pool, int(float(rows)), metrics.split("+"), part, (given.off, given.copies, kind))


if __name__ == "__main__":
    main()
