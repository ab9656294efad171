"""Copies a program or library whose embedded machine code a driver refuses, so that it compiles the PTX.

    python3 tests/gpu/without_machine_code.py FROM TO
"""

import pathlib
import shutil
import sys

CODE = pathlib.Path(__file__).parents[2] / "src/device/device_kernels.sm_90.cubin"


def main():
    source, target = sys.argv[1:]
    code = CODE.read_bytes()
    program = pathlib.Path(source).read_bytes()
    at = program.find(code)
    if at < 0:
        print(f"{source} does not contain {CODE.name}", file=sys.stderr)
        return 1
    shutil.copy(source, target)  # with its mode
    pathlib.Path(target).write_bytes(program[:at] + b"none" + program[at + 4 :])
    return 0


if __name__ == "__main__":
    sys.exit(main())
