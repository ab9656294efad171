"""Times of additive metrics on a GPU beside those of PyTorch, in one run; prints a Markdown table for
docs/benchmarks-gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/bench_gpu.py [--large]

Device times are those between two CUDA events, medians: a waiting kernel holds the stream until a call has
queued all its work, and a second thread then records the second event, so that nothing the CPU does is
counted.  Beside them are the sums of the kernels and copies as CUPTI records them (torch.profiler); they
differ by the gaps between kernels.  Whole times are those of the Python call until its result, medians.
Inputs take turns, so that none is in the cache.  --large adds 1,000,000 rows of 1,000 classes (4 GB).
"""

import sys
import threading
import time

import propercal as pc
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

ADDITIVE = ["accuracy", "brier", "log", "ece"]
HOLD_CYCLES = 12_000_000  # of the waiting kernel: about 6 ms
CLOSE_SECONDS = 0.003  # by then a call has queued its work


def make(rows, classes, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    logits = 3 * torch.randn(rows, classes, generator=generator, device="cuda")
    labels = torch.randint(classes, (rows,), generator=generator, device="cuda")
    right = torch.rand(rows, generator=generator, device="cuda") < 0.7
    return logits, torch.where(right, logits.argmax(1), labels)


def usual(logits, labels):
    """Accuracy, Brier score, log loss and ECE as people write them."""
    probs = torch.softmax(logits, 1)
    top, predicted = probs.max(1)
    hit = (predicted == labels).float()
    one_hot = torch.nn.functional.one_hot(labels, logits.shape[1])
    brier = ((probs - one_hot) ** 2).sum(1).mean()
    log = torch.nn.functional.cross_entropy(logits, labels)
    bins = (top * 15).long().clamp(max=14)
    gap = torch.zeros(15, device=logits.device).index_add_(0, bins, top - hit)
    return torch.stack([hit.mean(), brier, log, gap.abs().sum() / len(labels)])


def frugal(logits, labels):
    """The same in few passes over the logits, for torch.compile."""
    largest, predicted = logits.max(1)
    terms = torch.exp(logits - largest[:, None])
    total, squares = terms.sum(1), (terms * terms).sum(1)
    own = logits.gather(1, labels[:, None])[:, 0] - largest
    p = torch.exp(own) / total
    top = 1 / total
    hit = (predicted == labels).float()
    brier = (squares / (total * total) - 2 * p + 1).mean()
    bins = (top * 15).long().clamp(max=14)
    gap = torch.zeros(15, device=logits.device).index_add_(0, bins, top - hit)
    return torch.stack([hit.mean(), brier, (torch.log(total) - own).mean(), gap.abs().sum() / len(labels)])


def device_time(function, sets, repeats, kernel=""):
    """Milliseconds of kernels and copies for each call; of those whose names begin so."""
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        for i in range(repeats):
            function(*sets[i % len(sets)])
        torch.cuda.synchronize()
    spans = [
        event.time_range.elapsed_us()
        for event in found.events()
        if event.device_type == DeviceType.CUDA
        and event.name.startswith(kernel)
        and not event.name.startswith("Optimizer.")  # a span of kernels
    ]
    return sum(spans) / repeats / 1e3


def event_time(function, sets, repeats):
    """Milliseconds of the device between two events around the work that a call queues before it first waits."""
    stream = torch.cuda.current_stream()
    times = []
    for i in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(HOLD_CYCLES)
        begin.record(stream)

        def close(end=end):
            time.sleep(CLOSE_SECONDS)
            end.record(stream)

        closer = threading.Thread(target=close)
        closer.start()
        function(*sets[i % len(sets)])
        closer.join()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def whole_time(function, sets, repeats):
    times = []
    for i in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function(*sets[i % len(sets)])
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times)[len(times) // 2]


def lines():
    compiled = torch.compile(frugal, dynamic=False)
    return {
        "reading the logits once (sum)": lambda z, y: z.sum().item(),
        "propercal, exact": lambda z, y: pc.measure(logits=z, labels=y, metrics=ADDITIVE),
        "propercal, fast precision": lambda z, y: pc.measure(
            logits=z, labels=y, metrics=ADDITIVE, precision="fast"
        ),
        "propercal, all default metrics, exact": lambda z, y: pc.measure(logits=z, labels=y),
        "PyTorch as usually written, float32": lambda z, y: usual(z, y).tolist(),
        "PyTorch in few passes, float32": lambda z, y: frugal(z, y).tolist(),
        "PyTorch in few passes, compiled, float32": lambda z, y: compiled(z, y).tolist(),
    }


def bench(rows, classes, copies):
    sets = [make(rows, classes, seed) for seed in range(copies)]
    print(f"\n{rows:,} × {classes:,}, milliseconds\n")
    print("| accuracy, Brier, log and ECE | by events | times reading | by CUPTI | whole call | call beyond the device |")
    print("|---|---:|---:|---:|---:|---:|")
    read = None
    for name, function in lines().items():
        try:
            for each in sets:
                function(*each)
            repeats = 20 if rows * classes > 2e8 else 100
            events = event_time(function, sets, repeats)
            device = device_time(function, sets, repeats)
            whole = whole_time(function, sets, repeats)
        except Exception as error:  # a compiler that is not there
            print(f"| {name} | {type(error).__name__} | | | | |", flush=True)
            continue
        read = read or events
        by_events = f"{events:.3f} | {events / read:.1f}"
        if events < 0.9 * device:  # the call waits for a first part before it queues the rest
            by_events = "– | –"
        numbers = f"{by_events} | {device:.3f} | {whole:.3f} | {whole - device:.3f}"
        print(f"| {name} | {numbers} |", flush=True)


def small_calls():
    """Microseconds of calls with 64 rows, on the GPU and in memory: the lowest and the highest median of ten
    series, since the processor of a shared machine is at times half as fast."""
    there = make(64, 10, 9)
    here = tuple(each.cpu() for each in there)
    running = pc.Measure(ADDITIVE)
    calls = {
        "Measure.update": lambda z, y: running.update(logits=z, labels=y),
        "measure": lambda z, y: pc.measure(logits=z, labels=y, metrics=ADDITIVE),
    }
    print("\n| 64 × 10, microseconds | of the device | beyond the device | in memory |")
    print("|---|---:|---:|---:|")
    for name, call in calls.items():
        series = [[1e3 * whole_time(call, [given], 300) for given in (there, here)] for _ in range(10)]
        device = 1e3 * device_time(call, [there], 100)
        beyond = [each[0] - device for each in series]
        memory = [each[1] for each in series]
        ranges = f"{min(beyond):.0f} to {max(beyond):.0f} | {min(memory):.0f} to {max(memory):.0f}"
        print(f"| `{name}` | {device:.0f} | {ranges} |")


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    bench(1_000_000, 10, 4)
    bench(50_000, 1000, 3)
    if "--large" in sys.argv[1:]:
        bench(1_000_000, 1000, 2)
    small_calls()
    return 0


if __name__ == "__main__":
    sys.exit(main())
