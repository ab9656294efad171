#!/usr/bin/env python3
"""Runs the command-line tests: tests/cli/VERB/NAME.test.

    run_cli_tests.py --program build/cli/propercal [--shared DIR] VERB...

A test file is read line by line, from top to bottom, in a fresh directory:

    # remark
    need WHAT            skip the rest unless it is there: a program (rsvg-convert), a path
                         (/dev/full), or shared/FILE; driver: a folder with a driver for GPUs,
                         $PROPERCAL_DRIVER, which meson test always names
    set NAME             make a standard data set (see STANDARD_SETS below)
    file NAME = npy TYPE EXPRESSION      a .npy file, TYPE as in NumPy (<f4, >i2, |b1, ...)
    file NAME = bytes EXPRESSION         a file of these bytes
    file NAME = text                     a text file: the indented lines that follow
    env NAME=VALUE       for all commands that follow
    $ COMMAND            run by sh; `propercal` is the program under test
    $INT COMMAND         the same, interrupted by SIGINT as soon as it has opened its output
    $KILL COMMAND        the same by SIGKILL; its exit code is -9

After a command stand its expectations:

    exit CODE            0 when not given
    out LINE             all lines of standard output, exactly
    out~ REGEX           a line of standard output matches; out!~ REGEX: none does
    err, err~, err!~     the same for standard error
    check EXPRESSION     Python; knows out, err (texts), j (standard output as JSON), read(name),
                         exists(name), npy_values(name), close(a, b, tolerance)
    refused CODE REGEX   that exit code, and on standard error one sentence that matches; after
                         a usage error (code 2) also the line that says where to look
    made NAME...         files that the command may create or change

What is not said is checked too: without `out` lines a failing command prints nothing on standard
output, without `err` lines a command that succeeds prints nothing on standard error, and no file
appears, disappears or changes unless it is named by `made`.
"""

import argparse
import difflib
import io
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 120 * int(os.environ.get("PROPERCAL_PATIENCE", "1"))
EXPECTATIONS = ("exit", "refused", "made", "check", "out", "out~", "out!~", "err", "err~", "err!~")
STRUCT_CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
                "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}


class Failure(Exception):
    pass


class Skip(Exception):
    pass


# ---- Inputs -------------------------------------------------------------------------------


def npy_header(dtype, shape, fortran=False):
    """Header of a version 1.0 .npy file; shape may lie."""
    text = "{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (dtype, fortran, tuple(shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def npy_bytes(dtype, values):
    order = ">" if dtype[0] == ">" else "<"
    code = STRUCT_CODES[dtype[1:]]
    nested = len(values) > 0 and isinstance(values[0], (list, tuple))
    shape = (len(values), len(values[0])) if nested else (len(values),)
    flat = [x for row in values for x in row] if nested else list(values)
    return npy_header(dtype, shape) + struct.pack("%s%d%s" % (order, len(flat), code), *flat)


def npz_bytes(deflated, **arrays):
    """A .npz file of such arrays."""
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in arrays.items():
            archive.writestr(name + ".npy", data)
    return out.getvalue()


def npy_values(path):
    """Shape and flat values of a version 1.0 .npy file in C order."""
    with open(path, "rb") as stream:
        data = stream.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length].decode(), {"__builtins__": {}}, {"False": False})
    count = math.prod(header["shape"])
    code = STRUCT_CODES[header["descr"][1:]]
    return header["shape"], struct.unpack("<%d%s" % (count, code), data[10 + length:])


def uniform(seed):
    """A plain linear congruential generator: the same numbers everywhere."""
    state = seed * 2654435761 % 2**32
    while True:
        state = (1664525 * state + 1013904223) % 2**32
        yield (state >> 8) / 2**24


def softmax(row):
    top = max(row)
    terms = [math.exp(x - top) for x in row]
    return [x / sum(terms) for x in terms]


