#!/usr/bin/env python3
"""What tools/install-deps says and does on systems that lack something.

    install_sentences.py TOOLS

The script runs with a PATH that has the usual small programs and, as each case wants, stand-ins for
apt-get, the compiler and the like, which write down how they were called.
"""

import os
import shutil
import subprocess
import sys
import tempfile

USUAL = ("sh", "cat", "dirname", "env", "grep", "mktemp", "rm", "sed", "tail", "tr", "uname")
BUILDING = ("cc", "meson", "ninja", "pkg-config", "python3")

NO_APT = ("install-deps: there is no apt-get here: install a C compiler (gcc), Meson 1.0 or later (meson), Ninja "
          "(ninja or ninja-build), pkg-config (pkgconf), python3, zlib's headers (zlib or zlib-devel), then run "
          "this again.\n")
NO_APT_CHECK = NO_APT.replace(", then", ", cmocka (cmocka or libcmocka-devel), clang with its sanitizers (clang and "
                              "compiler-rt, or llvm), rsvg-convert (librsvg or librsvg2-tools), then")
PACKAGES = "gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev"
NO_ROOT = ("install-deps: there is neither root nor sudo here: have root run 'apt-get install "
           f"--no-install-recommends {PACKAGES}', then run this again.\n")
LOOK = NO_APT.replace("there is no apt-get here: install", "missing:").replace(
    ", then run this again.", "; install it, or run 'make build', which does.")
NEVER = ("java", "openjdk", "jre", "jdk", "wine", "chromium", "firefox", "chrome")


def stand_in(folder, name, answer):
    """A program that writes down its call and then runs `answer`."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as out:
        out.write(f'#!/bin/sh\necho "{name} $*" >>"$CALLS"\n{answer}\n')
    os.chmod(path, 0o755)


class System:
    """A folder with the script, a PATH and what was called."""

    def __init__(self, folder, tools):
        self.bin, self.calls = os.path.join(folder, "bin"), os.path.join(folder, "calls")
        self.script = os.path.join(folder, "tree", "tools", "install-deps")
        os.makedirs(self.bin)
        os.makedirs(os.path.dirname(self.script))
        for name in ("install-deps", "meson"):
            shutil.copy(os.path.join(tools, name), os.path.dirname(self.script))
        for name in USUAL:
            os.symlink(shutil.which(name), os.path.join(self.bin, name))

    def add_apt(self, user, install="exit 0"):
        stand_in(self.bin, "apt-get", f'case "$*" in *install*) {install} ;; esac')
        stand_in(self.bin, "apt-cache", 'echo "  Candidate: 1.0.1"')
        stand_in(self.bin, "id", f"echo {user}")

    def add_building(self):
        for name in BUILDING:
            stand_in(self.bin, name, "echo 1.4.0" if name == "meson" else ":")

    def run(self, *words):
        """Status, standard output and error."""
        there = {"PATH": self.bin, "CALLS": self.calls, "TMPDIR": os.path.dirname(self.bin)}
        done = subprocess.run([self.script, *words], env=there, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def called(self, name):
        if not os.path.exists(self.calls):
            return []
        with open(self.calls, encoding="ascii") as lines:
            return [line.rstrip("\n") for line in lines if line.startswith(name + " ")]


def without_apt(system):
    assert system.run("demo") == (1, "", NO_APT)
    assert system.run("check") == (1, "", NO_APT_CHECK)
    assert system.run("--look", "demo") == (1, "", LOOK)


def without_root(system):
    system.add_apt(1000)
    status, out, said = system.run("demo")
    assert (status, out, said) == (1, "", NO_ROOT), (status, out, said)
    assert system.called("apt-get") == []


def by_root(system):
    """What demo and check install, and that neither asks for more."""
    system.add_apt(0)
    status, out, said = system.run("demo")
    assert (status, out) == (1, f"install-deps: installing {PACKAGES} \n"), (status, out)
    assert said == "install-deps: still missing: compiler meson ninja pkg-config python3 zlib\n", said
    system.run("check")
    installed = [call for call in system.called("apt-get") if "install -y" in call]
    assert len(installed) == 3 and "libcmocka-dev" in installed[1] and "libzstd-dev" in installed[2], installed
    assert not [call for call in installed if any(word in call for word in NEVER)], installed


def that_fails(system):
    system.add_apt(0, "echo no such package; exit 100")
    status, _, said = system.run("demo")
    assert status == 1, status
    assert said == f"no such package\ninstall-deps: apt-get could not install: {PACKAGES} \n", said


def with_everything(system):
    system.add_apt(1000)
    system.add_building()
    assert system.run("demo") == (0, "", "")
    assert system.run("--look", "demo") == (0, "", "")
    assert system.called("apt-get") == []


def main():
    for case in (without_apt, without_root, by_root, that_fails, with_everything):
        with tempfile.TemporaryDirectory() as folder:
            case(System(folder, sys.argv[1]))
        print("ok  ", case.__name__)


if __name__ == "__main__":
    main()
