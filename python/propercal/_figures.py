"""Figures: SVG from the library, or the same marks drawn with Matplotlib."""

import json
import os
import shutil
from typing import Any, Callable

from . import _core
from ._errors import IOError, UsageError, file_name, shown_name

# The paints of the SVG writer, which are those of Okabe and Ito.
_PAINT = {
    "ink": "#1a1a1a",
    "muted": "#5f5f5f",
    "faint": "#d9d9d9",
    "fill": "#b8b8b8",
    "warm": "#d55e00",
    "cool": "#0072b2",
    "paper": "#ffffff",
    "a": "#0072b2",
    "b": "#d55e00",
    "c": "#009e73",
    "d": "#cc79a7",
    "e": "#e69f00",
}


class Figure:
    """A figure of measured data; notebooks show it by themselves."""

    def __init__(self, name: str, svg: str, content: "Callable[[], str]") -> None:
        self.name = name
        #: the figure as an SVG document
        self.svg = svg
        self._content = content

    @property
    def data(self) -> "dict[str, Any]":
        """The data of the figure: panels with axes, marks in data units, the legend."""
        return json.loads(self._content())

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes .svg, or with the program rsvg-convert .png and .pdf."""
        name = shown_name(path)
        form = os.path.splitext(name)[1].lower()
        if form not in (".svg", ".png", ".pdf"):
            raise UsageError(f"{name}: figures are written as .svg, .png or .pdf")
        content = self.svg.encode()
        if form != ".svg":
            content = _convert(name, form, content)
        _core.write_file(file_name(path), content)

    def draw(self, ax: Any = None) -> Any:
        """Draws with Matplotlib: the first panel on one Axes, or all panels on a sequence of
        them; without any, on a new figure.  Returns the Axes."""
        data = self.data
        axes = _new_axes(data) if ax is None else list(ax) if hasattr(ax, "__len__") else [ax]
        for number, one in enumerate(axes[: len(data["panels"])]):
            _draw_panel(one, data, number)
        return axes[0] if ax is None or not hasattr(ax, "__len__") else axes

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<figure {self.name}; save it, or draw it with Matplotlib>"


def _convert(path: str, form: str, content: bytes) -> bytes:
    program = shutil.which("rsvg-convert")
    if program is None:
        raise IOError(f"{path}: {form[1:]} needs the program rsvg-convert; save as .svg, or draw()")
    command = [program, "-f", form[1:], *(["-z", "2"] if form == ".png" else [])]
    import subprocess  # takes milliseconds that importing propercal need not wait for

    done = subprocess.run(command, input=content, capture_output=True)
    if done.returncode != 0:
        raise IOError(f"{path}: rsvg-convert failed: {done.stderr.decode(errors='replace')}")
    return done.stdout


# ---- Matplotlib ----


def _new_axes(data: dict) -> list:
    """Axes at the positions of the panels."""
    import matplotlib.pyplot as plt

    width, height = data["width"], data["height"]
    figure = plt.figure(figsize=(width / 110, height / 110))
    axes = []
    for panel in data["panels"]:
        x, y, wide, high = panel["rect"]
        axes.append(figure.add_axes((x / width, 1 - (y + high) / height, wide / width, high / height)))
    return axes


def _draw_mark(ax: Any, mark: dict, unit: float) -> None:
    from matplotlib.patches import Polygon, Rectangle

    points, kind = mark["points"], mark["kind"]
    alpha = 0.2 if mark.get("wash") else 0.45 if mark.get("pale") else 1.0
    colour = _PAINT[mark["tone"]]
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    order = 2 + ax._propercal_marks
    ax._propercal_marks += 0.001
    if kind == "bar":
        corner = min(xs), min(ys)
        size = abs(xs[1] - xs[0]), abs(ys[1] - ys[0])
        ax.add_patch(Rectangle(corner, *size, color=colour, alpha=alpha, lw=0, zorder=order))
    elif kind == "band":
        ax.add_patch(Polygon(points, color=colour, alpha=min(alpha, 0.25), lw=0, zorder=order))
    elif kind == "point":
        face = "white" if mark.get("hollow") else colour
        ax.plot(xs, ys, "o", ms=5, mec=colour, mfc=face, alpha=alpha, zorder=order)
    elif kind in ("line", "segment"):
        style = "--" if mark.get("dashed") else "-"
        width = mark.get("size", 1.5)
        ax.plot(xs, ys, style, color=colour, lw=width, alpha=alpha, zorder=order)


def _key_handle(entry: dict) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colour = _PAINT[entry["tone"]]
    if entry["sample"] == "bar":
        return Patch(color=colour, label=entry["text"], alpha=0.2 if entry.get("wash") else 1.0)
    if entry["sample"] == "line":
        style = "--" if entry.get("dashed") else "-"
        return Line2D([], [], color=colour, ls=style, label=entry["text"])
    face = "white" if entry.get("hollow") else colour
    return Line2D([], [], color=colour, marker="o", ls="", mfc=face, label=entry["text"])


def _draw_panel(ax: Any, data: dict, number: int) -> None:
    panel = data["panels"][number]
    ax._propercal_marks = 0.0
    for mark in data["marks"]:
        if mark["panel"] == number and mark["kind"] != "note" and mark["tone"] != "paper":
            _draw_mark(ax, mark, 1.0)
    for side in ("x", "y"):
        axis = panel[side]
        getattr(ax, f"set_{side}lim")(axis["low"], axis["high"])
        names = axis.get("names", [])
        getattr(ax, f"set_{side}ticks")([name["at"] for name in names] or axis["ticks"])
        if names:
            getattr(ax, f"set_{side}ticklabels")([name["text"] for name in names])
        if axis["label"]:
            getattr(ax, f"set_{side}label")(axis["label"])
        if axis["numbers"] == "percent":
            from matplotlib.ticker import PercentFormatter

            getattr(ax, f"{side}axis").set_major_formatter(PercentFormatter(1, decimals=0))
        elif axis["numbers"] == "none":
            getattr(ax, f"set_{side}ticklabels")([])
    if panel.get("title"):
        ax.set_title(panel["title"], fontsize="small", loc="left")
    if number == 0:
        if not panel.get("title"):
            ax.set_title(data["title"])
        handles = [_key_handle(entry) for entry in data["key"]]
        if handles:
            ax.legend(handles=handles, loc="best", fontsize="small")
