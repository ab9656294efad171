"""The command line, timed with the start of its process; bench/run.py talks to it.

    bench/bench_program.py PROGRAM FOLDER

A request is a line OPERATION DATA OPTION THREADS, its answer a line of JSON as in bench/peers.py.

    compare DATA all       propercal compare with all methods that suit
    report DATA METHOD     propercal report --method METHOD
    fit DATA METHOD        propercal fit -m METHOD
    study DATA NAME        propercal study NAME, with the metrics and repeats of its paper
    measure DATA SET       propercal measure: see SETS and COLUMNS
"""

import array
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


SETS = {
    "additive": ["-m", "accuracy", "-m", "brier", "-m", "log", "-m", "ece"],
    "default": [],
    "class-mass": ["-m", "gce:variant=25"],
    "interval": ["--interval", "0.95"],
    "null": ["--null"],
}
# Intervals with one more column: its flag, and its value in row i.
COLUMNS = {
    "weights": ("--weights", lambda i: 1 + i % 3),
    "groups": ("--groups", lambda i: i % 4),
    "clusters": ("--cluster", lambda i: i // 5),
}


def rows(path):
    """The number of rows of an .npy file of one column."""
    head = path.read_bytes()[:200].decode("latin-1")
    return int(head[head.index("'shape': (") + 10:].split(",")[0])


def write_column(path, count, value):
    """An .npy file of float64, version 1.0."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    head = (head + " " * (117 - len(head)) + "\n").encode()
    numbers = array.array("d", (value(i) for i in range(count)))
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + numbers.tobytes())


def command(operation, option, inputs, folder):
    if operation == "measure" and option in COLUMNS:
        flag, value = COLUMNS[option]
        write_column(folder / "column.npy", rows(pathlib.Path(inputs[3])), value)
        return ["measure", *inputs, *SETS["interval"], flag, folder / "column.npy", "--json"]
    if operation == "measure":
        return ["measure", *inputs, *SETS[option], "--json"]
    if operation == "compare":
        return ["compare", *inputs, "--json"]
    if operation == "report":
        return ["report", *inputs, "--method", option, "-o", folder / "report.html"]
    if operation == "fit":
        return ["fit", "-m", option, *inputs, "--json"]
    if operation == "study":
        return ["study", option, *inputs, "--json"]
    raise ValueError(
        f"bench_program knows measure, compare, report, fit and study, not {operation}")


def values(operation, text):
    if operation in ("report", "study"):
        return {}
    reply = json.loads(text)
    if operation == "measure":
        return {result["spec"]: result["value"] for result in reply["results"]}
    if operation == "compare":
        judged = [method for method in reply["methods"] if method["rank"]]
        return {"brier": min(method["metrics"]["brier"] for method in judged),
                "methods": len(judged)}
    return {"objective": reply["objective"]["after"]}


def answer(program, data, operation, option, threads):
    inputs = ["--logits", f"{data}-scores.npy", "--labels", f"{data}-labels.npy"]
    with tempfile.TemporaryDirectory() as place:
        words = command(operation, option, inputs, pathlib.Path(place))
        start = time.perf_counter()
        done = subprocess.run([program, *map(str, words), "--threads", threads, "--quiet"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode().strip())
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"seconds": seconds, "anonymous": peak, "heap": 0,
            "values": values(operation, done.stdout.decode())}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for line in sys.stdin:
        operation, data, option, threads = line.split()[:4]
        try:
            reply = answer(program, folder / data, operation, option, threads)
        except Exception as failure:  # the driver reports it and goes on
            reply = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
