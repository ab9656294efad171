"""Results are pleasant."""

import copy
import html
import json
import math
import pickle
import re
import subprocess
import threading

import numpy as np
import pytest

import propercal as pc


@pytest.fixture(scope="module")
def result(digits):
    return pc.measure(digits.probs, digits.labels, metrics=["default", "ece:bins=30", "ks:rank=2"])


def test_values(result):
    value = result["ece:bins=30"]
    assert isinstance(value, float) and value > 0
    assert (value.metric, value.label) == ("ece", "ece:bins=30")
    assert value.spec.startswith("ece:bins=30,binning=width")
    assert (value.notion, value.bound, value.group, value.why) == ("top-label", "lower", None, None)
    assert result["ks"].parts["signed"] > 0
    assert result["ece:bins=15"] == result["ece"]
    assert result.accuracy.p_value is None
    assert repr(result.accuracy) == repr(float(result.accuracy))


def test_attributes_and_names(result):
    assert "accuracy" in dir(result)
    with pytest.raises(
        AttributeError, match=r'several ways; take one of \["ece"\] and \["ece:bins=30"\]'
    ):
        result.ece
    with pytest.raises(AttributeError, match="skce was not measured"):
        result.skce
    with pytest.raises(KeyError, match="was not measured"):
        result["brier:half=yes"]
    with pytest.raises(KeyError, match="did you mean"):
        result["breir"]
    assert [value.label for value in result][:2] == ["accuracy", "brier"]
    assert len(result) == len(list(result))


def test_tests_have_p_values(digits):
    tested = pc.measure(digits.probs, digits.labels, metrics="spiegelhalter")
    assert 0 <= tested.spiegelhalter.p_value <= 1


def test_forms(result, digits, digits_files, program):
    assert json.loads(result.to_json()) == result.to_dict()
    assert [entry["spec"] for entry in result.to_dict()["results"]] == [v.spec for v in result]
    plain = pc.measure(logits=digits.logits, labels=digits.labels)
    forms = {"text": repr(plain) + "\n", "csv": plain.to_csv(), "md": plain.to_markdown()}
    command = [program, "measure"]
    for name, path in digits_files.items():
        command += [f"--{name}", str(path)]
    for form, text in forms.items():
        words = [*command, "--format", form]
        printed = subprocess.run(words, check=True, capture_output=True, text=True)
        assert printed.stdout.partition("What to try")[0] == text.partition("What to try")[0]
    assert "(propercal.Temperature)" in repr(plain) and "propercal fit" not in repr(plain)


def test_a_slow_result_does_not_hold_up_others(result):
    entered, leave = threading.Event(), threading.Event()

    class Slow:
        def all(self):
            entered.set()
            leave.wait(60)
            return []

    other = pc.Result(result._core)
    slow = threading.Thread(target=lambda: pc.Result(Slow()).groups)
    slow.start()
    entered.wait(60)
    quick = threading.Thread(target=lambda: other.groups, daemon=True)
    quick.start()
    quick.join(20)
    waits = quick.is_alive()
    leave.set()
    slow.join()
    assert not waits


def test_pandas(digits):
    pytest.importorskip("pandas")
    names = ["small" if label < 5 else "large" for label in digits.labels]
    result = pc.measure(digits.probs, digits.labels, groups=names, metrics=["ece", "ks"])
    table = result.to_pandas()
    assert list(table.columns[:5]) == ["metric", "spec", "group", "value", "low"]
    assert len(table) == 6
    assert table["value"].tolist()[:2] == [float(result.ece), float(result.ks)]
    assert table.loc[table["group"] == "small", "value"].iloc[0] == result.groups["small"].ece


def test_html(digits):
    names = ["<small>" if label < 5 else "large" for label in digits.labels]
    text = pc.measure(digits.probs, digits.labels, groups=names)._repr_html_()
    assert "<svg" in text and "<table" in text and "Over-confident" in text
    assert "&lt;small&gt;" in text and "<small>" not in text


