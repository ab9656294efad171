#!/usr/bin/env python3
"""Names from an enemy through every verb and format.

    hostile_names.py PROGRAM [CASE...]

One list of names goes through files, specs, groups, classes, columns, models, titles and flags.
Whatever the program prints is then read by the rules of its form: no control character, no
character that turns the direction of writing, nothing but UTF-8; JSON that parses; CSV with as many
cells in every line and no formula; Markdown tables with as many cells in every line and no HTML; HTML
and SVG with no element or attribute that we did not write; C that compiles; LaTeX tables with as many
cells in every line and no command that we did not write; OpenMetrics and JUnit XML that parse.
"""

import csv
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree

# As bytes, since some are not UTF-8.  NUL and / cannot stand in a file name.
NAMES = [
    b"a\x1b[31mb\x1b]0;x\x07",
    b"a\xc2\x9b31m\xc2\x85b",
    b"two\nlines\r\tand",
    b"quote\"'`back`\\slash",
    b"=1+1",
    b"+cmd|' /C calc'!A0",
    b"-2+3",
    b"@SUM(A1)",
    b"a|b*c_d[e](f)~$x$",
    b"<script>alert(1)</script>",
    b"\"><img src=x onerror=alert(1)>",
    b"]]>&lt;*/--><!--",
    b"a\xe2\x80\xaeb\xe2\x81\xa6c\xe2\x80\xa8",
    "\ufeffa\u200bb\u200dc\u2060\u00ad\u3164\U000e0041".encode(),
    b"x" * 300,
    b"$(touch owned);`touch owned`",
    b"%s%n%d{0}",
]
BROKEN = [b"caf\xe9\xff\x80", b"\xed\xa0\x80\xc0\xaf"]
HIDDEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
                    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]")

FAULTS = []
COUNT = 0


def fault(what, command, shown=""):
    FAULTS.append(f"{what}: {ascii(command)}: {ascii(shown)[:300]}")


# ---- What each form may hold ----


def check_plain(text, command, what):
    """Neither control characters but line ends, nor anything that hides."""
    for letter in text:
        if letter != "\n" and unicodedata.category(letter) in ("Cc", "Cs", "Cn"):
            fault(f"{what} holds U+{ord(letter):04X}", command, text)
            return
    if HIDDEN.search(text):
        fault(f"{what} holds what is not seen or turns the direction of writing", command, text)


def check_json(text, command):
    try:
        json.loads(text)
    except ValueError as error:
        fault(f"JSON does not parse ({error})", command, text)


def is_number(cell):
    return re.fullmatch(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|inf|nan)", cell) is not None


def check_csv(text, command):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) > 1:
        fault("CSV lines differ in length", command, text)
    for row in rows:
        for cell in row:
            if cell[:1] in "=+-@\t\r" and cell and not is_number(cell):
                fault("a CSV cell is a formula", command, cell)
            check_plain(cell.replace("\r", "").replace("\t", ""), command, "a CSV cell")


def check_markdown(text, command):
    check_plain(text, command, "Markdown")
    body = re.sub(r"```.*?```", "", text, flags=re.S)
    if re.search(r"<[a-zA-Z/!]", re.sub(r"`[^`\n]*`", "", body)):
        fault("Markdown holds HTML", command, text)
    width = 0
    for line in text.split("\n"):
        cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) if line.startswith("|") else 0
        if cells and width and cells != width:
            fault("lines of a Markdown table differ in length", command, line)
        width = cells


class Page(html.parser.HTMLParser):
    ours = set()

    def __init__(self, command):
        super().__init__()
        self.command, self.open = command, None

    def handle_starttag(self, tag, attributes):
        self.open = tag
        if tag == "img" or any(name.startswith("on") for name, _ in attributes):
            fault(f"HTML holds <{tag} {attributes}>", self.command)

    def handle_data(self, data):
        if self.open == "script" and "alert(1)" in data and "<script>" in data:
            fault("HTML holds a script of a name", self.command, data)


