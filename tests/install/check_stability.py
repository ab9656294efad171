#!/usr/bin/env python3
"""docs/stability.md is true of the header and of the Python package: check_stability.py ROOT.

  1. every struct of propercal.h begins with its size, or the page names it among those that never grow
  2. the page lists the deprecated classes of Python, and no others
  3. nothing in the header is called deprecated
"""

import ast
import pathlib
import re
import sys


def structs_without_size(header):
    for match in re.finditer(r"typedef struct (pcal_\w+) \{(.*?)\n\} ", header, re.S):
        if not match.group(2).strip().startswith("size_t size;"):
            yield match.group(1)


def old_class_names(registry):
    for node in ast.walk(ast.parse(registry)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "OLD_CLASS_NAMES":
            return ast.literal_eval(node.value)
    return None


def faults(page, header, registry):
    named = set(re.findall(r"`(pcal_\w+)`", re.search(r"never grow: (.*?)\.", page, re.S).group(1)))
    found = set(structs_without_size(header))
    if named != found:
        yield f"structs without a size: {sorted(named ^ found)}"
    listed = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", page.partition("## Deprecated")[2], re.M))
    if listed != old_class_names(registry):
        yield f"deprecated classes: the page has {listed}"
    if re.search("deprecat", header, re.I):
        yield "the header calls something deprecated"


def main():
    root = pathlib.Path(sys.argv[1])
    names = ("docs/stability.md", "include/propercal.h", "python/propercal/_registry.py")
    found = list(faults(*((root / name).read_text(encoding="utf-8") for name in names)))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
