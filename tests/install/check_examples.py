"""Runs an example of docs/c.md and looks for what it prints on that page.

    check_examples.py PAGE PROGRAM...
"""

import subprocess
import sys


def blocks(page):
    """The texts of the fenced blocks of a page."""
    with open(page, encoding="utf-8") as file:
        parts = file.read().split("```\n")
    return parts[1::2]


def main():
    page, programs = sys.argv[1], sys.argv[2:]
    known = blocks(page)
    failed = 0
    for program in programs:
        run = subprocess.run([program], capture_output=True, text=True, check=False)
        if run.returncode != 0 or run.stderr or run.stdout not in known:
            print(f"{program} ended with {run.returncode} and printed what {page} does not show:")
            print(run.stdout + run.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
