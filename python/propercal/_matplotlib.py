"""Draws the marks of a figure with Matplotlib, in the colours of its style sheet."""

import io
from typing import Any

from ._errors import IOError

# Too high and too low keep their colours, those of Okabe and Ito, on any background.
_WARM, _COOL = "#d55e00", "#0072b2"
_SERIES = "abcdefghi"


class _Paints:
    """Colours of the tones of a figure, from the style sheet in use."""

    def __init__(self, ax: Any) -> None:
        from matplotlib import rcParams

        cycle = rcParams["axes.prop_cycle"].by_key().get("color", ["C0"])
        ink = rcParams["text.color"]
        self.paper = ax.get_facecolor()
        self._tones = {"ink": ink, "muted": ink, "faint": rcParams["grid.color"], "fill": ink,
                       "warm": _WARM, "cool": _COOL, "paper": self.paper}  # fmt: skip
        self._tones.update({tone: cycle[i % len(cycle)] for i, tone in enumerate(_SERIES)})

    def colour(self, look: dict) -> Any:
        return self._tones[look["tone"]]

    @staticmethod
    def alpha(look: dict) -> float:
        """Marks in pale, washed or muted ink let the background through."""
        if look.get("wash"):
            return 0.15
        share = 0.45 if look.get("pale") else 1.0
        return share * {"muted": 0.6, "fill": 0.35, "warm": 0.6, "cool": 0.6}.get(look["tone"], 1.0)


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


def draw(data: dict, ax: Any, label: "str | None") -> Any:
    """Draws on one Axes, on several, or on new ones; returns them."""
    several = hasattr(ax, "__len__")
    axes = _new_axes(data) if ax is None else list(ax) if several else [ax]
    alone = ax is not None and not several
    if label is not None:
        _draw_series(axes[0], data, label)
    for number, one in enumerate(axes[: len(data["panels"])]):
        if label is None:
            _draw_marks(one, data, number)
        _draw_axes(one, data, number, alone)
    if label is not None or data["key"]:
        _draw_legend(axes[0], data, label)
    return axes if several else axes[0]


def render(data: dict, path: str, form: str, dpi: float, transparent: bool) -> bytes:
    """A figure as the bytes of a .png or .pdf file."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise IOError(
            f"{path}: {form[1:]} needs the program rsvg-convert or Matplotlib; save as .svg"
        ) from None
    out = io.BytesIO()
    with rc_context({"pdf.fonttype": 42}):
        axes = draw(data, None, None)
        FigureCanvasAgg(axes.figure)
        axes.figure.savefig(out, format=form[1:], dpi=dpi, transparent=transparent)
        import matplotlib.pyplot as plt

        plt.close(axes.figure)
    return out.getvalue()


def _draw_mark(ax: Any, mark: dict, paints: _Paints, order: float) -> None:
    from matplotlib.patches import Polygon, Rectangle

    points, kind = mark["points"], mark["kind"]
    look = {"color": paints.colour(mark), "alpha": paints.alpha(mark), "zorder": order}
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    if kind == "bar":
        size = abs(xs[1] - xs[0]), abs(ys[1] - ys[0])
        ax.add_patch(Rectangle((min(xs), min(ys)), *size, lw=0, **look))
    elif kind == "band":
        ax.add_patch(Polygon(points, lw=0, **{**look, "alpha": min(look["alpha"], 0.25)}))
    elif kind == "point":
        face = paints.paper if mark.get("hollow") else look["color"]
        ax.plot(xs, ys, "o", ms=5, mfc=face, **look)
    elif kind in ("line", "segment"):
        ax.plot(xs, ys, "--" if mark.get("dashed") else "-", lw=mark.get("size", 1.5), **look)


def _draw_marks(ax: Any, data: dict, number: int) -> None:
    paints = _Paints(ax)
    marks = [mark for mark in data["marks"] if mark["panel"] == number]
    for place, mark in enumerate(marks):
        if mark["kind"] != "note" and mark["tone"] != "paper":
            _draw_mark(ax, mark, paints, 2 + place / 1000)


def _draw_series(ax: Any, data: dict, label: str) -> None:
    """The points of the first panel as a line, with their intervals."""
    marks = [mark for mark in data["marks"] if mark["panel"] == 0]
    if not any(line.get_gid() == "propercal-diagonal" for line in ax.lines):
        for mark in marks:
            if mark["kind"] == "segment" and mark.get("dashed"):
                xs, ys = zip(*mark["points"])
                ax.plot(xs, ys, "--", color=_Paints(ax).colour(mark), alpha=0.6, lw=1.2, gid="propercal-diagonal")
    points = [mark["points"][0] for mark in marks if mark["kind"] == "point"]
    (line,) = ax.plot(*zip(*points), "o-", ms=5, label=label)
    for mark in marks:
        if mark["kind"] == "segment" and not mark.get("dashed"):
            xs, ys = zip(*mark["points"])
            ax.plot(xs, ys, "-", color=line.get_color(), alpha=0.4, lw=1.2)


def _shown_axis(data: dict, number: int, side: str, alone: bool) -> dict:
    """An axis of a panel; on an Axes that stands alone, that of a panel below or beside it where
    this one leaves its numbers to the other."""
    own = data["panels"][number][side]
    if not alone or own["numbers"] != "none":
        return own
    for panel in data["panels"]:
        other = panel[side]
        if other["numbers"] != "none" and (other["low"], other["high"]) == (own["low"], own["high"]):
            return other
    return {**own, "numbers": "plain"}


def _draw_axes(ax: Any, data: dict, number: int, alone: bool) -> None:
    from matplotlib.ticker import PercentFormatter

    for side in ("x", "y"):
        axis = _shown_axis(data, number, side, alone)
        getattr(ax, f"set_{side}lim")(axis["low"], axis["high"])
        names = axis.get("names", [])
        getattr(ax, f"set_{side}ticks")([name["at"] for name in names] or axis["ticks"])
        if names:
            getattr(ax, f"set_{side}ticklabels")([name["text"] for name in names])
        if axis["label"] and not getattr(ax, f"get_{side}label")():
            getattr(ax, f"set_{side}label")(axis["label"])
        if axis["numbers"] == "percent":
            getattr(ax, f"{side}axis").set_major_formatter(PercentFormatter(1, decimals=0))
        elif axis["numbers"] == "none":
            getattr(ax, f"set_{side}ticklabels")([])
    title = data["panels"][number].get("title")
    if title:
        ax.set_title(title, fontsize="small", loc="left")
    elif number == 0 and data["title"] and not ax.get_title():
        ax.set_title(data["title"])


def _key_handle(entry: dict, paints: _Paints) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    look = {"color": paints.colour(entry), "alpha": paints.alpha(entry), "label": entry["text"]}
    if entry["sample"] == "bar":
        return Patch(lw=0, **look)
    if entry["sample"] == "line":
        return Line2D([], [], ls="--" if entry.get("dashed") else "-", **look)
    face = paints.paper if entry.get("hollow") else look["color"]
    return Line2D([], [], marker="o", ls="", mfc=face, **look)


def _draw_legend(ax: Any, data: dict, label: "str | None") -> None:
    if label is not None:
        ax.legend(loc="best", fontsize="small")
        return
    paints = _Paints(ax)
    handles = [_key_handle(entry, paints) for entry in data["key"]]
    ax.legend(handles=handles, loc="best", fontsize="small")
