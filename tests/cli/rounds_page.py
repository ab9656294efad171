#!/usr/bin/env python3
"""The script of docs/rounds.md must print what one process prints for all rows.

    rounds_page.py PROGRAM PAGE
"""

import pathlib
import re
import subprocess
import sys
import tempfile

WHOLE = """
(cat part-1.csv; for part in 2 3 4; do tail -n +2 part-$part.csv; done) > all.csv
propercal measure --data all.csv --metric ece --metric ks --metric brier
"""


def main(program, page):
    (script,) = re.findall(r"^```sh\n(.*?)^```\n", pathlib.Path(page).read_text(encoding="utf-8"), re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        binaries = pathlib.Path(folder, "bin")
        binaries.mkdir()
        (binaries / "propercal").symlink_to(pathlib.Path(program).resolve())
        environment = {"PATH": f"{binaries}:/usr/bin:/bin"}
        how = {"shell": True, "cwd": folder, "env": environment, "stdout": subprocess.PIPE, "text": True}
        rounds = subprocess.run("set -e\n" + script, **how, check=True).stdout
        whole = subprocess.run("set -e\n" + WHOLE, **how, check=True).stdout
    if rounds != whole or "ks" not in whole:
        print(f"the rounds print\n{rounds}\nand one process\n{whole}")
        return 1
    print("the script prints what one process prints")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
