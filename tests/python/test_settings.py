"""Threads, forks, signals, progress."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import propercal as pc


def test_several_threads_at_once():
    data = [pc.simulate(20000, 20, seed=seed) for seed in range(4)]
    alone = [pc.measure(logits=each.logits, labels=each.labels).to_json() for each in data]

    def work(number):
        each = data[number % 4]
        return pc.measure(logits=each.logits, labels=each.labels).to_json()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, range(32)))
    assert together == alone * 8


def test_one_measure_fed_by_several_threads(digits):
    running = pc.Measure(["accuracy", "ece", "ks"])
    parts = [slice(i, i + 50) for i in range(0, len(digits.labels), 50)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda part: running.update(digits.probs[part], digits.labels[part]), parts))
    whole = pc.measure(digits.probs, digits.labels, metrics=["accuracy", "ece", "ks"])
    assert running.result().to_json() == whole.to_json()


def test_one_result_read_by_several_threads(digits):
    result = pc.measure(digits.probs, digits.labels)
    expected = result.to_json(), result.figure().svg
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: (result.to_json(), result.figure().svg), range(64)))
    assert set(seen) == {expected}


def test_other_threads_run_meanwhile():
    """The interpreter is free: this thread goes on while another one measures."""
    data = pc.simulate(30000, 10)
    measuring = threading.Thread(
        target=pc.skce,
        kwargs={"logits": data.logits, "labels": data.labels, "threads": 1},
    )
    measuring.start()
    steps = 0
    while measuring.is_alive():
        time.sleep(0.001)
        steps += 1
    assert steps > 20


def _measure_in_child(queue, seed):
    data = pc.simulate(50000, 20, seed=seed)
    queue.put(pc.measure(logits=data.logits, labels=data.labels).to_json())


@pytest.mark.filterwarnings("ignore")  # other packages warn of fork beside their threads
def test_after_fork():
    data = pc.simulate(50000, 20, seed=7)
    before = pc.measure(logits=data.logits, labels=data.labels).to_json()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_measure_in_child, args=(queue, 7)) for _ in range(3)]
    for child in children:
        child.start()
    answers = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join(60)
    assert answers == [before] * 3


def _measure_json(data, **how):
    return pc.measure(logits=data.logits, labels=data.labels, **how).to_json()


@pytest.mark.filterwarnings("ignore")
def test_fork_while_threads_work():
    """The child finds the pool in whatever state it was, and a measure that holds it."""
    data = pc.simulate(30000, 20, seed=3)
    whole = _measure_json(data)
    part = pc.Measure(["ece", "ks"], threads=2).update(logits=data.logits, labels=data.labels)
    ready = part.result().to_json()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            _measure_json(data, threads=2)

    busy = threading.Thread(target=work)
    busy.start()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child():
        part.update(logits=data.logits, labels=data.labels)
        queue.put((_measure_json(data, threads=2), part.result().to_json() != ready))

    children = [context.Process(target=child) for _ in range(5)]
    try:
        for each in children:
            each.start()
            time.sleep(0.01)
        answers = [queue.get(timeout=60) for _ in children]
    finally:
        stop.set()
        busy.join(60)
    for each in children:
        each.join(60)
    assert answers == [(whole, True)] * 5 and not busy.is_alive()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads as Linux does")
def test_threads_stay_between_calls():
    data = pc.simulate(50000, 20)
    _measure_json(data, threads=3)
    first = set(os.listdir("/proc/self/task"))
    for _ in range(5):
        _measure_json(data, threads=3)
    assert set(os.listdir("/proc/self/task")) == first


AT_EXIT = """
import threading, propercal as pc
data = pc.simulate(30000, 20)
def work():
    while True:
        pc.measure(logits=data.logits, labels=data.labels, threads=3)
for _ in range({workers}):
    threading.Thread(target=work, daemon=True).start()
print(pc.ece(logits=data.logits, labels=data.labels, threads=3))
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_the_interpreter_ends(workers):
    """With threads of the pool asleep, and with calls of other threads under way."""
    script = AT_EXIT.format(workers=workers)
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0 and ended.stderr == "" and ended.stdout.startswith("0.")


