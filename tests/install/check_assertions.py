#!/usr/bin/env python3
"""Whether a built library holds assertions: check_assertions.py yes|no LIBRARY

Debug and sanitizer builds must call pc_assert_failed, release builds must not know it.  Skipped
(77) where nm is missing.
"""

import shutil
import subprocess
import sys


def main():
    wanted, library = sys.argv[1] == "yes", sys.argv[2]
    if not shutil.which("nm"):
        print("nm is not installed")
        return 77
    symbols = subprocess.run(["nm", library], capture_output=True, text=True).stdout
    found = "pc_assert_failed" in symbols
    print("assertions are " + ("there" if found else "compiled out"))
    if "pcal_version" not in symbols:
        print(f"{library} is not the library")
        return 1
    return 0 if found == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
