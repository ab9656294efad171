"""The page of web/ in a browser without a network, and what its tests use of it."""

import json
import pathlib
import random
import subprocess
import zipfile

from axe_playwright_python.sync_playwright import Axe

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "examples" / "digits"
WAIT = 90_000  # milliseconds; machines of tests are busy


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


# What measure takes for files of write_files.
INPUTS = {
    ("risk.csv",): ("--probs", "risk.csv:risk", "--labels", "risk.csv:died"),
    ("risk.tsv",): ("--probs", "risk.tsv:risk", "--labels", "risk.tsv:died"),
    ("risk.jsonl",): ("--probs", "risk.jsonl:probs", "--labels", "risk.jsonl:labels"),
    ("digits.npz",): ("--logits", "digits.npz:logits", "--labels", "digits.npz:labels"),
    ("logits_test.npy", "labels_test.npy"): ("--logits", "logits_test.npy", "--labels", "labels_test.npy"),
}


def written(text, value):
    """Whether a text has the first three digits of a number."""
    return abs(float(text) - value) <= 0.00501 * abs(value)
