#!/usr/bin/env python3
"""Endless inputs, through every verb and every flag that names an input.

    endless_inputs.py PROGRAM [VERB...]

Verbs and flags are read from the program's own help: a flag of a FILE that is neither an output nor in
PARTNERS below is a fault, so that a new one cannot be forgotten.  Each flag is tried once with a good
file, which must succeed, and then with the same command and

    /dev/zero     a device
    standard input that never ends: lines of text, one line, zeros behind the header of a .npy file,
                  members of a .gz file, brackets
    a named pipe that somebody writes lines to

Each command ends within seconds of the processor, with exit code 6 (the memory limit), 4 (it cannot be read), 3 (it is
not what was asked for) or 2 (a wrong argument) and one sentence, and keeps to its memory limit.
"""

import gzip
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading

PROGRAM = os.path.abspath(sys.argv[1])
LIMIT = 8  # MB for --memory-limit
RESIDENT = 120  # MB, with the program itself, its libraries and threads
SECONDS = 10  # of the processor
PATIENCE = 120 * int(os.environ.get("PROPERCAL_PATIENCE", "1"))
FAULTS = []
COUNT = 0

OUTPUTS = {"--output", "--tables", "--state", "--gate-report"}
# What stands beside the flag of an input, so that it is read.
CLASSES = {
    "logits": ["labels"],
    "probs": ["labels"],
    "log-probs": ["labels"],
    "confidence": ["correct"],
    "correct": ["confidence"],
    "labels": ["probs"],
    "data": [],
    "weights": ["probs", "labels"],
    "abstain": ["confidence", "correct"],
    "groups": ["probs", "labels"],
    "time": ["probs", "labels", "every=day"],
    "cluster": ["probs", "labels"],
    "id": ["probs", "labels"],
    "calibrator": ["probs", "labels"],
    "baseline": ["probs", "labels"],
    "features": ["target"],
    "model": ["labels", "model=b=probs:probs.csv"],
    "case": [],
}
NUMBERS = {
    "mean": ["variance", "target"],
    "variance": ["mean", "target"],
    "std": ["mean", "target"],
    "quantiles": ["levels=0.1,0.5,0.9", "target"],
    "samples": ["target"],
    "target": ["mean", "variance"],
}
PARTNERS = {**CLASSES, **NUMBERS}
# Flags whose value has more than a name of a file in it.
VALUES = {"model": "a=probs:{}", "case": "a={}"}
# Commands of each verb: the first one that a good file suits is taken.
COMMANDS = {
    "measure": [["--interval", "0.9", "--replicas", "20"], []],
    "fit": [["-m", method, "-o", "x.json"]
            for method in ("temperature", "histogram", "variance-platt", "quantile-isotonic")],
    "apply": [[f"{name}.json", "-o", "x.csv"]
              for name in ("cal", "logits", "log-probs", "confidence", "group", "mean", "std", "quantiles", "samples")],
    "compare": [["--replicas", "20"], ["--replicas", "20", "-m", "histogram", "--by", "ks"]],
    "merge": [["s.pcal"]],
    "watch": [["w.pcal"], ["new.pcal"]],
    "rounds": [["answer", f"run-{name}", "--part", "1"]
               for name in ("probs", "logits", "log-probs", "confidence", "mean", "std")],
    "inspect": [[]],
    "plot": [[figure, "-o", "x.svg"] for figure in ("reliability", "pit", "coverage", "drift")],
    "report": [["-o", "x.html", "--interval", "0"], ["-o", "x.html", "--replicas", "20"],
               ["-o", "x.html", "--replicas", "20", "--method", "histogram"]],
    "study": [[name, "--sets", "1", "--repeats", "1"]
              for name in ("taxonomy", "loss-surface", "variance-regression:train=10", "u-score", "optimise-metric")],
    "plan": [["--width", "0.5"], ["--width", "5", "-m", "accuracy"], ["--width", "5", "-m", "crps"]],
}
# Flags that a verb knows and refuses, whatever the file; they are tried with its first command.
REFUSED = {("watch", "--quantiles"), ("watch", "--samples"), ("watch", "--weights"), ("rounds", "--quantiles"),
           ("rounds", "--samples")}
NO_INPUT = {"simulate", "list"}
POSITIONS = {
    "apply": [["{}", "--probs", "probs.csv", "-o", "x.csv"]],
    "export": [["{}", "-o", "x.c"]],
    "merge": [["{}"], ["s.pcal", "{}"]],
    "watch": [["{}", "--data", "data.csv"], ["w.pcal", "{}"]],
    "inspect": [["{}"], ["probs.csv", "{}"]],
}


def fault(what, command, shown=""):
    FAULTS.append(f"{what}: {' '.join(command)}: {shown[:300]}")


