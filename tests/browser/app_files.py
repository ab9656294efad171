"""Tests of browse_app.py: files that the page reads, columns that it guesses, sentences about both."""

import base64
import gzip
import json
import random
import re
import sys
import zlib

from app_case import DIGITS, INPUTS, ROOT, written

sys.path.append(str(ROOT / "tests" / "systems"))
from packed_table import PACKED, PLAIN  # noqa: E402

# Drops a file with a name that no dialog would offer.
DROP_TEXT = """() => {
  const files = new DataTransfer();
  files.items.add(new File(["risk,died\\n0.5,1\\n"], "notes.txt"));
  document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
}"""

CHOSEN = """() => {
  const names = (id) => [...document.getElementById(id).selectedOptions].map((option) => option.text).join(",");
  return [names("kind").split(" ")[0], names("scores"), names("labels"), names("weights"), names("groups")];
}"""


def titles(case):
    """Of metrics of classes, not of those of predicted numbers with the same name."""
    listed = json.loads(case.program("list", "metrics", "--json").stdout)["rows"]
    titles = {row["name"]: row["title"] for row in listed if row["task"] != "regression"}
    case.load("logits_test.npy", "labels_test.npy")
    case.measure()
    shown = case.page.locator("#metrics tbody th").all_inner_texts()
    names = [text.split()[0] for text in shown]
    assert "log" in names and shown == [f"{name} {titles[name]}" for name in names], shown


def each_format(case):
    for names, inputs in INPUTS.items():
        case.load(*names)
        case.measure()
        commands = case.text("#commands") or case.page.text_content("#commands")
        assert " ".join(("measure", *inputs)) in commands, (names, commands, case.text("#problem"))
        assert case.text("#verdict-first") == case.verdict(*inputs), names


def compressed(case):
    (case.folder / "t.csv").write_text(PLAIN, encoding="ascii")
    (case.folder / "t.csv.gz").write_bytes(gzip.compress(PLAIN.encode("ascii")))
    (case.folder / "t.csv.zst").write_bytes(PACKED)
    verdict = case.verdict("--probs", "t.csv:probs", "--labels", "t.csv:labels")
    for name in ("t.csv.gz", "t.csv.zst"):
        case.load(name)
        case.measure()
        assert case.text("#verdict-first") == verdict, (name, case.text("#problem"))


def arrow_table(case):
    """Columns of a table of Arrow, with outcomes that are words: the file of tests/cli/measure/streams.test."""
    text = (ROOT / "tests" / "cli" / "measure" / "streams.test").read_text(encoding="utf-8")
    packed = re.search(r'^file words\.arrows = .*b64decode\("([^"]+)"\)', text, re.M).group(1)
    (case.folder / "words.arrows").write_bytes(zlib.decompress(base64.b64decode(packed)))
    case.load("words.arrows")
    assert case.page.evaluate(CHOSEN)[:3] == ["probabilities", "probs.cat,probs.dog", "labels"], case.page.evaluate(CHOSEN)
    inputs = ("--probs", "words.arrows:probs.cat,probs.dog", "--labels", "words.arrows:labels")
    sentence = case.program("measure", *inputs).stderr.decode().split("\n")[0].removeprefix("propercal: ")
    case.measure()
    assert case.text("#problem") == sentence, (case.text("#problem"), sentence)


def downloads(case):
    names, inputs = next(iter(INPUTS.items()))
    case.load(*names)
    case.measure()
    method = case.page.input_value("#method")
    case.page.click("#repair")
    case.page.wait_for_selector("#repaired:visible")
    case.page.wait_for_selector("#work", state="hidden")
    case.page.click("#make-report")
    case.page.wait_for_selector("[data-name='report.html']")
    case.page.click("#make-sheet")
    case.page.wait_for_selector("[data-name='sheet.html']")
    outputs = {
        "reliability.svg": ("plot", "reliability", *inputs),
        "calibrator.json": ("fit", *inputs, "--method", method),
        "calibrator.c": ("export", "calibrator.json"),
        "calibrator.onnx": ("export", "calibrator.json"),
        "report.html": ("report", *inputs, "--method", method),
        "sheet.html": ("report", "--preset", "clinical", *inputs),
    }
    for name, words in outputs.items():
        case.same_bytes(name, words)


