"""What people do with figures: their own Axes and style sheets, several models, papers, notebooks."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import propercal as pc

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb


@pytest.fixture(scope="module")
def two():
    made = pc.simulate(2000, 4, factor=2)
    return {
        "old": pc.Data(logits=made.logits, labels=made.labels),
        "new": pc.Data(logits=made.logits / 2, labels=made.labels),
    }


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_one_axes_has_labels_and_ticks(two, ax):
    assert pc.plot("reliability", two["old"], ax=ax) is ax
    assert ax.get_xlabel() == "confidence (probability of the predicted class)"
    assert ax.get_ylabel() == "accuracy"
    ax.figure.canvas.draw()
    assert [each.get_text() for each in ax.get_xticklabels()][-1] in ("1.0", "1")


def test_own_labels_stay(two, ax):
    ax.set_xlabel("my score")
    ax.set_title("my title")
    pc.plot("reliability", two["old"], ax=ax)
    assert ax.get_xlabel() == "my score" and ax.get_title() == "my title"


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_marks_differ_from_the_background(two, style):
    with plt.style.context(style):
        figure, ax = plt.subplots()
        pc.plot("reliability", two["old"], ax=ax)
        paper = np.array(to_rgb(ax.get_facecolor()))
        seen = [line.get_color() for line in ax.lines] + [patch.get_facecolor() for patch in ax.patches]
        assert all(np.abs(np.array(to_rgb(each)) - paper).max() > 0.3 for each in seen)
        plt.close(figure)


def test_models_on_one_axes(two, ax):
    for name, data in two.items():
        pc.plot(data, ax=ax, label=name)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["old", "new"]
    named = [line for line in ax.lines if line.get_label() in two]
    assert named[0].get_color() == "C0" or to_rgb(named[0].get_color()) == to_rgb("C0")
    assert len([line for line in ax.lines if line.get_gid() == "propercal-diagonal"]) == 1
    with pytest.raises(pc.UsageError, match="label is for Matplotlib; give ax too"):
        pc.plot(two["old"], label="old")


def test_several_models_in_one_diagram(two):
    drawn = pc.plot("reliability", two, replicas=50)
    names = [entry["text"] for entry in drawn.data["key"]]
    assert re.fullmatch(r"old: ECE 0\.\d+ \(0\.\d+ to 0\.\d+\)", names[0])
    assert names[1].startswith("new: ECE") and names[2] == "perfect calibration"
    assert len(drawn.data["panels"]) == 2
    labels = two["old"].inputs["labels"]
    scores = {name: data.inputs["logits"] for name, data in two.items()}
    same = pc.plot("reliability", models=scores, kind="logits", labels=labels, replicas=50)
    assert same.data == drawn.data
    many = pc.plot("reliability", {f"model {i}": two["old"] for i in range(7)}, replicas=20)
    assert len(many.data["panels"]) == 7
    with pytest.raises(pc.UsageError, match="old is a Result; several models are drawn from data"):
        pc.plot("reliability", {"old": pc.measure(two["old"], metrics="ece")})


def test_points_are_those_of_the_bins(two):
    drawn = pc.plot("reliability", two, replicas=20)
    expected = [
        (each.confidence, each.frequency)
        for data in two.values()
        for each in pc.measure(data, metrics="ece").bins
        if each.weight > 0
    ]
    points = [mark["points"][0] for mark in drawn.data["marks"] if mark["kind"] == "point"]
    assert np.allclose(points, expected, atol=1e-6)


def test_scores_and_labels_alone(digits):
    assert pc.plot(digits.probs, digits.labels, replicas=20).data["panels"]
    assert pc.plot(digits.probs, digits.labels, replicas=20).svg == pc.plot(
        "reliability", probs=digits.probs, labels=digits.labels, replicas=20
    ).svg


def test_no_title(two):
    plain, bare = (pc.plot(two["old"], title=title, replicas=20) for title in (None, ""))
    assert "Reliability of the predicted class</text>" in plain.svg
    assert "Reliability of the predicted class</text>" not in bare.svg


def size_of_png(path):
    content = path.read_bytes()
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def test_resolution_and_background(two, tmp_path):
    drawn = pc.plot(two["old"], width=400, height=480, replicas=20)
    if shutil.which("rsvg-convert"):
        drawn.save(tmp_path / "a.png", dpi=288)
        assert size_of_png(tmp_path / "a.png") == (1200, 1440)
        drawn.save(tmp_path / "b.png", dpi=96, transparent=True)
        corner = plt.imread(tmp_path / "b.png")[0, 0]
        assert corner[3] == 0


def test_pdf_without_rsvg_has_type_42_fonts(two, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    drawn = pc.plot(two["old"], replicas=20)
    drawn.save(tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type42" in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content
    drawn.save(tmp_path / "a.png", dpi=100)
    assert size_of_png(tmp_path / "a.png")[0] > 300


def test_models_on_the_command_line(program, two, tmp_path):
    for name, data in two.items():
        np.save(tmp_path / f"{name}.npy", data.inputs["logits"])
    np.save(tmp_path / "y.npy", two["old"].inputs["labels"])
    words = [f"--model={name}=logits:{name}.npy" for name in two]
    more = ["--labels", "y.npy", "--replicas", "50", "-o", "-"]
    done = subprocess.run([program, "plot", "reliability", *words, *more], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == pc.plot("reliability", two, replicas=50).svg


# ---- Notebooks ----


def test_verdict_comes_first(two):
    shown = pc.measure(two["old"], metrics=["ece", "brier"])._repr_html_()
    assert shown.index("Over-confident") < shown.index("<table") < shown.index("<svg")
    assert "data-jp-theme-light" in shown and ".vscode-dark" in shown and 'html[theme="dark"]' in shown
    assert "background: #fff" not in shown


def test_comparisons_and_lists_are_tables(two):
    found = pc.compare(two["old"], methods=["temperature", "identity"], replicas=20)
    shown = found._repr_html_()
    assert shown.index("Choose temperature") < shown.index("<table")
    assert shown.count("<tr") == 3 and "pcal-best" in shown and "<pre>" not in shown
    assert pc.list_metrics()._repr_html_().count("<tr") == len(pc.list_metrics()) + 1
    (row,) = pc.list_metrics("ece")
    assert row.name == "ece" and "<th>option</th>" in pc.list_metrics("ece")._repr_html_()
    with pytest.raises(pc.UsageError, match='no "eec" among the metrics; did you mean "ece"'):
        pc.list_metrics("eec")


def test_wide_tables_fit_a_notebook(two):
    """The gain stands beside the name, numbers have four digits, and the columns are narrower."""
    shown = pc.compare(two["old"], methods=["temperature", "identity"], replicas=20)._repr_html_()
    head = re.findall(r"<th[^>]*>([^<]*)</th>", shown)
    assert head[:4] == ["rank", "name", "gain in brier", "interval"] and 'class="pcal pcal-wide"' in shown
    numbers = re.findall(r"<td class=pcal-number>([\d.]+)</td>", shown)
    assert numbers and max(len(each.replace(".", "").lstrip("0")) for each in numbers) <= 4
    assert "width | mass | sweep" in pc.list_metrics("ece")._repr_html_()


def test_many_models_do_not_vanish_on_one_axes(two, ax):
    """One Axes cannot hold small multiples: nothing is drawn in place of the first model alone."""
    many = {f"model {i}": two["old"] for i in range(9)}
    with pytest.raises(pc.UsageError, match="these 9 models are drawn in 9 panels; give as many Axes, leave ax out"):
        pc.plot("reliability", many, ax=ax)
    assert not ax.lines
    panels = plt.subplots(3, 3)[1].ravel()
    pc.plot("reliability", many, ax=panels)
    assert all(each.lines for each in panels)
    plt.close(panels[0].figure)


def test_studies_are_tables():
    shown = pc.study("counterexample")._repr_html_()
    assert "<table" in shown and "<pre>" not in shown


def test_lists_have_no_empty_columns():
    shown = pc.list_calibrators()._repr_html_()
    assert "<th>options</th>" in shown and "notion" not in shown


def test_figures_follow_the_notebook(two):
    drawn = pc.plot(two["old"], replicas=20)
    assert ".vscode-dark" in drawn._repr_html_() and "class=pcal-figure" in drawn._repr_html_()
    fixed = pc.plot(two["old"], theme="light", replicas=20)
    assert "class=pcal-figure" not in fixed._repr_html_()


class Cell:
    """What a notebook shows below a cell."""

    def __init__(self):
        self.texts = []

    def display(self, shown, display_id=False):
        assert display_id
        self.update(shown)
        return self

    def update(self, shown):
        self.texts.append(shown)


def test_progress_in_notebooks(monkeypatch, digits):
    import sys
    import types

    cell = Cell()
    kernel, shown = types.ModuleType("ipykernel"), types.ModuleType("IPython.display")
    shown.HTML, shown.display = str, cell.display
    monkeypatch.setitem(sys.modules, "ipykernel", kernel)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    pc.measure(digits.probs, digits.labels, metrics="ece", interval=0.9, progress=True)
    assert re.match(r'<progress value="\d+" max="\d+"></progress> .+, \d+ %', cell.texts[0])
    assert cell.texts[-1] == ""  # the bar disappears
    cell.texts.clear()
    pc.measure(digits.probs, digits.labels, metrics="ece")  # quick calls show none
    pc.measure(digits.probs, digits.labels, metrics="ece", interval=0.9, progress=False)
    assert cell.texts == []


def test_groups_in_figures_and_reports():
    rng = np.random.default_rng(1)
    scores = rng.random(600)
    hits = (rng.random(600) < scores).astype(int)
    groups = np.array(["b", "a", "c"])[np.arange(600) % 3]
    figure = pc.plot("reliability", probs=scores, labels=hits, groups=groups, interval=None)
    places = [figure.svg.index(f"{name}: ECE") for name in "abc"]
    assert places == sorted(places)
    page = pc.report(probs=scores, labels=hits, groups=groups, replicas=20)
    assert "Group by group" in page.html


# ---- Colours ----

# sRGB to what people without red (protanopia) or green (deuteranopia) cones see, in linear light: Machado,
# Oliveira & Fernandes, IEEE Transactions on Visualization and Computer Graphics 2009, severity 1.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])


def lab(colour, seen):
    """CIE L*a*b* of "#rrggbb" as it is seen."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(seen) @ linear, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_nine_lines_have_distinct_colours():
    """A distance of 2.3 is just noticeable; lines are thin, so that theirs is at least five times that."""
    scores = np.linspace(0.05, 0.95, 40)
    models = {f"model {i}": pc.Data(probs=scores ** (1 + i / 9), labels=np.arange(40) % 2) for i in range(9)}
    figure = pc.plot("decision-curve", models, interval=None)
    drawn = set(re.findall(r'class="s-([a-i]) line"', figure.svg))
    assert drawn == set("abcdefghi")
    found = re.findall(r"\.s-([a-i])\{stroke:(#[0-9a-f]{6})\}", figure.svg)
    for theme in (dict(found[:9]), dict(found[9:18])):
        assert len(theme) == 9
        for name, seen in SEEN.items():
            places = [lab(colour, seen) for colour in theme.values()]
            closest = min(np.linalg.norm(a - b) for i, a in enumerate(places) for b in places[:i])
            assert closest > (25 if name == "all cones" else 12), (name, closest)
