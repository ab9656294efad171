"""What people write first, coming from other packages."""

import shutil
import subprocess

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