def make_files():
    """Good files, each named after its flag."""
    def write(name, lines):
        with open(name, "w", encoding="utf-8") as out:
            out.write("".join(line + "\n" for line in lines))

    rows = range(40)
    write("probs.csv", [f"{(i * 7 % 40 + 0.5) / 40}" for i in rows])
    write("logits.csv", [f"{i * 7 % 40 - 20.5},{i % 3},0.25" for i in rows])
    write("log-probs.csv", ["-0.6931471805599453,-0.6931471805599453" for i in rows])
    write("confidence.csv", [f"{0.5 + i / 90}" for i in rows])
    write("labels.csv", [f"{int(i * 7 % 40 > 10 + i % 3 * 9)}" for i in rows])
    write("mean.csv", [f"{i / 10}" for i in rows])
    write("variance.csv", [f"{1 + i % 3}" for i in rows])
    write("std.csv", [f"{1 + i % 3}" for i in rows])
    write("quantiles.csv", [f"{i / 10 - 1},{i / 10},{i / 10 + 1}" for i in rows])
    write("samples.csv", [f"{i / 10 - 1},{i / 10},{i / 10 + 0.5},{i / 10 + 1}" for i in rows])
    write("target.csv", [f"{i / 10 + i * 7 % 5 / 2 - 1}" for i in rows])
    write("weights.csv", [f"{1 + i % 2}" for i in rows])
    write("abstain.csv", [f"{int(i % 5 == 0)}" for i in rows])
    write("groups.csv", ["group"] + [f"g{i % 2}" for i in rows])
    write("cluster.csv", ["cluster"] + [f"c{i % 20}" for i in rows])
    write("id.csv", [f"{i}" for i in rows])
    write("time.csv", ["time"] + [f"2026-03-{1 + i // 2:02}" for i in rows])
    write("features.csv", [f"{i / 10},{i % 3}" for i in rows])
    write("data.csv", ["probs,labels"] + [f"{(i * 7 % 40 + 0.5) / 40},{int(i * 7 % 40 > 15)}" for i in rows])
    write("correct.csv", [f"{int(i % 3 == 0 and i % 5 > 0)}" for i in rows])
    for line in PREPARE:
        words = line.split()
        if words[0] == "rounds":
            os.mkdir(words[2])
        subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)


PREPARE = (
    ["fit --probs probs.csv --labels labels.csv -m platt -o cal.json -q",
     "fit --probs probs.csv --labels labels.csv -m platt -o calibrator.json -q",
     "fit --probs probs.csv --labels labels.csv --groups groups.csv -m platt -o group.json -q",
     "fit --logits logits.csv --labels labels.csv -m temperature -o logits.json -q",
     "fit --log-probs log-probs.csv --labels labels.csv -m temperature -o log-probs.json -q",
     "fit --confidence confidence.csv --correct correct.csv -m histogram -o confidence.json -q",
     "fit --mean mean.csv --variance variance.csv --target target.csv -m variance-platt -o mean.json -q",
     "fit --mean mean.csv --std std.csv --target target.csv -m variance-platt -o std.json -q",
     "fit --quantiles quantiles.csv --levels 0.1,0.5,0.9 --target target.csv -m quantile-isotonic -o quantiles.json -q",
     "fit --samples samples.csv --target target.csv -m quantile-isotonic -o samples.json -q",
     "measure --probs probs.csv --labels labels.csv --interval 0.9 --state s.pcal -q -o x.json --json",
     "measure --probs probs.csv --labels labels.csv --interval 0.9 -q -o baseline.json --json",
     "watch w.pcal --probs probs.csv --labels labels.csv -q"] +
    [f"rounds new run-{kind} --parts 1 --kind {kind} -m brier -q" for kind in ("probs", "logits", "log-probs")] +
    ["rounds new run-std --parts 1 --kind mean-std -m crps -q",
     "rounds new run-confidence --parts 1 --kind confidence -m accuracy -q",
     "rounds new run-mean --parts 1 --kind mean-variance -m crps -q"])


# ---- What the help names ----


def verbs():
    text = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.findall(r"^  (\w+) ", text.split("\nVerbs\n")[1].split("\n\n")[0], re.M)


def flags(verb):
    text = subprocess.run([PROGRAM, verb, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return sorted(set(re.findall(r"^  (?:-\w, )?(--[a-z-]+) \S*(?:FILE|PREFIX|PATH|FOLDER)", text, re.M)) - OUTPUTS)


# ---- Commands ----


def good_file(name):
    if name in VALUES:
        return {"model": "probs.csv", "case": "data.csv"}[name]
    return f"{name}.json" if name in ("calibrator", "baseline") else f"{name}.csv"


def beside(words, known, prefix=""):
    """Flags with good files, of those that the verb knows; NAME=VALUE is a flag without a file."""
    out = []
    for word in words:
        name, _, value = word.partition("=")
        if value:
            out += [f"--{name}", value]
        elif f"--{prefix}{name}" in known:
            out += [f"--{prefix}{name}", good_file(name)]
    return out


def partners(flag, known):
    """What a command needs beside `flag`, or None."""
    name = flag[2:]
    for prefix in ("against-", "val-"):
        own = name.removeprefix(prefix)
        if own != name and own in PARTNERS:
            return (beside([own] + PARTNERS[own], known) +
                    beside([word for word in PARTNERS[own] if "=" not in word], known, prefix))
    return beside(PARTNERS[name], known) if name in PARTNERS else None


def name_of(flag):
    return re.sub("^--(against-|val-)?", "", flag)


# ---- Endless inputs ----


def npy_header():
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846975,), }"
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.ljust(117).encode() + b"\n"


