#!/usr/bin/env python3
"""Cost of propercal.spark against the bare transport of rows to Python workers.

    .venv-spark/bin/python bench/bench_spark.py [--rows N] [--classes K] [--partitions P] [--metrics SPEC,...]
                                                [--repeat R]

Executors generate the rows, so that nothing is stored.  Prints, for each kind of job, the least of R turns,
in each of which every job runs once: seconds of the clock and of processors (the driver, the JVM and all workers)
for a million rows and one reading, processors against the transport, and the bytes that reached the driver.  The
least is the one that other processes of the machine disturbed least.
The job "transport" sends the same columns to workers that only count rows.
"""

import argparse
import os
import sys
import time

import pyarrow as arrow

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds():
    """Seconds of this process and its descendants, also of those that have ended."""
    parents, seconds = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        seconds[int(name)] = sum(map(int, fields[11:15])) / TICKS

    def mine(process):
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return sum(value for process, value in seconds.items() if mine(process))


def generate(classes):
    def rows(batches):
        import numpy as np

        for batch in batches:
            ids = batch.column(0).to_numpy()
            rng = np.random.default_rng(int(ids[0]))
            truth = rng.standard_normal((len(ids), classes))
            labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1).astype(np.int32)
            probs = np.exp(1.5 * truth)
            probs /= probs.sum(axis=1, keepdims=True)
            ends = np.arange(len(ids) + 1, dtype=np.int32) * classes
            lists = arrow.ListArray.from_arrays(ends, arrow.array(probs.ravel()))
            yield arrow.RecordBatch.from_arrays([lists, arrow.array(labels)], names=["p", "y"])

    return rows


def count(batches):
    rows = sum(batch.num_rows for batch in batches)
    yield arrow.RecordBatch.from_pydict({"rows": [rows]})


def timed(rows, job):
    """Seconds of the clock and of processors for a million rows and one reading; the number of readings, and bytes."""
    before, start = processor_seconds(), time.monotonic()
    readings, note = job()
    clock, used = time.monotonic() - start, processor_seconds() - before
    share = readings * rows / 1e6
    return clock / share, used / share, readings, note


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--metrics", default="brier+log+ece+sce,ks,default")
    given = parser.parse_args()
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    from propercal import _spark_measure
    from propercal import spark as pcs

    session = SparkSession.builder.master(given.master).config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    ids = session.range(0, given.rows, 1, given.partitions)
    frame = ids.mapInArrow(generate(given.classes), "p array<double>, y int")
    frame = frame.localCheckpoint() if given.rows <= 5_000_000 else frame
    frame.mapInArrow(count, "rows long").collect()  # starts the workers
    pcs.measure(frame, probs="p", labels="y", metrics="brier")  # they import the package
    answers = []
    ask = _spark_measure.ask
    _spark_measure.ask = lambda *words: answers.append(ask(*words)) or answers[-1]

    def transport():
        frame.mapInArrow(count, "rows long").collect()
        return 1, ""

    def measuring(words):
        def job():
            answers.clear()
            pcs.measure(frame, probs="p", labels="y", metrics=words.split("+"))
            return len(answers), max(map(len, answers))

        return job

    jobs = {"transport": transport}
    jobs |= {words.replace("+", ", "): measuring(words) for words in given.metrics.split(",")}
    turns = [{name: timed(given.rows, job) for name, job in jobs.items()} for _ in range(given.repeat)]
    print("\n| job | seconds | processor seconds | against transport | readings | bytes |\n|---|---|---|---|---|---|")
    for name in jobs:
        clock, used = (min(turn[name][i] for turn in turns) for i in (0, 1))
        bare = min(turn["transport"][1] for turn in turns)
        print(f"| {name} | {clock:.2f} | {used:.2f} | {used / bare:.2f} | {turns[0][name][2]} | {turns[0][name][3]} |")
    session.stop()


if __name__ == "__main__":
    main()
