"""Times of sorted scores on a GPU beside PyTorch's sort, in one run; prints a Markdown table for
docs/benchmarks-gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/bench_curves.py

KS and the error in 15 bins of equal mass, of the top scores of two classes: from logits, and the part of
it that comes after the softmax (propercal: all kernels and copies but pc_row_sums; PyTorch: sort, sums and
edges of scores).  Scores are spread, usual or nearly all 1.  The values are compared with those of the same
rows in memory, bit for bit.  Then mmce of the same rows, whose sorted form takes one pass; PyTorch's form of it
compares all pairs, so that it is measured with few rows only.
"""

import sys

import propercal as pc
import torch
from bench_gpu import device_time, whole_time

METRICS = ["ks", "tce:p=2,binning=mass,debias=yes"]
FACTORS = {"spread": 1.0, "usual": 3.0, "nearly all 1": 8.0}


def make(rows, factor, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    logits = factor * torch.randn(rows, 2, generator=generator, device="cuda")
    right = torch.softmax(0.8 * logits, 1)[:, 1]
    return logits, (torch.rand(rows, generator=generator, device="cuda") < right).to(torch.uint8)


def sorted_scores(top, hit):
    """KS, and the edges of bins of equal mass."""
    ascending, order = torch.sort(top)
    gap = torch.cumsum(ascending - hit[order], 0)
    edges = ascending[torch.arange(1, 15, device=top.device) * len(top) // 15]
    return torch.cat([gap.abs().max()[None] / len(top), edges]).tolist()


def from_logits(logits, labels):
    top, predicted = torch.softmax(logits, 1).max(1)
    return sorted_scores(top, (predicted == labels).float())


def measured(logits, labels):
    return pc.measure(logits=logits, labels=labels, metrics=METRICS)


def scores_of(logits, labels):
    top, predicted = torch.softmax(logits, 1).max(1)
    return top, (predicted == labels).float()


def bench(rows, name):
    sets = [make(rows, FACTORS[name], seed) for seed in range(3)]
    ready = [scores_of(*each) for each in sets]
    for function, given in ((measured, sets), (from_logits, sets), (sorted_scores, ready)):
        for each in given:
            function(*each)
    device, whole = device_time(measured, sets, 12), whole_time(measured, sets, 12)
    softmax = device_time(measured, sets, 12, "pc_row_sums")
    peer, peer_whole = device_time(from_logits, sets, 12), whole_time(from_logits, sets, 12)
    peer_scores = device_time(sorted_scores, ready, 12)
    print(f"| {rows:,}, {name}: propercal | {device - softmax:.2f} | {device:.2f} | {whole:.1f} |")
    print(f"| PyTorch, float32 | {peer_scores:.2f} | {peer:.2f} | {peer_whole:.1f} |", flush=True)
    there, here = measured(*sets[0]), measured(*(each.cpu() for each in sets[0]))
    return [float(value) for value in there] == [float(value) for value in here]


def mmce(logits, labels):
    return pc.measure(logits=logits, labels=labels, metrics=["mmce"])


def mmce_pairs(logits, labels, step=8192):
    """The squared estimate of all pairs, float32, `step` rows at a time."""
    top, hit = scores_of(logits, labels)
    residual = top - hit
    total = torch.zeros((), dtype=torch.float64, device=top.device)
    for begin in range(0, len(top), step):
        kernel = torch.exp((top[begin : begin + step, None] - top).abs() / -0.4)
        total += (residual[begin : begin + step, None] * kernel * residual).sum(dtype=torch.float64)
    return (total / len(top) ** 2).item()


def bench_mmce(rows):
    sets = [make(rows, FACTORS["usual"], seed) for seed in range(3)]
    for name, function in (("propercal", mmce), *([("PyTorch, all pairs, float32", mmce_pairs)] if rows <= 100_000 else [])):
        for each in sets:
            function(*each)
        print(f"| {rows:,}: {name} | {device_time(function, sets, 6):.2f} | {whole_time(function, sets, 12):.1f} |", flush=True)
    there, here = mmce(*sets[0]), mmce(*(each.cpu() for each in sets[0]))
    return [float(value) for value in there] == [float(value) for value in here]


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    print("| KS and equal mass, milliseconds | of scores | of logits | whole call |\n|---|---:|---:|---:|")
    equal = [bench(rows, name) for rows in (1_000_000, 10_000_000) for name in FACTORS]
    print("\n| `mmce`, two classes, milliseconds | device | whole call |\n|---|---:|---:|")
    equal += [bench_mmce(rows) for rows in (10_000, 100_000, 1_000_000, 10_000_000)]
    print(f"\nequal to the results in memory: {sum(equal)} of {len(equal)}")
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