def write_bad_files(folder):
    """Files with mistakes: name, and what follows `measure` if they can be described, else None."""
    labels = (DIGITS / "labels_test.npy").read_bytes()
    (folder / "cut.npy").write_bytes((DIGITS / "logits_test.npy").read_bytes()[:5000])
    (folder / "head.npy").write_bytes(labels[:20])
    packed = (folder / "digits.npz").read_bytes()
    (folder / "cut.npz").write_bytes(packed[: len(packed) // 2])
    (folder / "torn.npz").write_bytes(packed[:200] + b"propercal" + packed[209:])
    (folder / "nothing.npz").write_bytes(b"PK\x05\x06" + bytes(18))
    (folder / "lines.jsonl").write_text('{"probs": 0.5, "labels": 1}\n{"probs": 0.5, "labels"\n', encoding="utf-8")
    (folder / "fields.jsonl").write_text('{"probs": 0.5, "labels": 1}\n{"probs": 0.5}\n', encoding="utf-8")
    (folder / "missing.csv").write_text("p0,p1,y\n0.5,0.5,1\n0.25,0.75,\n", encoding="utf-8")
    (folder / "range.csv").write_text("p0,p1,y\n0.5,0.5,1\n0.25,0.75,7\n", encoding="utf-8")
    (folder / "torn.csv").write_text("risk,died\n0.5,1\n0.25\n", encoding="utf-8")
    (folder / "torn.csv.gz").write_bytes(gzip.compress(b"risk,died\n0.5,1\n" * 100)[:40])
    return {
        "bad.csv": ("--probs", "bad.csv:risk", "--labels", "bad.csv:died"),
        "empty.csv": None,
        "cut.npy": None,
        "head.npy": None,
        "cut.npz": None,
        "nothing.npz": None,
        "lines.jsonl": ("--probs", "lines.jsonl:probs", "--labels", "lines.jsonl:labels"),
        "fields.jsonl": ("--probs", "fields.jsonl:probs", "--labels", "fields.jsonl:labels"),
        "missing.csv": ("--probs", "missing.csv:p0,p1", "--labels", "missing.csv:y"),
        "range.csv": ("--probs", "range.csv:p0,p1", "--labels", "range.csv:y"),
        "torn.csv": None,
        "torn.csv.gz": None,
    }


def bad_files(case):
    for name, inputs in write_bad_files(case.folder).items():
        case.load(name)
        if inputs:
            assert not case.page.is_visible("#problem"), (name, case.text("#problem"))
            case.measure()
        done = case.program(*(("measure", *inputs) if inputs else ("inspect", name)))
        sentence = done.stderr.decode().split("\n")[0].removeprefix("propercal: ")
        assert done.returncode != 0 and case.text("#problem") == sentence, (name, case.text("#problem"), sentence)
    case.load("torn.npz")  # one of its arrays can be read
    sentence = case.program("inspect", "torn.npz:logits").stderr.decode().split("\n")[0].removeprefix("propercal: ")
    assert case.text("#broken") == sentence, (case.text("#broken"), sentence)


def missing_values(case):
    """A value that nobody asks for does not matter; rows without one that is needed can be left out."""
    lines = (case.folder / "risk.csv").read_text(encoding="utf-8").splitlines()
    rows = [line + (",7" if i % 2 else ",") for i, line in enumerate(lines[1:])]
    (case.folder / "gaps.csv").write_text("\n".join([lines[0] + ",bmi", *rows]) + "\n", encoding="utf-8")
    inputs = ("--probs", "gaps.csv:risk", "--labels", "gaps.csv:died")
    case.load("gaps.csv")
    assert not case.page.is_visible("#skip")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*inputs), case.text("#problem")
    (case.folder / "gaps.csv").write_text("\n".join([lines[0], *lines[1:], "7,,1"]) + "\n", encoding="utf-8")
    case.load("gaps.csv")
    case.page.check("#skip")
    case.accessible("with missing values")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*inputs, "--skip-missing"), case.text("#problem")


