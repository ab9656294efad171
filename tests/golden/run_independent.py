"""Compares the program with values that other packages have computed.

    run_independent.py --program PROPERCAL GOLDEN.json

The data are the digits in examples, a table beside this file, and sets that `propercal simulate`
draws now; a checksum says that these are the rows of which the values were computed.  A value
has a set, a method ("" or a calibrator that is fitted on the set's rows for fitting and applied
to the others), a quantity, the expected number, a relative tolerance and its source.  Quantities:

    SPEC             a metric
    SPEC PART        one of its parts, its p_value or its standard error se
    parameter a.0    of the calibrator, by its place in the file
    output 5 1       row 5, column 1 of the calibrated predictions

tools/make-golden writes GOLDEN.json.  Only the standard library is needed here.
"""

import argparse
import csv
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failure(Exception):
    """Something else than a wrong value."""


def call(program, *words):
    done = subprocess.run([program, *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"propercal {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def simulate(program, golden, folder):
    """Draws the simulated sets, which must be those of the golden values."""
    for name, about in golden["simulated"].items():
        path = folder / f"{name}.csv"
        call(program, "simulate", *about["flags"].split(), "-q", "-o", path)
        if hashlib.sha256(path.read_bytes()).hexdigest() != about["sha256"]:
            raise Failure(
                f"propercal simulate {about['flags']}: not the rows of which the golden values were computed"
            )


def measure(program, flags, specs, intervals):
    """Results by spec as asked for, each with its value among the parts; intervals: with standard errors."""
    flags = [*flags, "--interval", "0.95"] if intervals else flags
    asked = list(itertools.chain.from_iterable(("--metric", spec) for spec in specs))
    answer = json.loads(call(program, "measure", *flags, *asked, "--json", "-q"))
    found = {}
    for spec, result in zip(specs, answer["results"], strict=True):
        found[spec] = {**result["parts"], "": result["value"], "p_value": result.get("p_value"), "se": result.get("se")}
    return found


def calibrate(program, about, method, folder):
    """The calibrator's file as a tree, the path of the calibrated predictions, and their flags."""
    calibrator, output = folder / "calibrator.json", folder / "output.csv"
    call(program, "fit", "-m", method, *about["fit"], "-q", "-o", calibrator)
    flags = list(about["measure"])
    truth = next(flag for flag in ("--labels", "--target") if flag in flags)
    at = flags.index(truth)
    labels = flags[at : at + 2]
    call(program, "apply", calibrator, *flags[:at], *flags[at + 2 :], "-q", "-o", output)
    return json.loads(calibrator.read_text(encoding="utf-8")), output, ["--probs", output, *labels]


def parameter(tree, place):
    for key in place.split("."):
        tree = tree[int(key)] if isinstance(tree, list) else tree[key]
    return tree


def cell(path, row, column):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [line for line in csv.reader(file) if line]
    try:
        float(rows[0][0])
    except ValueError:
        rows = rows[1:]  # names of the columns
    return float(rows[row][column])


def values(program, about, method, quantities, folder):
    """What the program says of each quantity."""
    flags = about["measure"]
    if method:
        tree, output, flags = calibrate(program, about, method, folder)
    found = {}
    specs = []
    for quantity in quantities:
        words = quantity.split(" ")
        if words[0] == "parameter":
            found[quantity] = parameter(tree["parameters"], words[1])
        elif words[0] == "output":
            found[quantity] = cell(output, int(words[1]), int(words[2]))
        elif words[0] not in specs:
            specs.append(words[0])
    intervals = any(quantity.endswith(" se") for quantity in quantities)
    results = measure(program, flags, specs, intervals) if specs else {}
    for quantity in quantities:
        if quantity not in found:
            spec, _, part = quantity.partition(" ")
            found[quantity] = results[spec].get(part)
    return found


def agrees(value, expected, tolerance):
    return value is not None and abs(value - expected) <= tolerance * (abs(expected) or 1)


def compare(program, golden, folder):
    """Prints a line for each value that differs; their number."""
    wrong = 0
    for (name, method), group in itertools.groupby(golden["values"], key=lambda value: value[:2]):
        group = list(group)
        place = {
            part: [word.replace("{simulated}", str(folder)) for word in flags]
            for part, flags in golden["sets"][name].items()
        }
        found = values(program, place, method, [value[2] for value in group], folder)
        for _, _, quantity, expected, tolerance, source in group:
            if not agrees(found[quantity], expected, tolerance):
                wrong += 1
                print(
                    f"{name} {method} {quantity}: {found[quantity]!r}, but {source} says "
                    f"{expected!r}, within {tolerance:g}"
                )
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("golden", type=pathlib.Path)
    arguments = parser.parse_args()
    golden = json.loads(arguments.golden.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            simulate(arguments.program, golden, folder)
            wrong = compare(arguments.program, golden, folder)
        except Failure as failure:
            print(failure)
            return 1
    total = len(golden["values"])
    print(f"{total - wrong} of {total} values agree")
    return 0 if wrong == 0 and total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
