"""Figures: SVG from the library, or the same marks drawn with Matplotlib."""

import json
import os
import shutil
from typing import Any, Callable

from . import _core, _html
from ._errors import IOError, UsageError, file_name, shown_name


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

    def save(self, path: "str | os.PathLike[str]", *, dpi: float = 192, transparent: bool = False) -> None:
        """Writes .svg, .png or .pdf.  PNG and PDF are made by the program rsvg-convert or, without
        it, by Matplotlib; fonts of a PDF are embedded as TrueType (Type 42).

        Parameters
        ----------
        path : path-like
            Name of the file.
        dpi : float, default=192
            Resolution of PNG: pixels for 96 units of the figure's width.
        transparent : bool, default=False
            Leave out the background of PNG and PDF.
        """
        name = shown_name(path)
        form = os.path.splitext(name)[1].lower()
        if form not in (".svg", ".png", ".pdf"):
            raise UsageError(f"{name}: figures are written as .svg, .png or .pdf")
        content = self.svg.encode()
        if form != ".svg":
            content = self._convert(name, form, dpi, transparent)
        _core.write_files(file_name(path), content)

    def draw(self, ax: Any = None, *, label: "str | None" = None) -> Any:
        """Draws with Matplotlib, in the colours of its style sheet.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or sequence of them, default=None
            The first panel is drawn on one Axes, all panels on a sequence of them; None makes a new
            figure.
        label : str, default=None
            Draw the points of the first panel as a line with this name in the legend, in the next
            colour of the Axes.

        Returns
        -------
        matplotlib.axes.Axes or list of them
            The Axes.
        """
        from . import _matplotlib

        return _matplotlib.draw(self.data, ax, label)

    def _convert(self, path: str, form: str, dpi: float, transparent: bool) -> bytes:
        program = shutil.which("rsvg-convert")
        if program is None:
            from . import _matplotlib

            return _matplotlib.render(self.data, path, form, dpi, transparent)
        command = [program, "-f", form[1:], *(["-z", str(dpi / 96)] if form == ".png" else [])]
        import subprocess  # takes milliseconds that importing propercal need not wait for
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".css") as style:
            if transparent:
                style.write(".pcal .f-paper { fill: none !important }")
                style.flush()
                command += ["--stylesheet", style.name]
            done = subprocess.run(command, input=self.svg.encode(), capture_output=True)
        if done.returncode != 0:
            raise IOError(f"{path}: rsvg-convert failed: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return _html.box(_html.figure(self.svg))

    def __repr__(self) -> str:
        return f"<figure {self.name}; save it, or draw it with Matplotlib>"