def remedies(case):
    """Files that are refused with a sentence, and what to do on the page."""
    rows = [line.split(",") for line in (case.folder / "risk.csv").read_text(encoding="utf-8").splitlines()[1:]]
    files = {
        "percent.csv": ["risk,died", *(f"{100 * float(p):.2f},{y}" for _, p, y in rows)],
        "hard.csv": ["0,1", *(f"{round(float(p))},{y}" for _, p, y in rows)],
        "words.jsonl": [json.dumps({"risk": float(p), "died": "yes" if y == "1" else "no"}) for _, p, y in rows],
        "gaps.jsonl": [json.dumps({"risk": float(p) if i != "0" else None, "died": int(y)}) for i, p, y in rows],
    }
    for name, lines in files.items():
        (case.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    page = case.page
    for name, columns, act, words in (
        ("percent.csv", ("risk", "died"), lambda: page.check("#percent"), ("--scale", "percent")),
        ("words.jsonl", ("risk", "died"), lambda: page.fill("#event", "yes"), ("--positive", "yes")),
        ("gaps.jsonl", ("risk", "died"), lambda: page.check("#skip"), ("--skip-missing",)),
        ("hard.csv", ("0", "1"), lambda: page.select_option("#header", "no"), ("--header", "no")),
    ):
        inputs = ("--probs", f"{name}:{columns[0]}", "--labels", f"{name}:{columns[1]}")
        case.load(name)
        if not page.is_visible("#problem"):
            case.measure()
        sentence = case.program("measure", *inputs).stderr.decode().split("\n")[0].removeprefix("propercal: ")
        assert sentence and case.text("#problem") == sentence, (name, case.text("#problem"), sentence)
        act()
        page.wait_for_selector("#work", state="hidden")
        case.accessible(name)
        if name == "hard.csv":  # no probabilities between 0 and 1: nothing to guess by
            page.select_option("#kind", "probs")
            page.select_option("#scores", label="column 0")
            page.select_option("#labels", label="column 1")
        case.measure()
        assert case.text("#verdict-first") == case.verdict(*inputs, *words), (name, case.text("#problem"))
        page.click("#repair")
        page.wait_for_selector("#repaired:visible, #problem:visible")
        page.wait_for_selector("#work", state="hidden")
        case.same_bytes("calibrator.json", ("fit", *inputs, *words, "--method", page.input_value("#method")))
    case.load("risk.csv")
    assert not page.is_visible("#header") and not page.is_visible("#percent") and not page.is_checked("#percent")


def equal_columns(case):
    lines = (case.folder / "risk.csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [f"{float(p) / 2},{p},{y}" for _, p, y in (line.split(",") for line in lines)]
    (case.folder / "twice.csv").write_text("\n".join(["risk,risk,died", *rows]) + "\n", encoding="utf-8")
    case.load("twice.csv")
    assert case.page.evaluate(CHOSEN)[1:3] == ["risk (column 0)", "died"], case.page.evaluate(CHOSEN)
    case.page.select_option("#scores", label="risk (column 1)")
    case.measure()
    assert case.text("#verdict-first") == case.verdict("--probs", "twice.csv:1", "--labels", "twice.csv:died"), case.text("#problem")


def table(draw, names):
    """A table whose columns have these names; each row is drawn once."""
    rows = []
    for _ in range(40):
        risk, female = round(draw.random(), 3), draw.randrange(2)
        first, second = sorted(draw.randrange(1, 999) for _ in range(2))
        died = int(draw.random() < risk)
        rows.append({
            "age": draw.randrange(20, 90), "female": female, "male": 1 - female, "diabetes": draw.randrange(2), "risk": risk, "risk_b": round(draw.random(), 3),
            "died": died, "weight": round(draw.random(), 2), "site": draw.choice("ABC"), "patient_id": draw.randrange(1000), "p_died": risk,
            "p_alive": round(1 - risk, 3), "p0": first / 1000, "p1": (second - first) / 1000, "p2": (1000 - second) / 1000, "truth": draw.randrange(3),
            "hdl": round(draw.random(), 2), "z0": draw.gauss(0, 1), "z1": draw.gauss(0, 1), "z2": draw.gauss(0, 1),
        })
    return ",".join(names) + "\n" + "".join(",".join(str(row[name]) for name in names) + "\n" for row in rows)

# Columns of tables: what the page chooses of them.
GUESSES = {
    "age,female,diabetes,risk,died": ("probabilities", "risk", "died"),
    "risk,weight,died": ("probabilities", "risk", "died"),
    "patient_id,weight,male,female,p_died,site,died": ("probabilities", "p_died", "died"),
    "age,p0,p1,p2,truth": ("probabilities", "p0,p1,p2", "truth"),
    "female,p_alive,p_died,died": ("probabilities", "p_alive,p_died", "died"),
    "hdl,risk,risk_b,died,age": ("probabilities", "risk", "died"),
    "z0,z1,z2,truth": ("logits", "z0,z1,z2", "truth"),
}


def guesses(case):
    for names, expected in GUESSES.items():
        (case.folder / "guess.csv").write_text(table(random.Random(5), names.split(",")), encoding="utf-8")
        case.load("guess.csv")
        assert case.page.evaluate(CHOSEN) == [*expected, "none", "none"], (names, case.page.evaluate(CHOSEN))
        assert case.text("#guess") == "This is a guess; please check it."
        case.measure()
        assert case.page.is_visible("#result"), (names, case.text("#problem"))
    (case.folder / "guess.csv").write_text(table(random.Random(5), ["age", "female"]), encoding="utf-8")
    case.load("guess.csv")
    assert case.text("#guess") == "Not all of it could be guessed; please choose."
    for sentence, choose in (("choose at least one column of predictions", "#scores"), ("choose the column of what really happened", "#labels")):
        case.measure()
        assert case.text("#problem") == sentence
        case.page.select_option(choose, label="female")
    case.measure()
    assert case.text("#problem") == "choose different columns for the predictions and for what really happened"
    case.load("logits_test.npy", "labels_test.npy")
    assert case.page.evaluate(CHOSEN)[:3] == ["logits", "logits_test.npy: whole array, 10 columns", "labels_test.npy: whole array, 1 column"]


def weights_and_groups(case):
    names = ["patient_id", "risk", "weight", "site", "died"]
    (case.folder / "sites.csv").write_text(table(random.Random(6), names), encoding="utf-8")
    inputs = ("--probs", "sites.csv:risk", "--labels", "sites.csv:died", "--weights", "sites.csv:weight")
    groups = ("--groups", "sites.csv:site")
    case.load("sites.csv")
    for select, option in (("weights", "weight"), ("groups", "site")):
        texts = case.page.locator(f"#{select} option").all_inner_texts()
        assert texts[0] == "none" and [text for text in texts if "suggested" in text] == [f"{option} (suggested by its name)"], texts
        case.page.select_option(f"#{select}", label=f"{option} (suggested by its name)")
    case.measure()
    about = json.loads(case.program("measure", *inputs, *groups, "--metric", "clinical", "--metric", "default", "--interval", "0.95", "--json").stdout)
    assert case.text("#verdict-first") == about["verdict"].split("\n")[0]
    assert case.text("#used") == "Rows are weighted by weight. Groups are those of site."
    for name in ("ece", "auc"):
        case.page.select_option("#by-metric", name)
        expected = next(result for result in about["results"] if result["metric"] == name)["groups"]
        rows = case.page.locator("#by-group tbody tr").all()
        assert [row.locator("th").inner_text() for row in rows] == list(expected)
        for row, group in zip(rows, expected.values()):
            weight, value, _ = row.locator("td").all_inner_texts()
            assert written(weight, group["weight"]) and written(value, group["value"]), (weight, value, group)
    case.accessible("with groups")
    case.page.select_option("#method", "beta")
    case.page.click("#repair")
    case.page.wait_for_selector("#repaired:visible, #problem:visible")
    case.page.wait_for_selector("#work", state="hidden")
    for button, name in (("#make-report", "report.html"), ("#make-sheet", "sheet.html")):
        case.page.click(button)
        case.page.wait_for_selector(f"[data-name='{name}']")
        case.page.wait_for_selector("#work", state="hidden")
    outputs = {
        "reliability.svg": ("plot", "reliability", *inputs),
        "groups.svg": ("plot", "reliability", *inputs, *groups),
        "calibrator.json": ("fit", *inputs, "--method", "beta"),
        "report.html": ("report", *inputs, *groups, "--method", "beta"),
        "sheet.html": ("report", "--preset", "clinical", *inputs, *groups),
    }
    for name, command in outputs.items():
        case.same_bytes(name, command)


def equal_names(case):
    lines = (case.folder / "risk.csv").read_text(encoding="utf-8").splitlines()
    for name, column in (("a b.csv", 1), ("a_b.csv", 2)):
        (case.folder / name).write_text("".join(line.split(",")[column] + "\n" for line in lines), encoding="utf-8")
    case.load("a b.csv", "a_b.csv")
    assert case.text("#loaded") == "a_b.csv, a_b-2.csv (a_b.csv): 600 rows"
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)]), case.text("#problem")
    assert "--probs a_b.csv:risk --labels a_b-2.csv:died" in case.page.text_content("#commands")


