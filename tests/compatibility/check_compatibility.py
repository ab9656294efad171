#!/usr/bin/env python3
"""Reads the files of every release in tests/compatibility with the program under test.

    check_compatibility.py PROGRAM [COMPILER...]

  1. A calibrator file is read and gives the recorded outputs, to 1e-12.
  2. A state is read and gives the recorded results, or is refused with exit code 3 and one
     sentence that names the file; one of the program's own version must be read.
  3. There is a file of every calibrator that the program knows, from some release.
  4. Every name of names.json is still known: functions, types and constants of propercal.h, metrics with their
     options, calibrators, figures, other spellings.
  5. interface.json: verbs, flags and their words, exit codes, keys of JSON and columns of CSV (program_interface.py);
     with a C compiler also values of constants, prototypes, sizes and offsets of structs (header_interface.py).  More of
     each may be added.

The same for the Python package is in tests/python/test_compatibility.py.
"""

import csv
import io
import json
import math
import pathlib
import re
import subprocess
import sys

import header_interface
import program_interface

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-12
REMEDY = ("; if this version is not published yet and the change is wanted, run "
          "tools/make-compatibility --replace")


def run(program, *words):
    done = subprocess.run([program, *words], cwd=HERE, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def numbers(text):
    """The cells of a CSV text; numbers as such."""
    def cell(word):
        try:
            return float(word)
        except ValueError:
            return word
    return [[cell(word) for word in row] for row in csv.reader(io.StringIO(text))]


def same(a, b):
    """Whether two trees agree, numbers to the tolerance."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def values(text):
    """Metric, value and values by group of each result: what a later release must agree on."""
    found = []
    for result in json.loads(text)["results"]:
        groups = {name: group["value"] for name, group in result.get("groups", {}).items()}
        found.append([result["metric"], result["value"], groups])
    return found


def check_calibrator(program, folder, entry, own):
    code, out, err = run(program, "apply", f"{folder.name}/{entry['file']}", *entry["data"],
                         "-o", "-", "-q")
    if code != 0:
        return f"not read, exit code {code}: {err.strip()}"
    expected = (folder / entry["output"]).read_text()
    if not same(numbers(out), numbers(expected)):
        return "gives other outputs than " + entry["output"]
    return None


def check_state(program, folder, entry, own):
    name = f"{folder.name}/{entry['file']}"
    code, out, err = run(program, "merge", name, "--json", "-q")
    if code == 3 and not own:
        sentences = err.strip().splitlines()
        good = len(sentences) == 1 and entry["file"] in sentences[0]
        return None if good else f"not refused in one sentence: {err.strip()}"
    if code != 0:
        return f"not read, exit code {code}: {err.strip()}"
    if not same(values(out), values((folder / entry["output"]).read_text())):
        return "gives other values than " + entry["output"]
    return None


# ---- Names --------------------------------------------------------------------------------


ROOT = HERE.parent.parent
HEADER = ROOT / "include" / "propercal.h"
ALIASES = ROOT / "src" / "base" / "aliases.def"


def option_names(program, kind, name):
    about = json.loads(run(program, "list", kind, name, "--json")[1])
    return [f"{name}:{option['name']}" for option in about.get("options", [])]


def public_names(program):
    """Names that callers may have written, by kind: those of the header and of each registry."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.S)
    names = {"C": sorted(set(re.findall(r"\b(?:pcal_\w+|PCAL_\w+)", text)))}
    for kind in ("metrics", "groups", "conventions", "calibrators", "figures"):
        rows = json.loads(run(program, "list", kind, "--json")[1])["rows"]
        names[kind] = [name for row in rows for name in [row["name"], *option_names(program, kind, row["name"])]]
    spellings = re.findall(r'^ALIAS\((\w+), "([^"]+)", "([^"]+)"\)', ALIASES.read_text(encoding="utf-8"), re.M)
    names["other spellings"] = [" ".join(spelling) for spelling in spellings]
    return names


def kept(folder, name):
    """A file of that release; None if the release is older than such files."""
    path = folder / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def interface_faults(program, compiler, folder):
    """What callers of that release had and have not any longer."""
    names, interface = kept(folder, "names.json"), kept(folder, "interface.json")
    if names:
        now = public_names(program)
        yield from (f"{kind} {name} is no longer known" for kind in names for name in names[kind] if name not in now.get(kind, ()))
    if interface:
        yield from program_interface.faults(program, folder, interface["program"])
    if interface and compiler:
        yield from header_interface.faults(compiler, interface["header"])


CHECKS = {"calibrator": check_calibrator, "state": check_state}


def check_release(program, folder, version):
    """Methods of which there was a file, how many files were read, and what failed."""
    manifest = json.loads((folder / "manifest.json").read_text())
    own = manifest["propercal"] == version
    methods, failures = set(), []
    for entry in manifest["entries"]:
        methods.add(entry.get("spec", "").split(":")[0])
        failure = CHECKS[entry["kind"]](program, folder, entry, own)
        if failure:
            failures.append(f"{folder.name}/{entry['file']}: {failure}" + (REMEDY if own else ""))
    return methods, len(manifest["entries"]), failures


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    compiler = sys.argv[2:]
    version = run(program, "--version")[1].split()[1]
    known = {row["name"] for row in
             json.loads(run(program, "list", "calibrators", "--json")[1])["rows"]}
    methods, count, failures = set(), 0, []
    for folder in sorted(path.parent for path in HERE.glob("*/manifest.json")):
        more, files, failed = check_release(program, folder, version)
        methods |= more
        count += files
        lost = [f"{folder.name}: {fault}" for fault in interface_faults(program, compiler, folder)]
        failures += failed + [fault + (REMEDY if folder.name == version else "") for fault in lost]
    for method in sorted(known - methods):
        failures.append(f"no release has a file of the calibrator {method}; run tools/make-compatibility")
    print("\n".join(failures) or f"{count} files were read")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
