#!/usr/bin/env python3
"""What small hostile inputs cost: input_costs.py PROGRAM [CASE...]

Cases:
    inspect  seconds of `inspect` grow with the members of a file, not with their square
    weights  seconds of every calibrator and metric do not depend on the size of a weight
    groups   memory of every metric for many groups of one row
    columns  memory and seconds of `inspect --json` for a table of many columns

Seconds are those of the processor in user mode, the least of a few runs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import zipfile

PROGRAM = os.path.abspath(sys.argv[1])
FAULTS = []


def run(*arguments, allow=(0,)):
    """User seconds and the largest resident set in MB of a run; None for an exit code that is allowed."""
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if code not in (0, *allow):
        FAULTS.append(f"{' '.join(arguments)}: exit code {code}: {message}")
    return (usage.ru_utime, usage.ru_maxrss / 1024) if code == 0 else None


def seconds(*arguments, runs=3, allow=(0,)):
    """The least user seconds of several runs; None if the command is refused."""
    least = None
    for _ in range(runs):
        used = run(*arguments, allow=allow)
        if used is None:
            return None
        least = used[0] if least is None else min(least, used[0])
    return least


def expect(condition, what):
    if not condition:
        FAULTS.append(what)


def names(kind):
    listed = subprocess.run([PROGRAM, "list", kind, "--json"], stdout=subprocess.PIPE, check=True).stdout
    return [(row["name"], row["task"]) for row in json.loads(listed)["rows"]]


# ---- Members of containers ----

def write_npz(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(members):
            archive.writestr(f"a{i}.npy", b"")


def write_fields(path, members, value, key="f%d"):
    line = "{" + ",".join(f'"{key % i}":{value}' for i in range(members)) + "}\n"
    with open(path, "w") as file:
        file.write(line + line)


def case_inspect():
    """Cost at N and 2 N: a square would be four times as much."""
    inputs = {
        "entries.npz": lambda n: write_npz("entries.npz", n),
        "fields.jsonl": lambda n: write_fields("fields.jsonl", n, 1),
        "null.jsonl": lambda n: write_fields("null.jsonl", n, "null"),
        "escaped.jsonl": lambda n: write_fields("escaped.jsonl", n, 1, "\\u0066%d"),
    }
    for name, write in inputs.items():
        used = []
        for members in (10000, 20000):
            write(members)
            used.append(max(seconds("inspect", name) or 0, 0.02))
        expect(used[1] < 3 * used[0],
               f"inspect {name}: {used[0]:.2f} s for 10,000 members and {used[1]:.2f} s for 20,000")
    # The names of an object with escapes are found by hashing too.
    used = []
    for members in (4000, 8000):
        with open("object.jsonl", "w") as file:
            for _ in range(3):
                file.write('{"p":{' + ",".join(f'"\\u0066{i}":0.5' for i in range(members)) + "}}\n")
        used.append(max(seconds("inspect", "object.jsonl") or 0, 0.02))
    expect(used[1] < 3 * used[0],
           f"inspect object.jsonl: {used[0]:.2f} s for 4,000 classes and {used[1]:.2f} s for 8,000")


# ---- Weights ----

def write_rows(path, task, weight, rows=30):
    with open(path, "w") as file:
        file.write("mean,std,target,weights\n" if task else "probs.a,probs.b,probs.c,labels,weights\n")
        for i in range(rows):
            a, b = (i * 37 % 50 + 1) / 100, (i * 23 % 40 + 1) / 100
            end = (i * 7 % 10) / 10 if task else f"{1 - a - b:.2f},{'abc'[i * 7 % 3]}"
            file.write(f"{a:.2f},{b:.2f},{end},{weight}\n")


def write_binary(path, weight, rows=30):
    with open(path, "w") as file:
        file.write("probs,labels,weights\n")
        for i in range(rows):
            file.write(f"{(i * 37 % 97 + 1) / 100:.2f},{i * 7 % 3 % 2},{weight}\n")


def case_weights():
    large = 2**31
    for weight in (1, large):
        write_rows(f"classes{weight}.csv", None, weight)
        write_rows(f"numbers{weight}.csv", "regression", weight)
        write_binary(f"binary{weight}.csv", weight)
    commands = [["measure", "--metric", name] for name, task in names("metrics") if task is None]
    commands += [["fit", "--method", name, "-o", "map.json", "-q"]
                 for name, task in names("calibrators") if task is None]
    commands = [(command, data) for command in commands for data in ("classes", "binary")]
    commands += [(["measure", "--metric", name], "numbers") for name, task in names("metrics") if task == "regression"]
    commands += [(["fit", "--method", name, "-o", "map.json", "-q"], "numbers")
                 for name, task in names("calibrators") if task == "regression"]
    commands += [(["compare", "-o", "compared.txt"], "classes")]
    measured = 0
    for command, data in commands:
        light, heavy = (seconds(*command, "--data", f"{data}{weight}.csv", "--threads", "1", runs=1, allow=(2, 3, 7))
                        for weight in (1, large))
        if light is None or heavy is None:
            continue
        measured += 1
        expect(heavy < 5 * light + 0.5,
               f"{' '.join(command)} on {data}: {light:.2f} s with weight 1 and {heavy:.2f} s with weight {large}")
    expect(measured > 60, f"only {measured} commands ran")


# ---- Groups ----

def case_groups():
    """20,000 groups of one row; the least that a program takes is about 5 MB."""
    count, limits = 20000, {"decomposition": 55}  # its state has the most numbers
    with open("groups.csv", "w") as file:
        file.write("probs,labels,groups\n")
        file.writelines(f"0.{i % 97:02d},{i % 2},g{i}\n" for i in range(count))
    with open("numbers.csv", "w") as file:
        file.write("mean,std,target,groups\n")
        file.writelines(f"0.{i % 97:02d},1,0.{i % 89:02d},g{i}\n" for i in range(count))
    measured = 0
    for name, task in names("metrics"):
        used = run("measure", "--data", "numbers.csv" if task else "groups.csv", "--metric", name, "--format", "csv",
                   "-o", "out.csv", "--threads", "1", allow=(2, 3))
        measured += used is not None
        if used is not None:
            limit = limits.get(name, 40)
            expect(used[1] < limit, f"measure -m {name}: {used[1]:.0f} MB for {count:,} groups, more than {limit}")
    expect(measured > 50, f"only {measured} metrics ran")


# ---- Columns ----

def case_columns():
    count, limit = 200000, 100
    with open("wide.csv", "w") as file:
        file.write(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join(["0.5"] * count) + "\n")
    used = run("inspect", "wide.csv", "--json", "-o", "wide.json")
    expect(used is not None and used[1] < limit,
           f"inspect --json of {count:,} columns: {used and round(used[1])} MB, more than {limit}")
    with open("wide.json") as file:
        columns = json.load(file)["columns"]
    last = {"name": f"c{count - 1}", "min": 0.5, "max": 0.5, "mean": 0.5, "missing": 0, "infinite": 0, "words": 0, "role": None}
    expect(len(columns) == count and columns[-1] == last, "columns of wide.json")


CASES = {"inspect": case_inspect, "weights": case_weights, "groups": case_groups, "columns": case_columns}

os.environ.pop("MALLOC_PERTURB_", None)  # which Meson sets, and which touches memory that is never used
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for case in sys.argv[2:] or CASES:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        CASES[case]()
        os.chdir("/")
if FAULTS:
    sys.exit("\n".join(FAULTS))
print("costs are within their bounds")
