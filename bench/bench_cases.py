"""What make bench measures: each case with its peers, its limit and its targets.

Sizes are those of the project's design: A, B, C and E are float32 logits, D binary float32 scores.
Targets are multiples: of our time that a peer must take at least, and of the limit that we may
take at most.
"""

import dataclasses
import pathlib
import re
from typing import Optional

SIZES = {"A": (10_000, 10), "A-1k": (1000, 10), "B": (50_000, 1000), "C": (1_000_000, 10), "D": (10_000_000, 1),
         "D-1M": (1_000_000, 1), "D-2M": (2_000_000, 1), "D-50k": (50_000, 1),
         "E": (10_000, 100)}
SMOKE_SIZES = {"A": (200, 10), "A-1k": (100, 10), "B": (60, 1000), "C": (3000, 10), "D": (1_200_000, 1),
               "D-1M": (4000, 1), "D-2M": (8000, 1), "D-50k": (2000, 1), "E": (200, 100)}
HUGE_SIZES = {"D-huge": (1_000_000_000, 1)}
PAIR_FLOPS = 14  # of a square root and an exponential, besides 2 K of an inner product
PAIRS = {"skce": 0.5, "ce-kde": 1.0}  # of the squared number of rows; kde kernels are not symmetric


def cpu_flags():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    found = re.search(r"^flags\s*:(.*)$", text, re.M)
    return set(found.group(1).split()) if found else set()


@dataclasses.dataclass
class Peer:
    name: str
    option: str
    least: Optional[float] = None  # target: it takes at least this many times as long
    tolerance: float = 1e-5  # relative difference of its numbers from ours
    known: str = ""  # why they differ by more


@dataclasses.dataclass
class Case:
    key: str
    title: str
    program: str
    operation: str
    data: str
    option: str
    peers: list
    limit: str = ""  # see limit_participant; "command X": bench_program measure DATA X,
    # "python X": the same operation of bench_python with X
    most: Optional[float] = None  # target: ours takes at most this many times the limit
    threaded: bool = True
    memory: bool = False  # bytes instead of seconds
    most_bytes: Optional[float] = None
    most_seconds: Optional[float] = None
    peer_share: Optional[float] = None  # target: at most this share of the first peer's memory
    repeats: Optional[int] = None  # at most: for peers that take long


EXACT_LEAST = 12.0 if "avx512f" in cpu_flags() else 6.0


SET = "accuracy, Brier, log, ECE"
FLOAT_SUMS = "it adds up its bins in float32"
RELPLOT = "its grid is coarser, it halves ten times, and it counts scores at 0 and 1 once"


def additive_peers(least, others=True):
    peers = [
        Peer("PyTorch", "torch", least),
        Peer("PyTorch, tuned", "torch-tuned"),
    ]
    if others:
        peers += [
            Peer("torchmetrics, ECE only", "torchmetrics", None, 1e-5, FLOAT_SUMS),
            Peer("netcal, ECE only, softmax not counted", "netcal"),
        ]
    return peers


def temperature_peers(least):
    return [
        Peer("PyTorch L-BFGS, strong Wolfe", "lbfgs", least, 1e-3),
        Peer("SciPy minimize_scalar on log_loss", "scipy", None, 1e-3),
        Peer("scikit-learn temperature", "sklearn", None, 1e-3),
        Peer(
            "the classic script",
            "classic",
            None,
            1e-3,
            "50 steps of L-BFGS without a line search end far from the optimum",
        ),
    ]


FLOAT = "float32 ends before the minimum"


def vector_peers():
    return [Peer("SciPy L-BFGS-B", "scipy", 20.0, 1e-8),
            Peer("PyTorch L-BFGS, strong Wolfe, in double", "torch-double", 20.0, 1e-7),
            Peer("the same in float32", "torch", None, 1e-6, FLOAT)]


def python_peers(torchmetrics, netcal=None):
    """netcal takes probabilities; of logits, a softmax of PyTorch is counted with it."""
    return [
        Peer("torchmetrics", "torchmetrics", torchmetrics, 1e-5, FLOAT_SUMS),
        Peer("netcal", "netcal", netcal),
    ]


