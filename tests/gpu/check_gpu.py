"""Compares results of tensors on a GPU with those of the same tensors in memory, and times both.

    PYTHONPATH=build/python python3 tests/gpu/check_gpu.py [--bench]

Needs PyTorch with a GPU; CuPy and JAX are tried where they are installed.  At the end "N passed,
M failed", and "left out: ..." if one of them is missing.  tools/check-gpu calls it.
"""

import importlib.util
import re
import sys
import time

import numpy as np
import propercal as pc
import torch

LEAN = ["accuracy", "brier", "rbs", "log", "ece", "mce", "ks", "tce:binning=mass,debias=yes", "smece"]
ADDITIVE = ["accuracy", "brier", "rbs", "log", "spherical", "ece", "mce", "ece:bins=100", "ece:convention=guo2017"]
#: class-wise bins with squares, thresholds and all classes together
MOMENTS = ["cwce:debias=yes", "scaled-brier", "gce:variant=10", "gce:variant=12", "gce:variant=6", "decomposition"]
passed = failed = 0


def values(given):
    """Results without the member `device`, which only those of tensors on a GPU have."""
    return re.sub(r',\s*"device": "\w+"', "", given) if isinstance(given, str) else given


def check(name, first, second):
    global passed, failed
    if values(first) == values(second):
        passed += 1
    else:
        failed += 1
        print(f"{name}: the results differ", flush=True)


def json_of(**inputs):
    try:
        return pc.measure(**inputs).to_json()
    except pc.Error as error:
        return str(error)


def make(rows, classes, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = (3 * torch.randn(rows, classes, generator=generator)).to(dtype)
    labels = torch.randint(classes, (rows,), generator=generator)
    labels = torch.where(torch.rand(rows, generator=generator) < 0.7, logits.argmax(1), labels)
    return logits, labels


def compare_bits():
    for classes in (2, 3, 10, 31, 32, 33, 100, 1000):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            logits, labels = make(5003, classes, dtype, classes)
            for metrics in (LEAN, ADDITIVE, MOMENTS, ["default"], ["paper"] if classes in (10, 100) else ["log:clip=0.01"]):
                here = json_of(logits=logits, labels=labels, metrics=metrics)
                there = json_of(logits=logits.cuda(), labels=labels.cuda(), metrics=metrics)
                check(f"{classes} classes, {dtype}, {metrics[0]}", here, there)


def compare_inputs():
    logits, labels = make(300_007, 10)
    weights = torch.arange(300_007) % 3
    groups = torch.arange(300_007) % 5
    for more in ({}, {"weights": weights}, {"groups": groups}):
        here = json_of(logits=logits, labels=labels, metrics=LEAN, **more)
        there = json_of(logits=logits.cuda(), labels=labels.cuda(), metrics=LEAN,
                        **{name: value.cuda() for name, value in more.items()})  # fmt: skip
        check(f"{list(more)}", here, there)
    bad = logits.clone()
    bad[123_456, 7] = float("nan")
    check("missing", json_of(logits=bad, labels=labels, metrics=LEAN),
          json_of(logits=bad.cuda(), labels=labels.cuda(), metrics=LEAN))  # fmt: skip
    probs = torch.softmax(logits.double(), 1)
    check("probabilities", json_of(probs=probs, labels=labels),
          json_of(probs=probs.cuda(), labels=labels.cuda()))  # fmt: skip
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = logits.cuda() * 2  # complete on this stream only
        check("a stream", json_of(logits=logits * 2, labels=labels, metrics=LEAN),
              json_of(logits=late, labels=labels, metrics=LEAN))  # fmt: skip


def compare_sums():
    """Sizes around those of blocks, rows of all degrees of confidence, types of labels, invalid rows."""
    for rows, classes in ((1, 10), (127, 3), (128, 32), (129, 33), (4097, 2), (1_200_000, 10), (70_001, 100), (20_000, 1000)):
        logits, labels = make(rows, classes, torch.float32, rows)
        scale = torch.logspace(-3, 2.5, rows)[:, None]
        for each in (logits, logits * scale, (logits * scale).round(), logits.double() * scale.double()):
            here = json_of(logits=each, labels=labels, metrics=ADDITIVE)
            check(f"sums of {rows} x {classes}, {each.dtype}", here,
                  json_of(logits=each.cuda(), labels=labels.cuda(), metrics=ADDITIVE))  # fmt: skip
            check(f"sums of {rows} x {classes}, labels in memory", here,
                  json_of(logits=each.cuda(), labels=labels, metrics=ADDITIVE))  # fmt: skip
    logits, labels = make(300_007, 10)
    here = json_of(logits=logits, labels=labels, metrics=ADDITIVE)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64):
        check(f"labels of {dtype}", here, json_of(logits=logits.cuda(), labels=labels.to(dtype).cuda(), metrics=ADDITIVE))
    for row, value in ((0, -1), (299_999, 10), (7, 2**40)):
        bad = labels.clone()
        bad[row] = value
        check(f"the label {value}", json_of(logits=logits, labels=bad, metrics=ADDITIVE),
              json_of(logits=logits.cuda(), labels=bad.cuda(), metrics=ADDITIVE))  # fmt: skip
    for value in (float("nan"), float("inf"), float("-inf")):
        bad = logits.clone()
        bad[200_000, 3] = value
        check(f"the logit {value}", json_of(logits=bad, labels=labels, metrics=ADDITIVE),
              json_of(logits=bad.cuda(), labels=labels.cuda(), metrics=ADDITIVE))  # fmt: skip
    whole, parts = json_of(logits=logits, labels=labels, metrics=ADDITIVE), pc.Measure(ADDITIVE)
    for begin in range(0, len(labels), 10_007):
        parts.update(logits=logits[begin : begin + 10_007].cuda(), labels=labels[begin : begin + 10_007].cuda())
    check("a loop of sums", whole, parts.result().to_json())


