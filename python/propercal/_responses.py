"""Scores that fitted estimators of scikit-learn give for rows, and their classes as numbers."""

from typing import Any

import numpy as np

from ._errors import DataError, UsageError

_RESPONSES = ("predict_proba", "predict_log_proba", "decision_function")


def class_scores(estimator: Any, X: Any, response: str) -> "tuple[str, np.ndarray]":
    """The kind of the scores that a classifier gives for rows, and the scores."""
    if response == "auto":
        response = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    if response not in _RESPONSES:
        known = ", ".join(f'"{each}"' for each in _RESPONSES[:-1])
        raise UsageError(f'response is "auto", {known} or "{_RESPONSES[-1]}", not "{response}"')
    kinds = dict(zip(_RESPONSES, ("probs", "log_probs", "logits")))
    return kinds[response], np.asarray(getattr(estimator, response)(X))


def class_codes(classes: np.ndarray, y: Any) -> np.ndarray:
    """The place of each y in sorted classes."""
    y = np.asarray(y)
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    if (classes[codes] != y).any():
        raise DataError("y has a class that the estimator does not know")
    return codes.astype(np.int32)


def take_rows(values: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse matrix, a table or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "tocsr"):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]
