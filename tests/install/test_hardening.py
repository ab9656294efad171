#!/usr/bin/env python3
"""test_hardening.py PROGRAM SHARED STATIC [MODULE] -- COMPILER...: reads what was built.

1. The program, the shared library and the Python module can be loaded anywhere (PIE), bind all
   names at the start and are read-only afterwards (full RELRO), have no executable stack, check
   their stack frames, and call the checked forms of C library functions (_FORTIFY_SOURCE).
   tools/check-wheels reads the modules in wheels for Linux by the same rules.
2. The static library defines no global name but pcal_*.
3. A program built without all this is found out, so the reader can see the difference.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import elf

PLAIN = """
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  char text[64];
  strcpy(text, words[count - 1]);
  return snprintf(text, sizeof text, "%d", count);
}
"""
WITHOUT = (
    "-O2 -w -no-pie -fno-pie -fno-stack-protector -U_FORTIFY_SOURCE "
    "-Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack"
).split()


# A read of the guard of a frame, at fs:0x28 on x86-64: mov, sub, cmp or xor with a register.
GUARD = re.compile(rb"\x64[\x48\x4c][\x8b\x2b\x3b\x33][\x04\x0c\x14\x1c\x24\x2c\x34\x3c]\x25\x28\0\0\0")


def read(path):
    return pathlib.Path(path).read_bytes()


def checks_frames(file, undefined):
    """zig links a handler of its own; then code that reads guards shows it."""
    if any(name.startswith("__stack_chk_") for name in undefined):
        return True
    return file.machine == elf.EM_X86_64 and any(GUARD.search(code) for code in file.code())


def faults(data, program=False, checked_calls=True, checked_frames=True):
    """What is missing in a program or a shared library.  checked_calls: its C library has checked forms of
    functions; musl has none.  checked_frames: it can be seen that frames are checked."""
    file = elf.Elf(data)
    dynamic = file.dynamic()
    flags, more = dynamic.get(elf.DT_FLAGS, 0), dynamic.get(elf.DT_FLAGS_1, 0)
    stack = file.segment(elf.PT_GNU_STACK)
    undefined = {name for name, _, here in file.symbols(elf.SHT_DYNSYM) if not here}
    if file.type != elf.ET_DYN:
        yield "it is not position independent"
    if program and not more & elf.DF_1_PIE:
        yield "it is no PIE"
    if not file.segment(elf.PT_GNU_RELRO):
        yield "there is no RELRO"
    now = elf.DT_BIND_NOW in dynamic or flags & elf.DF_BIND_NOW or more & elf.DF_1_NOW
    if not now:
        yield "names are bound late, so RELRO is not full"
    if stack is None or stack[1] & 1:
        yield "the stack can be executed"
    if checked_frames and not checks_frames(file, undefined):
        yield "stack frames are not checked"
    if checked_calls and not any(name.startswith("__") and name.endswith("_chk") for name in undefined):
        yield "no checked function is called (_FORTIFY_SOURCE)"


def foreign(path):
    """Global names that a static library defines and that are not ours."""
    for member in elf.members(read(path)):
        for name, is_global, here in member.symbols(elf.SHT_SYMTAB):
            if is_global and here and not name.startswith("pcal_"):
                yield name


def own_names(path):
    for member in elf.members(read(path)):
        for name, is_global, here in member.symbols(elf.SHT_SYMTAB):
            if is_global and here:
                yield name


def self_test(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, built = pathlib.Path(folder, "plain.c"), pathlib.Path(folder, "plain")
        source.write_text(PLAIN, encoding="utf-8")
        subprocess.run([*compiler, *WITHOUT, "-o", built, source], check=True)
        found = list(faults(built.read_bytes(), program=True))
        if len(found) != 7:
            yield f"a program built without protection shows only: {found}"
        subprocess.run([*compiler, "-c", "-o", built, source], check=True)
        archive = pathlib.Path(folder, "plain.a")
        subprocess.run(["ar", "rc", archive, built], check=True)
        if list(foreign(archive)) != ["main"]:
            yield "a global name of a static library is not found"


def main():
    files, compiler = sys.argv[1:], []
    if "--" in files:
        files, compiler = files[: files.index("--")], files[files.index("--") + 1 :]
    program, shared, static, *modules = files
    found = [f"{program}: {fault}" for fault in faults(read(program), program=True)]
    for path in (shared, *modules):
        found += [f"{path}: {fault}" for fault in faults(read(path))]
    found += [f"{static}: defines {name}" for name in sorted(set(foreign(static)))[:20]]
    if "pcal_version" not in set(own_names(static)):
        found.append(f"{static}: does not define pcal_version")
    if compiler:
        found += self_test(compiler)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
