"""Whole programs with hostile files that stay as they are.

Valid files of every format, calibrators and states are damaged (bytes, numbers, lines, lengths, tokens
of each format) and given to random command lines.  The program must end with a documented exit code
and one sentence, within a time, and leave no file but those that it was asked for.
"""

from common import Attack, data_files, models, wrong_ending

TOKENS = (b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"", b"4294967296", b"-9223372036854775808",
          b"\x00", b"\xff\xfe", b'"', b"\n\n", b"{", b"[[[[", b"}", b"null", b"1e-320", b"'shape': (99999999999,)")
OUTPUTS = ("out.txt", "out.json", "out.npy", "out.csv", "out.svg", "out.html", "out.c", "out.onnx",
           "out.pcal", "out.md", "out.xml", "out-values.csv", "out-groups.csv", "out-bins.csv")


def gentle(random, data):
    """Another digit in place of one, or another number: most files stay readable."""
    digits = [i for i in range(len(data) // 4, len(data)) if 48 <= data[i] <= 57]
    if not digits:
        return data
    at = random.choice(digits)
    return data[:at] + bytes([48 + random.randrange(10)]) + data[at + 1:]


def damage(random, data):
    """One change of some bytes."""
    if not data:
        return random.choice(TOKENS)
    if random.random() < 0.4:
        return gentle(random, data)
    at = random.randrange(len(data))
    way = random.randrange(8)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]
    if way == 2:
        return data[:at] + random.choice(TOKENS) + data[at:]
    if way == 3:
        return data[:at] + random.choice(TOKENS) + data[at + random.randrange(1, 9):]
    if way == 4:
        end = random.randrange(at, min(len(data), at + 200) + 1)
        return data[:end] + data[at:end] + data[end:]
    if way == 5:
        end = random.randrange(at, min(len(data), at + 200) + 1)
        return data[:at] + data[end:]
    if way == 6:
        lines = data.split(b"\n")
        random.shuffle(lines)
        return b"\n".join(lines)
    return data[:at] + bytes(random.choices((0, 255, 127, 128, 1), k=8)) + data[at + 8:]


def command(random, inputs):
    """A command line; the files that it reads are named in it."""
    metrics = ("ece", "ks", "brier", "smece", "skce", "ace", "sce", "kuiper", "mmce", "all", "default",
               "hosmer-lemeshow", "ece:binning=sweep", "tce-kde")
    figures = ("reliability", "ks-graph", "confidence-histogram", "reliability:band=consistency")
    picks = [
        lambda: ["measure", *inputs, "-m", random.choice(metrics), "--format",
                 random.choice(("text", "json", "csv", "md", "latex", "openmetrics"))],
        lambda: ["measure", "--data", "d.csv", "--every", random.choice(("hour", "day", "month", "year")), "-m",
                 "ece", "--tables", "out", "--fail-if", "ece@worst > 0.5", "--gate-report", "out.xml"],
        lambda: ["measure", *inputs, "--prevalence", "0.2,0.3,0.5", "-m", random.choice(metrics)],
        lambda: ["watch", "w.pcal", *inputs, *random.choice(([], ["--allow-repeat"]))],
        lambda: ["watch", "w.pcal", "--json"],
        lambda: ["measure", *inputs, "--interval", "0.9", "--replicas", "20", "-o", "out.txt"],
        lambda: ["measure", *inputs, "--null", "--replicas", "20", "--state", "out.pcal"],
        lambda: ["fit", *inputs, "-m", random.choice(("temperature", "isotonic", "beta", "vector", "histogram",
                                                      "spline", "platt", "prior-shift:prevalence=0.2/0.3/0.5",
                                                      "conformal-sets")), "-o", "out.json"],
        lambda: ["apply", random.choice(("cal.json", "iso.json", "sets.json")), *inputs, "-o",
                 random.choice(("out.npy", "out.csv"))],
        lambda: ["merge", "s.pcal", "--json"],
        lambda: ["merge", "s.pcal", "s.pcal", "--state", "out.pcal"],
        lambda: ["inspect", *inputs, "--format", random.choice(("text", "json"))],
        lambda: ["plot", random.choice(figures), *inputs, "-o", "out.svg"],
        lambda: ["plot", "drift", "--data", "d.csv", "--every", "month", "-o", "out.svg"],
        lambda: ["report", "--data", "d.csv", "--groups", "groups", "-m", "ece", "--replicas", "20", "-o",
                 "out.html"],
        lambda: ["export", random.choice(("cal.json", "iso.json")), "-o", random.choice(("out.c", "out.onnx"))],
        lambda: ["compare", *inputs, "-m", "temperature", "-m", "isotonic", "--json"],
    ]
    return random.choice(picks)()


def attack(options):
    it = Attack("files", options)
    inputs = data_files(it, rows=60)
    models(it, inputs[0])
    whole = {path.name: path.read_bytes() for path in it.folder.iterdir()}
    while it.goes_on():
        words = command(it.random, it.random.choice(inputs))
        read = [word for word in words if word in whole]
        name = it.random.choice(read)
        data = whole[name]
        for _ in range(it.random.choice((1, 1, 1, 2, 5))):
            data = damage(it.random, data)
        it.write(name, data)
        code, _, err = it.run([*words, "--threads", it.random.choice((1, 2))])
        it.note(f"exit {code}")
        why = wrong_ending(code, err)
        left = {path.name for path in it.folder.iterdir()} - set(whole) - set(OUTPUTS)
        if left:
            why = why or f"left {sorted(left)}"
        if why:
            it.fail(why, words, [it.folder / part for part in read])
        for path in it.folder.iterdir():
            if path.name not in whole:
                path.unlink()
        for changed in {name, "w.pcal"}:  # watch adds to its state
            it.write(changed, whole[changed])
    it.close()
    return it
