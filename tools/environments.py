"""Environments with pinned packages for checks, kept between runs."""

import pathlib
import shutil
import subprocess
import sys

LEFT_OUT = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# For clusters: Apache Spark, Dask and Ray.
CLUSTER_PACKAGES = ["numpy", "pandas<3", "pyarrow", "pyspark[connect]==4.*", "pytest"]
CLUSTER_PACKAGES += ["dask[dataframe]", "distributed", "ray[data]", "matplotlib"]
BROWSER_PACKAGES = ["playwright==1.48.0", "axe-playwright-python==0.1.8"]  # the second contains axe-core


class LeftOut(Exception):
    """Something that a check needs cannot be had here."""


def run(*command, **more):
    return subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )


def environment(folder, packages):
    """The interpreter of an environment with these packages, made anew when they change."""
    python, stamp = folder / "bin" / "python", folder / "packages.txt"
    wanted = "\n".join([sys.version, *packages])
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    done = run(sys.executable, "-m", "venv", folder)
    if done.returncode == 0:
        done = run(python, "-m", "pip", "install", "--disable-pip-version-check", "-q", *packages)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        raise LeftOut("packages could not be installed: " + done.stdout.strip().split("\n")[-1])
    stamp.write_text(wanted, encoding="utf-8")
    return python


def browser_environment():
    """A browser, and an interpreter with Playwright to drive it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise LeftOut("Chromium is not installed")
    return browser, environment(ROOT / ".venv-browser", BROWSER_PACKAGES)
