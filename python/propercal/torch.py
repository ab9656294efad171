"""Metrics for training loops of PyTorch: a ``torchmetrics.Metric`` that measures with propercal.

>>> from propercal.torch import CalibrationMetric
>>> metric = CalibrationMetric("ece", kind="logits")
>>> for logits, labels in batches:
...     metric.update(logits, labels)
>>> metric.compute()  # a tensor
"""

from typing import Any, Iterable, List

from . import _core, _measure, _registry
from ._errors import UsageError

try:
    import torch
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat
except ImportError as error:
    raise ImportError("propercal.torch needs PyTorch and torchmetrics; pip install torchmetrics") from error

_KINDS = ("probs", "logits", "log_probs")


class CalibrationMetric(Metric):
    """One metric of propercal, or several, as a ``torchmetrics.Metric``.

    The value is bit for bit that of ``propercal.measure`` on all rows, for any division into batches and
    processes.  Rows are kept until ``reset``, as in torchmetrics' own metrics of sorted scores.

    Parameters
    ----------
    metrics : str or sequence of str, default='ece'
        Specs such as ``'ece:bins=20'``.
    kind : {'probs', 'logits', 'log_probs'}, default='probs'
        What the predictions are.
    class_axis : int, default=None
        Axis of the classes in predictions of more than two dimensions; None takes 1, as PyTorch does.
    ignore_index : int, default=None
        Label of rows that are left out.
    normalize : bool, default=False
        Rescale probability rows whose sums are off by 1e-5 to 1e-2.
    threads : int, default=None
        Number of threads of ``compute``; None takes the processors that the process may use.
    **kwargs
        Arguments of ``torchmetrics.Metric``, such as ``dist_sync_on_step`` or ``process_group``.
    """

    is_differentiable = False
    full_state_update = False

    scores: List[torch.Tensor]
    labels: List[torch.Tensor]

    def __init__(
        self,
        metrics: "str | Iterable[str]" = "ece",
        *,
        kind: str = "probs",
        class_axis: "int | None" = None,
        ignore_index: "int | None" = None,
        normalize: bool = False,
        threads: "int | None" = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if kind not in _KINDS:
            raise UsageError(f"kind is one of {', '.join(_KINDS)}, not {kind!r}")
        self.metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        self.kind, self.class_axis, self.ignore_index = kind, class_axis, ignore_index
        self.normalize, self.threads = normalize, threads
        for each in self.metrics:
            _core.canonical(each)  # an unknown name is refused here
        self.add_state("scores", default=[], dist_reduce_fx="cat")
        self.add_state("labels", default=[], dist_reduce_fx="cat")

    def __repr__(self) -> str:
        given = {
            "kind": (self.kind, "probs"),
            "class_axis": (self.class_axis, None),
            "ignore_index": (self.ignore_index, None),
            "normalize": (self.normalize, False),
        }
        specs = repr(self.metrics[0] if len(self.metrics) == 1 else list(self.metrics))
        more = [f"{name}={value!r}" for name, (value, default) in given.items() if value != default]
        return f"{type(self).__name__}({', '.join([specs, *more])})"

    @property
    def higher_is_better(self) -> "bool | None":  # type: ignore[override]
        """Of one metric, whether greater values are better; else None."""
        if len(self.metrics) > 1:
            return None
        row, _ = _registry.parse("metrics", _core.canonical(self.metrics[0]))
        return row.better == "higher" if row.ranks else None

    def update(self, preds: "torch.Tensor", target: "torch.Tensor") -> None:
        """Adds rows.

        Parameters
        ----------
        preds : torch.Tensor of shape (N, K), (N,) or (N, K, ...)
            Predictions of this kind.
        target : torch.Tensor of shape (N,) or (N, ...)
            True classes.
        """
        preds, target = preds.detach(), target.detach()
        if preds.ndim > 2:
            preds = preds.movedim(1 if self.class_axis is None else self.class_axis, -1).flatten(0, -2)
        target = target.flatten()
        if self.ignore_index is not None:
            kept = target != self.ignore_index
            preds, target = preds[kept], target[kept]
        self.scores.append(preds)
        self.labels.append(target)

    def compute(self) -> Any:
        """The value as a tensor; of several metrics a dictionary of tensors by spec."""
        scores, labels = dim_zero_cat(self.scores), dim_zero_cat(self.labels)
        result = _measure.measure(
            metrics=self.metrics,
            normalize=self.normalize,
            threads=self.threads,
            labels=labels.cpu(),
            **{self.kind: scores.cpu()},
        )
        values = [torch.tensor(float(value), dtype=torch.float64, device=self.device) for value in result]
        return values[0] if len(values) == 1 else dict(zip(self.metrics, values))


__all__ = ["CalibrationMetric"]