def check_html(text, command):
    check_plain(text, command, "HTML")
    Page(command).feed(text)
    if text.count("<script") != text.count("</script"):
        fault("HTML has a script that does not end", command)


def check_svg(text, command):
    check_plain(text, command, "SVG")
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        fault(f"SVG does not parse ({error})", command, text)
        return
    for node in root.iter():
        if node.tag.endswith(("script", "img")) or any(name.startswith("on") for name in node.attrib):
            fault(f"SVG holds {node.tag}", command)


def check_c(text, command):
    check_plain(text, command, "C")
    if shutil.which("cc"):
        done = subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-x", "c", "-"],
                              input=text.encode(), capture_output=True)
        if done.returncode != 0:
            fault("C does not compile", command, done.stderr.decode("utf-8", "replace"))


LATEX_COMMANDS = {"toprule", "midrule", "bottomrule", "begin", "end", "usepackage", "textbf", "multicolumn", "texttt",
                  "textbackslash", "textasciitilde", "textasciicircum", "textquotesingle", "textless", "textgreater",
                  "textbar", "textquotedbl", "textasciigrave", "pm", "times", "cdot", "chi", "ge", "le", "alpha",
                  "emph", "textit", "mathrm", "addlinespace", "label", "caption", "centering", "quad"}


def check_latex(text, command):
    check_plain(text, command, "LaTeX")
    width = 0
    for line in text.split("\n"):
        if line.startswith("%"):
            continue
        if re.search(r"(?<!\\)(?:\\\\)*[%#~^]", line) or line.lstrip().startswith("["):
            fault("LaTeX holds a character that has a meaning", command, line)
        for word in re.findall(r"\\([a-zA-Z]+)", line):
            if word not in LATEX_COMMANDS:
                fault(f"LaTeX holds \\{word}", command, line)
        plain = re.sub(r"\\.", "", line)
        if plain.count("{") != plain.count("}") or plain.count("$") % 2:
            fault("LaTeX has a group that does not end", command, line)
        cells = plain.count("&") if line.endswith("\\\\") and "multicolumn" not in line else 0
        if cells and width and cells != width:
            fault("lines of a LaTeX table differ in length", command, line)
        width = cells or (0 if "tabular" in line else width)


SAMPLE = re.compile(r'[a-z_]+\{([a-z_]+="([^"\\]|\\[\\n"])*",?)*\} (NaN|[-+0-9.e]+|[-+]Inf)')


def check_openmetrics(text, command):
    for line in text.split("\n")[:-1]:
        if not line.startswith("# ") and not SAMPLE.fullmatch(line):
            fault("a line of OpenMetrics does not parse", command, line)


def check_xml(text, command):
    check_plain(text, command, "XML")
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        fault(f"XML does not parse ({error})", command, text)
        return
    if {node.tag for node in root.iter()} - {"testsuite", "testcase", "failure"}:
        fault("XML holds an element of a name", command, text)


CHECKS = {"latex": check_latex, "openmetrics": check_openmetrics, "xml": check_xml, "json": check_json, "csv": check_csv, "md": check_markdown, "html": check_html,
          "svg": check_svg, "c": check_c, "text": lambda text, command: None}


# ---- Running ----