CASES = [
    Case("additive-B-exact", f"{SET}: B", "bench_measure", "additive", "B", "exact",
         additive_peers(EXACT_LEAST), "read"),
    Case("additive-B-fast", f"{SET}: B, fast", "bench_measure", "additive", "B", "fast",
         additive_peers(30.0, False), "read", 1.7),
    Case("additive-C-exact", f"{SET}: C", "bench_measure", "additive", "C", "exact",
         additive_peers(15.0), "read"),
    Case("additive-C-fast", f"{SET}: C, fast", "bench_measure", "additive", "C", "fast",
         additive_peers(25.0, False), "read", 6.0),
    Case("additive-D-exact", f"{SET}: D", "bench_measure", "additive", "D", "exact",
         [Peer("torchmetrics, ECE only", "torchmetrics", None, 1e-6, FLOAT_SUMS)], "read"),
    Case("additive-B-file", f"{SET}: B, mapped file", "bench_measure", "additive", "B",
         "exact-file", [], "file"),
    Case("curve-D-array", "KS, equal-mass ECE: D", "bench_curve", "curve", "D", "array",
         [Peer("NumPy argsort, cumsum", "numpy", 50.0),
          Peer("NumPy, KS only, float32", "numpy-float32", None, 1e-6,
               "it cumulates in float32"),
          Peer("scikit-learn calibration_curve, quantile", "sklearn", None, 1e-3)],
         "read", 10.0),
    Case("curve-D-file", "KS, equal-mass ECE: D, mapped file", "bench_curve", "curve", "D",
         "file", [], "file", 10.0),
    Case("sort-D", "sort of 10M doubles: D", "bench_curve", "sort", "D", "f64",
         [Peer("numpy.sort", "numpy", None, 0.0)], "radix", threaded=False),
    Case("gce32-E", "all 32 variants of gce: E", "bench_binned", "gce32", "E", "array",
         [Peer("NumPy, a loop over variants, classes and bins", "numpy", 30.0, 1e-9)]),
    Case("class-wise-B", f"{SET}, SCE, CWCE: B", "bench_binned", "class-wise", "B", "array",
         [], "top-label", 2.0),
    Case("replicas-A", "the default group with 1,000 replicas: A", "bench_measure", "replicas",
         "A", "exact", [], "once", 40.0),
    Case("command-default-B", "measure, default metrics, whole command: B", "bench_program",
         "measure", "B", "default", [], "command additive", 3.0),
    Case("command-default-C", "measure, default metrics, whole command: C", "bench_program",
         "measure", "C", "default", [], "command additive", 5.0),
    Case("command-default-B-1", "measure, default metrics, whole command, one thread: B",
         "bench_program",
         "measure", "B", "default", [], "command additive", 3.0, threaded=False),
    Case("command-default-C-1", "measure, default metrics, whole command, one thread: C",
         "bench_program",
         "measure", "C", "default", [], "command additive", 5.0, threaded=False),
    Case("command-class-mass-B", "equal-mass bins of every class, whole command: B",
         "bench_program",
         "measure", "B", "class-mass", [], "command additive"),
    Case("command-class-mass-C", "equal-mass bins of every class, whole command: C",
         "bench_program",
         "measure", "C", "class-mass", [], "command additive"),
    Case("command-null-A", "measure --null, default metrics, whole command: A", "bench_program",
         "measure", "A", "null", [], "command interval", 2.0),
    Case("command-null-C", "measure --null, default metrics, whole command: C", "bench_program",
         "measure", "C", "null", [], most_seconds=20.0, repeats=1),
    Case("command-interval-C", "measure --interval, default metrics, whole command: C",
         "bench_program",
         "measure", "C", "interval", [], most_seconds=20.0, repeats=1),
    Case("command-start", "measure, default metrics, whole command: 1,000 rows of A",
         "bench_program", "measure", "A-1k", "default", [], most_seconds=5e-3),
    Case("command-weights-A", "measure --interval with weights 1 to 3, whole command: A",
         "bench_program", "measure", "A", "weights", [], "command interval", 2.0),
    Case("command-groups-A", "measure --interval with four groups, whole command: A",
         "bench_program", "measure", "A", "groups", [], "command interval", 2.0),
    Case("command-clusters-A", "measure --interval with clusters of five rows, whole command: A",
         "bench_program", "measure", "A", "clusters", [], "command interval", 2.0),
    Case("skce-A", "SKCE: A", "bench_pair", "skce", "A", "array",
         [Peer("PyTorch, all pairs", "torch", 20.0, 1e-3)], "flops", 4.0),
    Case("ce-kde-A", "canonical KDE, h = 0.01: A", "bench_pair", "ce-kde", "A", "0.01",
         [Peer("PyTorch, all pairs", "torch", 15.0, 1e-3),
          Peer("PyTorch, tuned", "torch-tuned", None, 1e-3)], "flops", 4.0),
    Case("ce-kde-search-A", "canonical KDE, search for h: A", "bench_pair", "ce-kde", "A",
         "auto", [Peer("PyTorch, all pairs", "torch-search", None, 1e-3)]),
    Case("smece-1M", "smECE: 1M scores", "bench_smooth", "smece", "D-1M", "array",
         [Peer("relplot", "relplot", 50.0, 2e-3, RELPLOT)], "read"),
    Case("smece-2M", "smECE: 2M scores", "bench_smooth", "smece", "D-2M", "array",
         [Peer("relplot", "relplot", None, 2e-3, RELPLOT)], "read"),
    Case("smece-D", "smECE: D", "bench_smooth", "smece", "D", "array", [], "read"),
    Case("mmce-A", "MMCE: A", "bench_smooth", "mmce", "A", "array",
         [Peer("netcal, softmax not counted", "netcal", 500.0, 1e-6)]),
    Case("test-size-A", "study test-size, seven metrics, 182 subsets: A", "bench_study",
         "test-size", "A", "array",
         [Peer("NumPy, subsets of logits, a loop over classes and bins", "numpy", 50.0, 1e-9),
          Peer("NumPy, subsets of probabilities, bincount", "numpy-tuned", None, 1e-9)]),
    Case("temperature-B", "temperature fit: B", "bench_fit", "temperature", "B", "array",
         temperature_peers(60.0), "read", 10.0),
    Case("temperature-A", "temperature fit: A", "bench_fit", "temperature", "A", "array",
         temperature_peers(None)),
    Case("vector-A", "vector fit: A", "bench_fit", "vector", "A", "array",
         vector_peers()),
    Case("vector-E", "vector fit: E", "bench_fit", "vector", "E", "array",
         vector_peers()),
    Case("odir-E", "dirichlet-odir fit, lambda = mu = 0.001: E", "bench_fit",
         "dirichlet-odir", "E", "array",
         [Peer("PyTorch L-BFGS, strong Wolfe, in double", "torch-double", 5.0, 1e-6),
          Peer("the same in float32", "torch", None, 1e-5, FLOAT)]),
    Case("fit-odir-A", "propercal fit -m matrix-odir, penalties searched: A", "bench_program",
         "fit", "A", "matrix-odir", [], most_seconds=1.0),
    Case("fit-odir-E", "propercal fit -m dirichlet-odir, penalties searched: E",
         "bench_program", "fit", "E", "dirichlet-odir", [], most_seconds=30.0, repeats=3),
    Case("compare-A", "propercal compare, all methods: A", "bench_program", "compare", "A",
         "all", [], most_seconds=3.0, repeats=3),
    Case("compare-E", "propercal compare, all methods: E", "bench_program", "compare", "E",
         "all", [], most_seconds=30.0, repeats=1),
    Case("report-A", "propercal report --method temperature: A", "bench_program", "report",
         "A", "temperature", [], most_seconds=1.5, repeats=3),
    Case("report-B", "propercal report --method temperature: B", "bench_program", "report",
         "B", "temperature", [], most_seconds=20.0, repeats=1),
    *[Case(f"study-{name.replace(':space=', '-')}-A", f"propercal study {name}, as published: A",
           "bench_program", "study", "A", name, [], most_seconds=300.0, repeats=1)
      for name in ("test-size", "test-size:space=squared", "improvement",
                   "improvement:space=squared")],
    Case("isotonic-D", "isotonic fit: D", "bench_order", "isotonic", "D", "array",
         [Peer("scikit-learn IsotonicRegression", "sklearn", 10.0, 1e-5)], "radix", 2.0,
         repeats=3),
    Case("spline-50k", "spline fit: 50k scores", "bench_order", "spline", "D-50k", "array",
         [Peer("NumPy, least squares", "numpy", 20.0, 1e-6)], repeats=5),
    Case("venn-abers-50k", "venn-abers fit and apply: 50k scores", "bench_order",
         "both:venn-abers", "D-50k", "array", [Peer("venn-abers", "package", 100.0, 1e-6)],
         repeats=3),
    Case("apply-B", "apply a temperature: B", "bench_fit", "apply", "B", "array",
         [Peer("PyTorch softmax(z / T)", "torch")], "copy", 3.0),
    Case("apply-C", "apply a temperature: C", "bench_fit", "apply", "C", "array",
         [Peer("PyTorch softmax(z / T)", "torch")], "copy", 3.0),
    Case("memory-additive-B", f"peak memory, {SET}: B, mapped file", "bench_measure",
         "additive", "B", "exact-file", [Peer("PyTorch", "torch")], memory=True,
         most_bytes=16e6),
    Case("memory-additive-C", f"peak memory, {SET}: C, mapped file", "bench_measure",
         "additive", "C", "exact-file", [Peer("PyTorch", "torch")], memory=True,
         most_bytes=16e6),
    Case("memory-curve-D", "peak memory, KS, equal-mass ECE: D, mapped file", "bench_curve",
         "curve", "D", "file", [Peer("NumPy argsort, cumsum", "numpy")], memory=True,
         most_bytes=64e6),
    Case("memory-skce-A", "peak memory, SKCE: A", "bench_pair", "skce", "A", "array",
         [Peer("PyTorch, all pairs", "torch")], memory=True, most_bytes=50e6, peer_share=0.01),
    Case("memory-ce-kde-A", "peak memory, canonical KDE, search for h: A", "bench_pair",
         "ce-kde", "A", "auto", [Peer("PyTorch, all pairs", "torch-search")], memory=True,
         most_bytes=50e6, peer_share=0.01),
    Case("memory-temperature-B", "peak memory, temperature fit: B, mapped file", "bench_fit",
         "temperature", "B", "file", [Peer("PyTorch L-BFGS, strong Wolfe", "lbfgs")],
         memory=True),
    Case("python-probs-B", "pc.ece of probabilities: B", "bench_python", "ece-probs", "B",
         "exact", python_peers(10.0, 10.0), "read"),
    Case("python-logits-B", "pc.ece of logits: B", "bench_python", "ece-logits", "B", "exact",
         python_peers(None), "read"),
    Case("python-fast-B", "pc.ece of logits: B, fast", "bench_python", "ece-logits", "B",
         "fast", python_peers(10.0), "read"),
    Case("python-probs-A", "pc.ece of probabilities: A", "bench_python", "ece-probs", "A",
         "exact", python_peers(None)),
    Case("python-overhead-A", "pc.ece beyond the C call: A", "bench_python", "overhead", "A",
         "exact", [], most_seconds=1e-3),
    Case("python-import", "import propercal beyond NumPy", "bench_python", "import", "A", "exact",
         [], threaded=False, most_seconds=0.06, repeats=1),
    *[Case(f"python-ks-{kind}-D", f"pc.ks with {kind} labels: D", "bench_python", "ks", "D",
           kind, [], "python uint8", 1.3)
      for kind in ("int8", "int64", "float16", "float32", "float64")],
    Case("memory-python-B", "peak memory, pc.ece of probabilities: B", "bench_python",
         "ece-probs", "B", "exact", [Peer("torchmetrics", "torchmetrics")], memory=True,
         most_bytes=16e6),
]

HUGE_CASES = [
    Case("curve-huge", "KS, equal-mass ECE: 1e9 scores, mapped file", "bench_curve", "curve",
         "D-huge", "file", [], "file", 10.0),
    Case("memory-curve-huge", "peak memory, KS, equal-mass ECE: 1e9 scores, mapped file",
         "bench_curve", "curve", "D-huge", "file", [], memory=True, most_bytes=64e6),
]