def on_gpu(inputs):
    return {name: value.cuda() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}


def compare_forms():
    """Probabilities and their logarithms, of all types, with weights and groups; rows that are rescaled or refused."""
    for rows, classes in ((5003, 2), (5003, 3), (300_007, 10), (5003, 33), (20_011, 100), (3001, 1000)):
        logits, labels = make(rows, classes, torch.float64, rows + classes)
        probs, logs = torch.softmax(logits, 1), torch.log_softmax(logits, 1)
        forms = [{"probs": probs.float()}, {"probs": probs}, {"log_probs": logs.float()}, {"log_probs": logs},
                 {"probs": probs.half()}, {"probs": probs.bfloat16()}, {"logits": logits.float()}]  # fmt: skip
        weights, groups = 1 + torch.arange(rows) % 7, torch.arange(rows) % 5
        halves = (torch.arange(rows) % 9).double() / 2
        for form in forms:
            name = f"{next(iter(form))}, {next(iter(form.values())).dtype}, {rows} x {classes}"
            for more in ({}, {"weights": weights}, {"weights": halves}, {"groups": groups}, {"weights": halves, "groups": groups}):
                if more and "groups" not in more and rows > 300_000:
                    continue
                for metrics in (LEAN + ["cwce", "sce", "tce-kde:p=2"], MOMENTS):
                    given = dict(form, labels=labels, metrics=metrics, **more)
                    check(f"{name}, {list(more)}, {metrics[0]}", json_of(**given), json_of(**on_gpu(given)))
    logits, labels = make(40_000, 10)
    probs = torch.softmax(logits.double(), 1)
    for row, off in ((0, 1e-6), (39_999, 3e-5), (7, 5e-3), (8, 0.1), (123, float("nan")), (9, -1e-6), (10, -1.0)):
        bad = probs.clone()
        bad[row, 3] += off
        for normalize in (False, True):
            given = {"probs": bad, "labels": labels, "metrics": LEAN + MOMENTS, "normalize": normalize}
            check(f"a number off by {off}, {normalize}", json_of(**given), json_of(**on_gpu(given)))
    for rows, classes, dtype in ((300_007, 10, torch.float32), (30_000, 100, torch.float64)):
        scores, truth = make(rows, classes, dtype)
        given = {"probs": torch.softmax(scores, 1), "labels": truth, "metrics": ["ace", "tace", "ace:bins=40"]}
        check(f"sorted scores of {rows} x {classes} probabilities", json_of(**given), json_of(**on_gpu(given)))
    given = {"probs": probs * (1 + 4e-3), "labels": labels, "metrics": ["default"], "normalize": True}
    check("all rows rescaled", json_of(**given), json_of(**on_gpu(given)))
    for name in ("probs", "logits"):
        scores = probs if name == "probs" else logits
        for more in ({}, {"weights": torch.ones(40_000) * 2}, {"groups": torch.arange(40_000) % 3}):
            for spec in ("default", "paper"):
                result = pc.measure(**on_gpu({name: scores[:3000], "labels": labels[:3000], "metrics": spec,
                                              **{key: value[:3000] for key, value in more.items()}}))  # fmt: skip
                check(f"{spec} of {name} with {list(more)}", {value.device for value in result} - {"pairs"}, {"cuda"})


