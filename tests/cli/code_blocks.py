#!/usr/bin/env python3
"""Every code block of README and docs is run by a test, or stands below with what tests it instead.

usage: code_blocks.py ROOT PAGE...

PAGEs are those whose commands tests/cli/readme_output.py runs; Python code of all pages is run by
tests/python/test_pages.py.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
# Pages with other tests: (page, language) or (page, None) for all of its blocks.
ELSEWHERE = {
    ("docs/adding.md", None): "tools/check-adding applies the changes and runs the commands",
    ("docs/c.md", None): "tests/install compiles the programs and compares what they print",
    ("docs/gpu.md", None): "make check-gpu makes these calls; it needs an NVIDIA GPU",
    ("docs/spark.md", None): "make check-spark makes these calls; it needs Java",
    ("docs/studies.md", None): "tools/make-studies --check",
    ("docs/rounds.md", "sh"): "tests/cli/rounds_page.py",
    ("docs/rounds.md", ""): "a diagram, and a command for Slurm",
    ("docs/systems.md", "cmake"): "tests/install/cmake_project",
}
SETTING_UP = ("make ", "tools/", "cc ", "pip install ")  # done by CI on a fresh machine


def commands(body):
    """Whether a block holds commands of the program, with or without their output."""
    return any(line.startswith(("propercal ", "$ propercal ")) for line in body.splitlines())


def setting_up(body):
    return all(line.startswith((*SETTING_UP, "# ")) for line in body.splitlines() if line)


def is_run(page, kind, body, before, pages):
    """Whether a test runs a block; before: the language of the block above it."""
    if (page, None) in ELSEWHERE or (page, kind) in ELSEWHERE or kind == "python":
        return True
    if kind == "text":
        return before == "python"
    return kind == "" and (setting_up(body) or (page in pages and commands(body)))


def main():
    root, pages = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    found = failed = 0
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        page, before = path.relative_to(root).as_posix(), ""
        text = path.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            found += 1
            if not is_run(page, *match.groups(), before, pages):
                failed += 1
                print(f"{page}, line {text.count(chr(10), 0, match.start()) + 1}: no test runs this block")
            before = match.group(1)
    print(f"{found - failed} passed, {failed} failed")
    return 1 if failed or found < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
