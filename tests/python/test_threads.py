"""Objects shared between threads and with forked children: every pair of methods at once.

Wrong orders of calls may raise errors; nothing may crash, hang or corrupt memory.  On a Python without
the interpreter's lock (tools/check-free-python) the threads really run at once.
"""

import itertools
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import threading
import time

import numpy as np
import pytest

import propercal as pc
from propercal import _core
from propercal._inputs import _open as open_source

SETTINGS = (2, 0, 0, None, False)
POLICY = (False, False, False, 0.0, 0, None, False, False, False)
PAIRED = (False, False, False, 0.9, 20, None, False, False, True)
SPECS = ("ece", "brier", "ks")
SECONDS = float(os.environ.get("PROPERCAL_THREADS_SECONDS", "8"))  # for all pairs together


def arrays(rows=400, classes=4):
    made = pc.simulate(rows, classes, factor=2, seed=3)
    return {"logits": made.logits, "labels": made.labels}


def source():
    return open_source(arrays(), SETTINGS)


def parts():
    return _core.measure_part(source(), SPECS, POLICY)


def results():
    return _core.measure(source(), SPECS, PAIRED)


def calibrator():
    return _core.fit(source(), "temperature", False, False, False)


def rounds():
    return _core.rounds_new(2, 4, None, SPECS, POLICY, SETTINGS)


def fit_rounds():
    return _core.rounds_new_fit("temperature", False, False, SETTINGS)


def worker():
    return _core.rounds_worker_new(rounds().request(), SETTINGS)


def absorb(one):
    """Answers the current request, which another thread may answer first."""
    answer = _core.rounds_worker_new(one.request(), SETTINGS)
    answer.update(source())
    one.absorb(answer.tally())


def ignore(call):
    """Runs a call that the state of the object may refuse."""
    try:
        call()
    except pc.Error:
        pass


COORDINATOR = {
    "is_fit": lambda one, other: one.is_fit(),
    "done": lambda one, other: one.done(),
    "round": lambda one, other: one.round(),
    "draws": lambda one, other: one.draws(),
    "request": lambda one, other: ignore(one.request),
    "absorb": lambda one, other: ignore(lambda: absorb(one)),
    "finish": lambda one, other: ignore(one.finish),
    "calibrator": lambda one, other: ignore(one.calibrator),
}


# For each type: how to make one, and its calls; `other` is another object of the same type.
TYPES = {
    "Measure": (
        parts,
        {
            "merge": lambda one, other: one.merge(other),
            "finish": lambda one, other: one.finish(),
            "save": lambda one, other: one.save(),
            "describe": lambda one, other: one.describe(),
        },
    ),
    "Results": (
        results,
        {
            "against": lambda one, other: one.against(other),
            "all": lambda one, other: one.all(),
            "first": lambda one, other: one.first(),
            "find": lambda one, other: one.find("ece"),
            "tables": lambda one, other: one.tables(),
            "changes": lambda one, other: one.changes((other.write(2), "other")),
            "write": lambda one, other: one.write(1),
            "figure": lambda one, other: one.figure("reliability"),
            "figure_data": lambda one, other: one.figure_data("reliability"),
            "report": lambda one, other: one.report("title"),
            "bins": lambda one, other: one.bins(),
            "weights": lambda one, other: one.weights(),
            "only_label": lambda one, other: one.only_label(),
            "verdict": lambda one, other: one.verdict(),
        },
    ),
    "Calibrator": (
        calibrator,
        {
            "describe": lambda one, other: one.describe(1),
            "save": lambda one, other: one.save(),
            "export": lambda one, other: one.export("c", "calibrate"),
            "apply": lambda one, other: one.apply(source()),
            "unseen_groups": lambda one, other: one.unseen_groups(source()),
            "apply_on_gpu": lambda one, other: one.apply_on_gpu(0, "f4", 0, 3, 0, 0),
        },
    ),
    "Rounds": (rounds, COORDINATOR),
    "Rounds of a fit": (fit_rounds, COORDINATOR),
    "RoundsWorker": (
        worker,
        {
            "update": lambda one, other: ignore(lambda: one.update(source())),
            "tally": lambda one, other: ignore(one.tally),
        },
    ),
    "Source": (
        source,
        {
            "shape": lambda one, other: one.shape(),
            "measure": lambda one, other: _core.measure(one, SPECS, POLICY),
            "measure_part": lambda one, other: _core.measure_part(one, SPECS, POLICY),
            "fit": lambda one, other: _core.fit(one, "temperature", False, False, False),
            "inspect": lambda one, other: _core.inspect(one, 1),
            "apply": lambda one, other: SHARED.apply(one),
            "unseen_groups": lambda one, other: SHARED.unseen_groups(one),
            "draw": lambda one, other: _core.draw(
                ((None, one, None),), "reliability", other, None, False, False, 0.0, 20, 0.0, 0.0,
                None, None,
            ),
            "compare": lambda one, other: _core.compare(
                ((None, one, other),), ("temperature",), ("ece",), None, 2, 0.9, 20, False, False, 0.0
            ),
        },
    ),
}
SHARED = calibrator()


