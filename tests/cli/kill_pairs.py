#!/usr/bin/env python3
"""Kills a command that writes two files while it works, at random moments.

    kill_pairs.py PROGRAM [--kills N] [--seed N]

After each kill another command opens the files; then both are old or both are new, and whole.  Says
how often each was found, and how often the files were of two kinds before they were opened.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

WORDS = ["simulate", "--rows", "4000", "--classes", "5", "--threads", "1", "-q", "-o", "pair"]
FILES = ("pair_logits.npy", "pair_labels.npy")


def contents(folder):
    found = []
    for name in FILES:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found.append(file.read())
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    draw = random.Random(arguments.seed)
    counts = {"old": 0, "new": 0, "mixed before": 0}
    with tempfile.TemporaryDirectory() as folder:
        wanted = []
        for seed in ("1", "2"):
            start = time.monotonic()
            subprocess.run([program, *WORDS, "--seed", seed], cwd=folder, check=True)
            took = time.monotonic() - start
            wanted.append(contents(folder))
        for kill in range(arguments.kills):
            before = wanted.index(contents(folder))
            process = subprocess.Popen(
                [program, *WORDS, "--seed", str(2 - before)], cwd=folder, stderr=subprocess.DEVNULL
            )
            time.sleep(draw.random() * 1.2 * took)
            process.send_signal(signal.SIGKILL)
            process.wait()
            counts["mixed before"] += contents(folder) not in wanted
            subprocess.run([program, "inspect", *FILES], cwd=folder, capture_output=True)
            after = contents(folder)
            if after not in wanted:
                print(f"kill {kill}: the two files do not belong together")
                return 1
            counts["old" if after == wanted[before] else "new"] += 1
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
