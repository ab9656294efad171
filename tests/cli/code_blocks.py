#!/usr/bin/env python3
"""Every code block of README, CONTRIBUTING and docs is run or compiled by a test, or stands below with the reason.

usage: code_blocks.py ROOT PAGE... -- COMPILER...

  1. Commands of the program: PAGEs are those that tests/cli/readme_output.py runs.
  2. Python in docs: tests/python/run_pages.py must find it, and an environment of tests must have each package that it
     imports: that of tests/python (pyproject.toml), those of clusters for tests/spark (tools/environments.py), or the peers
     (bench/requirements.txt), where make bench-deps has installed them.  tools/check-python and tools/check-spark print
     "left out: ..." for what they did not run; the last line here counts the blocks of each kind.
  3. C is compiled here, without warnings; what a fragment needs is declared below.
  4. make and tools/...: the target and the script must exist.  They are not run here; .ci/run runs demo and check-all.
  5. All others are named below, each with its test or the reason why there is none.

Pages that make pages writes are not looked at: they hold formulas, declarations and the examples of docstrings, which
tests/python/test_docstrings.py and tests/spark run.
"""

import collections
import importlib.util
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
TARGET = re.compile(r"^([a-z-]+):", re.M)
# Blocks by page and first line; or by page and language, "" for none, if one thing is true of all of them.
ELSEWHERE = {
    ("docs/adding.md", "diff"): "tools/check-adding applies them",
    ("docs/adding.md", ""): "tools/check-adding runs them after that",
    ("docs/c.md", ""): "tests/install/check_examples.py compares them with what examples print",
    ("docs/gpu.md", "python"): "tests/gpu/check_page.py runs it on a machine with a GPU (tools/check-gpu)",
    ("docs/gpu.md", "computed on the GPU: accuracy, ece; copied to memory and computed there: auc"):
        "tests/unit/device/test_device.c compares such a sentence",
    ("docs/install.md", "pip install .                    # the Python package"): "tools/check-python builds and installs the package",
    ("docs/rounds.md", "sh"): "tests/cli/rounds_page.py runs it",
    ("docs/rounds.md", "coordinator                         workers, anywhere, each with some of the rows"): "a diagram",
    ("docs/rounds.md", "sbatch --array=1-4 --wrap 'propercal rounds answer run --part $SLURM_ARRAY_TASK_ID --data part-$SLURM_ARRAY_TASK_ID.csv'"):
        "nothing: it needs a cluster with SLURM",
    ("docs/spark.md", "DataError: partition 3: probs, row 17, column 0: the score is missing (NaN); remove the row or pass skip_missing=True"):
        "tests/spark/test_spark_pages.py compares it with the sentence of such a table",
    ("docs/spark.md", "pip install ./propercal-0.9.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl pyspark pyarrow"): "tools/check-spark installs these packages, and propercal from here",
    ("docs/start/for-c.md", "cc measure_arrays.c $(pkg-config --cflags --libs propercal)"): "tests/install/test_install.sh compiles it so",
    ("docs/studies.md", "console"): "tools/make-studies --check runs them",
    ("docs/systems.md", "cmake"): "tests/install/cmake_project has these lines",
    ("docs/tour.md", "cc measure_arrays.c $(pkg-config --cflags --libs propercal)"): "tests/install/test_install.sh compiles it so",
}  # fmt: skip
# Packages whose modules are called differently.
MODULES = {"scikit-learn": "sklearn"}
# What stands before and behind a fragment of C.
AROUND = {
    "docs/gpu.md": (
        "pcal_status fragment(const void *logits_on_gpu, void *stream);\n"
        "pcal_status fragment(const void *logits_on_gpu, void *stream) {\n"
        "pcal_batch batch = PCAL_BATCH_INIT;\npcal_error error;\npcal_status status;\n",
        "return batch.device != NULL && batch.scores != NULL && batch.stream != NULL ? status : PCAL_USAGE;\n}\n",
    ),
}


def commands(body):
    """Whether a block holds commands of the program, with or without their output."""
    return any(line.startswith(("propercal ", "$ propercal ")) for line in body.splitlines())


