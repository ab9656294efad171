#!/usr/bin/env python3
"""All files that name the version name the same one, each time: check_version.py ROOT."""

import pathlib
import re
import sys

VERSION, SERIES = r"(\d+\.\d+\.\d+)", r"(\d+\.\d+)"
RELEASE_FILE = rf"propercal-{VERSION}"
PLACES = {
    "include/propercal.h": f'PCAL_VERSION "{VERSION}"',
    "debian/changelog": rf"\Apropercal \({VERSION}\)",
    "CHANGELOG.md": f"\\A# Changes\n\n## {VERSION}",
    "src/propercal.map": rf"\APROPERCAL_{SERIES} ",
    "docs/systems.md": rf"find_package\(propercal {SERIES} ",
    "docs/stability.md": rf"^{SERIES} is the series before 1\.0",
    "docs/install.md": RELEASE_FILE,
    "docs/spark.md": RELEASE_FILE,
    "docs/web.md": RELEASE_FILE,
    "tests/install/cmake_project/CMakeLists.txt": rf"find_package\(propercal {SERIES} ",
}


def found(root, name, pattern):
    return re.findall(pattern, (root / name).read_text(encoding="utf-8"), re.M)


def main():
    root = pathlib.Path(sys.argv[1])
    (version,) = found(root, "meson.build", f"version: '{VERSION}'")
    series = version.rpartition(".")[0]
    wrong = False
    for name, pattern in PLACES.items():
        values = found(root, name, pattern)
        for value in values or ["no version"]:
            if value not in (version, series):
                wrong = True
                print(f"{name}: {value}, but meson.build has {version}")
    if not (root / "tests/compatibility" / version / "manifest.json").exists():
        wrong = True
        print(f"there is no tests/compatibility/{version}; run tools/make-compatibility")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
