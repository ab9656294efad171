#!/usr/bin/env python3
"""The output that a page shows must be what the program prints.

    readme_output.py PROGRAM PAGE

Every code block whose first line is "$ propercal ..." is run and compared, one after the other in
a folder that has the examples and what earlier blocks have written.
"""

import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def blocks(text):
    inside, lines = False, []
    for line in text.splitlines():
        if line.startswith("```"):
            if inside and lines and lines[0].startswith("$ propercal "):
                yield lines[0][2:], "\n".join(lines[1:]).strip()
            inside, lines = not inside, []
        elif inside:
            lines.append(line)


def main(program, page):
    found = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        for command, shown in blocks(pathlib.Path(page).read_text(encoding="utf-8")):
            found += 1
            words = [program, *shlex.split(command)[1:]]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            if done.stdout.strip() != shown:
                failed += 1
                print(f"{page} shows something else than: {command}\n{done.stdout}{done.stderr}")
    print(f"{found - failed} passed, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]))
