#!/usr/bin/env python3
"""The output that README.md shows must be what the program prints.

    readme_output.py PROGRAM README

Every code block whose first line is "$ propercal ..." is run in README's folder and compared.
"""

import pathlib
import shlex
import subprocess
import sys


def blocks(text):
    inside, lines = False, []
    for line in text.splitlines():
        if line.startswith("```"):
            if inside and lines and lines[0].startswith("$ propercal "):
                yield lines[0][2:], "\n".join(lines[1:]).strip()
            inside, lines = not inside, []
        elif inside:
            lines.append(line)


def main(program, readme):
    found = failed = 0
    for command, shown in blocks(pathlib.Path(readme).read_text(encoding="utf-8")):
        found += 1
        words = [program, *shlex.split(command)[1:]]
        done = subprocess.run(
            words, cwd=pathlib.Path(readme).parent, capture_output=True, text=True
        )
        if done.stdout.strip() != shown:
            failed += 1
            print(f"README.md shows something else than: {command}\n{done.stdout}{done.stderr}")
    print(f"{found - failed} passed, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]))