def test_threads_do_not_show(digits):
    data = pc.simulate(100000, 10)
    several = {
        pc.measure(logits=data.logits, labels=data.labels, threads=threads).to_json()
        for threads in (1, 2, 5, None)
    }
    assert len(several) == 1


# ---- Signals ----

LONG = """
import sys, time
import propercal as pc
data = pc.simulate(20000, 10)
rows = __import__("numpy").arange(2000000) % 20000
pc.Temperature(kind="logits").fit(data.logits, data.labels)
print("ready", flush=True)
begin = time.monotonic()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
print(pc.ece(logits=data.logits, labels=data.labels))
"""

CALLS = {
    "measure": """
    while True:
        pc.skce(logits=data.logits, labels=data.labels)""",
    "fit": """
    while True:
        pc.Temperature(kind="logits").fit(data.logits[rows], data.labels[rows])""",
}


@pytest.mark.parametrize("call", ["measure", "fit"])
def test_control_c(call):
    script = LONG.format(call=CALLS[call])
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert said.startswith("interrupted\n0.")
    assert child.returncode == 0
    assert time.monotonic() - begin < 20


def test_a_handler_may_return(digits):
    """A signal whose handler raises nothing does not stop the work."""
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        data = pc.simulate(3000, 10)
        rows = np.arange(60000) % 3000
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        value = pc.skce(logits=data.logits[rows], labels=data.labels[rows])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen and np.isfinite(value)


# ---- Progress ----


def test_progress_by_a_function():
    data = pc.simulate(200000, 10)
    seen = []
    pc.measure(logits=data.logits, labels=data.labels, progress=lambda *reported: seen.append(reported))
    assert seen[-1] == ("measuring", 200000, 200000)
    assert all(isinstance(what, str) and 0 <= done <= total for what, done, total in seen)


