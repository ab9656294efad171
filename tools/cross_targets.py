"""The systems that propercal is built for besides the one it is built on: read by tools/cross and
tools/check-systems."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-systems"  # zig, wasmtime and sources; see tools/install-systems

# target of zig: system, family, processor, byte order, how to run a program, extension of programs
TARGETS = {
    "x86_64-linux-musl": ("linux", "x86_64", "x86_64", "little", [], ""),
    "aarch64-linux-musl": ("linux", "aarch64", "aarch64", "little", ["qemu-aarch64-static"], ""),
    "s390x-linux-musl": ("linux", "s390x", "s390x", "big", ["qemu-s390x-static"], ""),
    "x86_64-windows-gnu": ("windows", "x86_64", "x86_64", "little", [str(ROOT / "tools/run-wine")], ".exe"),
    "wasm32-wasi": ("wasi", "wasm32", "wasm32", "little", [str(VENV / "bin/python"), str(ROOT / "tools/run-wasi")], ""),
    "aarch64-macos": ("darwin", "aarch64", "aarch64", "little", None, ""),
    "x86_64-macos": ("darwin", "x86_64", "x86_64", "little", None, ""),
}
