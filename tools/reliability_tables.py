"""Tables of docs/reliability.md that tools write: tools/attack, tools/fuzz and tools/fuzz-python with --record, and
tools/branch-coverage with --write."""

import datetime
import os
import pathlib

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reliability.md"


def table(head, rows):
    """A Markdown table; columns after the first are aligned to the right where all cells are numbers."""
    def is_number(cell):
        return cell.replace(",", "").replace(".", "").replace("%", "").strip().isdigit() or cell == "-"

    right = [bool(rows) and all(is_number(row[i]) for row in rows) for i in range(len(head))]
    lines = [head, ["---:" if each else "---" for each in right], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def when(seconds):
    """How long a run took and where, for the line above a table."""
    day = datetime.date.today().isoformat()
    return f"{seconds:,} s on {len(os.sched_getaffinity(0))} processors, {day}"


def parts(name):
    """The page before, between and after the comments "name" and "/name", which stay with the outer parts."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    text, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{PAGE.name} has no place for {name}: {begin.strip()} ... {end}")
    return before + begin, text, end + after


def recorded(name):
    """The rows of a recorded table, by their first cell."""
    lines = [line for line in parts(name)[1].splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row for row in rows}


def record(name, text):
    """Replaces the text between the comments "name" and "/name" of the page."""
    before, _, after = parts(name)
    PAGE.write_text(before + text.rstrip() + "\n" + after, encoding="utf-8")
