"""The report of make bench: one table, the machine, what is not met."""

import math
import os
import pathlib
import platform
import re
import subprocess

import bench_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent



def three(number):
    """Three significant digits, never an exponent."""
    if number == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:.{digits}f}"


def quantity(number, unit):
    if number is None:
        return "–"
    if unit == "bytes":
        return f"{three(number / 1e6)} MB"
    if number < 1e-3:
        return f"{three(number * 1e6)} µs"
    return f"{three(number * 1e3)} ms" if number < 1 else f"{three(number)} s"


def ratio(number):
    return "–" if number is None else f"{three(number)}×"


def fastest_ratio(result, peer):
    """Of the fastest executions, which says how far the ratio of medians can be trusted."""
    ours, theirs = result.get("samples"), peer.get("samples") if peer else None
    return min(theirs) / min(ours) if ours and theirs else None


def judge(result, peer):
    """The targets of one line of the table, and whether they are met."""
    ours, checks = result["ours"], []
    if ours is None:
        return checks
    if peer and peer["least"] and peer["measured"]:
        checks.append((f"peer ≥ {peer['least']:g}×", peer["measured"] / ours >= peer["least"],
                       f"{peer['name']} takes {three(peer['measured'] / ours)}× ours"))
    if peer is (result["peers"][0] if result["peers"] else None):
        if result.get("most") and result.get("limit"):
            share = ours / result["limit"]
            checks.append((f"limit ≤ {result['most']:g}×", share <= result["most"],
                           f"{three(share)}× the limit"))
        if result.get("most_seconds"):
            checks.append((f"≤ {quantity(result['most_seconds'], 's')}",
                           ours <= result["most_seconds"], quantity(ours, "s")))
        if result.get("most_bytes"):
            checks.append((f"≤ {result['most_bytes'] / 1e6:g} MB",
                           ours <= result["most_bytes"], quantity(ours, "bytes")))
    return checks


def table_line(result, peer, first):
    unit, ours = result["unit"], result["ours"]
    line = [result["title"], result["failure"] or quantity(ours, unit),
            str(result.get("threads", "–")), quantity(result.get("alone"), unit)]
    if peer is None:
        line += ["–", "–", "–", "–", "–"]
    else:
        measured, gap = peer["measured"], peer["difference"]
        line += [peer["name"], peer["failure"] or quantity(measured, unit),
                 ratio(measured / ours if measured and ours else None),
                 ratio(fastest_ratio(result, peer)),
                 "–" if gap is None else f"{gap:.0e}" if gap > 0 else "0"]
    limit = result.get("limit") if first else None
    line += [quantity(limit, unit), ratio(ours / limit if limit and ours else None)]
    checks = judge(result, peer)
    line += ["; ".join(check[0] for check in checks) or "–",
             "; ".join("yes" if check[1] else "no" for check in checks) or "–"]
    return line


HEADINGS = ["operation", "ours", "threads", "ours, 1 thread", "peer", "its time or memory",
            "peer / ours", "fastest runs", "numbers differ by", "limit", "ours / limit",
            "target", "met"]


def table(results):
    lines = [HEADINGS]
    for result in results:
        for index, peer in enumerate(result["peers"] or [None]):
            lines.append(table_line(result, peer, index == 0))
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rows = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
            for line in lines]
    rows.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(rows)


def first_line(command, fallback="unknown"):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return fallback
    return done.stdout.strip().split("\n")[0]


def describe_machine(build, stage, python):
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = re.search(r"model name\s*:\s*(.*)", info).group(1)
        family = "/".join(re.search(rf"^{key}\s*:\s*(\d+)", info, re.M).group(1)
                          for key in ("cpu family", "model"))
    except (OSError, AttributeError):
        model, family = platform.processor() or platform.machine(), ""
    flags = bench_cases.cpu_flags()
    simd = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = {
        "processor": f"{model} (family/model {family}), {os.cpu_count()} cores, {simd}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}, {platform.libc_ver()[0]} "
                  f"{platform.libc_ver()[1]}",
        "propercal": first_line([build / "cli" / "propercal", "--version"])
        + ", revision " + first_line(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]),
        "compiler": first_line(["cc", "--version"]),
        "load before": f"{os.getloadavg()[0]:.2f}",
    }
    if stage.with_peers:
        versions = stage.ask("peers", "versions", "-", "-", 1)
        machine["peers"] = ", ".join(f"{name} {version}" for name, version in versions.items())
        machine["peers"] += f", Python {first_line([python, '--version']).split()[-1]}"
    return machine


