#!/usr/bin/env python3
"""All files that name the version name the same one: check_version.py ROOT."""

import pathlib
import re
import sys

VERSION, SERIES = r"(\d+\.\d+\.\d+)", r"(\d+\.\d+)"
PLACES = {
    "include/propercal.h": f'PCAL_VERSION "{VERSION}"',
    "debian/changelog": rf"\Apropercal \({VERSION}\)",
    "CHANGELOG.md": f"\\A# Changes\n\n## {VERSION}",
    "src/propercal.map": rf"\APROPERCAL_{SERIES} ",
    "docs/systems.md": rf"find_package\(propercal {SERIES} ",
    "docs/stability.md": rf"^{SERIES} is the series before 1\.0",
    "docs/install.md": rf"propercal-{VERSION}\.html",
    "docs/web.md": rf"propercal-{VERSION}\.html",
    "tests/install/cmake_project/CMakeLists.txt": rf"find_package\(propercal {SERIES} ",
}


def found(root, name, pattern):
    match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.M)
    return match.group(1) if match else None


def main():
    root = pathlib.Path(sys.argv[1])
    version = found(root, "meson.build", f"version: '{VERSION}'")
    series = version.rpartition(".")[0]
    wrong = {name: found(root, name, pattern) for name, pattern in PLACES.items()}
    wrong = {name: value for name, value in wrong.items() if value not in (version, series)}
    for name, value in wrong.items():
        print(f"{name}: {value}, but meson.build has {version}")
    if not (root / "tests/compatibility" / version / "manifest.json").exists():
        wrong["corpus"] = None
        print(f"there is no tests/compatibility/{version}; run tools/make-compatibility")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