def over_confident(rows, classes, seed=1):
    """Logits (exact in float32) twice too large, and labels that follow the right ones."""
    draw = uniform(seed)
    logits, labels = [], []
    for _ in range(rows):
        row = [math.floor(1024 * next(draw) - 512) / 256 for _ in range(classes)]
        target, label = next(draw), 0
        for p in softmax(row):
            target -= p
            if target < 0:
                break
            label += 1
        logits.append([2 * x for x in row])
        labels.append(min(label, classes - 1))
    return logits, labels


def csv_text(header, rows):
    return "\n".join([",".join(header)] + [",".join(str(x) for x in row) for row in rows]) + "\n"


def set_three(write):
    """500 rows, three classes: logits.npy, probs.npy, labels.npy, data.csv."""
    logits, labels = over_confident(500, 3)
    write("logits.npy", npy_bytes("<f4", logits))
    write("probs.npy", npy_bytes("<f8", [softmax(row) for row in logits]))
    write("labels.npy", npy_bytes("<i4", labels))
    rows = [row + [label] for row, label in zip(logits, labels)]
    write("data.csv", csv_text(["logits.0", "logits.1", "logits.2", "labels"], rows).encode())


def set_hand(write):
    """Four rows, two classes, values that can be checked by hand: p.npy, y.npy."""
    write("p.npy", npy_bytes("<f8", [[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]))
    write("y.npy", npy_bytes("<i4", [0, 0, 0, 0]))


def set_old(write):
    """A file that a failing command must not touch: out.json."""
    write("out.json", b"old\n")


STANDARD_SETS = {"three": set_three, "hand": set_hand, "old": set_old}

EXPRESSIONS = {"npy_header": npy_header, "npy_bytes": npy_bytes, "npy_values": npy_values,
               "npz_bytes": npz_bytes,
               "over_confident": over_confident, "softmax": softmax, "math": math, "json": json,
               "struct": struct, "nan": math.nan, "inf": math.inf, "re": re, "os": os}


# ---- One case -----------------------------------------------------------------------------


class Case:
    def __init__(self, path, program, shared):
        self.path = path
        self.shared = shared
        self.directory = tempfile.mkdtemp(prefix="propercal-cli-")
        self.environment = dict(os.environ)
        for name in ("NO_COLOR", "LC_ALL", "LANG"):
            self.environment.pop(name, None)
        # One build may hold only the program's own name: the directory goes first.
        self.environment["PATH"] = os.path.dirname(program) + os.pathsep + os.environ["PATH"]
        self.environment["SHARED"] = shared
        self.ran = None

    def write(self, name, data):
        with open(os.path.join(self.directory, name), "wb") as stream:
            stream.write(data)

    def snapshot(self):
        found = {}
        for name in sorted(os.listdir(self.directory)):
            path = os.path.join(self.directory, name)
            if os.path.islink(path):
                found[name] = ("link", os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as stream:
                    found[name] = stream.read()
            else:
                found[name] = "special"
        return found

    def evaluate(self, expression, **extra):
        return eval(expression, dict(EXPRESSIONS), dict(extra)) if not extra else \
            eval(expression, dict(EXPRESSIONS, **extra))

    # -- preparing

    def need(self, what):
        if what.startswith("shared/"):
            there = os.path.exists(os.path.join(self.shared, what[len("shared/"):]))
        elif what.startswith("/"):
            there = os.path.exists(what)
        elif what == "driver":
            there = "PROPERCAL_DRIVER" in self.environment
        else:
            there = shutil.which(what) is not None
        if not there:
            raise Skip(what + " is not there")

    def make_file(self, words, indented):
        name, _, rest = words.partition(" = ")
        kind, _, rest = rest.partition(" ")
        if kind == "text":
            data = "".join(line + "\n" for line in indented).encode()
        elif kind == "npy":
            dtype, _, expression = rest.partition(" ")
            data = npy_bytes(dtype, self.evaluate(expression))
        elif kind == "bytes":
            data = self.evaluate(rest)
        else:
            raise Failure("unknown kind of file: " + kind)
        self.write(name, data)

    # -- running

    def run(self, command, interrupt=None):
        self.finish()
        self.ran = {"command": command, "exit": 0, "made": [], "before": self.snapshot(),
                    "out": [], "err": [], "checks": [], "refused": None}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(["sh", "-c", command], cwd=self.directory, stdout=out,
                                       stderr=err, stdin=subprocess.DEVNULL,
                                       env=self.environment)
            if interrupt:
                self.interrupt(process, interrupt)
            try:
                self.ran["code"] = process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Failure("no end after %d s: %s" % (TIMEOUT, command))
            for name, stream in (("stdout", out), ("stderr", err)):
                stream.seek(0)
                self.ran[name] = stream.read().decode("utf-8", "replace")

    def has_nameless_file(self, process):
        """Whether the process writes a file of the directory that has no name yet."""
        folder = "/proc/%d/fd" % process.pid
        try:
            links = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
        except OSError:
            return False
        inside = os.path.realpath(self.directory) + os.sep
        return any(link.startswith(inside) and link.endswith(" (deleted)") for link in links)

    def interrupt(self, process, number):
        before = set(self.ran["before"])
        for _ in range(500):
            if set(os.listdir(self.directory)) - before or process.poll() is not None:
                break
            if self.has_nameless_file(process):
                break
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(number)

    # -- judging

    def expect(self, word, rest):
        if self.ran is None:
            raise Failure("an expectation stands before any command: " + word)
        if word == "exit":
            self.ran["exit"] = int(rest)
        elif word == "made":
            self.ran["made"] += rest.split()
        elif word == "check":
            self.ran["checks"].append(rest)
        elif word == "refused":
            code, _, pattern = rest.partition(" ")
            self.ran["exit"] = int(code)
            self.ran["refused"] = pattern
        else:
            self.ran[word[:3]].append((word[3:], rest))

    def judge_stream(self, name, stream, expectations):
        lines = self.ran[stream].splitlines()
        exact = [text for mark, text in expectations if mark == ""]
        if exact and lines != exact:
            raise Failure("%s differs:\n%s" % (
                stream, "\n".join(difflib.unified_diff(exact, lines, "expected", "got",
                                                       lineterm=""))))
        for mark, pattern in expectations:
            found = any(re.search(pattern, line) for line in lines)
            if mark == "~" and not found:
                raise Failure("no line of %s matches: %s" % (stream, pattern))
            if mark == "!~" and found:
                raise Failure("a line of %s matches: %s" % (stream, pattern))

    def judge_refusal(self):
        lines = self.ran["stderr"].splitlines()
        if self.ran["exit"] == 2 and lines and re.match("try: propercal .*--help$", lines[-1]):
            lines.pop()
        if len(lines) != 1 or not lines[0].startswith("propercal: "):
            raise Failure("standard error is not one sentence")
        if not re.search(self.ran["refused"], lines[0]):
            raise Failure("the sentence does not match: " + self.ran["refused"])

    def judge_files(self):
        after = self.snapshot()
        before = self.ran["before"]
        for name in sorted(set(before) | set(after)):
            if name in self.ran["made"]:
                continue
            if name not in after:
                raise Failure("the file %s has disappeared" % name)
            if name not in before:
                raise Failure("the file %s has appeared" % name)
            if before[name] != after[name]:
                raise Failure("the file %s has changed" % name)

    def judge_checks(self):
        def read(name):
            with open(os.path.join(self.directory, name), "rb") as stream:
                return stream.read()

        def exists(name):
            return os.path.exists(os.path.join(self.directory, name))

        def close(a, b, tolerance=1e-12):
            return abs(a - b) <= tolerance * max(1.0, abs(b))

        names = {"out": self.ran["stdout"], "err": self.ran["stderr"], "read": read,
                 "exists": exists, "close": close,
                 "npy_values": lambda name: npy_values(os.path.join(self.directory, name))}
        for expression in self.ran["checks"]:
            if re.search(r"\bj\b", expression):
                names["j"] = json.loads(self.ran["stdout"])
            if not self.evaluate(expression, **names):
                raise Failure("this does not hold: " + expression)

    def finish(self):
        """Judges the last command, if there is one that was not judged yet."""
        if self.ran is None:
            return
        ran = self.ran
        try:
            if ran["code"] != ran["exit"]:
                raise Failure("exit code %d, expected %d" % (ran["code"], ran["exit"]))
            if ran["exit"] != 0 and not ran["out"] and not ran["checks"] and ran["stdout"]:
                raise Failure("a failing command has printed on standard output")
            if ran["exit"] == 0 and not ran["err"] and ran["stderr"]:
                raise Failure("a command that succeeds has printed on standard error")
            self.judge_stream("out", "stdout", ran["out"])
            self.judge_stream("err", "stderr", ran["err"])
            if ran["refused"] is not None:
                self.judge_refusal()
            self.judge_files()
            self.judge_checks()
        except Failure as failure:
            raise Failure("$ %s\n%s\n-- standard output\n%s-- standard error\n%s" % (
                ran["command"], failure, ran["stdout"][:4000], ran["stderr"][:4000]))
        self.ran = None

    # -- reading the test file

    def play(self):
        with open(self.path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            while line.endswith("\\") and at < len(lines):
                line = line[:-1] + lines[at].lstrip()
                at += 1
            indented = []
            while at < len(lines) and lines[at].startswith("  "):
                indented.append(lines[at][2:])
                at += 1
            self.step(line, indented)
        self.finish()

    def step(self, line, indented):
        word, _, rest = line.partition(" ")
        if not line.strip() or word == "#":
            return
        if word in EXPECTATIONS:
            self.expect(word, rest)
            return
        self.finish()
        if word in ("$", "$INT", "$KILL"):
            signals = {"$INT": signal.SIGINT, "$KILL": signal.SIGKILL}
            self.run(rest, interrupt=signals.get(word))
        elif word == "need":
            self.need(rest)
        elif word == "set":
            STANDARD_SETS[rest](self.write)
        elif word == "file":
            self.make_file(rest, indented)
        elif word == "env":
            name, _, value = rest.partition("=")
            self.environment[name] = value
        else:
            raise Failure("cannot read this line: " + line)


# ---- All cases ----------------------------------------------------------------------------


def run_case(path, program, shared):
    case = Case(path, program, shared)
    try:
        case.play()
        return "ok", ""
    except Skip as skip:
        return "skip", str(skip)
    except Failure as failure:
        return "FAIL", str(failure)
    except Exception as error:  # a fault in the test file itself
        return "FAIL", "%s: %s" % (type(error).__name__, error)
    finally:
        shutil.rmtree(case.directory, ignore_errors=True)


def find_cases(verbs):
    for verb in verbs:
        folder = verb if verb.endswith(".test") else os.path.join(HERE, verb)
        if os.path.isfile(folder):
            yield folder
            continue
        for name in sorted(os.listdir(folder)):
            if name.endswith(".test"):
                yield os.path.join(folder, name)


def main():
    parser = argparse.ArgumentParser(description="Runs the command-line tests.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", default=os.environ.get("PROPERCAL_SHARED") or
                        os.path.join(HERE, "..", "..", "..", "shared"))
    parser.add_argument("verbs", nargs="+", metavar="VERB")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if os.path.basename(program) != "propercal" or not os.access(program, os.X_OK):
        parser.error("%s is not the program" % program)
    counts = {"ok": 0, "skip": 0, "FAIL": 0}
    for path in find_cases(arguments.verbs):
        outcome, text = run_case(path, program, os.path.abspath(arguments.shared))
        counts[outcome] += 1
        print("%-4s %s%s" % (outcome, os.path.relpath(path, HERE), ": " + text if text else ""))
    print("%(ok)d passed, %(skip)d skipped, %(FAIL)d failed" % counts)
    sys.exit(1 if counts["FAIL"] or not counts["ok"] + counts["skip"] else 0)


if __name__ == "__main__":
    main()
