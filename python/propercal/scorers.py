"""Scorers for scikit-learn's model selection: ``cross_val_score(model, X, y, scoring=scorers.ece)``.

There is one for each metric that says which of two models is better, under the name of its function.
``make_scorer`` makes others, with options: ``make_scorer("ece:bins=20")``.
"""

from typing import Any

import numpy as np

from . import _core, _measure, _registry
from ._errors import DataError, UsageError
from ._responses import class_codes, class_scores

try:
    from sklearn.base import BaseEstimator, is_regressor
    from sklearn.utils.metadata_routing import UNUSED
except ImportError as error:
    raise ImportError("scorers need scikit-learn 1.6 or later") from error


class Scorer(BaseEstimator):
    """Scores a fitted estimator by a metric, as scikit-learn's model selection does.

    A call ``scorer(estimator, X, y, sample_weight=None)`` returns the value of the metric; its negative
    where lower values are better, since scikit-learn prefers greater scores.  With metadata routing,
    ``scorer.set_score_request(sample_weight=True)`` asks for the weights.

    Parameters
    ----------
    metric : str
        Spec of the metric, such as ``'ece:bins=20'``.
    pos_label : int, float, bool or str, default=None
        Score the probability of this class against all others; None scores all classes.
    response : {'auto', 'predict_proba', 'predict_log_proba', 'decision_function'}, default='auto'
        Method of the estimator whose scores are measured; ``'auto'`` takes ``predict_proba`` or, without
        it, ``decision_function``.  Regressors are scored by ``predict(X, return_std=True)``.
    threads : int, default=1
        Number of threads; None takes the processors that the process may use.
    """

    # The estimator is an argument of score, not metadata that could be routed to it.
    __metadata_request__score = {"estimator": UNUSED}

    def __init__(
        self, metric: str, *, pos_label: Any = None, response: str = "auto", threads: "int | None" = 1
    ) -> None:
        self.metric = metric
        self.pos_label = pos_label
        self.response = response
        self.threads = threads

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.score(estimator, X, y, sample_weight)

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Scores a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted classifier, or regressor whose ``predict`` takes ``return_std``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The value, negative where lower values of the metric are better.
        """
        if is_regressor(estimator):
            given = _forecasts(estimator, X, y)
        else:
            given = self._classes(estimator, X, y)
        result = _measure.measure(
            metrics=self.metric, weights=sample_weight, normalize=True, threads=self.threads, **given
        )
        (value,) = result
        return -float(value) if _better(self.metric) == "lower" else float(value)

    def _classes(self, estimator: Any, X: Any, y: Any) -> "dict[str, Any]":
        kind, scores = class_scores(estimator, X, self.response)
        classes = np.asarray(estimator.classes_)
        codes = class_codes(classes, y)
        if self.pos_label is None:
            return {kind: scores, "labels": codes}
        (places,) = np.nonzero(classes == self.pos_label)
        if len(places) != 1:
            known = ", ".join(map(str, classes))
            raise UsageError(f"pos_label={self.pos_label!r} is no class of the estimator; it has {known}")
        place = int(places[0])
        if scores.ndim == 1:
            scores = scores if place == 1 else -scores
        elif kind == "probs":
            scores = scores[:, place]
        else:
            raise UsageError(f"pos_label needs probabilities, not {kind}; give response='predict_proba'")
        return {kind: scores, "labels": (codes == place).astype(np.int32)}


def _forecasts(estimator: Any, X: Any, y: Any) -> "dict[str, Any]":
    try:
        mean, std = estimator.predict(X, return_std=True)
    except TypeError:
        raise DataError(
            f"{type(estimator).__name__} predicts numbers without their uncertainty; score a regressor "
            "whose predict takes return_std"
        ) from None
    return {"mean": mean, "std": std, "target": y}


def _better(metric: str) -> "str | None":
    """Which values of a metric are better: "lower" or "higher"."""
    row, _ = _registry.parse("metrics", _core.canonical(metric))
    return row.better


def make_scorer(
    metric: str,
    *,
    pos_label: Any = None,
    response: str = "auto",
    threads: "int | None" = 1,
    **options: Any,
) -> Scorer:
    """Makes a scorer of a metric, for ``cross_val_score``, ``GridSearchCV`` and the like.

    Parameters
    ----------
    metric : str
        Name or spec of a metric: ``'brier'``, ``'ece:bins=20'``.
    pos_label : int or str, default=None
        The label of class 1 of two; None takes the last of the estimator's classes.
    response : {'auto', 'predict_proba', 'predict_log_proba', 'decision_function'}, default='auto'
        Method of the estimator that gives the scores; see ``Scorer``.
    threads : int, default=1
        Number of threads; None takes the processors that the process may use.
    **options
        Options of the metric: ``make_scorer("ece", bins=20)``.

    Returns
    -------
    Scorer
        A function of (estimator, X, y, sample_weight); greater is better.
    """
    words = {name.rstrip("_").replace("_", "-"): value for name, value in options.items()}
    row, _ = _registry.parse("metrics", _core.canonical(_registry.spec(metric, words)))
    if row.better is None:
        known = ", ".join(each.name for each in _registry.joined("metrics") if each.better)
        raise UsageError(f"{row.name} does not say which of two models is better; choose one of {known}")
    return Scorer(_registry.spec(metric, words), pos_label=pos_label, response=response, threads=threads)


_SCORERS = {
    _registry.identifier(row.name): Scorer(row.name)
    for row in _registry.joined("metrics")
    if row.better is not None
}
globals().update(_SCORERS)

__all__ = ["Scorer", "make_scorer", *_SCORERS]


def __getattr__(name: str) -> Scorer:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