BLOCK = 1 << 16
STREAMS = {
    "lines": (b"", b"0\n" * (BLOCK // 2)),
    "fractions": (b"probs,labels\n", b"0.5,1\n" * (BLOCK // 6)),
    "one line": (b"0", b",0" * (BLOCK // 2)),
    "npy": (npy_header(), bytes(BLOCK)),
    "gzip": (b"", gzip.compress(b"0\n" * (BLOCK // 2)) * 64),
    "brackets": (b"", b"[" * BLOCK),
}


def pour(descriptor, stream):
    """Writes a stream until nobody reads it."""
    head, block = STREAMS[stream]
    try:
        os.write(descriptor, head)
        while True:
            os.write(descriptor, block)
    except OSError:
        pass
    os.close(descriptor)


def pour_into_pipe(path, stream, end):
    """Waits for a reader of a named pipe, or for the end of the command."""
    while not end.is_set():
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            end.wait(0.005)
            continue
        os.set_blocking(descriptor, True)
        pour(descriptor, stream)
        return


def limit_seconds():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def run(command, stream=None, pipe=None):
    """Exit code, standard error and resident MB of a command; None: it did not end."""
    global COUNT
    COUNT += 1
    read, write = os.pipe()
    end = threading.Event()
    process = subprocess.Popen([PROGRAM, *command], stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=limit_seconds)
    os.close(read)
    if stream is None:
        os.close(write)
        writer = None
    elif pipe is None:
        writer = threading.Thread(target=pour, args=(write, stream))
    else:
        os.close(write)
        writer = threading.Thread(target=pour_into_pipe, args=(pipe, stream, end))
    if writer is not None:
        writer.start()
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    message = process.stderr.read().decode(errors="replace")
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    end.set()
    if writer is not None:
        writer.join()
    return process.returncode, message, usage.ru_maxrss / 1024


def check(command, kind, code, message, resident):
    what = f"{kind}: "
    lines = message.rstrip("\n").split("\n")
    if code not in (2, 3, 4, 6):
        fault(f"{what}exit code {code}", command, message)
    elif not lines[0].startswith("propercal: ") or len(lines) > (2 if code == 2 else 1):
        fault(f"{what}not one sentence", command, message)
    if resident > RESIDENT:
        fault(f"{what}{resident:.0f} MB resident", command, message)


def filled(command, path):
    return [word.replace("{}", path) for word in command]


def try_endless(command):
    """The command with {} replaced by each endless input."""
    limit = ["--memory-limit", f"{LIMIT}MB"]

    def named(path):
        return filled(command, path) + limit

    check(named("/dev/zero"), "/dev/zero", *run(named("/dev/zero")))
    for stream in STREAMS:
        check(named("-"), f"endless {stream}", *run(named("-"), stream))
    check(named("pipe"), "named pipe", *run(named("pipe"), "lines", "pipe"))


# ---- Cases ----


def clean():
    """A watch and a part that are answered twice would be refused."""
    for name in ("new.pcal",):
        if os.path.exists(name):
            os.remove(name)


def try_flag(verb, flag, known):
    more = partners(flag, known)
    if more is None:
        fault("a flag without a case in PARTNERS", [verb, flag])
        return
    messages = []
    for words in COMMANDS[verb]:
        command = [verb, *words, *more, flag, VALUES.get(name_of(flag), "{}")]
        code, message, _ = run(filled(command, good_file(name_of(flag))))
        clean()
        if code in (0, 1):
            try_endless(command)
            return
        messages.append(message)
    if (verb, flag) in REFUSED:
        try_endless([verb, *COMMANDS[verb][0], *more, flag, "{}"])
        return
    fault("no command takes a good file", [verb, flag], " / ".join(messages))


def try_verb(verb):
    known = set(flags(verb))
    if verb in NO_INPUT:
        if known:
            fault("a flag without a command in COMMANDS", [verb, *known])
        return
    for flag in sorted(known):
        try_flag(verb, flag, known)
    for words in POSITIONS.get(verb, []):
        try_endless([verb, *words])


def main():
    chosen = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files()
        os.mkfifo("pipe")
        known = verbs()
        for verb in known:
            if verb not in COMMANDS and verb not in POSITIONS and verb not in NO_INPUT:
                fault("a verb without a case", [verb])
            elif not chosen or verb in chosen:
                try_verb(verb)
        os.chdir("/")
    for line in FAULTS:
        print(line)
    print(f"{COUNT} commands, {len(FAULTS)} faults")
    return 1 if FAULTS or COUNT == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
