"""The systems that propercal is built for besides the one it is built on: read by tools/cross,
tools/check-systems, tools/make-wheels and tools/make-dist."""

import pathlib
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-systems"  # zig, wasmtime and sources; see tools/install-systems


class Target(typing.NamedTuple):
    system: str
    family: str
    endian: str
    runner: "list[str] | None"  # how to run a program here; None: it cannot run
    extension: str = ""  # of programs
    zig: str = ""  # the target as zig names it, if not as here
    program: bool = True  # a program of a release; others are for wheels alone
    wheel: str = ""  # platform tags of its wheel, if it has one


# Flags for Linux of what Meson does not compile, the module of a wheel, zlib and libzstd; meson.build has the same.
HARDENED = ["-fstack-protector-strong", "-fstack-clash-protection", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
MANYLINUX = "manylinux_2_17_{0}.manylinux2014_{0}"
WASI_RUNNER = [str(VENV / "bin/python"), str(ROOT / "tools/run-wasi")]
WINE_RUNNER = [str(ROOT / "tools/run-wine")]

TARGETS = {
    "x86_64-linux-musl": Target("linux", "x86_64", "little", [], wheel="musllinux_1_2_x86_64"),
    "aarch64-linux-musl": Target("linux", "aarch64", "little", ["qemu-aarch64-static"]),
    "s390x-linux-musl": Target("linux", "s390x", "big", ["qemu-s390x-static"]),
    "x86_64-windows-gnu": Target("windows", "x86_64", "little", WINE_RUNNER, ".exe", wheel="win_amd64"),
    "wasm32-wasi": Target("wasi", "wasm32", "little", WASI_RUNNER),
    "aarch64-macos": Target(
        "darwin", "aarch64", "little", None, zig="aarch64-macos.11.0", wheel="macosx_11_0_arm64"
    ),
    "x86_64-macos": Target(
        "darwin", "x86_64", "little", None, zig="x86_64-macos.11.0", wheel="macosx_11_0_x86_64"
    ),
    "x86_64-linux-gnu": Target(
        "linux", "x86_64", "little", [], zig="x86_64-linux-gnu.2.17", program=False, wheel=MANYLINUX.format("x86_64")
    ),
    "aarch64-linux-gnu": Target(
        "linux", "aarch64", "little", None, zig="aarch64-linux-gnu.2.17", program=False, wheel=MANYLINUX.format("aarch64")
    ),
}
PROGRAMS = [name for name, target in TARGETS.items() if target.program]
WHEELS = [name for name, target in TARGETS.items() if target.wheel]


NAMES = {"wasm32-wasi": "wasi.wasm"}  # programs of a release; others are called as zig calls them


def program_name(name, release):
    """The file of a program in a release, "propercal-0.9.0"."""
    return f"{release}-{NAMES.get(name, name + TARGETS[name].extension)}"


def build_folder(name):
    return ROOT / ("build-" + name)
