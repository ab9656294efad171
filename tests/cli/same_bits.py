#!/usr/bin/env python3
"""Every kind of output has the same bytes whatever the processor can do.

usage: same_bits.py PROGRAM DIGITS

PROGRAM is propercal with any_kernels.c in place of the library's choice.  Commands run with each
set of kernels, and with a C library that must not use what newer processors have.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PLAIN = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512DQ,-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-AVX"
SETTINGS = {
    "avx512": {"PROPERCAL_KERNELS": "2"},
    "avx2": {"PROPERCAL_KERNELS": "1"},
    "portable": {"PROPERCAL_KERNELS": "0"},
    "portable, plain C library": {"PROPERCAL_KERNELS": "0", "GLIBC_TUNABLES": PLAIN},
}
FOR_NUMBERS = """
variance-platt variance-scale quantile-isotonic conformal pit coverage variance-vs-error intervals fan quantile-reliability
""".split()
ROWS = 240
REPLICAS = ["--interval", "0.9", "--null", "--replicas", "20"]


def names(program, kind):
    out = subprocess.run([program, "list", kind, "--json"], check=True, capture_output=True)
    return [row["name"] for row in json.loads(out.stdout)["rows"]]


def write_data(folder):
    """Three classes as probabilities, one column, forecasts: only whole numbers are drawn."""
    draw = random.Random(1)
    files = {name: [] for name in ("probs", "labels", "score", "hit", "mean", "std", "target", "quantiles")}
    for _ in range(ROWS):
        parts = [draw.randrange(1, 1000) for _ in range(3)]
        files["probs"].append(",".join(repr(part / sum(parts)) for part in parts))
        files["labels"].append(str(draw.choices(range(3), weights=parts)[0]))
        score = draw.randrange(1, 1000)
        files["score"].append(repr(score / 1000))
        files["hit"].append(str(int(draw.randrange(1200) < score)))
        files["mean"].append(repr(draw.randrange(1000) / 100))
        files["std"].append(repr(draw.randrange(10, 300) / 100))
        files["quantiles"].append(f"{draw.randrange(500) / 100!r},{draw.randrange(500, 1000) / 100!r}")
        files["target"].append(repr(draw.randrange(1000) / 100))
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def commands(program, data, digits):
    """Lists of arguments by name; FILE stands for a file that is compared too."""
    probs = ["--probs", data / "probs.csv", "--labels", data / "labels.csv"]
    one = ["--probs", data / "score.csv", "--labels", data / "hit.csv"]
    normal = ["--mean", data / "mean.csv", "--std", data / "std.csv", "--target", data / "target.csv"]
    quantiles = ["--quantiles", data / "quantiles.csv", "--levels", "0.05,0.95", "--target", data / "target.csv"]
    logits = ["--logits", digits / "logits_val.npy", "--labels", digits / "labels_val.npy"]
    out = {}
    for group in names(program, "groups"):
        classes = () if group in FOR_NUMBERS else (("probs", probs), ("one", one))
        numbers = (("normal", normal),) if group in ("default", "all", *FOR_NUMBERS) else ()
        for about, source in (*classes, *numbers):
            out[f"measure {group} {about}"] = ["measure", *source, "--metric", group, *REPLICAS, "--json"]
    for metric in ("log", "ks", "ece", "smece", "decomposition", "ce-kde", "skce"):
        out[f"measure {metric} logits"] = ["measure", *logits, "--metric", metric, "--json", "--curves"]
    for method in names(program, "calibrators"):
        sources = {"normal": normal} if method in FOR_NUMBERS else {"probs": probs, "one": one}
        if method == "cqr":
            sources = {"quantiles": quantiles}
        if method in ("temperature", "ets", "vector", "beta", "spline", "dirichlet-odir"):
            sources["logits"] = logits
        for about, source in sources.items():
            out[f"fit {method} {about}"] = ["fit", *source, "--method", method, "-o", "FILE"]
    for figure in names(program, "figures"):
        source = normal if figure in FOR_NUMBERS else probs
        out[f"plot {figure}"] = ["plot", figure, *source, "-o", "FILE.svg"]
    for study in ("counterexample", "taxonomy", "loss-surface", "bin-sensitivity"):
        out[f"study {study}"] = ["study", study, *probs, "--json"]
    out["study variance-regression"] = ["study", "variance-regression:iterations=8", "--json"]
    out["compare"] = ["compare", *probs, "--method", "temperature", "--method", "beta", "--replicas", "20", "--json"]
    out["simulate"] = ["simulate", "--classes", "4", "--rows", "50", "--factor", "2", "-o", "FILE.npz"]
    out["plan"] = ["plan", *probs, "--width", "0.01", "--json"]
    out["report"] = ["report", *probs, "--replicas", "20", "-o", "FILE.html"]
    return {name: [str(word) for word in words] for name, words in out.items()}


def run(program, words, extra):
    """Exit code, what was printed and what was written."""
    with tempfile.TemporaryDirectory() as folder:
        here = [word.replace("FILE", "out") if word.startswith("FILE") else word for word in words]
        environment = {**os.environ, **extra}
        done = subprocess.run([program, *here], cwd=folder, env=environment, capture_output=True)
        written = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        return done.returncode, done.stdout, done.stderr, written


def applied(program, words, extra):
    """A fit, and what its calibrator makes of the rows."""
    code, out, err, written = run(program, words, extra)
    if code != 0 or words[0] != "fit":
        return code, out, err, written
    source = words[1 : words.index("--method")]
    source = source[: source.index("--labels")] if "--labels" in source else source[: source.index("--target")]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "calibrator"
        file.write_bytes(written["out"])
        rows = run(program, ["apply", *source, "--calibrator", str(file), "-o", "FILE.csv"], extra)
    return code, out, err, written, rows[0], rows[3]


def main():
    program, digits = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder)
        write_data(data)
        every = commands(program, data, digits)
        bad = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, words in every.items():
                results = list(pool.map(lambda extra: applied(program, words, extra), SETTINGS.values()))
                if results[0][0] != 0:
                    bad += 1
                    print(f"{name}: {results[0][2].decode()}")
                for setting, result in zip(SETTINGS, results):
                    if result != results[0]:
                        bad += 1
                        print(f"{name}: other bytes with {setting}: propercal {' '.join(words)}")
        print(f"{len(every)} commands, {bad} differences or failures")
        sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
