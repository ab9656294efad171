"""Kills while writing: a command that replaces files is ended by SIGKILL or SIGTERM at a random time.

Each output must be the old file or the new one, whole; outputs of one command are all old or all
new; nothing else may be left.
"""

import os
import signal
import subprocess
import time

from common import Attack, data_files, models

COMMANDS = (
    (["measure", "--data", "d.csv", "--json", "-o", "out.json"], ["out.json"]),
    (["measure", "--data", "d.csv", "--state", "out.pcal", "-o", "out.txt"], ["out.pcal", "out.txt"]),
    (["measure", "--data", "d.csv", "--groups", "groups", "-m", "ece", "--tables", "out", "--state", "out.pcal", "--fail-if",
      "ece@worst > 1", "--gate-report", "out.xml", "-o", "out.txt"],
     ["out-values.csv", "out-groups.csv", "out-bins.csv", "out.pcal", "out.xml", "out.txt"]),
    (["fit", "--data", "d.csv", "-o", "out.json"], ["out.json"]),
    (["apply", "cal.json", "--logits", "z.npy", "-o", "out.npy"], ["out.npy"]),
    (["plot", "reliability", "--data", "d.csv", "-o", "out.svg"], ["out.svg"]),
    (["report", "--data", "d.csv", "-m", "ece", "--replicas", "20", "-o", "out.html"], ["out.html"]),
    (["simulate", "--rows", "4000", "--classes", "10", "-o", "out"], ["out_logits.npy", "out_labels.npy"]),
    (["simulate", "--rows", "4000", "--classes", "10", "-o", "out.npz"], ["out.npz"]),
)
OLD = b"old\n"


def complete(it, words, names):
    """The new bytes of all outputs, and how long they take."""
    start = time.monotonic()
    code, _, err = it.run(words)
    if code != 0:
        raise SystemExit(f"attack: {' '.join(words)}: {err.decode()}")
    return {name: (it.folder / name).read_bytes() for name in names}, time.monotonic() - start


def one(it, words, new, seconds):
    for name in new:
        it.write(name, OLD)
    before = {path.name for path in it.folder.iterdir()}
    kind = it.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
    process = subprocess.Popen([it.program, *words], cwd=it.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(it.random.random() * 1.2 * seconds)
    os.kill(process.pid, kind)
    code = process.wait()
    for name in new:  # the next command that opens a file finishes its pending renames
        subprocess.run([it.program, "inspect", name], cwd=it.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    now = {name: (it.folder / name).read_bytes() if (it.folder / name).exists() else None for name in new}
    left = {path.name for path in it.folder.iterdir()} - before
    states = {"old" if data == OLD else "new" if data == new[name] else "broken" for name, data in now.items()}
    it.note(f"{'done' if code == 0 else 'ended'}, {'/'.join(sorted(states))}")
    for name in left:
        (it.folder / name).unlink()
    if "broken" in states:
        return "an output is neither the old nor the new file"
    if len(states) > 1:
        return "of two outputs one is old and one new"
    if left and kind != signal.SIGKILL:
        return f"left {sorted(left)} behind SIGTERM"
    if any(not name.startswith(".") for name in left):
        return f"left {sorted(left)}"
    return None


def attack(options):
    it = Attack("kills", options)
    inputs = data_files(it, rows=400)
    models(it, inputs[0])
    known = {}
    while it.goes_on():
        number = it.random.randrange(len(COMMANDS))
        words, names = COMMANDS[number]
        if number not in known:
            known[number] = complete(it, words, names)
        why = one(it, words, *known[number])
        if why:
            it.fail(why, words)
    it.close()
    return it
