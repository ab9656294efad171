"""Reports: a page about one model."""

import html
import json
import os
from typing import Any, Iterable

from . import _core
from ._errors import UsageError, file_name, shown_name
from ._inputs import Data, gather, lists_inputs
from ._parameters import one_or_more
from ._settings import replica_count, settings


class Report:
    """A page about one model, before and after a calibrator; notebooks display it."""

    def __init__(self, page: str, markdown: str, content: str) -> None:
        #: one self-contained HTML document
        self.html = page
        #: the verdict and the table, for a pull request
        self.markdown = markdown
        self._json = content

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes .html, .md or .json; the file appears whole or not at all."""
        name = shown_name(path)
        forms = {".html": self.html, ".md": self.markdown, ".json": self._json}
        form = os.path.splitext(name)[1].lower()
        if form not in forms:
            raise UsageError(f"{name}: reports are written as .html, .md or .json")
        _core.write_files(file_name(path), forms[form].encode())

    def to_json(self) -> str:
        """The numbers of the report, which are in the page too."""
        return self._json

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._json)

    def _repr_html_(self) -> str:
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" style="width:100%;height:50em;border:0"></iframe>'

    def __repr__(self) -> str:
        content = self.to_dict()
        kind = (content["after"] or content["before"])["judgement"]["kind"]
        return f"<report: {kind}; save it as .html, .md or .json>"


@lists_inputs("val", without=("ids", "time", "every", "first_row"))
def report(
    probs: Any = None,
    labels: Any = None,
    *,
    val: "Data | None" = None,
    calibrator: Any = None,
    method: "str | None" = None,
    metrics: "str | Iterable[str] | None" = None,
    preset: "str | None" = None,
    cluster: Any = None,
    interval: "float | None" = 0.95,
    replicas: int = 1000,
    title: "str | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    **inputs: Any,
) -> Report:
    """A page about one model, before and after a calibrator.

    Parameters
    ----------
    probs, labels, logits, ... : the data: a ``Data`` as the first argument, or its arguments by
        name
    val : other rows to fit a calibrator on, as ``Data(logits=..., labels=...)``; without
        ``method`` the best of all methods that suit the data is chosen.  Also by name:
        ``val_logits``, ``val_labels``, ...
    calibrator : a fitted calibrator, in place of other rows
    method : a calibrator to fit, as ``"beta"``: to the other rows or, without any, by
        cross-validation
    metrics : metrics of the table, as for ``measure``; added to those of a preset
    preset : ``"clinical"``: one page about predicted risks for a paper, with the metrics of the
        group clinical, a calibration curve, a decision curve, and the sentences for methods and
        results
    cluster : cluster of each row, as for ``measure``
    interval : level of the intervals, or None
    replicas : number of replicas for the intervals
    title : of the page
    normalize, skip_missing, seed, threads, memory_limit, progress : see ``measure``

    Returns
    -------
    Report
        ``html``, ``markdown``, ``to_json()`` and ``save(path)``
    """
    data, second = gather("report", probs, labels, inputs, val=val)
    if cluster is not None:
        if "groups" in data.inputs:
            raise UsageError("cluster and groups cannot be combined; give one of them")
        data = data._with_clusters(cluster)
    with settings(threads, memory_limit, progress, seed) as how:
        found = _core.report(
            data._open(how),
            None if second is None else data._val(second)._open(how),
            None if calibrator is None else calibrator._require(),
            method,
            one_or_more(metrics),
            float(interval or 0),
            replica_count(replicas),
            bool(normalize),
            bool(skip_missing),
            title,
            preset,
            cluster is not None,
        )
    return Report(*found)
