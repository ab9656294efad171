"""Arguments that functions and classes have in common, beside the options of their rows."""

from typing import Any

#: what holds predictions and truth, after probs and labels
INPUTS = (
    "logits",
    "log_probs",
    "confidence",
    "correct",
    "mean",
    "variance",
    "std",
    "quantiles",
    "levels",
    "samples",
    "target",
    "weights",
    "weights_are",
    "data",
    "classes",
)

#: name: (default, type as source text)
POLICY: "dict[str, tuple[Any, str]]" = {
    "normalize": (False, "bool"),
    "skip_missing": (False, "bool"),
    "precision": ("exact", 'Literal["exact", "fast"]'),
    "threads": (None, "int | None"),
    "memory_limit": (None, "int | None"),
    "progress": (None, "bool | str | Callable[[str, int, int], Any] | None"),
    "header": (None, "bool | None"),
}

CALIBRATOR_POLICY: "dict[str, tuple[Any, str]]" = {
    "kind": ("probs", 'Literal["probs", "logits", "log_probs", "confidence", "mean", "quantiles", "samples"]'),
    "normalize": (False, "bool"),
    "skip_missing": (False, "bool"),
    "threads": (None, "int | None"),
}

#: names that options may not have
TAKEN = frozenset({"probs", "labels", "groups", "first_row", *INPUTS, *POLICY})
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