def test_html_marks_doubtful_intervals(digits):
    """A group with few wrong rows has the remark of its interval, as on the command line."""
    small = [0 if i < 12 else 1 for i in range(len(digits.labels))]
    result = pc.measure(digits.probs, digits.labels, groups=small, metrics="ece", interval=0.95,
                        replicas=100)  # fmt: skip
    group, all_rows = result.groups["0"].ece, result.ece
    assert group.unsure and not all_rows.unsure and "unsure" in repr(result)
    text = result._repr_html_()
    assert f"[{group.interval.low:.5g}, {group.interval.high:.5g}] unsure" in text
    assert f"{group.label} of 0: {html.escape(group.unsure)}" in text
    assert f"[{all_rows.interval.low:.5g}, {all_rows.interval.high:.5g}]</td>" in text


def test_copies(digits):
    result = pc.measure(digits.probs, digits.labels, groups=digits.labels % 2, interval=0.9)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        again = pickle.loads(pickle.dumps(again))
        assert repr(again) == repr(result) and again.to_json() == result.to_json()
        assert again._repr_html_() == result._repr_html_()
        assert repr(again.bins) == repr(result.bins)
        assert again.ece == result["ece"] == again["ece"] == again[result.ece.spec]
        assert again.ece.interval == result.ece.interval
        assert again.groups["1"].ece == result.groups["1"].ece
        assert again.figure().data == result.figure().data
        assert again.verdict == result.verdict
        with pytest.raises(KeyError, match="not measured"):
            again["skce"]
        with pytest.raises(pc.UsageError, match="has no figure nothing"):
            again.figure("nothing")


def test_verdict_and_bins(result, digits):
    assert result.verdict.startswith("Over-confident")
    assert len(result.bins) == 15
    assert sum(each.weight for each in result.bins) == len(digits.labels)
    gap = sum(
        each.weight * abs(each.confidence - each.frequency) for each in result.bins if each.weight
    )
    assert result["ece"] == pytest.approx(gap / len(digits.labels), rel=1e-12)


def test_one_number_for_chance(digits):
    """Verdict, table, notebook, figure and dictionary show the mean of the null."""
    result = pc.measure(logits=digits.logits, labels=digits.labels, metrics="ece", null=True,
                        replicas=200)  # fmt: skip
    mean = result.ece.null.mean
    assert result.to_dict()["judgement"]["chance"] == mean
    shown = re.search(r"would show ([0-9.]+) on average", result.verdict)[1]
    assert float(shown) == float(f"{mean:.3g}")
    assert f"(calibrated: {shown}," in " ".join(repr(result).split())
    assert f"(calibrated: {shown}," in result._repr_html_()
    assert f"show {shown} on average" in result._repr_html_()
    assert shown in result.figure().svg
    without = pc.measure(logits=digits.logits, labels=digits.labels, metrics="brier")
    assert without.to_dict()["judgement"]["chance"] == mean
    assert f"show {shown} on average" in without.verdict


def test_advice_names_classes():
    scores = np.linspace(0.02, 0.98, 2000)
    labels = (np.arange(2000) * 0.6180339887 % 1 < 1 / (1 + 2 * (1 - scores) / scores)) * 1
    verdict = pc.measure(scores, labels, metrics="brier").verdict
    assert "platt (propercal.Platt) or beta (propercal.Beta)" in verdict and "--" not in verdict
    mean = np.zeros(500)
    target = 3 * np.cos(np.arange(500.0))
    verdict = pc.measure(mean=mean, variance=mean + 1, target=target, metrics="mse").verdict
    assert "variance-platt (propercal.VariancePlatt)" in verdict and "fit" not in verdict
    for name in re.findall(r"propercal\.([A-Z]\w+)", verdict):
        assert hasattr(pc, name)


