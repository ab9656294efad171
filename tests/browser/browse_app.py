#!/usr/bin/env python3
"""The page of web/ in a real browser, from a file and without a network.

    browse_app.py --browser /usr/bin/chromium --page build-web/propercal.html --program build/cli/propercal
                  [--pictures DIR]

  1. each format is read, the guess of the columns is right, and the verdict is the program's
  2. nothing is asked from elsewhere
  3. files to keep have the bytes that the program writes
  4. bad files get the program's own sentences
  5. a run can be cancelled at any moment, while files are read and the program starts too, and another one follows
  6. axe-core finds nothing to mend, the page works by keyboard, and nothing reaches beyond a narrow screen
  7. outcomes that are words need the name of the event; yes/no questions get clinical metrics; all have their titles
  8. files that arrive during a run wait for its end
  9. files compressed by gzip and zstd are read as the plain ones
 10. 200,000 rows of ten probabilities as CSV take less than two seconds of a processor
 11. a run shows its progress
 12. the table of a repair has the numbers of the program
 13. Tab goes through everything that can be used, in the order of the page, and the place is marked
 14. columns are guessed by their names, and of classes by rows that sum to 1; weights and groups are asked for
 15. the files that can be chosen are those that the program reads
 16. a program that cannot be compiled or started, and a file that cannot be read, give a sentence
 17. a report has the method that was fitted, not the one that is chosen since
 18. files whose names become equal are kept apart
 19. values of large tables come at once, intervals when asked for
 20. what a sentence asks for can be said on the page: percentages, whether the first line has names, outcomes that are words and
     missing values of JSON lines; of columns with the same name each can be chosen
 21. where there is a network, the page and its workers are forbidden to use it, and the page says so
"""

import argparse
import base64
import gzip
import http.server
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import zipfile
import zlib

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "examples" / "digits"
sys.path.append(str(ROOT / "tests" / "systems"))
from packed_table import PACKED, PLAIN  # noqa: E402

WAIT = 90_000  # milliseconds; machines of tests are busy

SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


SECONDS = 2.0  # of a processor, for the large table
DROP = """(text) => {
  const files = new DataTransfer();
  files.items.add(new File([text], "dropped here.csv"));
  document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
}"""


# Drops a file with a name that no dialog would offer.
DROP_TEXT = """() => {
  const files = new DataTransfer();
  files.items.add(new File(["risk,died\\n0.5,1\\n"], "notes.txt"));
  document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
}"""

# Starts the digits and cancels after some milliseconds; null: as soon as the page works.
START_AND_CANCEL = """(after) => {
  document.getElementById("try-digits").click();
  setTimeout(() => document.getElementById("cancel").click(), after);
}"""

# What runs before the script of each worker.
BEFORE_WORKER = """(text) => {
  const Usual = Blob;
  window.Blob = class extends Usual {
    constructor(parts, options) {
      super(options?.type === "text/javascript" ? [text, ...parts] : parts, options);
    }
  };
}"""

CHOSEN = """() => {
  const names = (id) => [...document.getElementById(id).selectedOptions].map((option) => option.text).join(",");
  return [names("kind").split(" ")[0], names("scores"), names("labels"), names("weights"), names("groups")];
}"""

# Keeps each text that an element shows.
WATCH = """(id) => {
  window.shown = [];
  new MutationObserver(() => window.shown.push(document.getElementById(id).textContent))
    .observe(document.getElementById(id), { childList: true, characterData: true, subtree: true });
}"""

# What can be used by keyboard now, in the order of the page, by id or text.
USABLE = """() => {
  window.nameOf = (each) => each.id || each.closest("[data-name]")?.dataset.name || each.textContent.trim();
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']");
  return [...all].filter((each) => each.checkVisibility() && !each.disabled).map(nameOf);
}"""
FOCUSED = """() => {
  const at = document.activeElement, style = getComputedStyle(at);
  return at === document.body ? null : [nameOf(at), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
}"""


