"""Everything about one model in one page."""

import html
import json
import os
from typing import Any, Iterable

from . import _core
from ._errors import UsageError, file_name, shown_name
from ._inputs import open_source
from ._running import settings


class Report:
    """A page about one model, before and after a calibrator; notebooks show it by themselves."""

    def __init__(self, page: str, markdown: str, content: str) -> None:
        #: one HTML document that needs nothing else
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
        _core.write_file(file_name(path), forms[form].encode())

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
        verdict = (self.to_dict()["after"] or self.to_dict()["before"])["verdict"]
        return f"<report: {verdict.partition('. ')[0]}; save it as .html, .md or .json>"


def report(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    confidence: Any = None,
    correct: Any = None,
    mean: Any = None,
    variance: Any = None,
    std: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    samples: Any = None,
    target: Any = None,
    weights: Any = None,
    weights_are: "str | None" = None,
    data: Any = None,
    val_probs: Any = None,
    val_labels: Any = None,
    val_logits: Any = None,
    val_log_probs: Any = None,
    val_confidence: Any = None,
    val_correct: Any = None,
    val_mean: Any = None,
    val_variance: Any = None,
    val_std: Any = None,
    val_quantiles: Any = None,
    val_samples: Any = None,
    val_target: Any = None,
    val_weights: Any = None,
    val_data: Any = None,
    calibrator: Any = None,
    method: "str | None" = None,
    metrics: "str | Iterable[str] | None" = None,
    interval: "float | None" = 0.95,
    replicas: int = 1000,
    title: "str | None" = None,
    classes: "Iterable[str] | None" = None,
    normalize: bool = False,
    skip_missing: bool = False,
    seed: int = 0,
    threads: "int | None" = None,
    memory_limit: "int | None" = None,
    progress: Any = None,
    header: "bool | None" = None,
) -> Report:
    """Everything about one model in one page, before and after a calibrator.

    Parameters
    ----------
    probs, labels, ... : the data, as for ``measure``
    val_probs, ... : other rows, to fit a calibrator on; without ``method`` the best of all
        methods that suit the data is chosen
    calibrator : a fitted one, in place of other rows
    method : a calibrator to fit, as ``"beta"``: to the other rows or, without any, by
        cross-validation
    metrics : for the table, as for ``measure``
    interval : level of the intervals, or None
    replicas : how often rows are drawn anew for them
    title : of the page

    Returns
    -------
    Report
        ``html``, ``markdown``, ``to_json()`` and ``save(path)``
    """
    given = dict(probs=probs, labels=labels, logits=logits, log_probs=log_probs,
                 confidence=confidence, correct=correct, mean=mean, variance=variance, std=std,
                 quantiles=quantiles, levels=levels, samples=samples, target=target,
                 weights=weights, weights_are=weights_are, data=data)  # fmt: skip
    second = dict(probs=val_probs, labels=val_labels, logits=val_logits, log_probs=val_log_probs,
                  confidence=val_confidence, correct=val_correct, mean=val_mean,
                  variance=val_variance, std=val_std, quantiles=val_quantiles,
                  samples=val_samples, target=val_target, weights=val_weights,
                  data=val_data)  # fmt: skip
    specs = () if metrics is None else (metrics,) if isinstance(metrics, str) else tuple(metrics)
    names = None if classes is None else tuple(classes)
    with settings(threads, memory_limit, progress, seed) as how:
        source = open_source(given, how, names, header=header)
        other = None
        if any(value is not None for value in second.values()):
            second["levels"] = levels if val_quantiles is not None else None
            other = open_source(second, how, names, header=header)
        found = _core.report(
            source,
            other,
            None if calibrator is None else calibrator._require(),
            method,
            specs,
            float(interval or 0),
            int(replicas),
            bool(normalize),
            bool(skip_missing),
            title,
        )
    return Report(*found)