def test_two_columns_are_judged_as_one():
    """The shape of predict_proba gets the verdict of one column."""
    rng = np.random.default_rng(0)
    logit = 1.5 * rng.normal(size=2000)
    labels = (rng.random(2000) < 1 / (1 + np.exp(-logit))).astype(int)
    p = 1 / (1 + np.exp(0.7 - logit))
    one = pc.measure(p, labels).verdict
    for verdict in (
        pc.measure(np.c_[1 - p, p], labels).verdict,
        pc.measure(logits=np.c_[np.zeros(2000), logit - 0.7], labels=labels).verdict,
    ):
        assert (verdict.kind, verdict.method, verdict.alternative) == ("too-low", "platt", "beta")
        assert verdict.kind == one.kind and verdict.advice == one.advice and verdict.class_1
        assert verdict.claimed == pytest.approx(one.claimed, rel=1e-9)
        assert verdict.margin == pytest.approx(one.margin, rel=1e-9)
        assert "the ECE of class 1 is" in verdict and verdict.worst_class is None


def test_worst_class():
    rng = np.random.default_rng(0)
    logits = 2 * rng.normal(size=(4000, 4))
    true = np.exp(logits + [1, 0, 0, -1])
    true /= true.sum(axis=1, keepdims=True)
    labels = (rng.random(4000)[:, None] > np.cumsum(true, axis=1)).sum(axis=1).clip(0, 3)
    verdict = pc.measure(logits=logits, labels=labels, metrics="cwce").verdict
    assert verdict.worst_class == 0 and verdict.classes_off >= 2 and not verdict.class_1
    assert verdict.class_observed > verdict.class_claimed + verdict.class_margin
    assert (verdict.advice, verdict.method) == ("classes", "vector")
    assert "vector (propercal.VectorScaling) or dirichlet-odir (propercal.DirichletODIR)" in " ".join(verdict.split())


def test_advice_beside_temperature():
    """Vector scaling may change predicted classes; the sentence must not promise that it keeps them."""
    rng = np.random.default_rng(1)
    logits = 2 * rng.normal(size=(4000, 4))
    true = np.exp(logits / 2 + [0.3, 0, 0, -0.3])
    true /= true.sum(axis=1, keepdims=True)
    labels = (rng.random(4000)[:, None] > np.cumsum(true, axis=1)).sum(axis=1).clip(0, 3)
    verdict = pc.measure(logits=logits, labels=labels, metrics=["ece", "cwce"]).verdict
    assert (verdict.method, verdict.alternative) == ("temperature", "vector")
    words = " ".join(verdict.split())
    assert "temperature (propercal.Temperature) or vector (propercal.VectorScaling)" in words
    assert words.endswith(
        "temperature changes the confidences and keeps every predicted class; vector repairs the frequencies of classes too, "
        "and may change predicted classes."
    )


def test_brier_of_two_classes():
    scores, labels = np.array([0.9, 0.4, 0.2]), np.array([1, 1, 0])
    value = pc.measure(scores, labels, metrics="brier").brier
    assert value.parts["one_column"] == pytest.approx(np.mean((scores - labels) ** 2))
    assert value == pytest.approx(2 * value.parts["one_column"])


def test_undefined_values():
    result = pc.measure([[0.25, 0.75]], [1], metrics=["skce", "log"])
    assert math.isnan(result.skce) and result.skce.why
    reported = {entry["metric"]: entry["value"] for entry in result.to_dict()["results"]}
    assert reported["skce"] is None and reported["log"] == result.log


# ---- How sure ----


def test_intervals_and_null(digits, digits_files, program):
    result = pc.measure(
        logits=digits.logits, labels=digits.labels, interval=0.9, null=True, replicas=200, seed=3
    )
    value = result.ece
    assert value.interval.low < value < value.interval.high
    assert value.interval.level == 0.9 and value.interval.se > 0
    assert 0 < value.null.mean < value and value.null.p_value < 0.05
    command = [program, "measure", "--json", "--interval", "0.9", "--null", "--replicas", "200"]
    for name, path in digits_files.items():
        command += [f"--{name}", str(path)]
    printed = subprocess.run([*command, "--seed", "3"], check=True, capture_output=True, text=True)
    assert result.to_json() == printed.stdout
    assert f"[{value.interval.low:.5g}" in result._repr_html_()
    assert pc.measure(digits.probs, digits.labels).ece.interval is None