def compare_fits():
    """Temperatures of all sizes and types, wide and narrow, also with labels in memory."""
    for rows, classes in ((1, 10), (700, 2), (1281, 3), (5003, 33), (300_007, 10), (40_000, 1000), (1_000_000, 32)):
        logits, labels = make(rows, classes, torch.float32, rows + 1)
        spread = torch.logspace(-2, 1.5, rows)[:, None]
        for each in (logits, logits * spread, logits.double() * spread.double()):
            fits = [pc.Temperature(kind="logits").fit(z, y).to_json() for z, y in
                    ((each, labels), (each.cuda(), labels.cuda()), (each.cuda(), labels))]  # fmt: skip
            check(f"temperature of {rows} x {classes}, {each.dtype}", fits[0], fits[1])
            check(f"temperature of {rows} x {classes}, {each.dtype}, labels in memory", fits[0], fits[2])


def compare_maps():
    """Calibrated probabilities come back on the GPU, with the bits of those in memory."""
    for rows, classes in ((1, 2), (129, 10), (5003, 33), (70_001, 100), (300_007, 10), (3000, 5000)):
        logits, labels = make(rows, classes, torch.float32, rows)
        for each in (logits, logits.round(), logits.double(), logits.half()):
            fitted = pc.Temperature(kind="logits").fit(logits, labels)
            there = fitted.predict_proba(each.cuda())
            here = fitted.predict_proba(each.float() if each.dtype == torch.float16 else each)
            name = f"map of {rows} x {classes}, {each.dtype}"
            check(f"{name}: device", there.device.type, "cuda")
            check(name, bool((here == there.cpu()).all()) and here.dtype == there.dtype, True)
    other = pc.VectorScaling(kind="logits").fit(*make(2000, 10))
    logits = make(500, 10)[0]
    check("another calibrator", bool((other.transform(logits) == other.transform(logits.cuda()).cpu()).all()), True)
    bad = make(500, 10)[0]
    bad[123, 4] = float("nan")
    messages = []
    for each in (bad, bad.cuda()):
        try:
            other.transform(each)
            messages.append("")
        except pc.Error as error:
            messages.append(str(error))
    check("a bad row", messages[0] != "" and messages[0] == messages[1], True)


def compare_pairs():
    for rows, classes in ((2000, 2), (2001, 10), (10_007, 10), (5000, 100), (3000, 1000)):
        logits, labels = make(rows, classes, torch.float32, rows)
        for each in (logits, logits.round(), logits.double()):
            metrics = ["skce", "kce", "skce:kernel=gaussian,scale=0.3", "kce:distance=tv", "ce-kde"]
            here = json_of(logits=each, labels=labels, metrics=metrics)
            check(f"pairs of {rows} x {classes}", here, json_of(logits=each.cuda(), labels=labels.cuda(), metrics=metrics))


def compare_mmce():
    """Kernels on the scores themselves, on cells of both widths and on few rows, of both estimators, whole and in a loop."""
    metrics = [f"mmce:width={width}" for width in (10, 0.4, 0.25, 0.2, 0.0078125, 0.005)] + ["mmce:estimator=u", "mmce:view=positive"]
    for rows, classes in ((1, 2), (700, 10), (65_535, 2), (65_536, 2), (65_537, 10), (300_007, 10), (20_011, 100), (1_000_000, 2)):
        logits, labels = make(rows, classes, torch.float32, rows)
        names = [name for name in metrics if classes == 2 or "positive" not in name]
        names = [name for name in names if rows > 1 or "estimator=u" not in name]
        for each in (logits, logits * 8, logits.double()):
            for form in ({"logits": each}, {"probs": torch.softmax(each, 1)}):
                given = dict(form, labels=labels, metrics=names)
                check(f"mmce of {rows} x {classes} {next(iter(form))}", json_of(**given), json_of(**on_gpu(given)))
        given = {"logits": logits, "labels": labels, "metrics": names, "weights": 1 + torch.arange(rows) % 3}
        check(f"mmce of {rows} x {classes} with weights", json_of(**given), json_of(**on_gpu(given)))
    logits, labels = make(200_000, 10)
    parts = [pc.Measure(["mmce", "mmce:width=0.01"]) for _ in range(2)]
    for begin in range(0, len(labels), 30_011):
        given = {"logits": logits[begin : begin + 30_011], "labels": labels[begin : begin + 30_011]}
        for running, inputs in zip(parts, (given, on_gpu(given))):
            running.update(**inputs)
    check("a loop of mmce", *(running.result().to_json() for running in parts))


