"""Compiles the kernels pc_row_sums_* with other settings and times them alone, by events.

    python3 tests/gpu/tune_row_sums.py      needs a GPU of capability 9.0, PyTorch and nvcc

Each line is a setting: blocks on a multiprocessor (which bounds the registers) and exponentials of a thread at
once; then microseconds of one launch for 50,000 x 1,000 and 1,000,000 x 10 float32 logits with the sums
and bins of brier, log and ece.
"""

import concurrent.futures
import ctypes
import pathlib
import subprocess
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
THREADS, WARP_ROWS, BLOCK_ROWS = 128, 8, 4096
driver = ctypes.CDLL("libcuda.so.1")


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("lowest", ctypes.c_double)]


class Grid(ctypes.Structure):
    _fields_ = [("first_cut", ctypes.c_uint32), ("cut_count", ctypes.c_uint32), ("first_cell", ctypes.c_uint32),
                ("guess", ctypes.c_double)]  # fmt: skip


class Sums(ctypes.Structure):
    """pc_row_sums of src/device/row_sums.h."""

    _fields_ = [("scores", ctypes.c_void_p), ("labels", ctypes.c_void_p), ("words", ctypes.c_void_p),
                ("row_total", ctypes.c_void_p), ("row_largest", ctypes.c_void_p),
                ("rows", ctypes.c_uint64), ("classes", ctypes.c_uint32), ("label_size", ctypes.c_uint32),
                ("value_count", ctypes.c_uint32), ("grid_count", ctypes.c_uint32), ("cell_count", ctypes.c_uint32),
                ("cut_count", ctypes.c_uint32), ("value", Value * 3), ("grid", Grid * 4),
                ("cuts", ctypes.c_double * 260)]  # fmt: skip


def compiled(setting):
    name = "_".join(str(each) for each in setting)
    path = pathlib.Path(tempfile.gettempdir(), f"row_sums_{name}.cubin")
    flags = [f"-DROW_SUMS_BLOCKS={setting[0]}", f"-DPC_ROW_SUMS_LOADS={setting[1]}",
             f"-DPC_ROW_SUMS_UNROLL_NARROW={setting[2]}"]  # fmt: skip
    subprocess.run(["nvcc", "-cubin", "-arch=sm_90", "-O3", "-fmad=false", "-I", ROOT / "src", *flags, "-o", path,
                    ROOT / "src" / "device" / "device_kernels.cu"], check=True)  # fmt: skip
    return path.read_bytes()


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA error {result}")


def arguments(logits, labels, words):
    sums = Sums(scores=logits.data_ptr(), labels=labels.data_ptr(), words=words.data_ptr(), rows=logits.shape[0],
                classes=logits.shape[1], label_size=8, value_count=2, grid_count=1, cell_count=15, cut_count=16)  # fmt: skip
    sums.value[0] = Value(2, 0.0)
    sums.value[1] = Value(3, float("-inf"))
    sums.grid[0] = Grid(0, 14, 0, 15.0)
    sums.cuts[:16] = [float("-inf")] + [i / 15 for i in range(1, 15)] + [float("inf")]
    return sums


def shared_bytes(sums, wide):
    work = 6 * 8 * THREADS + 2 * 4 * THREADS if wide else THREADS * (sums.classes | 1) * 4
    fold = 12 * 8 * 8 + sums.value_count * 4 * THREADS * 8
    cells = sums.cut_count * 8 + 16 + 8 * sums.cell_count * 28
    return (cells + 15) // 16 * 16 + max(work, fold)


def time_of(function, sums, wide, blocks_of_multiprocessor):
    most = torch.cuda.get_device_properties(0).multi_processor_count * blocks_of_multiprocessor
    step = WARP_ROWS if wide else THREADS
    blocks = max(min(most, -(-sums.rows // step)), -(-sums.rows // BLOCK_ROWS))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(sums))
    times = []
    for _ in range(30):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        check(driver.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, shared_bytes(sums, wide), stream,
                                    parameters, None))  # fmt: skip
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def main():
    settings = [(blocks, wide, narrow) for blocks in (4, 6, 8, 10, 12) for wide, narrow in ((1, 1), (2, 2), (4, 2), (4, 5), (8, 10))]
    words = torch.zeros(4096, dtype=torch.int64, device="cuda")
    sets = []
    for rows, classes in ((50_000, 1000), (1_000_000, 10)):
        logits = 3 * torch.randn(rows, classes, device="cuda")
        sets.append((logits, torch.randint(classes, (rows,), device="cuda")))
    for logits, _ in sets:
        times = []
        for _ in range(20):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            logits.sum()
            end.record()
            end.synchronize()
            times.append(1e3 * begin.elapsed_time(end))
        print(f"reading {tuple(logits.shape)}: {sorted(times)[10]:.1f} microseconds")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        images = list(pool.map(compiled, settings))
    print("blocks, unrolled wide and narrow: 50k x 1000, 1M x 10; the same with twice as many blocks in the grid")
    for setting, image in zip(settings, images):
        module, line = ctypes.c_void_p(), []
        check(driver.cuModuleLoadData(ctypes.byref(module), image))
        for factor in (1, 2):
            for logits, labels in sets:
                wide = logits.shape[1] > 32
                function = ctypes.c_void_p()
                name = b"pc_row_sums_wide_f32" if wide else b"pc_row_sums_narrow_f32"
                check(driver.cuModuleGetFunction(ctypes.byref(function), module, name))
                line.append(time_of(function, arguments(logits, labels, words), wide, factor * setting[0]))
        print(setting, " ".join(f"{each:8.1f}" for each in line), flush=True)


if __name__ == "__main__":
    main()