def exists(root, line):
    """Whether a line calls a target of the Makefile or a script of tools that exists."""
    words = line.split()
    if words[0] == "make":
        return words[1] in TARGET.findall((root / "Makefile").read_text(encoding="utf-8"))
    return words[0].startswith("tools/") and (root / words[0]).is_file()


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(text, name):
    """The words of a list in pyproject.toml; tomllib came with Python 3.11."""
    return re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)\]$", text, re.M | re.S).group(1))


def modules(packages):
    """Names of the modules of packages such as "dask[dataframe]" and "pandas>=2.2"."""
    names = [re.match(r"[\w.-]+", package).group(0) for package in packages]
    return {MODULES.get(name, name) for name in names}


class Environments:
    """Which environment of tests runs a block of Python."""

    def __init__(self, root):
        self.run_pages = load(root / "tests/python/run_pages.py")
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
        peers = (root / "bench/requirements.txt").read_text(encoding="utf-8")
        plain = {*sys.stdlib_module_names, "propercal"}
        tests = plain | modules(listed(project, "dependencies") + listed(project, "test"))
        self.known = {
            "in tests/python": tests,
            "beside the packages of make bench-deps": tests | modules(re.findall(r"^\w.*", peers, re.M)),
            "in tests/spark": plain | modules(load(root / "tools/environments.py").CLUSTER_PACKAGES),
        }

    def of(self, text, body):
        """The name of the environment; None if no test finds the block, or none has its packages."""
        for _, found in self.run_pages.sections(text):
            if body in [block.code for block in found]:
                wanted = self.run_pages.packages(found)
                names = ["in tests/spark"] if self.run_pages.clusters(found) else [*self.known][:2]
                return next((name for name in names if wanted <= self.known[name]), None)
        return None


def compiles(root, page, body, compiler):
    before, after = AROUND.get(page, ("", ""))
    text = f"#include <propercal.h>\n#include <stddef.h>\n{before}{body}{after}"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{root / 'include'}", "-x", "c", "-"]
    done = subprocess.run([*compiler, *flags], input=text, capture_output=True, text=True)
    print(done.stderr, end="")
    return done.returncode == 0


class Page:
    def __init__(self, root, path, run_pages, compiler, environments):
        self.root, self.name = root, path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.is_run, self.compiler = self.name in run_pages, compiler
        self.environments, self.python = environments, collections.Counter()
        self.excused = {key for key in ELSEWHERE if key[0] == self.name}
        self.used = set()

    def excuse(self, words):
        self.used |= {(self.name, word) for word in words} & self.excused
        return any((self.name, word) in self.excused for word in words)

    def line_passes(self, line):
        return line == "" or line.startswith("# ") or self.excuse([line]) or exists(self.root, line)

    def passes(self, kind, body, before):
        """Whether a test runs a block; before: the language of the block above it."""
        if self.excuse([kind, body.split("\n")[0]]):
            return True
        if kind == "python":
            where = self.environments.of(self.text, body) if self.name.startswith("docs/") else None
            self.python[where] += 1
            return where is not None
        if kind == "c":
            return compiles(self.root, self.name, body, self.compiler)
        if kind == "text":
            return before == "python"
        if kind == "" and commands(body):
            return self.is_run
        return kind == "" and all(map(self.line_passes, body.splitlines()))

    def check(self):
        """The number of blocks, and the faults."""
        found, faults, before = 0, [], ""
        for match in FENCE.finditer(self.text):
            found += 1
            if not self.passes(*match.groups(), before):
                faults.append(f"{self.name}, line {self.text.count(chr(10), 0, match.start()) + 1}: no test runs this block")
            before = match.group(1)
        return found, faults + [f"{page}: there is no block {word!r} to excuse" for page, word in sorted(self.excused - self.used)]


def main():
    words, at = sys.argv[1:], sys.argv.index("--") - 1
    root, run_pages, compiler = pathlib.Path(words[0]), set(words[1:at]), words[at + 1 :]
    found, faults, python, environments = 0, [], collections.Counter(), Environments(root)
    for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        page = Page(root, path, run_pages, compiler, environments)
        blocks, wrong = page.check()
        found += blocks
        python += page.python
        faults += wrong
    run = ", ".join(f"{count} of Python {where}" for where, count in python.items() if where)
    print("\n".join([*faults, f"{found} blocks, {run}, {len(faults)} faults"]))
    return 1 if faults or found < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
