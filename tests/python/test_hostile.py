"""Names and arguments from an enemy: ours are the errors, and every file can be opened."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import propercal as pc
import pytest
from propercal import _core as core

LATIN = b"caf\xe9-\xff"  # no UTF-8
ODD = "a\x1b[2J\n\u202eb"


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(200, 3))
    return logits, (logits + rng.gumbel(size=(200, 3))).argmax(axis=1)


def saved(folder, rows):
    paths = []
    for kind, values in zip((b"-z.npy", b"-y.npy"), rows):
        plain = os.path.join(str(folder), "plain.npy")
        np.save(plain, values)
        path = os.path.join(os.fsencode(folder), LATIN + kind)
        os.rename(plain, path)
        paths.append(os.fsdecode(path))
    return paths


def test_names_that_are_not_utf8(tmp_path, rows):
    logits, labels = saved(tmp_path, rows)
    expected = pc.measure(logits=rows[0], labels=rows[1], metrics=["brier"])
    found = pc.measure(logits=logits, labels=labels, metrics=["brier"])
    assert found["brier"] == expected["brier"]
    mixed = pc.measure(logits=logits, labels=rows[1], metrics=["brier"])
    assert mixed["brier"] == found["brier"]
    place = os.fsdecode(os.path.join(os.fsencode(tmp_path), LATIN))
    calibrator = pc.Temperature().fit(logits=rows[0], labels=rows[1])
    calibrator.save(place + ".json")
    assert pc.load(place + ".json").to_json() == calibrator.to_json()
    calibrator.export(place + ".c")
    assert os.path.exists(place + ".c")
    measure = pc.Measure(metrics=["brier"])
    measure.update(logits=rows[0], labels=rows[1])
    measure.save(place + ".pcal")
    assert pc.Measure.load(place + ".pcal").result()["brier"] == found["brier"]
    pc.plot("reliability", logits=rows[0], labels=rows[1]).save(place + ".svg")
    assert os.path.exists(place + ".svg")
    assert pc.inspect(logits) is not None


def test_errors_show_what_is_hidden(tmp_path, rows):
    for name in (os.fsdecode(LATIN), ODD):
        path = os.path.join(str(tmp_path), name)
        for call in (
            lambda: pc.measure(logits=path, labels=rows[1]),
            lambda: pc.load(path),
            lambda: pc.Measure.load(path),
            lambda: pc.inspect(path),
            lambda: pc.Temperature().fit(logits=rows[0], labels=rows[1]).save(os.path.join(path, "x.json")),
        ):
            with pytest.raises(pc.Error) as caught:
                call()
            text = str(caught.value)
            assert text.isprintable(), ascii(text)


def test_numbers_beyond_all_bounds(rows):
    for arguments in (
        {"threads": 2**40},
        {"threads": 1025},
        {"threads": "all"},
        {"threads": 1.5},
        {"threads": float("nan")},
        {"seed": 2**64},
        {"seed": -1},
        {"seed": "seven"},
        {"seed": 0.5},
        {"memory_limit": 2**64},
        {"memory_limit": -1},
        {"memory_limit": "inf GB"},
        {"memory_limit": [1]},
        {"memory_limit": 1.5},
    ):
        with pytest.raises(pc.UsageError) as caught:
            pc.measure(logits=rows[0], labels=rows[1], **arguments)
        (name,) = arguments
        assert name in str(caught.value)


class Stream:
    def __init__(self, given):
        self.given = given

    def __arrow_c_stream__(self, requested_schema=None):
        return self.given


class Array:
    def __init__(self, given):
        self.given = given

    def __arrow_c_array__(self, requested_schema=None):
        return self.given


def capsule(name, size):
    """A capsule with zeros in it: everything released."""
    room = ctypes.create_string_buffer(size)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(room), name, None), room


def test_broken_arrow_capsules(rows):
    names = {kind: ctypes.create_string_buffer(kind) for kind in (
        b"arrow_array_stream", b"arrow_schema", b"arrow_array", b"other")}
    made = {kind: capsule(ctypes.cast(names[kind], ctypes.c_char_p), 256) for kind in names}
    wrong = [Stream(each) for each in (None, 1, "stream", made[b"other"][0], made[b"arrow_schema"][0],
                                       made[b"arrow_array_stream"][0])]
    wrong += [Array(each) for each in (
        None, (), (1,), (1, 2, 3), 7, (None, None),
        (made[b"arrow_schema"][0], made[b"other"][0]),
        (made[b"arrow_schema"][0], made[b"arrow_array"][0]))]
    for value in wrong:
        with pytest.raises(pc.UsageError):
            pc.measure(logits=rows[0], labels=value)
        with pytest.raises(pc.UsageError):
            pc.measure(logits=value, labels=rows[1])


def test_reserved_names_are_refused(tmp_path, rows):
    calibrator = pc.Temperature().fit(logits=rows[0], labels=rows[1])
    for name in ("int", "exp", "main", "_x", "strlen"):
        with pytest.raises(pc.UsageError):
            calibrator.export(tmp_path / "x.c", name=name)


LONE = "a\ud800b"  # a str that no encoding can store


def test_lone_surrogates_are_usage_errors(tmp_path, rows):
    """Names, specs and paths: our error, with a remedy."""
    scores, labels = rows
    data = {"logits": scores, "labels": labels}
    fitted = pc.Temperature().fit(**data)
    fitted.save(tmp_path / "t.json")
    for call in (
        lambda: pc.measure(**data, metrics=[LONE]),
        lambda: pc.measure(**data, metrics=["ece:bins=" + LONE]),
        lambda: pc.measure(**data, metrics=["ece"], interval=0.9, interval_method=LONE),
        lambda: pc.measure(**data, metrics=["ece"])[LONE],
        lambda: pc.measure(**data, classes=["x", "y", LONE]),
        lambda: pc.measure(**data, metrics=["ece"], groups=[LONE] * 200),
        lambda: pc.Measure(LONE).update(**data),
        lambda: pc.measure(logits=LONE, labels=labels),
        lambda: pc.measure(data=LONE),
        lambda: pc.load(LONE),
        lambda: pc.Measure.load(LONE),
        lambda: pc.inspect(LONE),
        lambda: pc.plot(LONE, **data),
        lambda: pc.plot("reliability", **data, title=LONE),
        lambda: pc.report(**data, title=LONE),
        lambda: pc.compare(models={LONE: scores}, labels=labels, kind="logits"),
        lambda: pc.study(LONE),
        lambda: fitted.save(tmp_path / LONE),
        lambda: fitted.export(tmp_path / "x.c", name=LONE),
        lambda: fitted.export(tmp_path / (LONE + ".c")),
        lambda: pc.calibrators.Temperature(objective=LONE).fit(**data),
    ):
        try:
            call()
        except (pc.UsageError, KeyError) as error:
            assert not isinstance(error, UnicodeError)
            assert str(error).isprintable(), ascii(str(error))


def test_nul_characters_are_usage_errors(rows):
    for call in (
        lambda: pc.measure(logits=rows[0], labels=rows[1], metrics=["ece\0"]),
        lambda: pc.measure(logits="a\0b.npy", labels=rows[1]),
        lambda: pc.load("a\0b.json"),
    ):
        with pytest.raises(pc.UsageError, match="NUL"):
            call()


def test_a_measure_is_not_merged_with_itself(rows):
    running = pc.Measure("ece").update(logits=rows[0], labels=rows[1])
    before = running.result()["ece"]
    with pytest.raises(pc.UsageError, match="cannot be merged with itself; give another one"):
        running.merge(running)
    assert running.result()["ece"] == before


def test_html_hides_nothing(rows):
    names = np.array(["\u202e<b>", "a\u200b"])[rows[1] % 2]
    page = pc.measure(logits=rows[0], labels=rows[1], groups=names, metrics=["brier"])._repr_html_()
    assert "\u202e" not in page and "\u200b" not in page and "<b>" not in page
    assert "\ufffd&lt;b&gt;" in page and "a\ufffd" in page


def test_no_memory_for_the_roles_of_columns():
    """Each allocation of the interpreter fails once: MemoryError, or a tuple without holes."""
    hooks = pytest.importorskip("_testcapi")
    names = ("probs.cat", "probs.dog", "labels", "groups", "other")
    expected = core.find_columns("rows", names)
    failures = 0
    for n in range(60):
        hooks.set_nomemory(n, n + 1)
        try:
            found = core.find_columns("rows", names)
        except MemoryError:
            failures += 1
            continue
        finally:
            hooks.remove_mem_hooks()
        assert found == expected
    assert failures > 0


@pytest.mark.parametrize("odd", [np.array(0.5), np.float64(0.5), np.array("a"), np.zeros((0,)), np.zeros((2, 2, 2))])
def test_scores_without_rows_or_columns(odd):
    """What is no table of scores is refused by our own errors."""
    with pytest.raises(pc.Error):
        pc.Isotonic().fit(odd, np.array([0, 1]))
    with pytest.raises(pc.Error):
        pc.measure(probs=odd, labels=np.array([0, 1]))


VERDICTS = """
import ctypes, propercal as pc
shim = ctypes.CDLL(None)
shim.fail_in.argtypes = [ctypes.c_ulong]
data = pc.simulate(200, 3)
outcomes = []
while "text" not in outcomes and len(outcomes) < 500:
    core = pc.measure(logits=data.logits, labels=data.labels, metrics=["brier"])._core
    shim.fail_in(len(outcomes) + 1)
    try:
        outcomes.append("none" if core.verdict()["text"] is None else "text")
    except MemoryError:
        outcomes.append("memory")
    shim.fail_in(0)
print(*outcomes)
"""


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs glibc and a C compiler")
def test_no_memory_for_the_verdict(tmp_path):
    """Memory that runs out while the sentences are written is an error, and not a result without verdict."""
    shim = tmp_path / "fail_malloc.so"
    source = pathlib.Path(__file__).parents[1] / "attack" / "fail_malloc.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source], check=True)
    done = subprocess.run([sys.executable, "-c", VERDICTS], env={**os.environ, "LD_PRELOAD": str(shim)},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.split()
    assert "none" not in outcomes and "memory" in outcomes and outcomes[-1] == "text"
