#!/usr/bin/env python3
"""Measures propercal against other packages and against what the machine can do.

Prints one table of ratios.  Ours, the peers and the limits take turns on the same cores, so
that whatever disturbs the machine disturbs all of them; times are medians.  make bench-deps
installs the peers; without them only ours and the limits are measured.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import bench_report
from bench_cases import (CASES, HUGE_CASES, HUGE_SIZES, PAIR_FLOPS, PAIRS, SIZES,
                         SMOKE_SIZES)

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORE = ROOT / "build-bench"
PEERS_PYTHON = ROOT / ".venv-bench" / "bin" / "python"

DATA_VERSION = "1"  # of what bench_generate writes

SLOW_SECONDS = 10.0  # a first execution that takes longer is counted, not thrown away
TURN_SECONDS = 30.0  # about what all repeats of one participant may take
PAUSE_SECONDS = 0.03  # until the threads of the one before no longer spin
LIMIT_MEGABYTES = 512


# ---- Participants -------------------------------------------------------------------------


class Failure(Exception):
    pass


class Worker:
    """A program that answers requests, kept running between them."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            text=True,
        )

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.process.args[0]} ended at '{' '.join(map(str, words))}'")
        reply = json.loads(line)
        if "error" in reply:
            raise Failure(reply["error"])
        return reply

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Stage:
    """All participants of a run, started when first asked."""

    def __init__(self, arguments, folder, sizes):
        self.programs = arguments.build / "bench"
        self.package = arguments.build / "python"
        self.program = arguments.build / "cli" / "propercal"
        self.folder, self.sizes = folder, sizes
        self.threads = arguments.threads
        self.with_peers = not arguments.smoke and PEERS_PYTHON.exists()
        self.workers = {}

    def fresh(self, name):
        if name == "peers":
            count = str(self.threads)
            limits = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
            return Worker([PEERS_PYTHON, ROOT / "bench" / "peers.py", self.folder], limits)
        if name == "bench_python":
            script = ROOT / "bench" / "bench_python.py"
            return Worker([PEERS_PYTHON, script, self.folder], {"PYTHONPATH": str(self.package)})
        if name == "bench_program":
            script = ROOT / "bench" / "bench_program.py"
            return Worker([sys.executable, script, self.program, self.folder])
        return Worker([self.programs / name, self.folder])

    def ask(self, name, *words):
        if name not in self.workers:
            self.workers[name] = self.fresh(name)
        return self.workers[name].ask(*words)

    def ask_once(self, name, *words):
        worker = self.fresh(name)
        try:
            return worker.ask(*words)
        finally:
            worker.close()

    def close(self):
        for worker in self.workers.values():
            worker.close()
        self.workers = {}


class Participant:
    """One side of a comparison: takes its turn, keeps its times and its last numbers."""

    def __init__(self, stage, program, *words):
        self.stage, self.program, self.words = stage, program, words
        self.seconds, self.values, self.peak = [], {}, 0
        self.left = None
        self.failure = ""

    def turn(self):
        if self.failure:
            return 0.0
        try:
            reply = self.stage.ask(self.program, *self.words)
        except Failure as failure:
            self.failure = str(failure)
            return 0.0
        self.seconds.append(reply["seconds"])
        self.values = reply["values"]
        self.peak = max(self.peak, reply.get("anonymous", 0))
        return reply["seconds"]

    def first_turn(self, repeats):
        """Warms up, and decides how often to go on."""
        took = self.turn()
        if took < SLOW_SECONDS:
            self.seconds = []
            self.left = repeats if took <= 0 else min(repeats, int(TURN_SECONDS / took) + 1)
        else:
            self.left = min(repeats, int(TURN_SECONDS / took))

    def next_turn(self):
        if self.left > 0 and not self.failure:
            time.sleep(PAUSE_SECONDS)
            self.left -= 1
            self.turn()

    def median(self):
        return statistics.median(self.seconds) if self.seconds else None


def limit_participant(stage, case):
    if case.limit in ("read", "copy"):
        words = (case.limit, "-", LIMIT_MEGABYTES, stage.threads)
    elif case.limit == "flops":
        words = ("flops", "-", "-", stage.threads)
    elif case.limit == "top-label":
        return Participant(
            stage, "bench_measure", "additive", case.data, "exact", stage.threads
        )
    elif case.limit == "once":
        return Participant(
            stage, "bench_measure", "default", case.data, "exact", stage.threads
        )
    elif case.limit.startswith("command "):
        return Participant(
            stage, "bench_program", "measure", case.data, case.limit.split()[1],
            stage.threads if case.threaded else 1
        )
    elif case.limit.startswith("python "):
        return Participant(
            stage, "bench_python", case.operation, case.data, case.limit.split()[1],
            stage.threads
        )
    elif case.limit == "file":
        words = ("file", case.data, "both", stage.threads)
    else:
        words = ("radix", case.data, "f64", 1)
    return Participant(stage, "limits", *words)