def test_what_progress_raises_comes_through():
    data = pc.simulate(200000, 10)

    def stop(what, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        pc.measure(logits=data.logits, labels=data.labels, progress=stop)


def test_what_the_last_progress_raises_comes_through():
    data = pc.simulate(200000, 10)

    def stop(what, done, total):
        if done == total:
            raise LookupError("done")

    with pytest.raises(LookupError, match="done"):
        pc.measure(logits=data.logits, labels=data.labels, progress=stop)
    with pytest.raises(LookupError, match="done"):
        pc.Temperature().fit(logits=data.logits, labels=data.labels, progress=stop)


def test_progress_in_words(capsys):
    data = pc.simulate(200000, 10)
    pc.measure(logits=data.logits, labels=data.labels, progress=True)
    assert "measuring: 100 %" in capsys.readouterr().err
    pc.measure(logits=data.logits, labels=data.labels, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(TypeError, match="progress"):
        pc.measure(logits=data.logits, labels=data.labels, progress="fast")


def test_progress_with_the_time_left(monkeypatch, capsys):
    from propercal import _settings

    clock = types.SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(_settings, "time", clock)
    lines = _settings._Lines(after=2.0)
    for clock.now, done in ((0.0, 0), (1.5, 25), (4.0, 50), (200.0, 51)):
        lines("fitting", done, 100)
    lines("judging", 3, 0)
    lines.close()
    written = capsys.readouterr().err.split("\r")
    assert [line.rstrip() for line in written] == [
        "", "fitting: 50 %, 4 s left", "fitting: 51 %, 3 min left", "judging: 3", "", ""]  # fmt: skip


def test_progress_by_itself(monkeypatch):
    from propercal import _settings

    for watched, kind in ((True, _settings._Lines), (False, type(None))):
        monkeypatch.setattr(_settings, "_is_watched", lambda watched=watched: watched)
        with _settings.settings() as how:
            assert type(how[3]) is kind
        with _settings.settings(progress=False) as how:
            assert how[3] is None


def test_progress_by_tqdm(capsys):
    pytest.importorskip("tqdm")
    data = pc.simulate(200000, 10)
    pc.measure(logits=data.logits, labels=data.labels, progress="tqdm")
    reported = capsys.readouterr().err
    assert "measuring" in reported and "100%" in reported


def test_memory_limit():
    data = pc.simulate(50000, 10)
    with pytest.raises(pc.MemoryError) as caught:
        pc.skce(logits=data.logits, labels=data.labels, memory_limit=10000)
    assert isinstance(caught.value, MemoryError)
    assert "memory limit of 10.0 kB" in str(caught.value) and "raise memory_limit" in str(caught.value)


def test_memory_limit_holds_for_all_of_a_call():
    """Input, states and results share one limit, and a call within it works."""
    rng = np.random.default_rng(1)
    probs, labels = rng.random(3000), rng.integers(0, 2, 3000)
    groups = np.arange(3000)
    with pytest.raises(pc.MemoryError, match="reached the memory limit of 2.00 MB"):
        pc.measure(probs=probs, labels=labels, groups=groups, metrics=["ece"], memory_limit=2_000_000)
    limited = pc.measure(
        probs=probs, labels=labels, groups=groups, metrics=["ece"], memory_limit=100_000_000
    )
    free = pc.measure(probs=probs, labels=labels, groups=groups, metrics=["ece"])
    assert limited.to_json() == free.to_json()


@pytest.mark.parametrize(
    "metric, grouped, grew",
    [
        ("ks", False, "scores kept for sorting"),
        ("skce", False, "rows kept for comparing pairs"),
        ("brier", True, "the states of groups"),
    ],
)
def test_memory_limit_of_a_measure_that_grows(metric, grouped, grew):
    """All that a measure keeps between updates counts; a refused update leaves no trace."""
    rng = np.random.default_rng(2)
    running = pc.Measure(metric, memory_limit="8MB", threads=2)
    before = None
    with pytest.raises(pc.MemoryError) as caught:
        for turn in range(4000):
            groups = {"groups": np.arange(1000) + 1000 * turn} if grouped else {}
            running.update(rng.random(1000), rng.integers(0, 2, 1000), **groups)
            if turn == 3:
                before = running.result()[metric]
    assert f"{grew} reached the memory limit of 8.00 MB" in str(caught.value)
    assert "raise memory_limit" in str(caught.value) and turn > 3 and before is not None
    with pytest.raises(pc.MemoryError):
        running.update(rng.random(1000), rng.integers(0, 2, 1000), **groups)


def test_memory_limit_of_a_loaded_measure(tmp_path):
    rng = np.random.default_rng(3)
    pc.Measure("ks").update(rng.random(100000), rng.integers(0, 2, 100000)).save(tmp_path / "s.pcal")
    with pytest.raises(pc.MemoryError, match="memory limit of 100000 bytes"):
        pc.Measure.load(tmp_path / "s.pcal", memory_limit=100_000)
    size = (tmp_path / "s.pcal").stat().st_size
    with pytest.raises(pc.MemoryError, match="reached the memory limit"):
        pc.Measure.load(tmp_path / "s.pcal", memory_limit=size + 1000)
    running = pc.Measure.load(tmp_path / "s.pcal", memory_limit="20MB")
    with pytest.raises(pc.MemoryError, match="scores kept for sorting"):
        for _ in range(100):
            running.update(rng.random(100000), rng.integers(0, 2, 100000))


def test_files_are_read_within_the_limit(tmp_path):
    large = tmp_path / "large.json"
    large.write_bytes(b" " * 3_000_000)
    with pytest.raises(pc.MemoryError, match="large.json holds more than the memory limit of 2000000"):
        pc.load(large, memory_limit="2MB")


def test_nothing_leaks(digits):
    """Objects that were used are free again: no reference is kept or lost."""
    import gc
    import weakref

    class Holder(np.ndarray):
        pass

    probs = digits.probs.copy().view(Holder)
    gone = weakref.ref(probs)
    before = sys.getrefcount(digits.labels)
    for _ in range(10):
        result = pc.measure(probs, digits.labels, progress=lambda *reported: None)
        try:
            pc.measure(probs * 2, digits.labels)
        except pc.DataError as error:
            refused = str(error)
    gc.collect()
    after = sys.getrefcount(digits.labels)
    assert after == before
    del probs
    gc.collect()
    assert gone() is None
    assert result.ece > 0 and refused
