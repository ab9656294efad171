"""What scripts depend on in the program: verbs, flags with their words, exit codes, keys of JSON, columns of CSV."""

import csv
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

CLASSES = ["--logits", "{data}/classes-fit.csv:logits.0..logits.2", "--labels", "{data}/classes-fit.csv:labels"]
BINARY = ["--probs", "{data}/binary-fit.csv:score", "--labels", "{data}/binary-fit.csv:labels"]
NORMAL = ["--mean", "{data}/normal-fit.csv:mean", "--std", "{data}/normal-fit.csv:std", "--target", "{data}/normal-fit.csv:target"]
GROUPS = ["--groups", "{data}/classes-fit.csv:group"]
SURE = ["--interval", "0.9", "--null", "--replicas", "20"]
MODELS = ["--labels", "{data}/binary-fit.csv:labels", "--model", "a=probs:{data}/binary-fit.csv:score",
          "--model", "b=probs:{data}/binary-fit.csv:score"]  # fmt: skip

#: Flags whose words are names of metrics and calibrators, which are kept by themselves.
REGISTRY_FLAGS = ("-m", "--metric", "--method")

#: Commands of one folder, in this order: the file that standard output is kept in, and the words.
COMMANDS = [
    ("measure.json", ["measure", *CLASSES, *GROUPS, *SURE, "-m", "default", "-m", "paper", "--curves", "--json", "--tables", "table"]),
    ("measure.csv", ["measure", *CLASSES, *GROUPS, *SURE, "-m", "ece", "--format", "csv", "--state", "state.pcal"]),
    ("clinical.json", ["measure", *BINARY, *SURE, "-m", "clinical", "-m", "decomposition", "-m", "tests", "--json"]),
    ("against.json", ["measure", *BINARY, *SURE, "-m", "brier", "--against-probs", "{data}/binary-fit.csv:score", "--json"]),
    ("against.csv", ["measure", *BINARY, *SURE, "-m", "brier", "--against-probs", "{data}/binary-fit.csv:score", "--format", "csv"]),
    ("numbers.json", ["measure", *NORMAL, *SURE, "--json"]),
    ("gates.json", ["measure", *BINARY, "-m", "ece", "--fail-if", "ece > 0", "--gate-report", "gate-report.json", "--json"]),
    ("merge.json", ["merge", "state.pcal", "--json"]),
    ("compare.json", ["compare", *CLASSES, "-m", "temperature", "-m", "isotonic", "--json", "--tables", "compare"]),
    ("compare.csv", ["compare", *CLASSES, "-m", "temperature", "-m", "isotonic", "--format", "csv"]),
    ("models.json", ["compare", *MODELS, "--json", "--tables", "models"]),
    ("plan.json", ["plan", *BINARY, "-m", "ece", "--width", "0.02", "--json"]),
    ("plan.csv", ["plan", *BINARY, "-m", "ece", "--width", "0.02", "--format", "csv"]),
    ("power.json", ["plan", *BINARY, "-m", "brier", "--against-probs", "{data}/binary-fit.csv:score", "--power", "0.8", "--json"]),
    ("inspect-file.json", ["inspect", "{data}/classes-fit.csv", "--json"]),
    ("inspect.json", ["inspect", *CLASSES, "--json"]),
    ("inspect-bad.json", ["inspect", "--probs", "{data}/normal-fit.csv:mean", "--labels", "{data}/binary-fit.csv:labels", "--json"]),
    ("simulate.json", ["simulate", "--classes", "3", "--rows", "50", "-m", "ece", "--json", "-o", "simulated.csv"]),
    ("fit.json", ["fit", *CLASSES, "--json", "-o", "calibrator.json"]),
    ("apply.csv", ["apply", "calibrator.json", *CLASSES[:2], "-o", "-"]),
    ("watch.json", ["watch", "watch.pcal", *BINARY, "--json"]),
    ("report.json", ["report", *BINARY, "--format", "json", "-o", "-"]),
    ("repaired.json", ["report", *CLASSES, *GROUPS, "--method", "temperature", "--format", "json", "-o", "-"]),
    ("rounds.txt", ["rounds", "new", ".", "--parts", "1", "--kind", "logits", "-m", "ece"]),
    ("rounds.txt", ["rounds", "answer", ".", "--part", "1", *CLASSES]),
    ("rounds.txt", ["rounds", "next", "."]),
    ("rounds.json", ["rounds", "result", ".", "--json"]),
    ("list.json", ["list", "--json"]),
    ("list-metrics.json", ["list", "metrics", "--json"]),
    ("list-metric.json", ["list", "metrics", "ece", "--json"]),
    ("list-calibrator.json", ["list", "calibrators", "temperature", "--json"]),
    ("version.txt", ["--version"]),
    ("help.txt", ["measure", "-h"]),
    ("quiet.txt", ["measure", *BINARY, "-q"]),
    ("usage.txt", ["measure", "--nothing"]),
    ("data.txt", ["measure", "--probs", "{data}/normal-fit.csv:mean", "--labels", "{data}/binary-fit.csv:labels"]),
    ("missing.txt", ["measure", "--probs", "missing.csv", "--labels", "missing.csv"]),
    ("memory.txt", ["measure", *BINARY, "--memory-limit", "1kB"]),
    ("timeout.txt", ["study", "coverage", "--timeout", "0.001"]),
]


