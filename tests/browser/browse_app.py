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
import http.server
import json
import pathlib
import random
import re
import sys
import tempfile
import threading
import traceback

from playwright.sync_api import sync_playwright

from app_case import INPUTS, Case, write_files, written
from app_files import (
    arrow_table, bad_files, compressed, downloads, each_format, equal_columns, equal_names, guesses, missing_values, offered,
    remedies, titles, weights_and_groups, words,
)

SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
SECONDS = 2.0  # of a processor, for the large table
DROP = """(text) => {
  const files = new DataTransfer();
  files.items.add(new File([text], "dropped here.csv"));
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


def write_wide(path):
    """200,000 rows of ten probabilities and a label."""
    draw = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(f"p{k}" for k in range(10)) + ",y\n")
        for _ in range(200_000):
            parts = [1 + int(draw.random() ** 3 * 99_000) for _ in range(9)]
            parts.append(1_000_000 - sum(parts))
            file.write(",".join(f"{part / 1e6:.6f}" for part in parts) + f",{draw.randrange(10)}\n")


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
    each_format, titles, compressed, arrow_table, downloads, bad_files, missing_values, remedies, equal_columns,
    guesses, weights_and_groups, fitted, equal_names, offered, failures, words, waiting, cancelling, cancelling_early,
    intervals_later, large_table, dropped, pasted_and_keyboard, pasted_cells, looks, long_names, progress, change, tabs,
    forbidden,
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