def offered(case):
    """The extensions are those of the formats, and of compression."""
    registry = (ROOT / "src" / "io" / "formats" / "registry.def").read_text(encoding="utf-8")
    extensions = {"." + word for words in re.findall(r'^PC_\w+\(\w+, "([a-z|]+)"', registry, re.M) for word in words.split("|")}
    offers = case.page.get_attribute("#files", "accept").split(",")
    assert set(offers) == extensions | {".gz", ".zst"}, (offers, extensions)
    case.page.evaluate(DROP_TEXT)
    case.page.wait_for_selector("#problem:visible")
    assert case.text("#problem") == f"notes.txt is none of the files that this page reads ({' '.join(offers)}); save its table as CSV, or paste it"


def words(case):
    """Outcomes "yes" and "no"."""
    text = (case.folder / "risk.csv").read_text(encoding="utf-8")
    lines = text.replace(",1\n", ",yes\n").replace(",0\n", ",no\n")
    (case.folder / "words.csv").write_text(lines, encoding="utf-8")
    inputs = ("--probs", "words.csv:risk", "--labels", "words.csv:died")
    case.load("words.csv")
    case.measure()
    sentence = case.program("measure", *inputs).stderr.decode().split("\n")[0].removeprefix("propercal: ")
    assert case.text("#problem") == sentence, (case.text("#problem"), sentence)
    case.page.fill("#event", "yes")
    case.accessible("with an event")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*inputs, "--positive", "yes")
    rows = case.text("#metrics")
    assert "calibration-slope" in rows and "area under the ROC curve" in rows, rows
    case.load("logits_test.npy", "labels_test.npy")
    case.measure()
    assert not case.page.is_visible("#make-sheet") and "calibration-slope" not in case.text("#metrics")
