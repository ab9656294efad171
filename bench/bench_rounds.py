#!/usr/bin/env python3
"""Cost and sizes of rounds over rows that are generated anew for each round, by processes of this machine.

    python bench/bench_rounds.py [--rows N,...] [--metrics SPEC+...,...] [--processes P] [--part ROWS]

Scores are float32 probabilities of class 1 of a slightly over-confident model; nothing is stored, so a
billion rows need no disk.  Prints, for each number of rows and list of metrics: rounds, bytes of the
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


def chunk(number, rows):
    """The rows of one chunk: the same in every round."""
    rng = np.random.Generator(np.random.SFC64(number))
    scores = np.maximum(rng.random(rows, dtype=np.float32), np.float32(2**-24))
    lean = 0.5 + (scores - 0.5) * np.float32(0.98)
    return scores, (rng.random(rows, dtype=np.float32) < lean).view(np.uint8)


def answer(request, first, rows):
    """The tally of some chunks, and the seconds of generating and of measuring them."""
    worker, seconds = pc.RoundsWorker(request, threads=1), [0.0, 0.0]
    for at in range(0, rows, CHUNK):
        start = time.process_time()
        scores, labels = chunk((first + at) // CHUNK, min(CHUNK, rows - at))
        middle = time.process_time()
        worker.update(scores, labels)
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
    start = time.process_time()
    tally = worker.tally()
    seconds[1] += time.process_time() - start
    return tally, *seconds


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(pool, rows, metrics, part):
    """One table row."""
    before = memory()
    rounds = pc.Rounds(metrics, kind="probs", classes=1)
    requests, tallies, made, used = [], [], 0.0, 0.0
    while not rounds.done:
        request = rounds.request()
        starts = range(0, rows, part)
        jobs = collections.deque(pool.submit(answer, request, at, min(part, rows - at)) for at in starts)
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
        f"| {'+'.join(metrics)} | {rows:.0e} | {len(requests)} | {max(requests)} | {max(tallies)} | "
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
    given = parser.parse_args()
    print("| metrics | rows | rounds | request | tally | generate, ns | measure, ns | memory | values |")
    print("|---|---|---|---|---|---|---|---|---|")
    with concurrent.futures.ProcessPoolExecutor(given.processes) as pool:
        for rows in given.rows.split(","):
            for metrics in given.metrics.split(","):
                measure(pool, int(float(rows)), metrics.split("+"), int(given.part) // CHUNK * CHUNK)


if __name__ == "__main__":
    main()