class Case:
    def __init__(self, arguments, browser, folder):
        self.arguments, self.folder, self.browser = arguments, folder, browser
        self.context = browser.new_context(accept_downloads=True, offline=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.asked, self.errors = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.goto(arguments.page.resolve().as_uri())

    def load(self, *names):
        self.page.evaluate("for (const id of ['columns', 'problem']) document.getElementById(id).hidden = true")  # of files before
        with self.page.expect_file_chooser() as chooser:
            self.page.click("#files")
        chooser.value.set_files([self.folder / name for name in names])
        self.page.wait_for_selector("#columns:visible, #problem:visible")
        self.page.wait_for_selector("#work", state="hidden")

    def measure(self):
        self.page.click("#measure")
        self.page.wait_for_selector("#result:visible, #problem:visible")
        self.page.wait_for_selector("#work", state="hidden")

    def processor_seconds(self):
        """Time that processors have spent on pages; other programs do not disturb it much."""
        about = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        return sum(process["cpuTime"] for process in about if process["type"] == "renderer")

    def accessible(self, when):
        found = Axe().run(self.page).response["violations"]
        assert not found, (when, [(rule["id"], [node["html"][:100] for node in rule["nodes"]]) for rule in found])

    def text(self, selector):
        return self.page.inner_text(selector)

    def program(self, *words):
        command = [self.arguments.program.resolve(), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, check=False)

    def same_bytes(self, name, words):
        """A download has the bytes that a command writes."""
        done = self.program(*words, "-o", name)
        assert done.returncode == 0, (name, done.stderr)
        with self.page.expect_download() as download:
            self.page.click(f"[data-name='{name}'] a")
        got = pathlib.Path(download.value.path()).read_bytes()
        assert got == (self.folder / name).read_bytes(), f"{name}: other bytes than the program's"

    def verdict(self, *inputs, interval=("--interval", "0.95")):
        done = self.program("measure", *inputs, *interval, "--json")
        return json.loads(done.stdout)["verdict"].split("\n")[0]

    def end(self):
        elsewhere = [url for url in self.asked if not url.startswith(("file:", "blob:", "data:"))]
        assert not elsewhere, f"asked from elsewhere: {elsewhere}"
        assert not self.errors, f"errors on the page: {self.errors}"
        self.context.close()


def write_files(folder):
    """The digits in each format, and files with mistakes."""
    draw = random.Random(7)
    rows = []
    for _ in range(600):
        risk = draw.random()
        rows.append((round(risk, 4), int(draw.random() < risk**2)))
    table = "patient,risk,died\n" + "".join(f"{i},{p},{y}\n" for i, (p, y) in enumerate(rows))
    (folder / "risk.csv").write_text(table, encoding="utf-8")
    lines = [json.dumps({"probs": [1 - p, p], "labels": y}) for p, y in rows]
    (folder / "risk.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "bad.csv").write_text("risk,died\n0.5,1\n1.7,0\n0.2,0\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    for name in ("logits_test.npy", "labels_test.npy"):
        (folder / name).write_bytes((DIGITS / name).read_bytes())
    (folder / "risk.tsv").write_text(table.replace(",", "\t"), encoding="utf-8")
    large = ["p,y"] + [f"{draw.random():.6f},{draw.randrange(2)}" for _ in range(200_000)]
    (folder / "large.csv").write_text("\n".join(large) + "\n", encoding="utf-8")
    with zipfile.ZipFile(folder / "digits.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(DIGITS / "logits_test.npy", "logits.npy")
        archive.write(DIGITS / "labels_test.npy", "labels.npy")


def write_wide(path):
    """200,000 rows of ten probabilities and a label."""
    draw = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(f"p{k}" for k in range(10)) + ",y\n")
        for _ in range(200_000):
            parts = [1 + int(draw.random() ** 3 * 99_000) for _ in range(9)]
            parts.append(1_000_000 - sum(parts))
            file.write(",".join(f"{part / 1e6:.6f}" for part in parts) + f",{draw.randrange(10)}\n")


INPUTS = {
    ("risk.csv",): ("--probs", "risk.csv:risk", "--labels", "risk.csv:died"),
    ("risk.tsv",): ("--probs", "risk.tsv:risk", "--labels", "risk.tsv:died"),
    ("risk.jsonl",): ("--probs", "risk.jsonl:probs", "--labels", "risk.jsonl:labels"),
    ("digits.npz",): ("--logits", "digits.npz:logits", "--labels", "digits.npz:labels"),
    ("logits_test.npy", "labels_test.npy"): ("--logits", "logits_test.npy", "--labels", "labels_test.npy"),
}


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


def fitted(case):
    """The report after another method was chosen, but not fitted."""
    names, inputs = next(iter(INPUTS.items()))
    case.load(*names)
    case.measure()
    case.page.select_option("#method", "beta")
    case.page.click("#repair")
    case.page.wait_for_selector("#repaired:visible")
    case.page.wait_for_selector("#work", state="hidden")
    case.page.select_option("#method", "isotonic")
    case.page.click("#make-report")
    case.page.wait_for_selector("[data-name='report.html']")
    case.same_bytes("report.html", ("report", *inputs, "--method", "beta"))
    assert "(beta)" in case.text("[data-name='calibrator.json']")
    case.measure()
    case.page.click("#make-report")
    case.page.wait_for_selector("[data-name='report.html']")
    case.same_bytes("report.html", ("report", *inputs))


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


# What fails in a worker: what the page says.
FAILURES = {
    "WebAssembly.compile = async () => { throw new WebAssembly.CompileError('no vectors'); };":
        "this browser cannot run the program in this page (no vectors); it needs Chrome or Edge 97, Firefox 113, Safari 16.4, or a later version",
    "WebAssembly = undefined;": None,
    "throw new Error('no worker');": None,
    "WebAssembly.Instance = function () { throw new RangeError('could not allocate memory'); };":
        "the page failed (could not allocate memory); the data may need more memory than a browser gives",
    "const usual = postMessage; postMessage = (data) => { if (data.code === 0) throw new RangeError('no room'); usual(data); };":
        "the page failed (no room); the data may need more memory than a browser gives",
}


def failures(case):
    for before, sentence in FAILURES.items():
        case.page.reload()
        case.page.evaluate(BEFORE_WORKER, before)
        case.load("risk.csv")
        said = case.text("#problem")
        assert said == sentence if sentence else said.startswith("this browser cannot run the program in this page ("), (before, said)
        assert case.page.is_enabled("#try-digits")
        case.errors.clear()  # of the worker that throws
    case.page.reload()
    case.page.evaluate("() => { File.prototype.arrayBuffer = async () => { throw new Error('it was moved'); }; }")
    case.load("risk.csv")
    assert case.text("#problem") == "risk.csv cannot be read (it was moved); choose it again"


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


def write_middle(case):
    lines = (case.folder / "large.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (case.folder / "middle.csv").write_text("".join(lines[:10_001]), encoding="utf-8")


def waiting(case):
    write_middle(case)
    case.load("middle.csv")
    case.page.click("#measure")
    case.page.evaluate(DROP, (case.folder / "risk.csv").read_text(encoding="utf-8"))
    case.page.wait_for_selector("#loaded:has-text('dropped_here.csv: 600 rows')")
    case.page.wait_for_selector("#work", state="hidden")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)])


