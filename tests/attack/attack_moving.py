"""Files that change while they are read: overwritten in place, cut, emptied, grown, replaced, made
unreadable.

Numbers may be wrong then; the program must still end with a documented exit code, within a time.
"""

import mmap
import os
import subprocess
import threading
import time

from common import PATIENCE, Attack, data_files, models, wrong_ending

METRICS = ("sce", "sce", "cwce", "cwce", "smece", "smece", "ece", "ks", "ace", "tace", "gce", "mmce", "skce", "tce-kde", "kuiper",
           "all", "default")
METHODS = ("temperature", "isotonic", "histogram", "spline", "beta", "vector", "venn-abers", "bbq", "conformal-sets",
           "prior-shift")


def command(random, inputs):
    picks = [
        lambda: ["measure", *inputs, "-m", random.choice(METRICS)],
        lambda: ["measure", *inputs, "-m", random.choice(METRICS)],
        lambda: ["measure", *inputs, "-m", random.choice(METRICS)],
        lambda: ["measure", *inputs, "--interval", "0.9", "--replicas", "20"],
        lambda: ["fit", *inputs, "-m", random.choice(METHODS)],
        lambda: ["apply", "cal.json", *inputs, "-o", "out.npy"],
        lambda: ["inspect", *inputs],
        lambda: ["plot", "reliability", *inputs, "-o", "out.svg"],
        lambda: ["merge", "s.pcal"],
        lambda: ["watch", "w.pcal", *inputs, "--allow-repeat"],
        lambda: ["measure", "--data", "d.csv", "--every", "day", "-m", "ece"],
    ]
    return random.choice(picks)()


ODD = (b"\xff" * 8, b"\0" * 8, b"\0\0\xc0\x7f" * 2, b"\0\0\0\0\0\0\xf8\x7f", b"\0\0\x80\x7f" * 2, b"\xff\xff\x7f\xff" * 2,
       b"\0\0\x80\x3f" * 2, b"\0\0\0\0\0\0\xf0\xbf")


def overwrite(random, path, data, stop):
    """A tight writer: NaN, infinities, negative and other numbers all over the file, and back again."""
    head = 128 if path.suffix == ".npy" else 64
    with open(path, "r+b") as stream, mmap.mmap(stream.fileno(), 0) as view:
        places = [head + 8 * random.randrange((len(data) - head) // 8) for _ in range(64)]
        while not stop.is_set():
            for at in places:
                view[at:at + 8] = random.choice(ODD)
            for at in places:
                view[at:at + 8] = data[at:at + 8]


def disturb(random, path, data, stop):
    """Changes a file again and again until the program has ended."""
    head = 128 if path.suffix == ".npy" else 64
    while not stop.is_set():
        way = random.randrange(6)
        try:
            with open(path, "r+b") as stream:
                if way <= 2:
                    stream.seek(random.randrange(head, len(data)))
                    stream.write(bytes(random.choices((0, 255, 127, 128, 63, 240), k=8)) * random.randrange(1, 200))
                elif way == 3:
                    stream.truncate(random.randrange(len(data)))
                elif way == 4:
                    stream.truncate(0)
                    stream.write(data)
                else:
                    stream.seek(0, os.SEEK_END)
                    stream.write(data[head:])
        except OSError:
            pass
        time.sleep(random.random() * 0.002)


def one(it, words, path, data):
    stop = threading.Event()
    process = subprocess.Popen([it.program, *words], cwd=it.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    change = overwrite if it.random.random() < 0.6 else disturb
    writer = threading.Thread(target=change, args=(it.random, path, data, stop))
    writer.start()
    try:
        _, err = process.communicate(timeout=PATIENCE)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        code, err = None, b""
    stop.set()
    writer.join()
    it.note(f"exit {code}")
    return wrong_ending(code, err)


def attack(options):
    it = Attack("moving", options)
    inputs = data_files(it, rows=6000, classes=5)
    models(it, inputs[0])
    whole = {path.name: path.read_bytes() for path in it.folder.iterdir()}
    while it.goes_on():
        words = command(it.random, it.random.choice([*inputs[1:3], *inputs]))
        name = it.random.choice([word for word in words if word in whole])
        why = one(it, words, it.folder / name, whole[name])
        if why:
            it.fail(why, words)
        for changed in {name, "w.pcal"}:  # watch adds to its state
            it.write(changed, whole[changed])
    it.close()
    return it
