"""Sessions with files: commands that run one after the other in one folder, for tools/check-systems.

same_bits.commands has one command for each metric, method and figure; sessions read and write each format
of files, and make the usual mistakes.
"""

import gzip
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDER = ROOT / "tests/compatibility/0.9.0"  # made on x86-64
CORPUS = ROOT / "tests/fuzz/corpus/ipc"
ARROW = ["plain.arrows", "lists.arrows", "lz4.feather", "dictionary.arrows"]
STATES = ["state-binary", "state-classes", "state-classes-by-group", "state-confidence", "state-normal", "state-quantiles"]
CALIBRATORS = ["binary-beta", "binary-isotonic", "binary-spline", "binary-temperature"]
# Why systems, or those of a byte order, do not run a session.
LEFT_OUT = {
    "watch": {"wasi": "no watch there"},
    "rounds": {"wasi": "no rounds there"},
    "Arrow": {"big": "streams of the other byte order are refused"},
}


def npy(values, order):
    """An array of float32 as a npy file, in the byte order < or >."""
    head = f"{{'descr': '{order}f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"{order}{len(values)}f", *values)


def write_data(folder):
    draw = random.Random(2)
    rows = []
    for at in range(200):
        risk = draw.randrange(1, 1000) / 1000
        rows.append((risk, int(draw.randrange(1200) < 1000 * risk), f"site {at % 3}", 1 + at % 4))
    table = "risk,died,site,weight\n" + "".join(f"{r},{d},{s},{w}\n" for r, d, s, w in rows)
    lines = "".join(f'{{"probs": {r}, "labels": {d}, "groups": "{s}"}}\n' for r, d, s, w in rows)
    texts = {
        "t.csv": table, "first.csv": "".join(table.splitlines(True)[:121]),
        "second.csv": "risk,died,site,weight\n" + "".join(table.splitlines(True)[121:]),
        "rows.jsonl": lines, "bad.csv": table.replace(rows[7][2], "x", 1).replace("\n0.", "\nzero.", 5),
        "labels.csv": table.replace(",1,site", ",7,site", 1), "bad.jsonl": lines[:-10],
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    (folder / "t.csv.gz").write_bytes(gzip.compress(table.encode(), mtime=0))
    for order, name in (("<", "little.npy"), (">", "big.npy")):
        (folder / name).write_bytes(npy([row[0] for row in rows], order))
        (folder / f"hit-{name}").write_bytes(npy([row[1] for row in rows], order))
    (folder / "short.npy").write_bytes((folder / "little.npy").read_bytes()[:-100])
    for name in STATES:
        shutil.copy(OLDER / f"{name}.pcal", folder)
    for name in CALIBRATORS:
        shutil.copy(OLDER / f"{name}.json", folder)
    shutil.copy(OLDER / "binary-apply.csv", folder)
    (folder / "run").mkdir()
    for name in ARROW:
        shutil.copy(CORPUS / name, folder)


def columns(file):
    return ["--probs", f"{file}:risk", "--labels", f"{file}:died"]


def sessions():
    """Lists of commands by name."""
    t, quick = columns("t.csv"), ["-m", "ece", "-m", "ks", "-m", "brier", "-m", "log"]
    parts = [["measure", *columns(f"{part}.csv"), *quick, "--groups", f"{part}.csv:site", "--interval", "0.9",
              "--replicas", "40", "--state", f"{part}.pcal"] for part in ("first", "second")]
    answers = [["rounds", "answer", "run", "--part", str(at + 1), *columns(f"{part}.csv")]
               for at, part in enumerate(("first", "second"))]
    return {
        "csv": [["measure", *t, "--groups", "t.csv:site", "--weights", "t.csv:weight"], ["inspect", "t.csv"],
                ["measure", *t, *quick, "--format", "csv"], ["measure", *t, *quick, "--format", "markdown"]],
        "gzip": [["measure", *columns("t.csv.gz"), "--json"]],
        "JSON lines": [["measure", "--data", "rows.jsonl", "--json"], ["inspect", "rows.jsonl"]],
        "npy of both byte orders": [["measure", "--probs", name, "--labels", f"hit-{name}", *quick, "--json"]
                                    for name in ("little.npy", "big.npy")],
        "npz": [["simulate", "--rows", "300", "--classes", "3", "-o", "s.npz"], ["measure", "--data", "s.npz", "--json"]],
        "simulated csv": [["simulate", "--rows", "300", "--classes", "3", "-o", "s.csv"], ["measure", "--data", "s.csv"]],
        "Arrow": [[verb, *words, name] for name in ARROW for verb, *words in (["inspect"], ["measure", "--data"])],
        "states": [*parts, ["merge", "first.pcal", "second.pcal", "--json"], ["merge", "second.pcal", "first.pcal"],
                   ["merge", "first.pcal", "first.pcal"]],
        "states of another machine": [["merge", f"{name}.pcal", "--json"] for name in STATES],
        "apply": [["fit", *t, "--method", "beta", "-o", "cal.json"],
                  *(["apply", "cal.json", "--probs", "t.csv:risk", "-o", out] for out in ("p.csv", "p.npy", "-")),
                  ["export", "cal.json", "-o", "cal.c"], ["export", "cal.json", "-o", "cal.onnx"]],
        "calibrators of another machine": [["apply", f"{name}.json", "--probs", "binary-apply.csv:score", "-o", "-"]
                                           for name in CALIBRATORS],
        "compare": [["compare", *t, "--method", "temperature", "--method", "isotonic", "--replicas", "20"]],
        "watch": [["watch", "w.pcal", *columns("first.csv")], ["watch", "w.pcal", *columns("second.csv")],
                  ["watch", "w.pcal", "--json"]],
        "rounds": [["rounds", "new", "run", "--parts", "2", "--kind", "probs", "--metric", "ece", "--metric", "ks"],
                   *answers, ["rounds", "next", "run"], *answers, ["rounds", "next", "run"], ["rounds", "result", "run"]],
        "tables": [["list", "metrics"], ["list", "ece"], ["list", "calibrators", "--json"], ["measure", "--help"]],
        "mistakes": [["measure", "--probs", "none.csv", "--labels", "none.csv"], ["measure", *columns("bad.csv")],
                     ["measure", *columns("labels.csv")], ["measure", "--data", "bad.jsonl"],
                     ["measure", "--probs", "short.npy", "--labels", "hit-little.npy"], ["measure", *t, "-m", "ecce"],
                     ["measure", *t, "--bins", "3"], ["merge", "t.csv"], ["apply", "t.csv", "--probs", "t.csv:risk", "-o", "-"],
                     ["fit", *t, "--method", "beta", "-o", "no folder/cal.json"], ["inspect", "short.npy", "bad.csv"]],
    }


def run_session(program, commands):
    """Exit code and streams of each command, and all files that are there at the end."""
    with tempfile.TemporaryDirectory() as folder:
        write_data(pathlib.Path(folder))
        done = [subprocess.run([*program, *words], cwd=folder, capture_output=True, check=False) for words in commands]
        files = {str(path.relative_to(folder)): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
        return [(one.returncode, one.stdout, one.stderr) for one in done], files


def differing(native, command, traits):
    """Runs all sessions here and there; returns the number of commands and the names of sessions that differ.

    `traits` are the target's system and byte order.
    """
    count, differ = 0, []
    for name, commands in sessions().items():
        if not LEFT_OUT.get(name, {}).keys() & traits:
            count += len(commands)
            if run_session([native], commands) != run_session(command, commands):
                differ.append(name)
    return count, differ
