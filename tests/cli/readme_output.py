#!/usr/bin/env python3
"""The commands that a page shows must work, and the output that it shows must be what they print.

    readme_output.py [--write] PROGRAM PAGE...

A code block whose first line is "$ propercal ..." is run, and what it prints is compared with the rest of the
block.  Lines "propercal ..." of other blocks are run too and must end with exit code 0.  All blocks of a page
run one after the other in a folder that has the examples, the files that pages name (sample_files)
and what earlier blocks have written.  --write puts the outputs into the pages anew.
"""

import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "examples" / "digits"
FENCE = re.compile(r"^```\n(.*?)^```\n", re.M | re.S)
SHOWN = "$ propercal "
COMMAND = "propercal "


def npy(values):
    """A one-dimensional .npy file of 32-bit whole numbers."""
    head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(
        f"<{len(values)}i", *values
    )


def three_classes(path, rows=200):
    """A CSV file with the columns cat, bird, dog and label."""
    chance = random.Random(1)
    lines = ["cat,bird,dog,label"]
    for _ in range(rows):
        parts = [chance.random() for _ in range(3)]
        probs = [part / sum(parts) for part in parts]
        label = chance.choices(range(3), probs)[0]
        lines.append(",".join(f"{p:.9f}" for p in probs) + f",{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def ensemble(path, rows=400, members=10):
    """A CSV file of forecasts of a temperature by the members of an ensemble, whose spread is too small: the
    columns m0 to m9 and target."""
    chance = random.Random(1)
    lines = [",".join([*(f"m{i}" for i in range(members)), "target"])]
    for _ in range(rows):
        centre, spread = chance.gauss(18, 5), chance.uniform(0.5, 3)
        numbers = [centre + 0.7 * spread * chance.gauss(0, 1) for _ in range(members)]
        numbers.append(centre + 0.3 + spread * chance.gauss(0, 1))
        lines.append(",".join(f"{number:.1f}" for number in numbers))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def normal_forecasts(path, seed, rows=300):
    """A CSV file with the columns mean, std and target."""
    chance = random.Random(seed)
    lines = ["mean,std,target"]
    for _ in range(rows):
        mean, std = chance.uniform(0, 10), chance.uniform(0.5, 2)
        lines.append(f"{mean:.3f},{std:.3f},{chance.gauss(mean, 1.3 * std):.3f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def risks(path, rows=3000):
    """A CSV file with the columns probs, labels, site and sex, whose probabilities are right over all rows only."""
    chance = random.Random(3)
    lines = ["probs,labels,site,sex"]
    for _ in range(rows):
        site, sex, score = chance.choice(["north", "south", "west"]), chance.choice("fm"), chance.gauss(0, 1.5)
        shift = 0.9 if (site, sex) == ("north", "f") else -0.3 if sex == "m" else 0.0
        label = chance.random() < 1 / (1 + math.exp(-score - shift))
        lines.append(f"{1 / (1 + math.exp(-score)):.4f},{int(label)},{site},{sex}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sample_files(folder, execute):
    """The files that pages name without saying where they come from."""
    (folder / "examples").symlink_to(ROOT / "examples")
    copies = {"test.npy": "logits_test", "y.npy": "labels_test", "labels.npy": "labels_test"}
    copies |= {"val.npy": "logits_val", "val_labels.npy": "labels_val"}
    for name, source in copies.items():
        (folder / name).write_bytes((DIGITS / f"{source}.npy").read_bytes())
    (folder / "site.npy").write_bytes(npy([row % 2 for row in range(700)]))
    with zipfile.ZipFile(folder / "run.npz", "w") as archive:
        archive.write(DIGITS / "logits_val.npy", "logits.npy")
    labels = (DIGITS / "labels_val.npy").read_bytes()[-700:]
    lines = [f'{{"label": {label}}}\n' for label in labels]
    (folder / "truth.jsonl").write_text("".join(lines), encoding="utf-8")
    three_classes(folder / "predictions.csv")
    ensemble(folder / "temperature.csv")
    risks(folder / "risks.csv")
    normal_forecasts(folder / "val.csv", 4)
    normal_forecasts(folder / "test.csv", 5)
    for name, seed in (("d.csv", 1), ("part1.csv", 2), ("part2.csv", 3)):
        execute(f"propercal simulate --rows 500 --classes 5 --factor 2 --seed {seed} -q -o {name}")
    for method, names in (("temperature", ("p.npy", "old.npy")), ("beta", ("q.npy", "new.npy"))):
        execute(f"propercal fit --method {method} --logits val.npy --labels val_labels.npy -q -o sample.json")
        for name in names:
            execute(f"propercal apply sample.json --logits test.npy -q -o {name}")


class Page:
    """Runs the commands of one page."""

    def __init__(self, program, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)
        self.found, self.failed = 0, 0
        binaries = self.folder / "bin"
        binaries.mkdir()
        (binaries / "propercal").symlink_to(program)
        self.environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}

    def execute(self, command):
        return subprocess.run(
            command, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def fail(self, command, done):
        self.failed += 1
        print(f"{self.path}: {command}\n{done.stdout}{done.stderr}")

    def block(self, match):
        """Runs a block; returns it with the output of today."""
        first, _, shown = match.group(1).partition("\n")
        if first.startswith(SHOWN):
            self.found += 1
            done = self.execute(first[2:])
            said = (done.stdout or done.stderr).strip()  # a refused command prints its error alone
            if said != shown.strip():
                self.fail(first[2:] + "\nprints something else than the page shows:", done)
            return f"```\n{first}\n{said}\n```\n" if said else f"```\n{first}\n```\n"
        for line in match.group(1).splitlines():
            if line.startswith(COMMAND):
                self.found += 1
                done = self.execute(line)
                if done.returncode != 0:
                    self.fail(line, done)
        return match.group(0)


def run(program, path, write):
    with tempfile.TemporaryDirectory() as folder:
        page = Page(program, path, folder)
        sample_files(page.folder, page.execute)
        text = FENCE.sub(page.block, path.read_text(encoding="utf-8"))
        if write:
            path.write_text(text, encoding="utf-8")
    return page.found, page.failed


def main(arguments):
    write = arguments[:1] == ["--write"]
    program, *pages = arguments[1:] if write else arguments
    found = failed = 0
    for path in map(pathlib.Path, pages):
        here = run(pathlib.Path(program).resolve(), path, write)
        found, failed = found + here[0], failed + here[1]
        if here[0] == 0:
            print(f"{path} has no command")
            failed += 1
    print(f"{found - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
