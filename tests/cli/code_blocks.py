#!/usr/bin/env python3
"""Every code block of README, CONTRIBUTING and docs is run or compiled by a test, or stands below with the reason.

usage: code_blocks.py ROOT PAGE... -- COMPILER...

  1. Commands of the program: PAGEs are those that tests/cli/readme_output.py runs.
  2. Python in docs: tests/python/test_pages.py runs it, but on the pages that it names in ELSEWHERE.
  3. C is compiled here, without warnings; what a fragment needs is declared below.
  4. make and tools/...: the target and the script must exist.  They are not run here; .ci/run runs demo and check-all.
  5. All others are named below, each with its test or the reason why there is none.

Pages that make pages writes are not looked at: they hold formulas, declarations and the examples of docstrings, which no
test runs.
"""

import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
TARGET = re.compile(r"^([a-z-]+):", re.M)
SPARK = "tests/spark/test_spark.py makes such calls on a cluster; this text is not run"
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
    ("docs/rounds.md", 'from propercal import dask as pcd                 # pip install "dask[dataframe]" distributed'):
        "tests/spark/test_dask_ray.py makes such calls; this text is not run",
    ("docs/spark.md", "python"): SPARK,
    ("docs/spark.md", "DataError: partition 3: probs, row 17, column 0: the score is missing (NaN); remove the row or pass skip_missing=True"): SPARK,
    ("docs/spark.md", "pip install ./propercal-0.9.0-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl pyspark pyarrow"): "tools/check-spark installs these packages, and propercal from here",
    ("docs/start/for-c.md", "cc measure_arrays.c $(pkg-config --cflags --libs propercal)"): "tests/install/test_install.sh compiles it so",
    ("docs/studies.md", "console"): "tools/make-studies --check runs them",
    ("docs/systems.md", "cmake"): "tests/install/cmake_project has these lines",
    ("docs/tour.md", "cc measure_arrays.c $(pkg-config --cflags --libs propercal)"): "tests/install/test_install.sh compiles it so",
}  # fmt: skip
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


def compiles(root, page, body, compiler):
    before, after = AROUND.get(page, ("", ""))
    text = f"#include <propercal.h>\n#include <stddef.h>\n{before}{body}{after}"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{root / 'include'}", "-x", "c", "-"]
    done = subprocess.run([*compiler, *flags], input=text, capture_output=True, text=True)
    print(done.stderr, end="")
    return done.returncode == 0


class Page:
    def __init__(self, root, path, run_pages, compiler):
        self.root, self.name = root, path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.is_run, self.compiler = self.name in run_pages, compiler
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
            return self.name.startswith("docs/")
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
    found, faults = 0, []
    for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        blocks, wrong = Page(root, path, run_pages, compiler).check()
        found += blocks
        faults += wrong
    print("\n".join([*faults, f"{found} blocks, {len(faults)} faults"]))
    return 1 if faults or found < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
