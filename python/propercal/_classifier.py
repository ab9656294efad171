"""Calibration around any classifier of scikit-learn."""

from typing import Any

import numpy as np

from ._calibrator import Calibrator, calibrator
from ._errors import DataError
from ._responses import class_codes, class_scores, take_rows

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.model_selection import check_cv
    from sklearn.utils import get_tags, indexable
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_array,
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        has_fit_parameter,
    )
except ImportError as error:
    raise ImportError("CalibratedClassifier needs scikit-learn 1.6 or later") from error


def _scores(estimator: Any, X: Any, response: str) -> "tuple[str, np.ndarray]":
    """The scores of an estimator and their kind; one column of probabilities for two classes."""
    kind, scores = class_scores(estimator, X, response)
    return kind, scores[:, 1] if kind == "probs" and scores.shape[1] == 2 else scores


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose probabilities are repaired by a calibrator.

    Parameters
    ----------
    estimator : object
        Classifier with ``predict_proba`` or ``decision_function``.
    method : str or Calibrator, default='temperature'
        Spec such as ``'temperature'`` or ``'histogram:bins=10'``, or a calibrator, which is cloned.
    cv : int, cross-validation generator, iterable or 'prefit', default=5
        How rows are held out for the calibrator; ``'prefit'`` uses all rows for the calibrator and does
        not refit the estimator.
    ensemble : bool, default=False
        False fits one calibrator on the held-out scores of all folds, and the estimator on all rows;
        True keeps an estimator and a calibrator for each fold and averages.
    response : {'auto', 'predict_proba', 'predict_log_proba', 'decision_function'}, default='auto'
        Method whose scores are calibrated; ``'auto'`` takes ``predict_proba`` or, without it,
        ``decision_function``.
    threads : int, default=None
        Number of threads; None takes the processors that the process may use.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes.
    estimator_, calibrator_ : object
        The fitted estimator and calibrator; with ``ensemble=True`` those of the first fold.
    pairs_ : list of tuple
        All pairs of them.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: Any = "temperature",
        cv: Any = 5,
        ensemble: bool = False,
        response: str = "auto",
        threads: "int | None" = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.response = response
        self.threads = threads

    # ---- Fitting ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fits the estimator on training folds and the calibrator on held-out rows.  Further
        arguments are passed to the estimator's fit; arrays with one value per row are restricted to
        the rows of the fold."""
        check_classification_targets(y)
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        weights = None if sample_weight is None else _weights(sample_weight, len(y))
        if self.cv == "prefit":
            check_is_fitted(self.estimator)
            self.classes_ = np.asarray(self.estimator.classes_)
        else:
            self.classes_ = np.unique(y)
        codes = self._codes(y)
        if self.cv == "prefit":
            self.pairs_ = [self._prefit(X, codes, weights)]
        else:
            self.pairs_ = self._fit_folds(X, y, codes, weights, fit_params)
        self.estimator_, self.calibrator_ = self.pairs_[0]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _codes(self, y: np.ndarray) -> np.ndarray:
        if len(self.classes_) < 2:
            raise DataError("y has one class only; calibration needs two classes or more")
        return class_codes(self.classes_, y)

    def _prefit(self, X: Any, codes: np.ndarray, weights: Any) -> tuple:
        kind, scores = _scores(self.estimator, X, self.response)
        return self.estimator, self._fit_calibrator(kind, scores, codes, weights)

    def _fit_folds(self, X: Any, y: Any, codes: Any, weights: Any, fit_params: dict) -> list:
        folds = check_cv(self.cv, y, classifier=True)
        fewest = np.bincount(codes).min()
        if isinstance(self.cv, int) and fewest < self.cv:
            raise DataError(
                f"a class has {fewest} rows, fewer than the {self.cv} folds of cv; give a smaller cv"
            )
        pairs, held = [], []
        for train, test in folds.split(X, y):
            fitted = self._fit_estimator(X, y, train, weights, fit_params)
            if len(fitted.classes_) < len(self.classes_):
                raise DataError("a fold lacks a class; give folds that hold every class")
            kind, scores = _scores(fitted, self._rows(X, test, train), self.response)
            own = None if weights is None else weights[test]
            held.append((scores, codes[test], own))
            if self.ensemble:
                pairs.append((fitted, self._fit_calibrator(kind, scores, codes[test], own)))
        if self.ensemble:
            return pairs
        out_of_fold = [
            np.concatenate(part) for part in list(zip(*held))[: 2 + (weights is not None)]
        ]
        fitted = self._fit_estimator(X, y, np.arange(len(y)), weights, fit_params)
        return [(fitted, self._fit_calibrator(kind, *out_of_fold))]

    def _fit_estimator(self, X: Any, y: Any, rows: Any, weights: Any, fit_params: dict) -> Any:
        estimator = clone(self.estimator)
        given = {
            name: np.asarray(value)[rows] if _per_row(value, len(y)) else value
            for name, value in fit_params.items()
        }
        if weights is not None and has_fit_parameter(estimator, "sample_weight"):
            given["sample_weight"] = weights[rows]
        return estimator.fit(self._rows(X, rows, rows), take_rows(y, rows), **given)

    def _rows(self, X: Any, rows: np.ndarray, fitted: np.ndarray) -> Any:
        """Rows of X; of a kernel or distance matrix, with the columns of the rows to fit on."""
        if not get_tags(self.estimator).input_tags.pairwise:
            return take_rows(X, rows)
        return np.asarray(X)[np.ix_(rows, fitted)]

    def _fit_calibrator(
        self, kind: str, scores: Any, codes: Any, weights: Any = None
    ) -> Calibrator:
        if isinstance(self.method, Calibrator):
            repair = clone(self.method).set_params(kind=kind)
        else:
            repair = calibrator(self.method, kind=kind, normalize=True, threads=self.threads)
        return repair.fit(scores, codes, weights)

    # ---- Predicting ----

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities, a column for each of ``classes_``."""
        check_is_fitted(self)
        parts = []
        for estimator, repair in self.pairs_:
            _, scores = _scores(estimator, X, self.response)
            parts.append(repair.predict_proba(scores))
        return parts[0] if len(parts) == 1 else np.mean(parts, axis=0)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pairs_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        for name in ("sparse", "pairwise", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags


def _weights(sample_weight: Any, rows: int) -> np.ndarray:
    weights = check_array(sample_weight, ensure_2d=False, dtype=[np.float64, np.float32])
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of {rows} rows")
    return weights


def _per_row(value: Any, rows: int) -> bool:
    try:
        check_consistent_length(value, range(rows))
    except (TypeError, ValueError):
        return False
    return True