def cancelling(case):
    case.load("large.csv")
    case.page.click("#measure")
    case.page.wait_for_selector("#cancel:visible")
    case.page.click("#cancel")
    case.page.wait_for_selector("#work", state="hidden")
    assert case.text("#loaded") == "Cancelled."
    case.load("risk.csv")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)])


def cancelling_early(case):
    """While the program is unpacked and compiled, and while files are read."""
    for after in (0, 1, 5, 30, 100, 300):
        case.page.reload()
        case.page.evaluate(START_AND_CANCEL, after)
        case.page.wait_for_timeout(after + 50)
        case.page.wait_for_selector("#work", state="hidden")
        assert case.text("#loaded") in ("Cancelled.", "logits_test.npy, labels_test.npy: 797 rows"), (after, case.text("#loaded"))
        case.load("risk.csv")
        case.measure()
        assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)]), after
    case.page.reload()
    case.page.evaluate("() => { window.usual = File.prototype.arrayBuffer; File.prototype.arrayBuffer = () => new Promise(() => {}); }")
    case.page.set_input_files("#files", [case.folder / "risk.tsv"])
    case.page.click("#cancel")
    case.page.wait_for_selector("#work", state="hidden")
    assert case.text("#loaded") == "Cancelled." and case.page.is_enabled("#try-digits")
    case.page.evaluate("() => { File.prototype.arrayBuffer = window.usual; }")
    case.load("risk.csv")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)])