class Bench:
    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = tempfile.mkdtemp(prefix="propercal-hostile-")
        self.number = 0

    def write(self, name, data):
        with open(os.path.join(os.fsencode(self.folder), name), "wb") as file:
            file.write(data)

    def run(self, form, *words, made=None, codes=(0,)):
        """Runs a command and checks what it prints and writes."""
        global COUNT
        COUNT += 1
        command = [self.program.encode(), *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode not in codes:
            fault(f"exit code {done.returncode}", words, done.stderr.decode("utf-8", "replace"))
        self.judge("standard error", done.stderr, "text", words)
        if done.returncode == 0:
            self.judge("standard output", done.stdout, "text" if made else form, words)
        if made and done.returncode in codes:
            with open(os.path.join(os.fsencode(self.folder), made), "rb") as file:
                self.judge("a file", file.read(), form, words)
        if os.path.exists(os.path.join(self.folder, "owned")):
            fault("a shell has run a name", words)

    def judge(self, what, data, form, words):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            fault(f"{what} is not UTF-8", words, data.decode("latin-1"))
            return
        if form not in ("csv",):
            check_plain(text, words, what)
        CHECKS[form](text, words)


def csv_cell(name):
    return b'"' + name.replace(b'"', b'""') + b'"'


def data_file(name, rows=60):
    """A CSV file: hostile class, group and column names."""
    classes = [name + b"0", name + b"1", b"plain"]
    lines = [b",".join([*map(csv_cell, classes), b"label", b"site"])]
    for i in range(rows):
        scores = [(i * 7 % 11) / 4, (i * 5 % 7) / 3, (i * 3 % 5) / 2]
        label = classes[(i * i + i // 3) % 3]
        cells = [*(str(s).encode() for s in scores), csv_cell(label),
                 csv_cell(name if i % 2 else b"other")]
        lines.append(b",".join(cells))
    return b"\n".join(lines) + b"\n"


def inputs(file):
    return [b"--logits", file + b":0..2", b"--labels", file + b":label"]


def through_verbs(bench, name):
    """Names of classes, groups and columns, and of models, titles and files in reports."""
    bench.write(b"d.csv", data_file(name))
    given = inputs(b"d.csv")
    grouped = [*given, b"--groups", b"d.csv:site"]
    for form in ("text", "json", "csv", "md"):
        bench.run(form, b"measure", *grouped, b"-m", b"ece", b"-m", b"brier", b"--format",
                  form.encode())
    bench.run("text", b"measure", *grouped, b"-m", b"brier", b"--state", b"s.pcal", b"-o", b"m.txt")
    bench.run("md", b"merge", b"s.pcal", b"--format", b"md")
    bench.run("text", b"fit", *grouped, b"-o", b"cal.json")
    bench.run("json", b"fit", *given, b"-o", b"plain.json", b"--json")
    bench.run("csv", b"apply", b"plain.json", b"--logits", b"d.csv:0..2", b"-o", b"out.csv",
              made=b"out.csv")
    # Names that hold nothing unsafe find their columns again.
    back = (0, 3) if re.search(rb"[\x00-\x08\x0b-\x1f\xc2\xe2\xef\xf3]", name) else (0,)
    bench.run("json", b"measure", b"--probs", b"out.csv", b"--labels", b"d.csv:label", b"-m",
              b"brier", b"--json", codes=back)
    bench.run("c", b"export", b"plain.json", b"-o", b"out.c", made=b"out.c")
    bench.run("c", b"export", b"plain.json", b"--name", name[:40], b"-o", b"out.c", codes=(0, 2))
    for form in ("text", "json"):
        bench.run(form, b"inspect", b"d.csv", b"--format", form.encode(), codes=(0, 3))
        bench.run(form, b"inspect", *grouped, b"--format", form.encode(), codes=(0, 3))
    if b"=" not in name:
        for form in ("text", "json", "csv", "md"):
            bench.run(form, b"compare", b"--model", name + b"=logits:d.csv:0..2", b"--model",
                      b"b=logits:d.csv:0..2", b"--labels", b"d.csv:label", b"--replicas", b"20",
                      b"--by", b"brier", b"--format", form.encode())
    bench.run("svg", b"plot", b"reliability-classwise", *given, b"--title", name, b"-o", b"f.svg",
              b"--replicas", b"20", made=b"f.svg")
    for form in ("html", "md", "json"):
        bench.run(form, b"report", *given, b"--title", name, b"-m", b"ece", b"--replicas", b"20",
                  b"--calibrator", b"plain.json", b"-o", b"r.out", b"--format", form.encode(),
                  made=b"r.out")


def through_newer(bench, name):
    """Names of groups in comparisons with a baseline, in events and in rounds."""
    bench.write(b"d.csv", data_file(name))
    grouped = [*inputs(b"d.csv"), b"--groups", b"d.csv:site"]
    bench.run("text", b"measure", *grouped, b"-m", b"brier", b"--interval", b"0.9", b"--json", b"-o",
              b"base.json")
    for form in ("text", "json", "csv", "md"):
        bench.run(form, b"measure", *grouped, b"-m", b"brier", b"--interval", b"0.9", b"--baseline", b"base.json", b"--format",
                  form.encode(), codes=(0, 1))
    bench.run("xml", b"measure", *grouped, b"-m", b"brier", b"-q", b"--interval", b"0.9", b"--baseline", b"base.json",
              b"--annotate", b"--gate-report", b"g.xml", made=b"g.xml", codes=(0, 1))
    bench.run("json", b"measure", b"--mean", b"d.csv:0", b"--std", b"d.csv:2", b"--target", b"d.csv:0", b"--groups",
              b"d.csv:site", b"--event", b"> 1", b"-m", b"brier", b"--json", codes=(0, 3))
    records = [{"z": [1.5 * (i % 3), 0.5, -1.0], "y": i % 3, "site": name.decode() if i % 2 else "plain"} for i in range(12)]
    bench.write(b"d.jsonl", "".join(json.dumps(row) + "\n" for row in records).encode())
    for form in ("text", "json", "csv", "md", "html"):
        bench.run(form, b"measure" if form != "html" else b"report", b"--logits", b"d.jsonl:z", b"--labels", b"d.jsonl:y",
                  b"--groups", b"d.jsonl:site", b"-m", b"brier", b"--format", form.encode(),
                  *([b"-o", b"j.out"] if form == "html" else []), made=b"j.out" if form == "html" else None)
    folder = os.path.join(bench.folder, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    bench.run("text", b"rounds", b"new", b"run", b"--parts", b"1", b"--kind", b"logits", b"-m", b"brier", b"-m", b"ks")
    for _ in range(2):
        bench.run("text", b"rounds", b"answer", b"run", b"--part", b"1", *grouped)
        bench.run("text", b"rounds", b"next", b"run")
    for form in ("text", "json", "csv", "md", "latex"):
        bench.run(form, b"rounds", b"result", b"run", b"--format", form.encode())


def check_annotations(bench, name, words):
    """Annotations have one line for each failed gate, whatever the names hold."""
    done = subprocess.run([bench.program, *words], cwd=bench.folder, capture_output=True)
    lines = [line for line in done.stderr.split(b"\n") if line.lstrip().startswith(b"::")]
    if len(lines) != 2 or not all(line.startswith(b"::error title=propercal gate::") for line in lines):
        fault("annotations differ from the failed gates", words, done.stderr.decode("latin-1"))


def through_outputs(bench, name):
    """Names of groups, classes and models in LaTeX, OpenMetrics, gate reports, tables, watch and figures of groups."""
    bench.write(b"d.csv", data_file(name))
    given = inputs(b"d.csv")
    grouped = [*given, b"--groups", b"d.csv:site"]
    for form in ("latex", "openmetrics"):
        bench.run(form, b"measure", *grouped, b"-m", b"ece", b"-m", b"brier", b"--format", form.encode())
    gates = [b"measure", *grouped, b"-m", b"brier", b"-q", b"--fail-if", b"brier@each > 0"]
    bench.run("json", *gates, b"--gate-report", b"g.json", made=b"g.json", codes=(1,))
    bench.run("xml", *gates, b"--gate-report", b"g.xml", b"--annotate", made=b"g.xml", codes=(1,))
    check_annotations(bench, name, [*gates, b"--annotate"])
    bench.run("text", b"measure", *given, b"--fail-if", b"brier@" + name + b" > 0", codes=(1, 2))
    bench.run("csv", b"measure", *grouped, b"-m", b"brier", b"-q", b"--tables", b"t", made=b"t-groups.csv")
    bench.run("svg", b"plot", b"reliability", *grouped, b"-o", b"g.svg", b"--replicas", b"20", made=b"g.svg")
    bench.run("svg", b"plot", b"drift:metric=brier", *grouped, b"-o", b"g.svg", made=b"g.svg")
    for form in ("html", "md", "json"):
        bench.run(form, b"report", *grouped, b"-m", b"brier", b"--replicas", b"20", b"-o", b"r.out", b"--format",
                  form.encode(), made=b"r.out")
    if b"=" not in name:
        bench.run("latex", b"compare", b"--model", name + b"=logits:d.csv:0..2", b"--model", b"b=logits:d.csv:0..2",
                  b"--labels", b"d.csv:label", b"--replicas", b"20", b"--by", b"brier", b"--format", b"latex")
        bench.run("svg", b"plot", b"reliability", b"--model", name + b"=logits:d.csv:0..2", b"--model",
                  b"b=logits:d.csv:0..2", b"--labels", b"d.csv:label", b"-o", b"m.svg", made=b"m.svg")
    bench.run("text", b"fit", *given, b"-m", b"conformal-sets", b"-o", b"sets.json")
    bench.run("csv", b"apply", b"sets.json", b"--logits", b"d.csv:0..2", b"-o", b"out.csv", made=b"out.csv")
    for form in ("text", "json", "md"):
        bench.run(form, b"watch", b"w.pcal", *given, b"--allow-repeat", b"--format", form.encode(), codes=(0, 1, 2))


def through_files(bench, name):
    """Names of files, read, written, and missing."""
    bench.write(b"d.csv", data_file(b"c"))
    if len(name) < 200:
        bench.write(name + b".csv", data_file(b"c"))
        given = inputs(name + b".csv")
        bench.run("text", b"inspect", b"--", name + b".csv", codes=(0, 3))
        bench.run("json", b"inspect", b"--json", b"--", name + b".csv", codes=(0, 3))
        bench.run("text", b"fit", *given, b"-o", name + b".json")
        for form in ("html", "md", "json"):
            bench.run(form, b"report", *given, b"-m", b"brier", b"--replicas", b"20",
                      b"--calibrator", name + b".json", b"-o", b"r.out", b"--format",
                      form.encode(), made=b"r.out")
        bench.run("json", b"simulate", b"--rows", b"20", b"--classes", b"3", b"--json", b"-o", name)
        bench.run("text", b"simulate", b"--rows", b"20", b"--classes", b"3", b"-o", name)
        dashed = b"./" + name
        bench.run("csv", b"measure", *given, b"-m", b"brier", b"-q", b"--tables", dashed, made=name + b"-values.csv")
        bench.run("text", b"watch", dashed + b".pcal", *inputs(b"d.csv"), codes=(0, 1))
        bench.run("json", b"watch", dashed + b".pcal", b"--json", codes=(0, 1))
        bench.run("text", b"watch", b"d.csv", dashed + b".csv", codes=(2, 3))
        bench.run("text", b"measure", *given, b"-m", b"brier", b"--fail-if", b"brier > 0", b"--gate-report",
                  dashed + b".json", codes=(1,))
        bench.run("text", b"measure", b"--data", b"*" + name + b"*.npy", codes=(2, 3, 4))
    missing = b"no/" + name
    for words in (
        [b"measure", b"--data", missing],
        [b"measure", *inputs(b"d.csv"), b"-o", missing],
        [b"measure", b"--logits", b"d.csv:" + name, b"--labels", b"d.csv:label"],
        [b"apply", missing, b"--probs", b"d.csv:0..2", b"-o", b"x.csv"],
        [b"merge", missing],
        [b"watch", missing],
        [b"rounds", b"new", missing, b"--parts", b"1"],
        [b"rounds", b"answer", missing, b"--part", b"1", *inputs(b"d.csv")],
        [b"rounds", b"next", missing],
        [b"rounds", b"result", missing],
        [b"measure", *inputs(b"d.csv"), b"--baseline", missing],
        [b"watch", missing, b"d.csv"],
        [b"watch", b"new.pcal", missing],
        [b"measure", *inputs(b"d.csv"), b"--tables", missing],
        [b"measure", *inputs(b"d.csv"), b"--time", missing, b"--every", b"day"],
        [b"measure", *inputs(b"d.csv"), b"--fail-if", b"brier > 0", b"--gate-report", missing + b".xml"],
        [b"inspect", missing],
        [b"export", missing, b"-o", b"x.c"],
        [b"export", b"d.csv", b"--to", b"c", b"-o", b"x.c"],
    ):
        bench.run("text", *words, codes=(2, 3, 4))


def through_flags(bench, name):
    """Specs and other words."""
    bench.write(b"d.csv", data_file(b"c"))
    given = inputs(b"d.csv")
    for words in (
        [b"measure", *given, b"--metric", name],
        [b"measure", *given, b"--metric", b"ece:bins=" + name],
        [b"measure", *given, b"--metric", b"ece:" + name + b"=1"],
        [b"measure", *given, b"--fail-if", name],
        [b"measure", *given, b"--fail-if", b"ece > " + name],
        [b"measure", *given, b"--format", name],
        [b"measure", *given, b"--seed", name],
        [b"measure", *given, b"--time", b"d.csv:label", b"--every", name],
        [b"measure", *given, b"--time", b"d.csv:" + name, b"--every", b"day"],
        [b"measure", *given, b"--prevalence", name],
        [b"measure", *given, b"--classes", name],
        [b"measure", *given, b"--positive", name],
        [b"measure", *given, b"--scale", name],
        [b"measure", *given, b"--input-format", name],
        [b"measure", *given, b"--memory-limit", name],
        [b"measure", *given, b"--timeout", name],
        [b"measure", *given, b"--fail-if", b"ece@" + name + b" > 0"],
        [b"measure", *given, b"--fail-if", b"ece > 9", b"--gate-report", name],
        [b"watch", b"n.pcal", *given, b"--alpha", name],
        [b"measure", *given, b"--event", name],
        [b"measure", *given, b"--event", b"> " + name],
        [b"measure", *given, b"--baseline", name],
        [b"fit", *given, b"--method", b"conformal-sets:coverage=" + name],
        [b"rounds", name, b"run"],
        [b"rounds", b"next", name],
        [b"rounds", b"new", b".", b"--parts", name],
        [b"rounds", b"new", b".", b"--parts", b"1", b"--kind", name],
        [b"rounds", b"new", b".", b"--parts", b"1", b"-m", name],
        [b"rounds", b"new", b".", b"--parts", b"1", b"--method", name],
        [b"watch", b"n.pcal", *given, b"--positive", name],
        [b"fit", *given, b"--method", b"prior-shift:prevalence=" + name],
        [b"measure", *given, b"--" + name],
        [b"measure", *given, name],
        [b"fit", *given, b"--method", name],
        [b"compare", *given, b"--method", name],
        [b"compare", *given, b"--by", name],
        [b"compare", b"--model", name, b"--labels", b"d.csv:label"],
        [b"plot", name, *given, b"-o", b"x.svg"],
        [b"plot", b"reliability", *given, b"-o", b"x." + name.replace(b"/", b"")],
        [b"study", name],
        [b"study", b"ece-bias", b"--case", name],
        [b"list", name],
        [b"list", b"metrics", name],
        [b"plan", *given, b"--metric", name],
        [b"simulate", b"-o", b"x", b"--metric", name],
        [name],
    ):
        bench.run("text", *words, codes=(0, 2, 3, 4))


CASES = {"verbs": through_verbs, "outputs": through_outputs, "newer": through_newer, "files": through_files, "flags": through_flags}


def main():
    bench = Bench(sys.argv[1])
    chosen = sys.argv[2:] or list(CASES)
    try:
        for case in chosen:
            broken = [] if case in ("verbs", "outputs", "newer") else BROKEN  # text files must be UTF-8
            for name in NAMES + broken:
                if case == "files":
                    name = name.replace(b"/", b"")
                CASES[case](bench, name)
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    print("\n".join(FAULTS[:40]))
    print(f"{COUNT} commands, {len(FAULTS)} faults")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
