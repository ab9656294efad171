"""Times of temperature fits and of sums over pairs on a GPU beside those of PyTorch, in one run; prints
Markdown tables for docs/benchmarks-gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/bench_fits.py [--large]

Device times and whole times as in bench_gpu.py.  --large adds the SKCE of 1,000,000 rows.
"""

import sys

import propercal as pc
import torch
from bench_gpu import device_time, make, whole_time


def fit_there(logits, labels):
    return pc.Temperature(kind="logits").fit(logits, labels).T_


def fit_lbfgs(logits, labels):
    """Temperature scaling as people write it: L-BFGS on the mean cross entropy, float32."""
    temperature = torch.ones(1, device=logits.device, requires_grad=True)
    search = torch.optim.LBFGS([temperature], lr=0.1, max_iter=50)

    def closure():
        search.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits / temperature, labels)
        loss.backward()
        return loss

    search.step(closure)
    return temperature.item()


def maps():
    lines = {
        "propercal, exact": lambda z, y: fitted.predict_proba(z),
        "PyTorch, softmax(z / T), float32": lambda z, y: (torch.softmax(z / 1.5, 1), torch.cuda.synchronize()),
    }
    for rows, classes in ((50_000, 1000), (1_000_000, 10)):
        sets = [make(rows, classes, seed) for seed in range(2)]
        fitted = pc.Temperature(kind="logits").fit(*sets[0])
        table(f"predict_proba of {rows:,} × {classes:,} logits", sets, lines, 20)


def skce_there(logits, labels):
    return pc.measure(logits=logits, labels=labels, metrics=["skce"])["skce"]


def ce_kde(logits, labels):
    return pc.measure(logits=logits, labels=labels, metrics=["ce-kde"])["ce-kde"]


def skce_matrices(logits, labels, step=8192):
    """The unbiased SKCE by matrix products, float32, `step` rows at a time."""
    probs = torch.softmax(logits, 1)
    errors = torch.nn.functional.one_hot(labels, logits.shape[1]) - probs
    total = torch.zeros((), dtype=torch.float64, device=logits.device)
    for begin in range(0, len(labels), step):
        kernel = torch.exp(-torch.cdist(probs[begin : begin + step], probs))
        total += (kernel * (errors[begin : begin + step] @ errors.T)).sum(dtype=torch.float64)
    total -= (errors * errors).sum(dtype=torch.float64)
    return (total / (len(labels) * (len(labels) - 1.0))).item()


def table(title, sets, lines, repeats):
    print(f"\n{title}, milliseconds\n\n| | device | whole call |\n|---|---:|---:|")
    for name, function in lines.items():
        for each in sets:
            function(*each)
        device, whole = device_time(function, sets, repeats), whole_time(function, sets, repeats)
        print(f"| {name} | {device:.3f} | {whole:.3f} |", flush=True)


def fits():
    lines = {
        "propercal, exact": fit_there,
        "PyTorch, L-BFGS, float32": fit_lbfgs,
        "reading the logits once (sum)": lambda z, y: z.sum().item(),
    }
    for rows, classes in ((50_000, 1000), (1_000_000, 10)):
        sets = [make(rows, classes, seed) for seed in range(2)]
        table(f"Temperature of {rows:,} × {classes:,} logits", sets, lines, 10)
        for each in sets:
            print(f"\nT: {fit_there(*each)!r} here, {fit_lbfgs(*each)!r} by PyTorch")


def pairs():
    for rows in (10_000, 100_000):
        sets = [make(rows, 10, 3)]
        lines = {"propercal, exact": skce_there, "PyTorch, matrix products, float32": skce_matrices}
        table(f"SKCE of {rows:,} × 10", sets, lines, 3)
        found = skce_there(*sets[0])
        print(f"\nvalue: {found!r} here, {skce_matrices(*sets[0])!r} by PyTorch")
    lines = {"propercal, bandwidth searched": ce_kde}
    for rows in (10_000, 100_000):
        table(f"ce-kde of {rows:,} × 10", [make(rows, 10, 5)], lines, 1)
    memory = [each.cpu() for each in make(10_000, 10, 5)]
    print(f"\nce-kde of 10,000 × 10 in memory: {whole_time(ce_kde, [memory], 1):.1f} ms")
    if "--large" in sys.argv[1:]:
        table("SKCE of 1,000,000 × 10", [make(1_000_000, 10, 4)], {"propercal, exact": skce_there}, 1)


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    fits()
    maps()
    pairs()
    return 0


if __name__ == "__main__":
    sys.exit(main())