def measures():
    return pc.Measure(list(SPECS)).update(**arrays())


def watches():
    return pc.Watch().update(**part(next(NUMBERS), 400))


def saved(one):
    """Writes an object to a file and reads it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state")
        one.save(path)
        type(one).load(path)


NUMBERS = itertools.count()
# The same for classes written in Python, whose methods take turns by locks of their own.
PUBLIC = {
    "pc.Measure": (
        measures,
        {
            "update": lambda one, other: one.update(**arrays()),
            "merge": lambda one, other: ignore(lambda: one.merge(other)),
            "result": lambda one, other: ignore(one.result),
            "compute": lambda one, other: ignore(one.compute),
            "reset": lambda one, other: one.reset(),
            "to_bytes": lambda one, other: pc.Measure.from_bytes(one.to_bytes()),
            "save": lambda one, other: saved(one),
            "repr": lambda one, other: repr(one),
        },
    ),
    "pc.Watch": (
        watches,
        {
            "update": lambda one, other: one.update(**part(next(NUMBERS), 400)),
            "save": lambda one, other: saved(one),
            "rows": lambda one, other: one.rows,
            "alarm": lambda one, other: (one.alarm, one.alarm_rows),
            "p_value": lambda one, other: (one.p_value, one.e_value),
            "report": lambda one, other: one.report,
            "repr": lambda one, other: repr(one),
        },
    ),
}
TYPES |= PUBLIC
PAIRS = [
    (kind, a, b)
    for kind, (_, calls) in TYPES.items()
    for a, b in itertools.combinations_with_replacement(calls, 2)
]


# Calls that need not succeed once: there may be no GPU.
MAY_FAIL = {"apply_on_gpu"}


class Shared:
    """Two objects that threads share.  New ones replace them when a call is refused: a source is read once."""

    def __init__(self, make):
        self.make = make
        self.renew()

    def renew(self):
        self.pair = self.make(), self.make()


def work(name, call, shared, turned, until, succeeded, problems):
    """Repeats a call, at least once."""
    while True:
        one, other = shared.pair[::-1] if turned else shared.pair
        try:
            call(one, other)
            succeeded.add(name)
        except pc.Error:
            if name not in MAY_FAIL:
                shared.renew()
        except Exception as error:  # anything else is a fault
            problems.append(error)
            return
        if time.monotonic() >= until:
            return


def test_every_method_of_the_types_is_tried():
    known = {"Source": {"measure", "measure_part", "fit", "inspect", "apply", "unseen_groups", "draw", "compare"}}
    own = {kind: found for kind, found in TYPES.items() if kind not in PUBLIC}
    for kind, (_, calls) in own.items():
        methods = {name for name in dir(getattr(_core, kind.split()[0])) if not name.startswith("_")}
        assert methods == set(calls) - known.get(kind, set())
    types = {name for name in dir(_core) if isinstance(getattr(_core, name), type) and name[0].isupper()}
    assert {kind.split()[0] for kind in own} == types


@pytest.mark.parametrize("kind", TYPES)
def test_pairs_of_methods_at_once(kind):
    make, calls = TYPES[kind]
    problems, succeeded = [], set()
    for _, a, b in (pair for pair in PAIRS if pair[0] == kind):
        shared = Shared(make)
        until = time.monotonic() + SECONDS / len(PAIRS)
        threads = [
            threading.Thread(target=work, args=(name, calls[name], shared, turned, until, succeeded, problems))
            for name, turned in ((a, False), (b, True), (b, False))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive(), f"{kind}: {a} and {b} wait for each other"
    assert problems == []
    assert set(calls) - MAY_FAIL <= succeeded


def test_update_and_merge_at_once():
    data = arrays(20000)
    total, other = pc.Measure(["ece"]), pc.Measure(["ece"])
    other.update(**data)
    until = time.monotonic() + 1
    problems = []

    def keep(call):
        try:
            while time.monotonic() < until:
                call()
        except Exception as error:
            problems.append(error)

    calls = [lambda: other.update(**data), lambda: total.merge(other), lambda: other.result()]
    threads = [threading.Thread(target=keep, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert problems == [] and total.result().ece > 0


def at_once(count, call):
    """Runs a call in several threads and returns the exceptions."""
    problems = []

    def work(number):
        try:
            call(number)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return problems


def part(number, rows=3000):
    made = pc.simulate(rows, 2, factor=1, seed=number)
    return {"logits": made.logits, "labels": made.labels}


def test_no_update_of_a_watch_is_lost():
    watch = pc.Watch()
    assert at_once(8, lambda number: watch.update(**part(number))) == []
    assert watch.rows == 8 * 3000 and watch.report["rows"] == watch.rows


def test_rows_of_updates_at_once_follow_each_other():
    measure = pc.Measure(["ece"])
    assert at_once(8, lambda number: measure.update(**part(number))) == []
    assert "24000 rows" in repr(measure)
    one = pc.Rounds("accuracy", kind="logits", classes=2)
    answer = pc.RoundsWorker(one.request())
    assert at_once(8, lambda number: answer.update(**part(number))) == []
    assert answer._rows == 24000
    one.absorb(answer.tally())
    truth = pc.Measure("accuracy")
    for number in range(8):
        truth.update(**part(number))
    assert one.result().accuracy == truth.result().accuracy


def test_a_watch_in_its_own_callback_and_in_a_child():
    watch = pc.Watch()
    seen = []

    def progress(*_):
        if not seen:
            with pytest.raises(RuntimeError, match="in use by the call"):
                watch.update(**part(1))
            seen.append(True)
            if hasattr(os, "fork"):
                child = os.fork()
                if child == 0:
                    os._exit(0 if watch.rows == 0 else 1)
                seen.append(os.waitpid(child, 0)[1])

    watch.update(**part(2, 200_000), progress=progress)
    assert watch.rows == 200_000 and seen[1:] in ([], [0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_finds_the_locks_free():
    watch, measure, inside, go_on = pc.Watch(), pc.Measure("ece"), threading.Event(), threading.Event()

    def hold():
        with watch._lock, measure._lock, measure._order:
            inside.set()
            go_on.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        watch.update(**part(1))
        measure.update(**part(1))
        os._exit(0 if watch.rows == 3000 and measure.result().ece >= 0 else 1)
    outcome = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    assert outcome == 0


def test_a_call_from_a_callback_of_itself_is_an_error():
    made = []

    def progress(*_):
        if made:
            with pytest.raises(RuntimeError, match="in use by the call"):
                made[0].shape()

    made.append(open_source(arrays(50000), (1, 0, 0, progress, False)))
    _core.measure(made[0], SPECS, POLICY)


FORK = """
    import os, signal, sys, threading, time
    import numpy as np
    import propercal as pc

    data = pc.simulate(20000, 20, factor=2)
    arrays = {"logits": data.logits[:1000], "labels": data.labels[:1000]}
    running = pc.Measure(["ece", "skce"])
    running.update(**arrays)
    stop = False

    def work():
        while not stop:
            running.result()
            pc.measure(logits=data.logits, labels=data.labels, metrics=["ece"])

    thread = threading.Thread(target=work)
    thread.start()
    bad = 0
    for i in range(TIMES):
        time.sleep(0.003 * (i % 7))
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(30)
                value = pc.ece(logits=data.logits[:3000], labels=data.labels[:3000])
                own = pc.Measure(["ece"]).update(**arrays).result().ece
                try:
                    running.result()
                    running.update(**arrays)
                except RuntimeError as error:
                    assert "forked" in str(error)
                os._exit(0 if value > 0 and own > 0 else 1)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(2)
        until = time.monotonic() + 20
        while True:
            done, outcome = os.waitpid(child, os.WNOHANG)
            if done:
                bad += outcome != 0
                break
            if time.monotonic() > until:
                os.kill(child, 9)
                os.waitpid(child, 0)
                bad += 1
                break
            time.sleep(0.002)
    stop = True
    thread.join()
    print(bad)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_busy_process_does_not_wait_for_ever():
    code = textwrap.dedent(FORK).replace("TIMES", "8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0", "")


