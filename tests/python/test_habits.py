"""What people write first, coming from other packages."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import propercal as pc

PROBS = np.array([0.75, 0.25, 0.5, 0.875])
LABELS = np.array([1, 0, 1, 1])


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    rows = "".join(f"{'yes' if y else 'no'},{p}\n" for p, y in zip(PROBS, LABELS))
    path.write_text("label,prob\n" + rows)
    return path


def test_a_file_alone(scores):
    expected = pc.brier(PROBS, LABELS)
    found = pc.measure(data=str(scores), pos_label="yes", metrics="brier")
    assert float(found["brier"]) == expected
    numbers = scores.with_name("numbers.csv")
    numbers.write_text(scores.read_text().replace("yes", "1").replace("no", "0"))
    assert float(pc.measure(numbers, metrics="brier")["brier"]) == expected
    assert float(pc.measure(numbers, pos_label=1, metrics="brier")["brier"]) == expected
    assert float(pc.measure(scores, pos_label="yes", header=True, metrics="brier")["brier"]) == expected


def test_names_of_other_packages():
    assert float(pc.measure(PROBS, LABELS, metrics="auroc")["roc_auc_score"]) == pc.auc(PROBS, LABELS)
    assert pc.picp is pc.interval_coverage
    assert [row.name for row in pc.list_figures("rank histogram")] == ["pit"]
    assert [row.name for row in pc.list_metrics("auroc")] == ["auc"]
    with pytest.raises(pc.UsageError, match=r'"ece,brier" is not one metric; give several as metrics=\["ece", "brier"\]'):
        pc.measure(PROBS, LABELS, metrics="ece,brier")


def test_figures_by_position():
    by_name = pc.plot("ks-graph", probs=PROBS, labels=LABELS)
    assert pc.plot("ks-graph", PROBS, LABELS)._repr_svg_() == by_name._repr_svg_()
    assert pc.plot("Reliability_Diagram", PROBS, LABELS)._repr_svg_() == pc.plot(PROBS, LABELS)._repr_svg_()
    with pytest.raises(pc.UsageError, match="labels are given twice"):
        pc.plot(PROBS, LABELS, LABELS)


@pytest.mark.parametrize(
    "call, kind, remedy",
    [
        (lambda: pc.measure(PROBS, LABELS, metric="ece"), TypeError, "no argument 'metric'; did you mean 'metrics'"),
        (lambda: pc.measure(PROBS, LABELS, n_bins=5), TypeError, "an option of metrics.*'ece:bins="),
        (lambda: pc.fit(PROBS, LABELS), AttributeError, r"propercal\.Temperature\(\)\.fit"),
        (lambda: pc.watch(PROBS, LABELS), AttributeError, "did you mean 'Watch'"),
        (lambda: pc.conformal, AttributeError, "did you mean 'Conformal'"),
        (lambda: pc.measure(PROBS, np.where(LABELS, "yes", "no")), pc.DataError, "the label of class 1 as pos_label"),
    ],
)
def test_hints(call, kind, remedy):
    with pytest.raises(kind, match=remedy):
        call()


def test_latex_tables_compile(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    groups = np.array(["a & b", "50%_x", "[c]", "#$"])
    tables = [
        pc.measure(PROBS, LABELS, groups=groups, metrics=["brier", "accuracy"]).to_latex(),
        pc.compare(np.tile(PROBS, 20), np.tile(LABELS, 20), methods=["platt"], metrics=["brier"]).to_latex(),
        pc.study("counterexample").to_latex(),
    ]
    body = "\n\n".join(tables)
    text = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + body + "\n\\end{document}\n"
    (tmp_path / "all.tex").write_text(text)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")
    assert (tmp_path / "all.pdf").stat().st_size > 1000


def test_calibrators_by_other_names():
    assert [row.name for row in pc.list_calibrators("sigmoid")] == ["platt"]
    assert [row.name for row in pc.list_calibrators("temperature_scaling")] == ["temperature"]


def test_clusters_of_rows_along_another_axis():
    probs = np.array([[0.2, 0.4, 0.6, 0.7], [0.8, 0.6, 0.4, 0.3]])
    given = {"metrics": ["brier"], "labels": [0, 1, 0, 1], "cluster": [1, 1, 2, 2]}
    along = pc.measure(probs=probs, class_axis=0, **given)
    assert float(along["brier"]) == float(pc.measure(probs=probs.T, **given)["brier"])


def test_a_wrong_number_of_clusters_names_the_argument():
    for call in (pc.measure, lambda *rows, **more: pc.compare(*rows, methods=["platt"], **more)):
        with pytest.raises(pc.DataError, match="cluster has 2 rows, but probs has .*; give one cluster for each row"):
            call(np.array([0.2, 0.4, 0.6, 0.7]), [0, 1, 0, 1], cluster=[1, 2])


def test_ragged_rows_may_be_arrays():
    rows = [[0.5, 0.5], [0.2, 0.3, 0.5], [1.0]]
    labels = [0, 2, 0]
    expected = pc.brier(rows, labels, ragged=True)
    arrays = [np.array(row) for row in rows]
    column = np.empty(3, dtype=object)
    column[:] = arrays
    for given in (arrays, tuple(arrays), column, [np.float32(arrays[0]), arrays[1], rows[2]]):
        assert pc.brier(given, labels, ragged=True) == expected


def test_a_name_that_chooses_no_test_fails():
    """tools/check-python with an argument that pytest finds no test for."""
    root = pathlib.Path(__file__).parents[2]
    loader = importlib.machinery.SourceFileLoader("check_python", str(root / "tools" / "check-python"))
    sys.path.insert(0, str(root / "tools"))
    try:
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_python", loader))
        loader.exec_module(module)
        none, one = (module.Outcome(failed=failed) for failed in (0, 1))
        module.count = lambda python, folder, arguments: none
        with pytest.raises(RuntimeError, match="no test was run by pytest habits; give a path such as"):
            module.chosen("python", ".", ["habits"])
        module.count = lambda python, folder, arguments: one
        assert module.chosen("python", ".", ["habits"]) is one
    finally:
        sys.path.remove(str(root / "tools"))


def test_a_model_in_place_of_its_probabilities():
    from sklearn.naive_bayes import GaussianNB

    for call in (pc.measure, pc.ece, lambda *given: pc.plot("reliability", *given)):
        with pytest.raises(pc.DataError, match=r"probs is a model, GaussianNB; give its probabilities, model.predict_proba\(X\)"):
            call(GaussianNB(), [0, 1])
