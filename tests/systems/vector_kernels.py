"""Whether compilers turn the portable kernels into vector instructions: NEON on aarch64, 128 bits in WebAssembly.

Each source of src/kernels that is compiled for every instruction set is compiled to assembly with the flags of
a build folder.  A third of its arithmetic or more must be on vectors (remainders of loops are on single numbers), and
aarch64 code must not need SVE, which many processors lack.
"""

import json
import pathlib
import re
import shlex
import subprocess
import tempfile

ARITHMETIC = {  # by family of processors: on vectors, on single numbers
    "aarch64": (
        re.compile(r"^\s+f(?:add|sub|mul|div|mla|mls|max\w*|min\w*|sqrt)\s+v\d+\.(?:2d|4s)", re.M),
        re.compile(r"^\s+f(?:add|sub|mul|div|n?madd|n?msub|max\w*|min\w*|sqrt)\s+[ds]\d+", re.M),
    ),
    "wasm32": (
        re.compile(r"^\s+f(?:64x2|32x4)\.(?:add|sub|mul|div|p?max|p?min|sqrt)\b", re.M),
        re.compile(r"^\s+f(?:64|32)\.(?:add|sub|mul|div|max|min|sqrt)\b", re.M),
    ),
}
SVE_REGISTER = re.compile(r"^\s+\w+\s+z\d+\.", re.M)


def assembly(entry):
    """What the compiler writes for an entry of compile_commands.json."""
    words = shlex.split(entry["command"])
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder, "kernel.s")  # zig does not write to standard output
        words = [*words[: words.index("-MD")], "-w", "-S", "-o", written, entry["file"]]
        subprocess.run(words, cwd=entry["directory"], check=True)
        return written.read_text(encoding="latin-1")


def vector_kernels(folder, family):
    """Returns the number of kernel sources of a build folder, and complaints."""
    entries = json.loads(pathlib.Path(folder, "compile_commands.json").read_text(encoding="utf-8"))
    kernels = [entry for entry in entries if "kernels_portable" in entry["output"]]
    complaints = [] if kernels else [f"{folder} has no portable kernels"]
    for entry in kernels:
        name, text = pathlib.Path(entry["file"]).name, assembly(entry)
        vectors, single = (len(pattern.findall(text)) for pattern in ARITHMETIC[family])
        if 2 * vectors < single or vectors == 0:
            complaints.append(f"{name}: {vectors} instructions on vectors, {single} on single numbers")
        if SVE_REGISTER.search(text):
            complaints.append(f"{name}: needs SVE")
    return len(kernels), complaints
