"""What wheels and the archive of sources share: the version and the metadata of the Python package."""

import re
import subprocess

from cross_targets import ROOT, VENV

METADATA = """
import sys, tomllib
import pyproject_metadata
from packaging.version import Version
with open("pyproject.toml", "rb") as file:
    metadata = pyproject_metadata.StandardMetadata.from_pyproject(tomllib.load(file), ".")
metadata.version = Version(sys.argv[1])
sys.stdout.buffer.write(bytes(metadata.as_rfc822()))
"""


def version():
    return re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text(encoding="utf-8")).group(1)


def core_metadata():
    """METADATA of a wheel and PKG-INFO of the sources, from pyproject.toml."""
    command = [VENV / "bin/python", "-c", METADATA, version()]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
