"""Copyright notices of what programs, wheels and the page contain besides propercal: read by tools/make-dist, tools/make-wheels and
tools/check-wheels.  Their texts come from the sources that tools/install-systems fetches."""

import zipfile

from cross_targets import PROGRAMS, TARGETS, VENV, WHEELS

ZIG = "lib/python3*/site-packages/ziglang"
WASI = f"{ZIG}/lib/libc/wasi"
# name: where the text is
PLACES = {
    "LICENSE-libzstd": "src/libzstd/LICENSE",
    "LICENSE-zlib": "src/zlib/LICENSE",
    "LICENSE-zig": f"{ZIG}/LICENSE",  # of arithmetic that a processor lacks
    "LICENSE-musl": f"{ZIG}/lib/libc/musl/COPYRIGHT",
    "LICENSE-mingw-w64": f"{ZIG}/lib/libc/mingw/COPYING",
    "LICENSE-wasi-libc": f"{WASI}/LICENSE",
    "LICENSE-wasi-libc-MIT": f"{WASI}/LICENSE-MIT",
    "LICENSE-wasi-libc-cloudlibc": f"{WASI}/libc-bottom-half/cloudlibc/LICENSE",
}
EVERYWHERE = ("LICENSE-libzstd", "LICENSE-zlib", "LICENSE-zig")
# The C library that a program contains; that of macOS is not linked in.
C_LIBRARY = {
    "linux": ("LICENSE-musl",),
    "windows": ("LICENSE-mingw-w64",),
    "wasi": ("LICENSE-wasi-libc", "LICENSE-wasi-libc-MIT", "LICENSE-wasi-libc-cloudlibc", "LICENSE-musl"),
    "darwin": (),
}


def text(name):
    """The bytes of a notice."""
    found = sorted(VENV.glob(PLACES[name]))
    if not found:
        raise FileNotFoundError(f"there is no {PLACES[name]} in {VENV}; run tools/install-systems")
    return found[0].read_bytes()


def of_programs(targets):
    """Names of the notices that go with the programs for these targets, and with the page."""
    systems = [TARGETS[target].system for target in targets if target in PROGRAMS]
    return sorted({name for system in systems for name in (*EVERYWHERE, *C_LIBRARY[system])})


def of_wheel(target):
    """Names of the notices in a wheel, whose module loads the C library of its system; on Windows it contains start-up code."""
    return [*EVERYWHERE, *(C_LIBRARY["windows"] if TARGETS[target].system == "windows" else ())]


def lacking_in_wheel(wheel):
    """What is wrong with the notices in a wheel; empty if nothing is."""
    (target,) = (name for name in WHEELS if wheel.name.endswith(f"-{TARGETS[name].wheel}.whl"))
    with zipfile.ZipFile(wheel) as archive:
        held = {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist() if "/licenses/" in name}
    return ", ".join(name for name in of_wheel(target) if held.get(name) != text(name))


def lacking_beside_programs(folder, programs):
    """What is wrong with the notices in a folder with these programs, by target; empty if nothing is."""
    held = {path.stem: path.read_bytes() for path in folder.glob("LICENSE-*.txt")}
    return ", ".join(name for name in of_programs(programs) if held.get(name) != text(name))