def flags(program):
    """Verbs, flags, short names and the words that a flag accepts, as the completion script lists them."""
    text = subprocess.run([program, "--generate", "bash-completion"], capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^ {8}(\w+|'')\)\n(?:.*\n)?? *flags=' ([^']*)'", text, re.M)
    listed = [f"{verb} {flag}".removeprefix("'' ") for verb, flags in verbs for flag in flags.split()]
    found = set()
    for names, words in re.findall(r"^ {4}('[\w-]+ -.*?)\) (?:files=1|words='([^']*)') ;;", text, re.M):
        for name in re.findall(r"'([^']*)'", names):
            name = name.removeprefix("--generate ")  # which stands without a verb
            found |= {f"{name} VALUE", *(f"{name} {word}" for word in words.split() if not name.endswith(REGISTRY_FLAGS))}
    with_value = {name.removesuffix(" VALUE") for name in found if name.endswith(" VALUE")}
    return sorted(found | {name for name in listed if name not in with_value})


def key_paths(value, path=""):
    """Paths of keys: results[].interval.low; the entries of a list are joined."""
    if isinstance(value, list):
        for entry in value:
            yield from key_paths(entry, path + "[]")
    elif isinstance(value, dict):
        for key, entry in value.items():
            name = f"{path}.{key}" if path else key
            yield name
            yield from key_paths(entry, name)


def names_inside(path):
    """Keys of a JSON file, columns of a CSV file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return sorted(set(key_paths(json.loads(text))))
    return next(csv.reader(text.splitlines()))


def run_all(program, commands, data):
    """Exit codes of the commands, and what is inside the JSON and CSV files that they write."""
    with tempfile.TemporaryDirectory() as name:
        folder, codes = pathlib.Path(name), []
        for output, line in commands:
            words = [word.replace("{data}", str(data)) for word in shlex.split(line)]
            with open(folder / output, "wb") as file:
                done = subprocess.run([program, *words], cwd=folder, stdout=file, stderr=subprocess.DEVNULL)
            codes.append(done.returncode)
        files = [path for path in sorted(folder.iterdir()) if path.suffix in (".json", ".csv") and path.stat().st_size > 0]
        return codes, {path.name: names_inside(path) for path in files}


def interface(program, data):
    lines = [(output, shlex.join(words)) for output, words in COMMANDS]
    codes, outputs = run_all(program, lines, data)
    commands = [[*line, code] for line, code in zip(lines, codes)]
    return {"flags": flags(program), "commands": commands, "outputs": outputs}


def faults(program, data, old):
    now = set(flags(program))
    for flag in old["flags"]:
        if flag not in now:
            yield f"propercal {flag} is no longer accepted"
    codes, outputs = run_all(program, [(output, line) for output, line, _ in old["commands"]], data)
    for (_, line, code), found in zip(old["commands"], codes):
        if found != code:
            yield f"propercal {line} ended with exit code {code} and ends with {found}"
    for name, keys in old["outputs"].items():
        for key in keys:
            if key not in outputs.get(name, ()):
                yield f"{name} has no {'key' if name.endswith('.json') else 'column'} {key}"
