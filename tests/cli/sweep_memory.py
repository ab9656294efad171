#!/usr/bin/env python3
"""Runs every verb with one allocation failing, and with all from that one on.

    sweep_memory.py PROGRAM PRELOAD [VERB...] [--runs N]

Each command is run once to count its allocations, then with the first, second, ... of them
failing; of many, N in all are tried (80 when not given; 0: every one).  Wanted: exit code 6 and one
sentence, or, where the program can do without, the same output as ever; never another exit code, a
signal, a file that is half written, or an output that is not the usual one.
"""

import argparse
import os
import subprocess
import sys
import tempfile

COMMANDS = {
    "measure": ["measure", "--data", "d.csv", "--groups", "d.csv:site", "-m", "default", "--json",
                "--interval", "0.9", "--replicas", "50", "--state", "OUT.pcal", "-o", "OUT.json"],
    "fit": ["fit", "--data", "d.csv", "-m", "vector", "-o", "OUT.json"],
    "apply": ["apply", "cal.json", "--data", "d.csv", "-o", "OUT.csv"],
    "compare": ["compare", "--data", "d.csv", "--method", "temperature", "--folds", "2",
                "--replicas", "50", "-o", "OUT.md", "--format", "md"],
    "export-c": ["export", "cal.json", "--to", "c", "-o", "OUT.c"],
    "export-onnx": ["export", "cal.json", "--to", "onnx", "-o", "OUT.onnx"],
    "merge": ["merge", "a.pcal", "-o", "OUT.txt", "--state", "OUT.pcal"],
    "baseline": ["measure", "--data", "d.csv", "-m", "brier", "--interval", "0.9", "--baseline", "base.json",
                 "--gate-report", "OUT.xml", "-o", "OUT.json", "--json"],
    "event": ["measure", "--mean", "d.csv:0", "--std", "d.csv:5", "--target", "d.csv:1", "--event", "> 1", "-m", "ece",
              "-o", "OUT.json", "--json"],
    "conformal": ["fit", "--data", "d.csv", "-m", "conformal-sets", "-o", "OUT.json"],
    "conformal-apply": ["apply", "sets.json", "--data", "d.csv", "-o", "OUT.csv"],
    "watch": ["watch", "OUT.pcal", "d.csv", "--alpha", "1e-12", "-o", "OUT.txt"],
    "rounds-answer": ["rounds", "answer", "run", "--part", "1", "--data", "d.csv"],
    "rounds-result": ["rounds", "result", "done", "-o", "OUT.txt"],
    "drift": ["plot", "drift", "--data", "d.csv", "--groups", "site", "-o", "OUT.svg", "--replicas", "50"],
    "inspect": ["inspect", "d.csv", "cal.json.npy", "--json"],
    "inspect-set": ["inspect", "--data", "d.csv"],
    "plot": ["plot", "reliability", "--data", "d.csv", "-o", "OUT.svg", "--replicas", "50"],
    "report": ["report", "--data", "d.csv", "-o", "OUT.html", "--replicas", "50", "-m", "ece"],
    "simulate": ["simulate", "--rows", "50", "--classes", "3", "-o", "OUT"],
    "study": ["study", "ece-bias", "--rows", "50", "--classes", "3", "--sets", "20", "--factor",
              "1", "--format", "csv"],
    "plan": ["plan", "--data", "d.csv", "-m", "brier", "--width", "0.01", "--replicas", "50"],
    "list": ["list", "metrics", "ece"],
    "version": ["--version"],
    "help": ["fit", "--help"],
}


def prepare(program, folder):
    def run(*words):
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)

    lines = ["logits.a,logits.b,logits.c,labels,site,std"]
    for i in range(60):
        lines.append(f"{i % 7 / 3},{i % 5 / 2},{i % 3},{(i * i) % 3},{'north' if i % 2 else 's'},{1 + i % 4}")
    with open(os.path.join(folder, "d.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    run("fit", "--data", "d.csv", "-o", "cal.json")
    run("fit", "--data", "d.csv", "-m", "conformal-sets", "-o", "sets.json")
    run("measure", "--data", "d.csv", "-m", "brier", "--interval", "0.9", "--json", "-o", "base.json")
    run("measure", "--data", "d.csv", "--state", "a.pcal")
    for name in ("run", "done"):
        os.mkdir(os.path.join(folder, name))
        run("rounds", "new", name, "--parts", "1", "--kind", "logits", "-m", "brier", "-m", "ece")
        run("rounds", "answer", name, "--part", "1", "--data", "d.csv")
    run("rounds", "next", "done")
    run("apply", "cal.json", "--data", "d.csv", "-o", "cal.json.npy")


def outputs(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        if "OUT" in name:
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
    return found


def run(program, preload, words, folder, **environment):
    for name in outputs(folder):
        os.unlink(os.path.join(folder, name))
    full = {**os.environ, "LD_PRELOAD": preload, **environment}
    done = subprocess.run([program, *words, *THREADS.get(words[0], ["--threads", "1"])],
                          cwd=folder, env=full, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), outputs(folder)


THREADS = {"--version": [], "list": []}


def places(count, most):
    """Which allocations fail: the first and last ones, and some between."""
    if most == 0 or count <= most:
        return list(range(1, count + 1))
    third = most // 3
    middle = range(third, count - third, max(1, (count - 2 * third) // third))
    return sorted({*range(1, third), *middle, *range(count - third, count + 1)})


def sweep(verb, words, arguments, folder):
    counter = os.path.join(folder, "count")
    code, out, err, files = run(arguments.program, arguments.preload, words, folder,
                                PROPERCAL_COUNT=counter)
    if code != 0:
        yield f"{verb}: fails by itself: {err}"
        return
    with open(counter, encoding="ascii") as file:
        count = int(file.read())
    runs = 0
    for n in places(count, arguments.runs):
        for more in ({}, {"PROPERCAL_FAIL_ALL": "1"}):
            runs += 1
            got = run(arguments.program, arguments.preload, words, folder, PROPERCAL_FAIL=str(n),
                      **more)
            where = f"{verb}: allocation {n} of {count}{' and all after it' if more else ''}"
            if got[0] == 0 and (got[1], got[3]) != (out, files):
                yield f"{where}: ends with 0 and another output"
            elif got[0] not in (0, 6):
                yield f"{where}: exit code {got[0]}: {got[2].strip()}"
            elif got[0] == 6 and not got[2].startswith("propercal: "):
                yield f"{where}: no sentence: {got[2]!r}"
            elif got[0] == 6 and any(files.get(name) != data for name, data in got[3].items()):
                yield f"{where}: left {sorted(got[3])}"
    print(f"{verb}: {count} allocations, {runs} runs", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("preload")
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("verbs", nargs="*", metavar="VERB")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    arguments.preload = os.path.abspath(arguments.preload)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(arguments.program, folder)
        for verb, words in COMMANDS.items():
            if not arguments.verbs or verb in arguments.verbs:
                faults += list(sweep(verb, words, arguments, folder))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
