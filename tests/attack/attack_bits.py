"""Random configurations: threads, batches (parts that are merged), order of rows and file formats must
not show in a single byte of the results.
"""

from common import Attack, csv_text, npy_bytes, over_confident

METRICS = ("accuracy", "brier", "log", "ece", "ece:binning=mass", "mce", "rmsce", "sce", "ace", "tace", "tce",
           "cwce", "ks", "smece", "kuiper", "ks-test", "spiegelhalter", "hosmer-lemeshow", "decomposition")
METHODS = ("temperature", "ets", "vector", "beta", "isotonic", "histogram", "spline", "platt", "bbq",
           "venn-abers", "temperature:objective=ece")


def make(it, rows, classes, seed, order):
    logits, labels = over_confident(rows, classes, seed)
    weights = [1 + (17 * i) % 4 for i in range(rows)]
    table = [(logits[i], labels[i], weights[i]) for i in order]
    names = [f"logits.{c}" for c in range(classes)]
    it.write("z.npy", npy_bytes("<f4", [row for row, _, _ in table]))
    it.write("y.npy", npy_bytes("<i4", [label for _, label, _ in table]))
    it.write("w.npy", npy_bytes("<f8", [float(weight) for _, _, weight in table]))
    flat = [[*row, label, weight] for row, label, weight in table]
    it.write("d.csv", csv_text([*names, "labels", "weights"], flat).encode())


def inputs(it, weighted, text):
    if text:
        names = ["--logits", "d.csv:logits.0.." + f"logits.{it.classes - 1}", "--labels", "d.csv:labels"]
        return names + (["--weights", "d.csv:weights"] if weighted else [])
    return ["--logits", "z.npy", "--labels", "y.npy"] + (["--weights", "w.npy"] if weighted else [])


def result(it, words):
    code, out, err = it.run([*words, "--threads", it.random.choice((1, 2, 3, 7, 16))])
    if code != 0:
        raise SystemExit(f"attack: {' '.join(words)}: exit code {code}: {err.decode()}")
    return out


def merged(it, rows, words):
    """The results of parts, measured apart and merged in any order."""
    cuts = sorted({0, rows, *(it.random.randrange(1, rows) for _ in range(it.random.randrange(1, 5)))})
    lines = (it.folder / "d.csv").read_text().splitlines(True)
    names = []
    for begin, end in zip(cuts, cuts[1:]):
        name = f"part{begin}.pcal"
        (it.folder / "part.csv").write_text(lines[0] + "".join(lines[1 + begin:1 + end]))
        result(it, [*(word.replace("d.csv", "part.csv") for word in words), "--first-row", begin,
                    "--state", name])
        names.append(name)
    it.random.shuffle(names)
    out = result(it, ["merge", *names, "--json"])
    for name in names:
        (it.folder / name).unlink()
    return out


def one(it):
    rows, it.classes = it.random.choice((50, 700, 3000)), it.random.choice((2, 3, 10))
    seed, weighted = it.random.randrange(1000), it.random.random() < 0.3
    order = list(range(rows))
    make(it, rows, it.classes, seed, order)
    metrics = it.random.sample(METRICS, 3)
    measure = ["measure", *inputs(it, weighted, True), *(w for m in metrics for w in ("-m", m)), "--json"]
    fit = ["fit", *inputs(it, weighted, False), "-m", it.random.choice(METHODS), "-o", "-", "-q"]
    first = result(it, measure), result(it, fit)
    apart = merged(it, rows, measure)
    it.random.shuffle(order)
    make(it, rows, it.classes, seed, order)
    second = result(it, measure), result(it, fit)
    it.note("compared")
    if apart != first[0]:
        return "merged parts give other bytes", measure
    if second[0] != first[0]:
        return "another order of rows gives other results", measure
    if second[1] != first[1]:
        return "another order of rows gives another calibrator", fit
    return None, None


def attack(options):
    it = Attack("bits", options)
    while it.goes_on():
        why, words = one(it)
        if why:
            it.fail(why, words, list(it.folder.iterdir()))
    it.close()
    return it