def intervals_later(case):
    """30,000 rows of eleven probabilities: cancelled, values stay; then intervals are computed."""
    draw = random.Random(9)
    with open(case.folder / "broad.csv", "w", encoding="utf-8") as file:
        file.write(",".join(f"p{k}" for k in range(11)) + ",y\n")
        for _ in range(30_000):
            parts = [1 + draw.randrange(900) for _ in range(10)]
            file.write(",".join(f"{part / 10_000:.4f}" for part in [*parts, 10_000 - sum(parts)]) + f",{draw.randrange(11)}\n")
    inputs = ("--probs", "broad.csv:p0..p10", "--labels", "broad.csv:y")
    case.load("broad.csv")
    case.measure()
    values = case.text("#metrics")
    assert case.text("#verdict-first") == case.verdict(*inputs, interval=())
    case.page.click("#add-intervals")
    case.page.click("#cancel")
    case.page.wait_for_selector("#work", state="hidden")
    assert case.text("#metrics") == values and case.page.is_visible("#add-intervals")
    case.page.click("#add-intervals")
    case.page.wait_for_selector("#add-intervals", state="hidden")
    case.page.wait_for_selector("#work", state="hidden")
    assert case.text("#verdict-first") == case.verdict(*inputs)
    about = json.loads(case.program("measure", *inputs, "--interval", "0.95", "--json").stdout)
    shown = case.page.locator("#metrics tbody tr td:last-child").all_inner_texts()
    for text, result in zip(shown, about["results"]):
        ends = result.get("interval")
        assert text == "" if not ends else all(map(written, text.split(" to "), (ends["low"], ends["high"]))), (text, result)
    assert case.page.evaluate("document.activeElement.id") == "metrics-region"
    case.same_bytes("reliability.svg", ("plot", "reliability", *inputs))


def large_table(case):
    write_wide(case.folder / "wide.csv")
    case.load("risk.csv")  # starts the program
    case.measure()
    before = case.processor_seconds()
    case.load("wide.csv")
    case.measure()
    took = case.processor_seconds() - before
    print(f"200,000 x 10: {took:.2f} s of a processor", flush=True)
    assert case.text("#verdict-first") == case.verdict("--probs", "wide.csv:p0..p9", "--labels", "wide.csv:y", interval=())
    assert case.page.is_visible("#no-intervals")
    assert took < SECONDS, f"{took:.2f} s"


def dropped(case):
    case.page.evaluate(DROP, (case.folder / "risk.csv").read_text(encoding="utf-8"))
    case.page.wait_for_selector("#columns:visible")
    case.page.wait_for_selector("#work", state="hidden")
    case.measure()
    assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)])
    assert "dropped_here.csv:risk" in case.page.text_content("#commands")


def pasted_and_keyboard(case):
    case.page.click("summary >> nth=0")
    case.page.fill("#pasted", (case.folder / "risk.csv").read_text(encoding="utf-8"))
    case.page.focus("#use-pasted")
    case.page.keyboard.press("Enter")
    case.page.wait_for_selector("#columns:visible")
    case.page.wait_for_selector("#work", state="hidden")
    assert case.page.evaluate("document.activeElement.id") == "columns-title"
    case.page.focus("#measure")
    case.page.keyboard.press("Enter")
    case.page.wait_for_selector("#result:visible")
    assert case.page.evaluate("document.activeElement.id") == "result-title"


