"""Nothing that callers of an earlier release may have written is gone: names, arguments, members, fitted attributes."""

import importlib.util
import json
import pathlib

import propercal as pc
import pytest

HERE = pathlib.Path(__file__).resolve().parent
KEPT = sorted((HERE.parent / "compatibility").glob("*/python.json"))
REMEDY = "; if this version is not published yet and the change is wanted, run tools/make-compatibility --replace"

spec = importlib.util.spec_from_file_location("python_interface", HERE / "python_interface.py")
python_interface = importlib.util.module_from_spec(spec)
spec.loader.exec_module(python_interface)


@pytest.fixture(scope="module")
def present():
    pytest.importorskip("sklearn")
    return python_interface.interface()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_nothing_is_gone(path, present):
    lost = list(python_interface.faults(json.loads(path.read_text(encoding="utf-8")), present))
    assert not lost, lost + ([REMEDY] if path.parent.name == pc.__version__ else [])


def test_this_version_is_kept():
    assert pc.__version__ in [path.parent.name for path in KEPT], "run tools/make-compatibility"


def test_what_is_kept(present):
    """One of each kind: functions, methods, properties, named tuples, fitted attributes, modules read as source."""
    for name in ("measure", "ece", "Measure.update", "Comparison.calibrator", "Interval.low", "Temperature.T_", "Temperature.fit",
                 "calibrators.load", "sklearn.log", "spark.measure", "torch.CalibrationMetric", "dask.measure", "ray.measure"):  # fmt: skip
        assert name in present, name


@pytest.mark.parametrize(
    "now, fault",
    [
        ("probs, labels=, *, bins=, **more", None),
        ("probs, labels=, *, bins=, norm=, **more", None),
        ("probs, labels=, norm=, *, bins=, **more", None),
        ("probs, labels=, bins=, **more", None),
        ("labels=, probs, *, bins=, **more", "positional arguments were probs, labels"),
        ("probs, *, labels=, bins=, **more", "positional arguments were probs, labels"),
        ("probs, labels=, **more", "the argument bins is gone"),
        ("probs, labels, *, bins=, **more", "the argument labels is now required"),
        ("probs, labels=, *, bins=, norm, **more", "the argument norm is new and required"),
        ("probs, labels=, *, bins=", "**more is no longer accepted"),
    ],
)
def test_faults_of_arguments(now, fault):
    found = python_interface.argument_faults("probs, labels=, *, bins=, **more", now)
    assert list(found) == ([fault] if fault else [])


def test_arguments_as_text():
    def call(a, b=1, *rest, c, d=2, **more):
        pass

    assert python_interface.arguments(call) == "a, b=, *rest, c, d=, **more"
    assert [name for name, kind, _ in python_interface.parsed("a, b=, *rest, c, d=, **more") if kind == "keyword"] == ["c", "d"]


def test_faults_of_names():
    old, new = {"ece": "probs", "Interval.low": None}, {"ece": None}
    assert list(python_interface.faults(old, new)) == ["ece cannot be called", "Interval.low is gone"]