FORK_IN_C = """
    import ctypes
    import os
    import signal
    import threading
    import time

    import propercal as pc

    data = pc.simulate(60_000, 10, factor=2, seed=1)
    running = pc.Measure(["skce"], threads=1)
    running.update(logits=data.logits, labels=data.labels)
    threading.Thread(target=running.result, daemon=True).start()
    time.sleep(0.3)  # inside a call of a second or more, which needs nothing of Python's
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        signal.alarm(60)
        os._exit(running._core.finish() is None)
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_python_has_not_forked_does_not_wait_for_ever():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK_IN_C)], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0", "")


def test_without_the_interpreter_lock():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has the interpreter's lock")
    assert not sys._is_gil_enabled(), "importing propercal turned the lock on"


def test_rows_that_another_thread_overwrites():
    """Wrong numbers or an error are fine, a crash or a hang are not."""
    data = pc.simulate(300, 12, factor=2)
    logits, labels = data.logits.copy(), data.labels.copy()
    stop = threading.Event()

    def overwrite():
        rng = np.random.default_rng(1)
        bad = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 5.0], dtype=np.float32)
        while not stop.is_set():
            i, j = rng.integers(300), rng.integers(12)
            kept = logits[i, j]
            logits[i, j] = bad[rng.integers(6)]
            labels[i] = rng.integers(-5, 2**31 - 1)
            logits[i, j], labels[i] = kept, data.labels[i]

    writer = threading.Thread(target=overwrite)
    writer.start()
    until = time.monotonic() + 3
    try:
        while time.monotonic() < until:
            for metric in ("sce", "cwce", "smece", "ks", "ece", "skce", "log"):
                try:
                    pc.measure(logits=logits, labels=labels, metrics=[metric], skip_missing=True)
                except pc.Error:
                    pass
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("rows", [20000, 5_000_000])
def test_files_that_another_thread_truncates(tmp_path, rows):
    """Small files are in memory, large ones are read window by window: no signal either way."""
    scores, labels = tmp_path / "scores.npy", tmp_path / "labels.npy"
    rng = np.random.default_rng(1)
    values = rng.random((rows, 4), dtype=np.float32)
    np.save(labels, (rng.random(rows) < 0.5).astype(np.int32))
    for pause in (None, 0, 0.002, 0.01, 0.03):
        np.save(scores, values)
        cut = threading.Timer(pause or 0, os.truncate, (scores, 1000))
        cut.start()
        if pause is None:
            cut.join()
        try:
            pc.measure(logits=str(scores), labels=str(labels), metrics=["ece", "log"])
            assert pause is not None, "a truncated file was measured"
        except (pc.DataError, pc.IOError) as error:
            assert "shrank" in str(error) or "truncated" in str(error)
        cut.join()


def test_large_files_have_the_bits_of_arrays(tmp_path):
    scores = tmp_path / "scores.npy"
    rng = np.random.default_rng(1)
    values = rng.standard_normal((2_000_000, 10), dtype=np.float32)
    labels = rng.integers(0, 10, len(values), dtype=np.int32)
    for order in "CF":
        np.save(scores, np.asarray(values, order=order))
        read = pc.measure(logits=str(scores), labels=labels, metrics=["ece", "ks"])
        known = pc.measure(logits=values, labels=labels, metrics=["ece", "ks"])
        assert (read.ece, read.ks) == (known.ece, known.ks)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_few_rows_start_no_threads():
    script = """
    import os
    import numpy as np
    import propercal as pc

    logits = np.random.default_rng(1).normal(size=(64, 1000)).astype(np.float32)
    labels = logits.argmax(1)
    before = len(os.listdir("/proc/self/task"))
    running = pc.Measure(["accuracy", "brier", "log", "ece"], threads=64)
    for _ in range(3):
        running.update(logits=logits, labels=labels)
    pc.measure(logits=logits, labels=labels, metrics=["accuracy", "ece"], threads=64)
    print(len(os.listdir("/proc/self/task")) - before)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