def pasted_cells(case):
    """Cells of a spreadsheet: separated by tabs, with decimal points or commas."""
    text = (case.folder / "risk.csv").read_text(encoding="utf-8").replace(",", "\t")
    case.page.click("summary >> nth=0")
    for pasted, name in ((text, "pasted.tsv"), (text.replace(".", ","), "pasted.csv")):
        case.page.evaluate("for (const id of ['columns', 'result']) document.getElementById(id).hidden = true")
        case.page.fill("#pasted", pasted)
        case.page.click("#use-pasted")
        case.page.wait_for_selector("#columns:visible, #problem:visible")
        case.page.wait_for_selector("#work", state="hidden")
        case.measure()
        assert case.page.is_visible("#result"), (name, case.text("#problem"))
        assert case.text("#verdict-first") == case.verdict(*INPUTS[("risk.csv",)]), name
        assert f"{name}:risk" in case.page.text_content("#commands")


def looks(case):
    case.accessible("at first")
    case.load("empty.csv")
    case.accessible("with a problem")
    case.page.click("#try-digits")
    case.page.wait_for_selector("#columns:visible, #problem:visible")
    case.page.wait_for_selector("#work", state="hidden")
    for theme in ("light", "dark"):
        case.page.emulate_media(color_scheme=theme)
        case.measure()
        case.page.click("#repair")
        case.page.wait_for_selector("#repaired:visible")
        case.page.wait_for_selector("#work", state="hidden")
        case.accessible(theme)
        for width in (1100, 360):
            case.page.set_viewport_size({"width": width, "height": 900})
            assert case.page.evaluate(SIDEWAYS) <= 0, f"reaches beyond {width} pixels"
            if case.arguments.pictures:
                case.arguments.pictures.mkdir(parents=True, exist_ok=True)
                case.page.screenshot(path=case.arguments.pictures / f"app-{theme}-{width}.png", full_page=True)


def long_names(case):
    """Of files, columns and groups, on a phone."""
    long = "a_name_without_any_space_" * 6
    text = (case.folder / "risk.csv").read_text(encoding="utf-8")
    lines = [f"{line},{long if i else 'site'}{i % 2 if i else ''}" for i, line in enumerate(text.splitlines())]
    (case.folder / f"{long}.csv").write_text("\n".join(lines).replace("risk", f"risk_{long}", 1) + "\n", encoding="utf-8")
    (case.folder / f"bad_{long}.csv").write_bytes((case.folder / "bad.csv").read_bytes())
    case.page.set_viewport_size({"width": 360, "height": 740})
    for name in (long, f"bad_{long}"):
        case.load(f"{name}.csv")
        if name == long:
            case.page.select_option("#groups", index=4)
        case.measure()
        assert case.page.is_visible("#result") == (name == long), case.text("#problem")
        assert case.page.evaluate(SIDEWAYS) <= 0, f"{name} reaches beyond the screen"


def progress(case):
    """Of a run of more than half a second, from which on the program draws it: intervals of 10,000 rows."""
    write_middle(case)
    case.load("middle.csv")
    case.page.evaluate(WATCH, "progress")
    case.measure()
    shown = case.page.evaluate("window.shown")
    assert any(re.fullmatch(r"\w.* \d+%( +\d+ (s|min|h) left)?", text) for text in shown), shown


def written(text, value):
    """Whether a text has the first three digits of a number."""
    return abs(float(text) - value) <= 0.00501 * abs(value)