def test_clusters(digits):
    patients = [i // 4 for i in range(len(digits.labels))]
    result = pc.measure(digits.probs, digits.labels, cluster=patients, interval=0.95, replicas=100)
    plain = pc.measure(digits.probs, digits.labels, interval=0.95, replicas=100)
    assert not result.groups and result.ece == plain.ece
    assert result.ece.interval != plain.ece.interval
    with pytest.raises(pc.UsageError, match="cluster and groups cannot be combined"):
        pc.measure(digits.probs, digits.labels, cluster=patients, groups=patients)


def test_against_another_model(digits):
    worse = digits.logits * 3
    result = pc.measure(
        logits=digits.logits,
        labels=digits.labels,
        against_logits=worse,
        metrics=["ece", "brier"],
        replicas=200,
    )
    difference = result.ece.difference
    assert difference.value == pytest.approx(
        result.ece - pc.ece(logits=worse, labels=digits.labels)
    )
    assert difference.low <= difference.value <= difference.high
    assert (difference.p_value < 0.05) == (difference.low > 0 or difference.high < 0)
    assert difference.method in ("exchange", "exchange-wide")
    assert difference.rows == len(digits.labels)
    assert "against: by exchanging the two models row by row" in str(result)
    with pytest.raises(pc.DataError):
        pc.measure(digits.probs, digits.labels, against_logits=worse[:5])


def test_latex_and_tables_are_those_of_the_program(digits, digits_files, program, tmp_path):
    """A paper: a table to include, and CSV files for the appendix."""
    result = pc.measure(logits=digits.logits, labels=digits.labels, metrics=["accuracy", "ece"])
    command = [program, "measure", "-m", "accuracy", "-m", "ece", "--format", "latex"]
    command += ["--tables", tmp_path / "program", "--logits", digits_files["logits"]]
    printed = subprocess.check_output([*command, "--labels", digits_files["labels"]], text=True)
    for each in (result, copy.deepcopy(result)):
        assert "\\toprule" in each.to_latex() and each.to_latex().split("% Over")[0] == printed.split("% Over")[0]
        files = each.save_tables(tmp_path / "package")
        assert files == [str(tmp_path / f"package-{name}.csv") for name in ("values", "bins")]
        for name in ("values", "bins"):
            assert (tmp_path / f"package-{name}.csv").read_bytes() == (tmp_path / f"program-{name}.csv").read_bytes()


def test_tables_become_new_together(digits, tmp_path):
    result = pc.measure(logits=digits.logits, labels=digits.labels, metrics=["ece"])
    (tmp_path / "run-values.csv").write_text("old")
    (tmp_path / "run-bins.csv").mkdir()
    with pytest.raises(pc.IOError, match="run-bins.csv is a directory"):
        result.save_tables(tmp_path / "run")
    assert (tmp_path / "run-values.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-bins.csv", "run-values.csv"]


def test_html_of_many_groups_names_the_worst():
    """With more groups than columns, each metric names its five worst groups, as the text does."""
    draw = np.random.default_rng(3)
    probs, names = draw.random(800), [f"site {i % 8}" for i in range(800)]
    labels = (draw.random(800) < probs).astype(int)
    result = pc.measure(probs, labels, groups=names, metrics=["ece", "accuracy"])
    for metric, worst_first in (("ece", -1), ("accuracy", 1)):
        order = sorted(result.groups, key=lambda name: worst_first * float(result.groups[name][metric]))
        line = ", ".join(f"{name} {float(result.groups[name][metric]):.3g}" for name in order[:5])
        assert f"<p>{metric}, worst first: {line}</p>" in result._repr_html_()
    few = pc.measure(probs, labels, groups=[i % 3 for i in range(800)], metrics="ece")
    assert "worst first" not in few._repr_html_()
