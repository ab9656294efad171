#!/usr/bin/env python3
"""Exported C compiles under every name that `export` accepts: export_names.py PROGRAM

Each identifier of an exported file is tried as --name.  A name is refused with a sentence, or the file compiles.
"""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
METHODS = ["temperature", "matrix-odir", "spline:target=all", "bbq", "ets"]
REFUSED = re.compile(r'propercal: "(\w+)" is (reserved by C or its library|the name of a variable in the exported C); '
                     r"choose another name, such as calibrate_\w+\n")
WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def propercal(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def export(method, name):
    return propercal("export", f"{method}.json", "--to", "c", "-o", "-", "--name", name)


os.chdir(tempfile.mkdtemp())
with open("data.csv", "w") as file:
    file.write("probs.a,probs.b,probs.c,labels\n")
    for i in range(60):
        a, b = (i * 37 % 50 + 1) / 100, (i * 23 % 40 + 1) / 100
        file.write(f"{a:.2f},{b:.2f},{1 - a - b:.2f},{'abc'[i * 7 % 3]}\n")

compiled, refused, faults = [], set(), []
for number, method in enumerate(METHODS):
    fitted = propercal("fit", "--data", "data.csv", "--method", method, "-o", f"{method}.json", "-q")
    plain = export(method, "calibrate")
    if fitted.returncode or plain.returncode:
        sys.exit(f"{method}: {fitted.stderr}{plain.stderr}")
    words = set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"/\*.*?\*/", "", plain.stdout, flags=re.S)))
    for name in sorted(words | {"in", "out", "x", "y", "j", "calibrate_x"}):
        made = export(method, name)
        if made.returncode == 2 and REFUSED.match(made.stderr):
            refused.add(name)
        elif made.returncode:
            faults.append(f"{method} --name {name}: {made.stderr}")
        else:
            compiled.append(f"{number}-{name}.c")
            with open(compiled[-1], "w") as file:
                file.write(made.stdout)
checked = subprocess.run(["cc", *WARNINGS, *compiled], stderr=subprocess.PIPE, text=True, check=False)
if checked.returncode:
    faults.append(checked.stderr)
if len(compiled) < 20 or not {"in", "out", "x", "y", "j", "double"} <= refused or "calibrate_x" in refused:
    faults.append(f"{len(compiled)} files, refused: {sorted(refused)}")
if faults:
    sys.exit("\n".join(faults))
print(f"{len(compiled)} files compile; {len(refused)} names are refused")
