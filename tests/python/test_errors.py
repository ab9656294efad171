"""Exceptions with the library's sentences, in the words of this package."""

import builtins

import numpy as np
import pytest

import propercal as pc


def test_the_family():
    assert issubclass(pc.UsageError, (pc.Error, ValueError))
    assert issubclass(pc.DataError, pc.Error) and issubclass(pc.DataError, ValueError)
    assert issubclass(pc.IOError, pc.Error) and issubclass(pc.IOError, OSError)
    assert issubclass(pc.MemoryError, pc.Error)
    assert issubclass(pc.MemoryError, builtins.MemoryError)
    assert issubclass(pc.InternalError, RuntimeError)
    assert issubclass(pc.ConvergenceWarning, UserWarning)
    assert not {"IOError", "MemoryError"} & set(pc.__all__)


def test_names_of_this_package(digits, tmp_path):
    probs = digits.probs.copy()
    probs[3, 0] = np.nan
    with pytest.raises(pc.DataError, match=r"pass skip_missing=True$") as caught:
        pc.measure(probs, digits.labels)
    assert caught.value.remedy == "remove the row or pass skip_missing=True"
    with pytest.raises(pc.UsageError, match=r"`propercal\.list_metrics\(\)` shows all metrics$"):
        pc.measure(digits.probs, digits.labels, metrics=["no-such-metric"])
    for name in ("log-probs.csv", "run--final.csv"):
        path = tmp_path / name
        path.write_text("a,b\n0.5,x\n")
        with pytest.raises(pc.DataError) as caught:
            pc.measure(probs=str(path), labels=[0])
        assert caught.value.subject.endswith(name) and name in str(caught.value)
        assert caught.value.line == 2


def test_fields(digits):
    probs = digits.probs.copy()
    probs[41, 2] = 7
    with pytest.raises(pc.DataError) as caught:
        pc.measure(probs, digits.labels)
    error = caught.value
    assert (error.subject, error.row, error.column, error.line) == ("probs", 41, 2, None)
    assert error.remedy == (
        "for percentages from 0 to 100 give probabilities divided by 100, for scores before the softmax logits"
    )
    with pytest.raises(pc.UsageError) as caught:
        pc.measure(digits.probs, digits.labels, metrics=["ece:bin=3"])
    assert caught.value.subject == "ece" and caught.value.row is None


def test_rows_are_named(digits):
    probs = digits.probs.copy()
    probs[41] *= 1.5
    with pytest.raises(pc.DataError, match="^probs, row 41, column .* are these logits") as caught:
        pc.measure(probs, digits.labels)
    assert caught.value.row == 41
    labels = digits.labels.copy()
    labels[7] = 10
    with pytest.raises(pc.DataError, match="^labels, row 7") as caught:
        pc.measure(digits.probs, labels)
    assert caught.value.row == 7
    with pytest.raises(pc.DataError, match="row 1007"):
        pc.measure(digits.probs, labels, first_row=1000)


def test_sentences(digits, tmp_path):
    with pytest.raises(pc.DataError, match="labels has 5 rows|probs has 797 rows but labels has 5"):
        pc.measure(digits.probs, digits.labels[:5])
    with pytest.raises(pc.IOError, match="nowhere.npy"):
        pc.measure(tmp_path / "nowhere.npy", digits.labels)
    with pytest.raises(pc.DataError, match='"cat".*classes=\\[...\\]'):
        pc.measure(digits.probs, ["cat"] * len(digits.labels))
    with pytest.raises(pc.DataError, match='did you mean "digit 3"'):
        pc.measure(digits.probs, ["digit 3x"] * len(digits.labels), classes=digits.names)
    with pytest.raises(pc.UsageError, match="3 names of classes for 10 columns"):
        pc.measure(digits.probs, digits.labels, classes=["a", "b", "c"])
    with pytest.raises(pc.DataError, match="is not a whole number"):
        pc.measure(digits.probs, digits.labels + 0.9)
    with pytest.raises(pc.DataError, match="32 bits"):
        pc.measure(digits.probs, digits.labels.astype(np.int64) + 2**40)
    with pytest.raises(pc.UsageError, match="can be combined only with files"):
        pc.measure(data=tmp_path / "data.csv", labels=digits.labels)


def test_no_flags_in_sentences(digits):
    """A few that are easy to provoke; none speaks of the command line."""
    calls = [
        lambda: pc.measure(confidence=digits.confidence, correct=digits.correct, metrics="brier"),
        lambda: pc.measure(digits.logits, digits.labels),
        lambda: pc.measure(log_probs=digits.logits, labels=digits.labels),
        lambda: pc.measure(digits.probs, digits.labels, metrics="nothing"),
        lambda: pc.Temperature().fit(digits.probs),
        lambda: pc.Temperature().fit(digits.probs, digits.labels).transform(logits=digits.logits),
    ]
    for call in calls:
        with pytest.raises(pc.Error) as caught:
            call()
        assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["log-probs.npy", "run--final.npy", "--metric x.npy", "skip-missing --header yes.npy"],
)
def test_file_names_stay_as_they_are(digits, tmp_path, name):
    with pytest.raises(pc.IOError) as caught:
        pc.measure(tmp_path / name, digits.labels)
    assert str(tmp_path / name) in str(caught.value)
    np.save(tmp_path / name, digits.logits[:5])
    with pytest.raises(pc.DataError) as caught:
        pc.measure(logits=tmp_path / name, labels=digits.labels)
    assert str(tmp_path / name) in str(caught.value)


def test_own_words_change_beside_names(digits, tmp_path):
    path = tmp_path / "log-probs.npy"
    np.save(path, digits.logits)
    with pytest.raises(pc.DataError) as caught:
        pc.measure(probs=path, labels=digits.labels)
    assert str(path) in str(caught.value) and "--" not in str(caught.value)


def test_names_of_groups_stay_as_they_are(digits):
    groups = np.where(np.arange(len(digits.labels)) % 2, "log-probs", "--normalize")
    result = pc.measure(digits.probs, digits.labels, groups=groups, metrics="ece")
    for text in (repr(result), result.to_markdown().replace("\\", "")):
        assert "log-probs" in text and "--normalize" in text and "log_probs" not in text


def test_core_wants_tuples():
    """What the package hands to its own module has one shape; anything else is a TypeError."""
    from propercal import _core

    for given in (None, 3, [], "text"):
        with pytest.raises(TypeError, match="expected a tuple"):
            _core.inspect_file("x.npy", 0, 1, given)
