"""Failing allocations: in each command the n-th one fails, for n spread over all of them, alone or
with every later one.

The program must end with exit code 6 and a sentence, or succeed with the output of an undisturbed
run (libc falls back where it can); never crash, hang, or leave a file changed.
"""

import os

from common import Attack, data_files, models, wrong_ending

COMMANDS = (
    ["measure", "--data", "d.csv", "--json"],
    ["measure", "--logits", "z.npy", "--labels", "y.npy", "-m", "all", "--json"],
    ["measure", "--data", "d.npz", "--interval", "0.9", "--replicas", "20", "--json"],
    ["measure", "--data", "d.jsonl", "--state", "out.pcal", "--json"],
    ["measure", "--data", "d.csv", "--format", "md", "-o", "out.md"],
    ["fit", "--data", "d.csv", "-m", "temperature", "-o", "out.json"],
    ["fit", "--data", "d.csv", "-m", "isotonic", "-o", "out.json"],
    ["apply", "cal.json", "--data", "d.csv", "-o", "out.npy"],
    ["apply", "sets.json", "--data", "d.csv", "-o", "out.csv"],
    ["merge", "s.pcal", "--json"],
    ["measure", "--data", "d.csv.gz", "--every", "month", "-m", "brier", "--json"],
    ["measure", "--data", "d.arrows", "-m", "brier", "--format", "openmetrics"],
    ["measure", "--data", "d.csv", "--groups", "groups", "-m", "ece", "--format", "latex", "--tables", "out"],
    ["measure", "--data", "d.csv", "--groups", "groups", "-m", "ece", "--prevalence", "0.2,0.3,0.5", "--fail-if",
     "ece@worst > 1", "--gate-report", "out.xml"],
    ["fit", "--data", "d.csv", "-m", "prior-shift:prevalence=0.2/0.3/0.5", "-o", "out.json"],
    ["watch", "out.pcal", "--data", "d.csv", "--alpha", "1e-12", "--json"],
    ["inspect", "--data", "d.csv", "--json"],
    ["export", "cal.json", "-o", "out.c"],
    ["export", "cal.json", "-o", "out.onnx"],
    ["plot", "reliability", "--data", "d.csv", "-o", "out.svg"],
    ["report", "--data", "d.csv", "-m", "ece", "--replicas", "20", "-o", "out.html"],
    ["list", "metrics", "--json"],
    ["simulate", "--rows", "50", "--classes", "3", "-o", "out.csv"],
)


def outputs(it, words):
    """The files that a command was asked for, and their bytes."""
    return {path.name: path.read_bytes() for path in it.folder.iterdir()
            if path.name in words or "--tables" in words and path.name.startswith("out-")
            if path.name.startswith("out")}


def remove_outputs(it):
    for path in it.folder.glob("out*"):
        path.unlink()


def undisturbed(it, words, shim):
    remove_outputs(it)
    count = it.folder / "count"
    code, out, err = it.run([*words, "--threads", "1"], {"LD_PRELOAD": shim, "FAIL_COUNT": str(count)})
    if code != 0:
        raise SystemExit(f"attack: {' '.join(words)}: {err.decode()}")
    total = int(count.read_text())
    count.unlink()
    return total, out, outputs(it, words)


def one(it, words, shim, expected):
    """One run in which an allocation fails; what was wrong with it, or None."""
    total, out, files = expected
    at = it.random.randrange(1, total + 1)
    env = {"LD_PRELOAD": shim, "FAIL_AT": str(at)}
    if it.random.random() < 0.5:
        env["FAIL_ALL"] = "1"
    remove_outputs(it)
    code, got, err = it.run([*words, "--threads", "1"], env)
    it.note(f"exit {code}")
    why = wrong_ending(code, err)
    if why is None and code == 0 and (got, outputs(it, words)) != (out, files):
        why = "ends well with another output"
    if why is None and code not in (0, 6):
        why = f"exit code {code} in place of 6: {err.decode(errors='replace').strip()}"
    if why is None and code == 6 and any(files[name] != data for name, data in outputs(it, words).items()):
        why = "leaves half an output behind an error"
    return f"{why} (allocation {at} of {total}{', and all later ones' if 'FAIL_ALL' in env else ''})" if why else None


def attack(options):
    it = Attack("memory", options)
    shim = os.path.abspath(options.shim) if options.shim else ""
    if not os.path.exists(shim):
        it.close()
        it.left_out = "the shared object that makes malloc fail was not built"
        return it
    inputs = data_files(it, rows=60)
    models(it, inputs[0])
    expected = {}
    while it.goes_on():
        number = it.random.randrange(len(COMMANDS))
        words = COMMANDS[number]
        if number not in expected:
            expected[number] = undisturbed(it, words, shim)
        why = one(it, words, shim, expected[number])
        if why:
            it.fail(why, words)
    it.close()
    return it
