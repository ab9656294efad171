"""Runs the Python code of Markdown pages, and compares what it prints with what they show.

    PYTHONPATH=build/python python tests/python/run_pages.py PAGE...

writes the outputs into the pages anew.  A block of Python is a cell, as in a notebook: what it
prints, and the value of its last expression, stands in the block of text behind it.  Each section
starts from the names of the blocks above the first one.

Sections that call propercal.spark, propercal.dask or propercal.ray need a cluster: tests/spark runs those, and gives
them the tables that the page takes for granted.
"""

import ast
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import sys
import tempfile
import warnings

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
#: packages whose warnings are not ours to mend
PEERS = ("dask", "netcal", "pyspark", "ray", "torch", "torchmetrics")
#: modules of propercal that need a cluster
CLUSTERS = ("dask", "ray", "spark")


class Block:
    """A block of Python, and the output shown behind it."""

    def __init__(self, code, start, end):
        self.code, self.start, self.end = code, start, end
        self.shown, self.has_output = "", False


def blocks(text):
    """The blocks of Python of a text."""
    found = []
    for match in FENCE.finditer(text):
        kind, body = match.groups()
        if kind == "python":
            found.append(Block(body, match.start(), match.end()))
        elif kind == "text" and found and not text[found[-1].end : match.start()].strip():
            found[-1].shown, found[-1].end, found[-1].has_output = body, match.end(), True
    return found


def sections(text):
    """Titles, each with the blocks above the first section that it needs and its own."""
    heads = [*re.finditer(r"^## (.*)$", text, re.M)]
    first = heads[0].start() if heads else len(text)
    found = blocks(text)
    shared = [block for block in found if block.start < first]
    if shared or not heads:
        yield "", shared
    for head, after in zip(heads, [*heads[1:], None]):
        end = after.start() if after else len(text)
        own = [block for block in found if head.start() < block.start < end]
        if own:
            yield head.group(1), [*shared, *own]


def packages(found):
    """What blocks import, by the first word of each name."""
    names = set()
    for block in found:
        for node in ast.walk(ast.parse(block.code)):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.partition(".")[0])
    return names


def clusters(found):
    """Which kinds of clusters the calls of blocks need."""
    names = set()
    for block in found:
        for node in ast.walk(ast.parse(block.code)):
            if isinstance(node, ast.ImportFrom) and node.module == "propercal":
                names.update(alias.name for alias in node.names)
    return names & {*CLUSTERS}


def absent(found):
    return sorted(name for name in packages(found) if importlib.util.find_spec(name) is None)


def execute(code, names):
    """What a cell prints."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "<page>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
            if value is not None:
                print(repr(value))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def replaced(code, places):
    for address, place in places.items():
        code = code.replace(f'"{address}', f'"{place}')
    return code


def run(found, given=None, places=None):
    """What each block prints, in a folder of their own; and the files that are left there.

    given: names that the page takes for granted; places: what stands for the beginnings of addresses, such as a folder
    for "s3://".
    """
    names = {"__name__": "page", **(given or {})}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore" if packages(found) & {*PEERS} or clusters(found) else "error")
        os.chdir(folder)
        try:
            outputs = [execute(replaced(block.code, places or {}), names) for block in found]
            files = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        finally:
            os.chdir(before)
    return outputs, files


def close(said, shown):
    """The same number up to one in the last digit shown; whole ones exactly."""
    if said == shown:
        return True
    if "." not in shown and "e" not in shown:
        return False
    places = len(shown.partition("e")[0].partition(".")[2])
    power = int(shown.partition("e")[2] or 0)
    difference = abs(float(said.replace(",", "")) - float(shown.replace(",", "")))
    return difference <= 1.01 * 10.0 ** (power - places)


def agree(said, shown):
    """Whether two texts are the same but for the rounding of numbers."""
    if [*map(str.split, NUMBER.split(said))] != [*map(str.split, NUMBER.split(shown))]:
        return False
    return all(map(close, NUMBER.findall(said), NUMBER.findall(shown)))


def write(path):
    """Puts the outputs into a page, and the figures beside it."""
    text = path.read_text(encoding="utf-8")
    outputs = {}
    for title, found in sections(text):
        if clusters(found):
            print(f"{path}, {title}: left out, it needs a cluster")
            continue
        if absent(found):
            print(f"{path}, {title}: left out, without {', '.join(absent(found))}")
            continue
        reported, files = run(found)
        outputs.update({block.start: (block, output) for block, output in zip(found, reported)})
        for name in files:
            if (path.parent / name).exists():
                (path.parent / name).write_bytes(files[name])
    for block, output in sorted(outputs.values(), key=lambda each: -each[0].start):
        new = f"```python\n{block.code}```\n" + (f"\n```text\n{output}```\n" if output else "")
        text = text[: block.start] + new + text[block.end :]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(pathlib.Path(name))
