"""Figures: SVG, files, and the same marks with Matplotlib."""

import subprocess

import numpy as np
import pytest

import propercal as pc


@pytest.mark.parametrize("row", pc.list_figures(), ids=lambda row: row.name)
def test_every_figure(row, digits):
    data = {"probs": digits.probs, "labels": digits.labels}
    if row.task == "regression":
        mean = np.arange(50.0)
        data = {"mean": mean, "std": 1 + mean / 50, "target": mean + np.sin(mean)}
    figure = pc.plot(row.name, **data)
    assert figure._repr_svg_().startswith("<svg") and figure.svg.rstrip().endswith("</svg>")
    assert figure.data["panels"] and figure.data["marks"]


def test_from_a_result(digits):
    result = pc.measure(logits=digits.logits, labels=digits.labels)
    figure = pc.plot("reliability", result)
    assert figure.svg == result.figure().svg
    with pytest.raises(pc.UsageError, match="both given"):
        pc.plot("reliability", result, labels=digits.labels)
    with pytest.raises(pc.UsageError, match="did you mean 'reliability'"):
        pc.plot("relaibility", result)
    with pytest.raises(pc.UsageError, match="plot from the data"):
        pc.plot("temperature", result)


def test_the_bytes_of_the_program(digits, digits_files, program, tmp_path):
    figure = pc.plot("ks-graph:rank=2", logits=digits.logits, labels=digits.labels, theme="dark")
    words = [program, "plot", "ks-graph:rank=2", "--theme", "dark", "-o", str(tmp_path / "a.svg")]
    for name, path in digits_files.items():
        words += [f"--{name}", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    figure.save(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_several_models(digits, program, tmp_path):
    models = {"epoch 1": digits.probs**0.2, "epoch 10": digits.probs**0.5, "epoch 30": digits.probs}
    models = {name: probs / probs.sum(axis=1, keepdims=True) for name, probs in models.items()}
    figure = pc.plot("range-bounds:bins=5", models=models, labels=digits.labels)
    lines = [mark for mark in figure.data["marks"] if mark["kind"] == "line"]
    assert len(lines) == 4
    for number, line in enumerate(lines, 1):
        for (x, y), probs in zip(line["points"], models.values()):
            scores = np.sort(probs.ravel())
            assert y == pytest.approx(scores[round(number * scores.size / 5)], rel=1e-12)
    words = [program, "plot", "range-bounds:bins=5", "-o", str(tmp_path / "a.svg")]
    np.save(tmp_path / "labels.npy", digits.labels)
    for number, (name, probs) in enumerate(models.items()):
        np.save(tmp_path / f"{number}.npy", probs)
        words += ["--model", f"{name}=probs:{tmp_path / str(number)}.npy"]
    subprocess.run([*words, "--labels", str(tmp_path / "labels.npy")], check=True, capture_output=True)
    assert (tmp_path / "a.svg").read_text() == figure.svg
    own = {name: {"probs": probs, "labels": digits.labels} for name, probs in models.items()}
    assert pc.plot("range-bounds:bins=5", models=own).svg == figure.svg
    with pytest.raises(pc.UsageError, match="figure ks-graph draws one model"):
        pc.plot("ks-graph", models=models, labels=digits.labels)
    with pytest.raises(pc.UsageError, match="as models and directly"):
        pc.plot("range-bounds", models=models, probs=digits.probs, labels=digits.labels)
    with pytest.raises(ValueError, match="a figure needs predictions"):
        pc.plot("range-bounds", models={}, labels=digits.labels)


def test_after_a_calibrator(digits):
    fitted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    data = {"logits": digits.logits, "labels": digits.labels, "replicas": 50}
    figure = pc.plot(calibrator=fitted, title="<mine>", **data)
    assert "ECE before" in figure.svg and "&lt;mine&gt;" in figure.svg
    second = {"val_logits": digits.logits, "val_labels": digits.labels}
    assert len(pc.plot("ks-graph", **data, **second).data["panels"]) == 8
    with pytest.raises(pc.UsageError, match="between 240 and 10000"):
        pc.plot(width=5, **data)


def test_other_files(digits, tmp_path):
    figure = pc.plot(probs=digits.probs, labels=digits.labels)
    with pytest.raises(pc.UsageError, match=".svg, .png or .pdf"):
        figure.save(tmp_path / "x.gif")
    try:
        figure.save(tmp_path / "x.png")
    except pc.IOError as error:
        assert "rsvg-convert" in str(error)
    else:
        assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_matplotlib_draws_the_same_marks(digits, pyplot):
    result = pc.measure(digits.probs, digits.labels)
    _, ax = pyplot.subplots()
    assert pc.plot("reliability", result, ax=ax) is ax
    data = result.figure().data
    points = [mark["points"][0] for mark in data["marks"] if mark["kind"] == "point"]
    drawn = [
        (line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "o"
    ]
    assert np.allclose(sorted(map(tuple, points)), sorted(drawn))
    means = [(each.confidence, each.frequency) for each in result.bins if each.weight]
    assert np.allclose(sorted(drawn), sorted(means))
    assert ax.get_xlim() == (0, 1) and ax.get_title() == data["title"]
    assert len(ax.get_legend().get_texts()) == len(data["key"])


def test_matplotlib_with_every_panel(digits, pyplot):
    result = pc.measure(digits.probs, digits.labels)
    figure, axes = pyplot.subplots(2, 1)
    assert len(pc.plot("reliability", result, ax=axes)) == 2
    assert axes[1].patches
    alone = result.figure().draw()
    assert len(alone.figure.axes) == 2
    named = pc.plot("class-errors", probs=digits.probs, labels=digits.labels)
    assert len(named.draw().get_yticklabels()) == len(named.data["panels"][0]["y"]["names"])
    figure.canvas.draw()
