#!/usr/bin/env python3
"""header_interface.py and program_interface.py find what a caller would miss: check_interfaces.py COMPILER..."""

import copy
import pathlib
import sys
import tempfile

import header_interface
import program_interface

COMPILER = sys.argv[1:]
PRESENT = header_interface.interface(COMPILER)


def header_fault(change):
    """What is found when an earlier header was another one."""
    old = copy.deepcopy(PRESENT)
    change(old["constants"], old["functions"], old["structs"])
    return list(header_interface.faults(COMPILER, old))


def forget_last_field(constants, functions, structs):
    """The struct has grown within the bytes that it had: a caller of the earlier one left them unset."""
    del structs["pcal_env"]["fields"]["budget"]


def grown(constants, functions, structs):
    env = structs["pcal_env"]
    env["size"] = env["fields"].pop("budget")[0]


HEADER_CASES = [
    (lambda constants, functions, structs: None, []),
    (lambda constants, functions, structs: constants.update(PCAL_DATA=9), ["the constant PCAL_DATA was 9 and is 2"]),
    (lambda constants, functions, structs: constants.update(PCAL_GONE=1), ["the constant PCAL_GONE was 1 and is None"]),
    (lambda constants, functions, structs: constants.update(exit_code_DATA=7), ["the constant exit_code_DATA was 7 and is 3"]),
    (lambda constants, functions, structs: functions.update(pcal_gone="int pcal_gone(void);"), ["the function pcal_gone is gone"]),
    (lambda constants, functions, structs: functions.update(pcal_version="int pcal_version(void);"),
     ["pcal_version is now const char *pcal_version(void);"]),
    (lambda constants, functions, structs: functions.update(pcal_pool_free="void pcal_pool_free(struct pcal_pool *renamed);"), []),
    (lambda constants, functions, structs: structs["pcal_env"]["fields"].update(seed=[8, 8]),
     ["pcal_env.seed was at [8, 8], offset and size, and is at [48, 8]"]),
    (forget_last_field, ["pcal_env.budget is new and inside the 104 bytes of earlier versions; callers did not set it"]),
    (grown, []),
    (lambda constants, functions, structs: structs["pcal_bytes"].update(size=8), ["pcal_bytes had 8 bytes and has 16"]),
    (lambda constants, functions, structs: structs.update(pcal_gone={"size": 8, "fields": {"size": [0, 8]}}), ["the struct pcal_gone is gone"]),
]  # fmt: skip


def stand_in(folder):
    """A program that accepts less than an earlier one."""
    path = pathlib.Path(folder, "program")
    path.write_text("""#!/bin/sh
if [ "$1" = --generate ]; then
  echo "    'measure --format') words='text json' ;;"
  echo "        measure)"
  echo "          flags=' --format --quiet'"
else
  echo '{"rows": [{"name": "a", "value": 1}, {"other": 2}]}'
  exit 3
fi
""")
    path.chmod(0o755)
    return path


def program_faults():
    old = {
        "flags": ["measure --format VALUE", "measure --format json", "measure --format csv", "measure --quiet", "measure --null"],
        "commands": [["a.json", "measure", 3], ["b.json", "merge x", 0]],
        "outputs": {"a.json": ["rows", "rows[].name", "rows[].other", "rows[].gone"], "table.csv": ["low"]},
    }
    with tempfile.TemporaryDirectory() as folder:
        return list(program_interface.faults(stand_in(folder), folder, old))


PROGRAM_FAULTS = [
    "propercal measure --format csv is no longer accepted",
    "propercal measure --null is no longer accepted",
    "propercal merge x ended with exit code 0 and ends with 3",
    "a.json has no key rows[].gone",
    "table.csv has no column low",
]


def main():
    wrong = [(expected, found) for change, expected in HEADER_CASES if (found := header_fault(change)) != expected]
    if (found := program_faults()) != PROGRAM_FAULTS:
        wrong.append((PROGRAM_FAULTS, found))
    for expected, found in wrong:
        print(f"expected {expected}\nfound    {found}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