def limit_seconds(case, sizes, participant):
    """What the machine needs for the bytes or the arithmetic of a case."""
    took = participant.median()
    if took is None:
        return None
    rows, columns = sizes[case.data]
    values = participant.values
    if case.limit == "read":
        return took * (rows * columns * 4 + rows * 4) / values["bytes"]
    if case.limit == "copy":
        return took * (2 * rows * columns * 4) / values["bytes"]
    if case.limit == "flops":
        pairs = PAIRS[case.operation] * rows * (rows - 1)
        return took * pairs * (2 * columns + PAIR_FLOPS) / values["flops"]
    return took


# ---- Running ------------------------------------------------------------------------------


def generate(build, folder, sizes):
    """Writes the data sets that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (rows, columns) in sizes.items():
        stamp = folder / f"{name}.stamp"
        wanted = f"{DATA_VERSION} {rows} {columns}\n"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            continue
        print(f"Writing data set {name}: {rows} x {columns}", flush=True)
        command = [build / "bench" / "bench_generate", folder, name, rows, columns]
        subprocess.run(list(map(str, command)), check=True)
        stamp.write_text(wanted, encoding="utf-8")


def difference(ours, theirs):
    """The largest relative difference between numbers of the same name."""
    shared = [name for name in theirs if name in ours]
    return max(
        (abs(ours[name] - theirs[name]) / max(abs(ours[name]), 1e-300) for name in shared),
        default=None,
    )


def run_timed(stage, case, repeats):
    many = stage.threads if case.threaded else 1
    ours = Participant(stage, case.program, case.operation, case.data, case.option, many)
    alone = Participant(stage, case.program, case.operation, case.data, case.option, 1)
    if many == 1:
        alone = ours
    peers = [
        Participant(stage, "peers", case.operation, case.data, peer.option, stage.threads)
        for peer in case.peers
        if stage.with_peers
    ]
    limit = limit_participant(stage, case) if case.limit else None
    everyone = [ours, *([alone] if many > 1 else []), *peers, *([limit] if limit else [])]
    for participant in everyone:
        participant.first_turn(repeats)
    while any(participant.left > 0 and not participant.failure for participant in everyone):
        for participant in everyone:
            participant.next_turn()
    return ours, alone, peers, limit, many


def outcome(case, ours):
    return {"key": case.key, "title": case.title, "unit": "s", "ours": ours.median(),
            "values": ours.values, "failure": ours.failure, "peers": []}


def timed_result(stage, case, repeats):
    ours, alone, peers, limit, many = run_timed(stage, case, repeats)
    result = outcome(case, ours)
    result.update(threads=many, alone=alone.median(), samples=ours.seconds,
                  most_seconds=case.most_seconds)
    result["same_bits"] = ours.values == alone.values
    if limit:
        result["limit"] = limit_seconds(case, stage.sizes, limit)
        result["limit_kind"], result["most"] = case.limit, case.most
    for peer, participant in zip(case.peers, peers):
        gap = difference(ours.values, participant.values)
        result["peers"].append({
            "name": peer.name, "measured": participant.median(),
            "samples": participant.seconds, "values": participant.values,
            "least": peer.least, "failure": participant.failure, "difference": gap,
            "tolerance": peer.tolerance, "known": peer.known,
            "agrees": gap is not None and gap <= peer.tolerance})
    return result


def memory_result(stage, case):
    """In a process of its own, so that nothing is left from before."""
    words = (case.operation, case.data, case.option, stage.threads, "memory")
    result = {"key": case.key, "title": case.title, "unit": "bytes", "threads": stage.threads,
              "failure": "", "peers": [], "most_bytes": case.most_bytes}
    try:
        reply = stage.ask_once(case.program, *words)
    except Failure as failure:
        result.update(ours=None, failure=str(failure))
        return result
    result.update(ours=max(reply["heap"], reply["anonymous"]), heap=reply["heap"],
                  anonymous=reply["anonymous"], values=reply["values"])
    for peer in case.peers if stage.with_peers else []:
        participant = Participant(stage, "peers", case.operation, case.data, peer.option,
                                  stage.threads)
        participant.turn()
        least = None if case.peer_share is None else 1 / case.peer_share
        result["peers"].append({
            "name": peer.name, "measured": participant.peak or None, "least": least,
            "failure": participant.failure, "difference": None, "known": "", "agrees": True})
    return result


def measure_limits(stage, repeats):
    """Rates of the machine, for the record: unit a second."""
    rates = {}
    for count in sorted({1, stage.threads}):
        for name, words, unit in [
            ("memory read", ("read", "-", LIMIT_MEGABYTES), "bytes"),
            ("memory copied, both ways", ("copy", "-", LIMIT_MEGABYTES), "bytes"),
            ("float multiply-add", ("flops", "-", "-"), "flops"),
        ] + [(f"mapped file {data} read", ("file", data, "both"), "bytes")
             for data in stage.sizes if data != "A"]:
            participant = Participant(stage, "limits", *words, count)
            participant.first_turn(repeats)
            while participant.left > 0 and not participant.failure:
                participant.next_turn()
            if not participant.failure:
                rates[f"{name}, {count} thread{'s' if count > 1 else ''}"] = (
                    participant.values[unit] / participant.median(), unit)
    if "D" in stage.sizes:
        participant = Participant(stage, "limits", "radix", "D", "f64", 1)
        participant.first_turn(repeats)
        while participant.left > 0 and not participant.failure:
            participant.next_turn()
        rates["radix sort of doubles, 1 thread"] = (
            participant.values["keys"] / participant.median(), "keys")
    return rates


def run_cases(stage, cases, arguments):
    results = []
    for case in cases:
        print(f"... {case.key}", file=sys.stderr, flush=True)
        results.append(memory_result(stage, case) if case.memory
                       else timed_result(stage, case, min(arguments.repeats,
                                                          case.repeats or arguments.repeats)))
    return results


# ---- ----


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="cases whose key matches")
    parser.add_argument("--list", action="store_true", help="show the keys of all cases")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="default 7")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N",
                        help="for ours and the peers; default: all cores")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="every measurement")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", nargs="?",
                        const=ROOT / "docs" / "benchmarks.md",
                        help="write the page; default docs/benchmarks.md")
    parser.add_argument("--huge", action="store_true",
                        help="also 1e9 scores: writes 5 GB below build-bench")
    parser.add_argument("--smoke", action="store_true", help="tiny data, no peers")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="FOLDER")
    return parser.parse_args()


def choose(arguments):
    cases = CASES + (HUGE_CASES if arguments.huge else [])
    if arguments.only:
        cases = [case for case in cases if re.search(arguments.only, case.key)]
    if arguments.smoke or not PEERS_PYTHON.exists():
        cases = [case for case in cases if case.program != "bench_python"]
    if arguments.smoke:
        none = {"peers": [], "most": None, "most_bytes": None}
        cases = [dataclasses.replace(case, **none) for case in cases]
    return cases


def main():
    arguments = parse()
    cases = choose(arguments)
    if arguments.list:
        print("\n".join(case.key for case in cases))
        return 0
    if not cases:
        print("bench: no case matches; see --list", file=sys.stderr)
        return 2
    arguments.build = arguments.build.resolve()
    with_python = any(case.program == "bench_python" for case in cases)
    options = ["-Dbench=true", *(["-Dpython=true"] if with_python else [])]
    build = subprocess.run([ROOT / "tools" / "build", arguments.build, *options])
    if build.returncode != 0:
        return build.returncode
    needed = {case.data for case in cases}
    sizes = {**(SMOKE_SIZES if arguments.smoke else SIZES), **HUGE_SIZES}
    sizes = {name: size for name, size in sizes.items() if name in needed}
    folder = STORE / ("smoke" if arguments.smoke else "data")
    if arguments.smoke:
        arguments.repeats = 1
    generate(arguments.build, folder, sizes)

    stage = Stage(arguments, folder, sizes)
    if not stage.with_peers and not arguments.smoke:
        print("bench: no peers here; make bench-deps installs them", file=sys.stderr)
    try:
        machine = bench_report.describe_machine(arguments.build, stage, PEERS_PYTHON)
        rates = measure_limits(stage, min(arguments.repeats, 5))
        results = run_cases(stage, cases, arguments)
    finally:
        stage.close()

    print("\n".join(f"- {name}: {value}" for name, value in machine.items()))
    print(bench_report.limits_text(rates), bench_report.table(results), "", sep="\n\n")
    for sentence in bench_report.unmet(results):
        print(f"not met: {sentence}")
    for sentence, _ in bench_report.disagreements(results):
        print(f"differs: {sentence}")
    if arguments.json:
        whole = {"machine": machine, "rates": rates, "results": results}
        arguments.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    failures = list(bench_report.troubles(results))
    for failure in failures:
        print(f"bench: {failure}", file=sys.stderr)
    if arguments.record and not failures:
        bench_report.record(arguments.record, machine, rates, results)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