def compare_methods():
    logits, labels = make(20_000, 10)
    first = pc.Temperature(kind="logits").fit(logits.numpy(), labels.numpy())
    second = pc.Temperature(kind="logits").fit(logits.cuda(), labels.cuda())
    check("temperature", first.T_, second.T_)
    compare_fits()
    compare_maps()
    compare_pairs()
    compare_mmce()
    whole = pc.measure(logits=logits, labels=labels, metrics=LEAN).to_json()
    parts = pc.Measure(LEAN)
    for begin in range(0, 20_000, 999):
        end = begin + 999
        parts.update(logits=logits[begin:end].cuda(), labels=labels[begin:end].cuda())
    check("a loop", whole, parts.result().to_json())


def compare_devices():
    """Results say which metrics the GPU has computed; metrics without kernels run beside them, on copies."""
    def devices(specs, rows=5003, classes=10, **more):
        logits, labels = make(rows, classes)
        result = pc.measure(logits=logits.cuda(), labels=labels.cuda(), metrics=specs, **more)
        check(f"{specs} of {rows} x {classes}", json_of(logits=logits, labels=labels, metrics=specs, **more),
              result.to_json())  # fmt: skip
        return {value.metric: value.device for value in result}

    check("default is computed there", set(devices("default").values()), {"cuda"})
    check("default of many rows too", set(devices("default", 200_000).values()), {"cuda"})
    found = devices("paper")
    check("paper: pairs", found.pop("ce-kde"), "pairs")
    check("paper: the others", set(found.values()), {"cuda"})
    check("moments", set(devices(MOMENTS, classes=100).values()), {"cuda"})
    check("copies", devices(["ece", "ace", "cwce", "tace", "skce"]),
          {"ece": "cuda", "ace": "copied", "cwce": "cuda", "tace": "copied", "skce": "pairs"})  # fmt: skip
    check("sorted scores of every class", devices(["ece", "ace", "ks", "tace", "mmce"], 400_000),
          {"ece": "cuda", "ace": "cuda", "ks": "cuda", "tace": "cuda", "mmce": "cuda"})  # fmt: skip
    check("sorted scores of many classes", set(devices(["ace", "tace"], 30_011, 1000).values()), {"cuda"})
    check("edges in most buckets", set(devices(["ace:bins=100"], 30_011, 1000).values()), {"copied"})
    check("copies of many rows", devices(["ece", "auc"], 400_000), {"ece": "cuda", "auc": "copied"})
    check("intervals", devices(["ece", "brier"], interval=0.9, replicas=50), {"ece": "cuda", "brier": "copied"})
    check("memory", {value.device for value in pc.measure(logits=make(100, 10)[0], labels=make(100, 10)[1])}, {None})


def compare_probs(package, logits, labels, put, kind, get):
    """Calibrated probabilities of an array of a package are one of its arrays on the same GPU, with the bits of those in
    memory: of a temperature, which may be computed there, and of calibrators that are computed on the CPU and put back."""
    for name, fitted in (("temperature", pc.Temperature(kind="logits")), ("vector scaling", pc.VectorScaling(kind="logits")),
                         ("isotonic regression", pc.IsotonicMulti(kind="logits"))):  # fmt: skip
        fitted.fit(logits.numpy(), labels.numpy())
        for each in (logits, logits.double(), logits[:1]):
            here, there = each.numpy(), put(each.numpy())
            for method in ("predict_proba", "transform"):
                expected, found = getattr(fitted, method)(here), getattr(fitted, method)(there)
                check(f"{package}, {method} of {name}: kind and device", kind(found), kind(there))
                check(f"{package}, {method} of {name}", (get(found).dtype, get(found).tobytes()),
                      (expected.dtype, np.ascontiguousarray(expected).tobytes()))  # fmt: skip


