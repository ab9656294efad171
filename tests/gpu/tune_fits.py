"""Compiles the kernels pc_temperature_* and pc_pair_sums_strips_all with other settings and times them alone, by
events.

    python3 tests/gpu/tune_fits.py      needs a GPU of capability 9.0, PyTorch and nvcc

Each line is a setting, the number of blocks on a multiprocessor, which bounds the registers of a thread; then
milliseconds of one launch: temperatures of 50,000 x 1,000 and 262,144 x 10 float32 logits, and the pairs of 50,000 rows
of 10 classes.
"""

import concurrent.futures
import ctypes
import pathlib
import subprocess
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
THREADS = 128
driver = ctypes.CDLL("libcuda.so.1")


class Rows(ctypes.Structure):
    """pc_temperature_rows of src/device/temperature_rows.h."""

    _fields_ = [("scores", ctypes.c_void_p), ("labels", ctypes.c_void_p), ("chosen", ctypes.c_void_p),
                ("values", ctypes.c_void_p), ("words", ctypes.c_void_p), ("rows", ctypes.c_uint64),
                ("classes", ctypes.c_uint32), ("label_size", ctypes.c_uint32), ("with_one", ctypes.c_uint32),
                ("beta", ctypes.c_double)]  # fmt: skip


class Pairs(ctypes.Structure):
    """pc_pair_sums of src/device/pair_sums.h."""

    _fields_ = [("probs", ctypes.c_void_p), ("halves", ctypes.c_void_p), ("weights", ctypes.c_void_p),
                ("labels", ctypes.c_void_p), ("limbs", ctypes.c_void_p), ("rows", ctypes.c_uint64),
                ("classes", ctypes.c_uint32), ("packs", ctypes.c_uint32), ("strip_packs", ctypes.c_uint32),
                ("first_strip", ctypes.c_uint32), ("tv", ctypes.c_uint32), ("gaussian", ctypes.c_uint32),
                ("near", ctypes.c_uint32), ("weighted", ctypes.c_uint32), ("factor", ctypes.c_double),
                ("close", ctypes.c_double)]  # fmt: skip


def compiled(blocks):
    path = pathlib.Path(tempfile.gettempdir(), f"fits_{blocks}.cubin")
    flags = [f"-DTEMPERATURE_ROWS_BLOCKS={blocks}", f"-DPAIR_SUMS_BLOCKS={blocks}"]
    subprocess.run(["nvcc", "-cubin", "-arch=sm_90", "-O3", "-fmad=false", "-I", ROOT / "src", *flags, "-o", path,
                    ROOT / "src" / "device" / "device_kernels.cu"], check=True)  # fmt: skip
    return path.read_bytes()


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA error {result}")


def time_of(module, name, argument, blocks, repeats=10):
    function = ctypes.c_void_p()
    check(driver.cuModuleGetFunction(ctypes.byref(function), module, name))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        check(driver.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, parameters, None))
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def temperature(module, logits, labels, values, words, with_one):
    rows, classes = logits.shape
    argument = Rows(scores=logits.data_ptr(), labels=labels.data_ptr(), values=values.data_ptr(),
                    words=words.data_ptr(), rows=rows, classes=classes, label_size=8, with_one=with_one, beta=0.8)  # fmt: skip
    step = 16 if classes > 32 else THREADS
    name = b"pc_temperature_wide_f32" if classes > 32 else b"pc_temperature_narrow_f32"
    return time_of(module, name, argument, -(-rows // step))


def pairs(module, packs, limbs):
    probs, halves, weights, labels = packs
    count = labels.numel() // 16
    argument = Pairs(probs=probs.data_ptr(), halves=halves.data_ptr(), weights=weights.data_ptr(),
                     labels=labels.data_ptr(), limbs=limbs.data_ptr(), rows=labels.numel(), classes=probs.shape[1],
                     packs=count, strip_packs=16, near=1, factor=2**0.5, close=1e-9)  # fmt: skip
    return time_of(module, b"pc_pair_sums_strips_all", argument, -(-count // 16) * -(-count // 16), 5)


def main():
    sets = []
    for rows, classes in ((50_000, 1000), (262_144, 10)):
        sets.append((3 * torch.randn(rows, classes, device="cuda"), torch.randint(classes, (rows,), device="cuda")))
    values = torch.zeros(8 * 262_144, dtype=torch.float64, device="cuda")
    words = torch.zeros(4096, dtype=torch.int64, device="cuda")
    probs = torch.softmax(3 * torch.randn(3125, 16, 10, device="cuda", dtype=torch.float64), 2).transpose(1, 2).contiguous()
    labels = torch.randint(10, (50_000,), device="cuda").sort().values.to(torch.int32)
    packs = (probs, 0.5 * (probs * probs).sum(1).contiguous(), torch.ones(50_000, dtype=torch.float64, device="cuda"), labels)
    limbs = torch.zeros(70 * 200, dtype=torch.int64, device="cuda")
    settings = (2, 3, 4, 5, 6, 7, 8)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        images = list(pool.map(compiled, settings))
    print("blocks: 50k x 1000 with and without beta = 1, 262k x 10 the same, pairs of 50k x 10")
    for setting, image in zip(settings, images):
        module = ctypes.c_void_p()
        check(driver.cuModuleLoadData(ctypes.byref(module), image))
        line = [temperature(module, *each, values, words, one) for each in sets for one in (1, 0)]
        line.append(pairs(module, packs, limbs))
        print(setting, " ".join(f"{each:8.3f}" for each in line), flush=True)


if __name__ == "__main__":
    main()
