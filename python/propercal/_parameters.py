"""Arguments that functions and classes have in common, beside the options of their rows."""

from typing import Any

#: predictions and truth of classes, and of numbers
_CLASSES = ("probs", "labels", "logits", "log_probs", "confidence", "correct", "abstain")
_NUMBERS = ("mean", "variance", "std", "quantiles", "levels", "samples", "target")
#: kinds of scores
SCORES = ("probs", "logits", "log_probs", "confidence", "mean", "quantiles", "samples")
_ROWS = ("weights", "weights_are", "groups", "ids", "time", "every")
_READING = (
    "data", "classes", "header", "first_row", "pos_label", "prevalence", "event", "ragged", "class_axis", "ignore_index",
)  # fmt: skip

#: the names of all inputs of a data set, the one list of them
INPUTS = (*_CLASSES, *_NUMBERS, *_ROWS, *_READING)

INPUT_NAMES = frozenset(INPUTS)

#: names of inputs and options in scikit-learn and other packages
ALIASES = {
    "y_true": "labels",
    "y_prob": "probs",
    "y_proba": "probs",
    "y_score": "probs",
    "y_pred": "probs",
    "sample_weight": "weights",
    "n_bins": "bins",
    "num_bins": "bins",
}


def usual_names(function: str, given: "dict[str, Any]") -> "dict[str, Any]":
    """Keywords by the names of this package."""
    if ALIASES.keys().isdisjoint(given):
        return given
    found: "dict[str, Any]" = {}
    for name, value in given.items():
        usual = ALIASES.get(name, name)
        if usual in found or (usual != name and usual in given):
            raise TypeError(f"{function}() got {usual!r} twice, also as {name!r}")
        found[usual] = value
    return found


def one_or_more(specs: Any) -> "tuple[str, ...]":
    """Specs of metrics or calibrators; one may be given without a list."""
    return (specs,) if isinstance(specs, str) else tuple(specs or ())


def metric_inputs(tasks: "frozenset[str | None]") -> "tuple[tuple[str, ...], tuple[str, ...]]":
    """Inputs of the function of a metric for its tasks (None: classes): those that may be given
    by position, and those by name only."""
    classes, numbers = None in tasks, "regression" in tasks
    leading = ("probs", "labels") if classes else ("data",)
    names = (*(_CLASSES[2:] if classes else ()), *(_NUMBERS if numbers else ()))
    more = ("weights", "weights_are", *(("data", "classes", "pos_label", "ragged", "class_axis", "ignore_index") if classes else ()))
    return leading, (*names, *more)


#: name: (default, type as source text)
POLICY: "dict[str, tuple[Any, str]]" = {
    "normalize": (False, "bool"),
    "skip_missing": (False, "bool"),
    "precision": ("exact", 'Literal["exact", "fast"]'),
    "threads": (None, "int | None"),
    "memory_limit": (None, "int | str | None"),
    "progress": (None, "bool | str | Callable[[str, int, int], Any] | None"),
    "header": (None, "bool | None"),
}

CALIBRATOR_POLICY: "dict[str, tuple[Any, str]]" = {
    "kind": ("probs", 'Literal["probs", "logits", "log_probs", "confidence", "mean", "quantiles", "samples"]'),
    "normalize": (False, "bool"),
    "skip_missing": (False, "bool"),
    "threads": (None, "int | None"),
    "memory_limit": (None, "int | str | None"),
}

#: names that options may not have
TAKEN = frozenset({*INPUTS, *POLICY})
CALIBRATOR_TAKEN = frozenset(
    {
        *CALIBRATOR_POLICY,
        "fit",
        "transform",
        "fit_transform",
        "predict",
        "predict_proba",
        "get_params",
        "set_params",
        "save",
        "describe",
        "to_dict",
        "to_json",
    }
)