def compare_cupy(logits, labels):
    import cupy

    there, half = cupy.asarray(logits.numpy()), logits.half().float()
    check("CuPy", json_of(logits=logits, labels=labels, metrics=LEAN),
          json_of(logits=there, labels=cupy.asarray(labels.numpy()), metrics=LEAN))  # fmt: skip
    result = pc.measure(logits=there.astype("float16"), labels=labels.numpy(), metrics=LEAN)
    check("CuPy, float16", json_of(logits=half, labels=labels, metrics=LEAN), result.to_json())
    check("CuPy, float16, on the GPU", {value.device for value in result}, {"cuda"})
    compare_probs("CuPy", logits, labels, cupy.asarray, lambda found: (type(found), found.device), lambda found: found.get())


def compare_jax(logits, labels):
    import jax

    there, half = jax.numpy.asarray(logits.numpy()), logits.bfloat16().float()
    check("JAX", json_of(logits=logits, labels=labels, metrics=LEAN),
          json_of(logits=there, labels=labels.numpy(), metrics=LEAN))  # fmt: skip
    result = pc.measure(logits=there.astype("bfloat16"), labels=labels.numpy(), metrics=LEAN)
    check("JAX, bfloat16 by DLPack", json_of(logits=half, labels=labels, metrics=LEAN), result.to_json())
    check("JAX, bfloat16, on the GPU", {value.device for value in result}, {"cuda"})
    jax.config.update("jax_enable_x64", True)  # else arrays of doubles become float32
    for device in jax.devices("gpu"):
        compare_probs("JAX", logits, labels, lambda array, device=device: jax.device_put(array, device),
                      lambda found: (isinstance(found, jax.Array), found.devices()), np.asarray)  # fmt: skip
    jax.config.update("jax_enable_x64", False)
    square = jax.numpy.ones((8192, 8192), dtype="float32") / 8192
    queued = jax.jit(lambda z, a: z + 0 * (a @ a @ a @ a @ a @ a)[0, 0])
    queued(there, square).block_until_ready()  # compiled
    check("JAX, work that is still queued", json_of(logits=logits, labels=labels, metrics=LEAN),
          json_of(logits=queued(there, square), labels=labels.numpy(), metrics=LEAN))  # fmt: skip


def compare_packages():
    """Compares arrays of other packages; names of those that are not installed."""
    left_out = []
    for name, compare in (("cupy", compare_cupy), ("jax", compare_jax)):
        if importlib.util.find_spec(name) is None:
            left_out.append(name)
        else:
            compare(*make(2000, 10))
    return left_out


def best(function, repeats=20):
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times)[len(times) // 2]


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
    return hit.mean().item(), brier.item(), log.item(), (gap.abs().sum() / len(labels)).item()


def bench():
    additive = ["accuracy", "brier", "log", "ece"]
    print(f"{'milliseconds, median':<42}{'50k x 1000':>12}{'1M x 10':>12}")
    sets = []
    for rows, classes in ((50_000, 1000), (1_000_000, 10)):
        logits, labels = make(rows, classes)
        sets.append((logits, labels, logits.cuda(), labels.cuda()))
    lines = {
        "propercal, tensors on the GPU": lambda z, y, zg, yg: pc.measure(logits=zg, labels=yg, metrics=additive),
        "propercal, tensors in memory": lambda z, y, zg, yg: pc.measure(logits=z, labels=y, metrics=additive),
        "logits.cpu(), then propercal": lambda z, y, zg, yg: pc.measure(logits=zg.cpu(), labels=yg.cpu(), metrics=additive),
        "propercal, default metrics, GPU": lambda z, y, zg, yg: pc.measure(logits=zg, labels=yg),
        "propercal, default metrics, memory": lambda z, y, zg, yg: pc.measure(logits=z, labels=y),
        "PyTorch on the GPU, as usually written": lambda z, y, zg, yg: usual(zg, yg),
        "reading the logits once on the GPU (sum)": lambda z, y, zg, yg: zg.sum().item(),
    }
    for name, line in lines.items():
        values = []
        for each in sets:
            line(*each)
            values.append(best(lambda: line(*each)))
        print(f"{name:<42}" + "".join(f"{value:12.2f}" for value in values), flush=True)


def main():
    if not torch.cuda.is_available():
        print("there is no GPU here", file=sys.stderr)
        return 77
    compare_bits()
    compare_inputs()
    compare_sums()
    compare_forms()
    compare_methods()
    compare_devices()
    left_out = compare_packages()
    if "--bench" in sys.argv[1:]:
        bench()
    print(f"{passed} passed, {failed} failed")
    if left_out:
        print("left out:", ", ".join(left_out))
    return 1 if failed else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