def change(case):
    """Before, after and the improvement of each metric."""
    for names in (("risk.csv",), ("logits_test.npy", "labels_test.npy")):
        inputs = INPUTS[names]
        case.load(*names)
        case.measure()
        method = case.page.input_value("#method")
        case.page.click("#repair")
        case.page.wait_for_selector("#repaired:visible")
        case.page.wait_for_selector("#work", state="hidden")
        about = json.loads(case.program("compare", *inputs, "--method", method, "--json").stdout)
        before, after = (next(row for row in about["methods"] if row["name"] == name) for name in ("identity", method))
        rows = case.page.locator("#change tbody tr").all()
        assert len(rows) == len(after["metrics"]) >= 5
        for row, (name, value) in zip(rows, after["metrics"].items()):
            cells = row.locator("th, td").all_inner_texts()
            better = after["improvement"][name]
            expected = [before["metrics"][name], value, better["value"], better["low"], better["high"]]
            numbers = [*cells[1:3], *re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", cells[3]).groups()]
            assert cells[0].split()[0] == name and all(map(written, numbers, expected)), (cells, expected)
        assert f"({about['folds']} folds)" in case.text("#repair-text")


def tabs(case):
    case.load("risk.csv")
    case.measure()
    case.page.click("#repair")
    case.page.wait_for_selector("#repaired:visible")
    case.page.wait_for_selector("#work", state="hidden")
    for summary in case.page.locator("summary").all():
        summary.click()
    expected = case.page.evaluate(USABLE)
    case.page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    case.page.mouse.click(1, 1)
    found = []
    for _ in range(len(expected) + 1):
        case.page.keyboard.press("Tab")
        found.append(case.page.evaluate(FOCUSED))
    assert found.pop() is None, "Tab does not leave the page at its end"
    assert [name for name, _ in found] == expected, ([name for name, _ in found], expected)
    assert all(marked for _, marked in found), found


class Server:
    """A server on this computer that counts what it is asked."""

    def __enter__(self):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


# Asks a server by a call, a picture, and a worker; the directives of the policy that forbade it.
ASK = """async (url) => {
  const broken = [];
  document.addEventListener("securitypolicyviolation", (event) => broken.push(event.effectiveDirective));
  const asked = await fetch(url, { mode: "no-cors" }).then(() => "reached", () => "refused");
  const picture = new Promise((done) => {
    const image = new Image();
    image.onload = image.onerror = done;
    image.src = url + "picture";
  });
  await picture;
  const code = `fetch("${url}worker", { mode: "no-cors" }).then(() => postMessage("reached"), () => postMessage("refused"))`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  const answer = await new Promise((done) => { worker.onmessage = (event) => done(event.data); });
  return [asked, answer, [...new Set(broken)].sort()];
}"""


def forbidden(case):
    assert "Nothing leaves this computer" in case.text("header")
    context = case.browser.new_context()
    with Server() as server:
        page = context.new_page()
        page.goto(server.url + "free")  # the server can be reached from here
        page.goto(case.arguments.page.resolve().as_uri())
        assert page.evaluate(ASK, server.url) == ["refused", "refused", ["connect-src", "img-src"]]
        assert server.asked[0] == "/free" and set(server.asked) <= {"/free", "/favicon.ico"}, server.asked
    context.close()


TESTS = (
    each_format, titles, compressed, arrow_table, downloads, bad_files, missing_values, remedies, equal_columns, guesses, weights_and_groups, fitted, equal_names, offered, failures, words, waiting,
    cancelling, cancelling_early, intervals_later, large_table, dropped, pasted_and_keyboard, pasted_cells, looks, long_names, progress, change, tabs, forbidden,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--browser", "--page", "--program"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--only", help="run the tests whose name contains this")
    arguments = parser.parse_args()
    tests = [test for test in TESTS if not arguments.only or arguments.only in test.__name__]
    if not tests:
        parser.error(f"no test has {arguments.only} in its name: {' '.join(test.__name__ for test in TESTS)}")
    failed = passed = 0
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=str(arguments.browser), args=["--no-sandbox"])
        write_files(pathlib.Path(folder))
        for test in tests:
            try:
                case = Case(arguments, browser, pathlib.Path(folder))
                test(case)
                case.end()
                passed += 1
            except Exception:  # the next test runs all the same
                traceback.print_exc(limit=3)
                print(case.errors, case.page.text_content("#problem"))
                print(f"failed: {test.__name__}")
                failed += 1
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