def rate_text(rate, unit):
    if unit == "bytes":
        return f"{three(rate / 1e9)} GB/s"
    return f"{three(rate / 1e9)} GFLOP/s" if unit == "flops" else f"{three(rate / 1e6)} M/s"


def limits_text(rates):
    return "\n".join(f"- {name}: {rate_text(*rate)}" for name, rate in rates.items())


def unmet(results):
    """One sentence for each target that is not met."""
    for result in results:
        for peer in result["peers"] or [None]:
            for wanted, met, got in judge(result, peer):
                if not met:
                    yield f"{result['title']}: {got}, where the target is {wanted}"


def disagreements(results):
    for result in results:
        for peer in result["peers"]:
            if not peer["agrees"] and not peer["failure"]:
                names = [name for name in peer["values"] if name in result["values"]]
                pairs = ", ".join(f"{name} {peer['values'][name]:.7g} where ours is "
                                  f"{result['values'][name]:.7g}" for name in names)
                yield (f"{result['title']}, {peer['name']}: {pairs}"
                       + (f" ({peer['known']})" if peer["known"] else ""), peer["known"])


def troubles(results):
    """What makes a run fail: not a missed target, but a wrong or missing number."""
    for result in results:
        if result["failure"]:
            yield f"{result['key']}: {result['failure']}"
        elif not all(math.isfinite(value) for value in result["values"].values()):
            yield f"{result['key']}: a number is not finite"
        if not result.get("same_bits", True):
            yield f"{result['key']}: the number of threads shows in the numbers"
        for peer in result["peers"]:
            if peer["failure"]:
                yield f"{result['key']}, {peer['name']}: {peer['failure']}"
    for sentence, known in disagreements(results):
        if not known:
            yield sentence


RECORD = """# Benchmarks

Times of {build}, written by `make bench BENCH=--record`, not by hand; other builds may differ. Sizes: A is 10k × 10, B 50k × 1000 and
C 1M × 10 float32 logits, D is 10M binary float32 scores, E 10k × 100 float32 logits. Ours, the peers and the limits take
turns in one run on the same cores; times are medians, and "fastest runs" is the ratio of the
fastest ones. Ours is measured through the public C interface on rows in memory, unless the line says
otherwise, without process start; peers have their data loaded and converted beforehand. Memory is the
memory used in addition to the input.

## The machine

{machine}

What it can do, medians:

{limits}

## Ratios

{table}

The limit of a line is reading its bytes once from memory with all threads; for mapped files
mapping and reading them, for apply copying, for the sort and isotonic regression a plain radix sort
of the same keys (`bench/limits.c`), for class-wise errors our own time for the set of the predicted
class (accuracy, Brier, log, ECE), for replicas our own time for measuring once, for
whole commands that of the additive set (for --null: of --interval), process start included, for types of labels
that of uint8, for SKCE and canonical KDE 2K + {pair} operations a pair at the rate of float
multiply-adds, although ours are doubles that are not fused. The precision is exact unless a line
says "fast". Targets are those of the project's design, by medians.

## What is not met

{unmet}

The targets were set on another machine with PyTorch 1.13; the peers measured here can be faster
than those, for example because L-BFGS needs only a few evaluations on these regular data. The
limits do not depend on that. In return, more than half of the time of PyTorch's usual form on B
was the system handing out fresh memory when this was first measured, and varies from run to
run; the tuned form avoids most of it. The target for smECE was set where relplot took 3.16 s for
1M scores. ece-kde is not on PyPI; its estimator is written out in `bench/peers.py`.

## Where numbers differ

{differ}

All other numbers agree with the peers' within the tolerances in `bench/bench_cases.py`, and
ours are the same bits with one thread and with all.

## How to repeat

    make bench-deps                     # the peers, into .venv-bench
    make bench                          # the table
    make bench BENCH='--only curve'     # a part of it
    make bench-huge                     # 1e9 scores: 5 GB below build-bench
    make bench BENCH='--huge --record'  # this page

Data come from `bench/bench_generate.c`, with a fixed seed. `--json FILE` keeps every single time.
"""


def bullets(sentences, otherwise):
    return "\n".join(f"- {sentence}" for sentence in sentences) or otherwise


def record(path, machine, rates, results):
    text = RECORD.format(
        build=machine["propercal"],
        machine="\n".join(f"- {name}: {value}" for name, value in machine.items()),
        limits=limits_text(rates),
        table=table(results),
        pair=bench_cases.PAIR_FLOPS,
        unmet=bullets(unmet(results), "Every target measured here is met."),
        differ=bullets((sentence for sentence, _ in disagreements(results)),
                       "Nowhere."),
    )
    path.write_text(text, encoding="utf-8")
    print(f"Written to {path}")
