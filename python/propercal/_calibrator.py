"""The base class of all calibrators; the classes themselves are in ``calibrators``."""

import difflib
import inspect
import json
import os
import warnings
from typing import Any, Iterable

import numpy as np

from . import _core, _registry
from ._axes import scores_as_given
from ._conversions import as_array, is_file
from ._docstrings import calibrator_document
from ._errors import ConvergenceWarning, DataError, FitWarning, UsageError
from ._errors import caller_level, file_name, read_file, shown_name
from ._gpu_arrays import calibrated_on_gpu
from ._inputs import FORECASTS, KINDS, Data, check_names, gather, lists_inputs
from ._outputs import as_given, as_table, check_table, chosen_table
from ._parameters import CALIBRATOR_POLICY, CALIBRATOR_TAKEN
from ._responses import class_codes
from ._settings import memory_bytes, settings

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import validate_data
except ImportError:
    from ._sklearn_standin import BaseEstimator, validate_data

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """Raised if a calibrator is used before it is fitted."""


TEXT = 1
_SCORES = (*KINDS, "variance", "std", "levels", "groups", "data", "classes", "header", "class_axis")
_KIND_WORDS = {
    "probability": "probs",
    "logit": "logits",
    "log-probability": "log_probs",
    "confidence": "confidence",
    "mean-variance": "mean",
    "mean-std": "mean",
    "quantiles": "quantiles",
    "samples": "samples",
}


def _parameter(value: Any) -> Any:
    """Numbers of a calibrator file as arrays, where they form one."""
    if not isinstance(value, list):
        return value
    try:
        return np.array(value, dtype=np.float64)
    except (ValueError, TypeError):
        return [_parameter(each) for each in value]


class Calibrator(BaseEstimator):
    """Recalibrates probabilities, by scikit-learn's conventions.

    ``fit(X, y)`` takes scores of the kind in the parameter ``kind``, and class numbers; or a
    ``Data``, or scores and labels by name.

    Attributes
    ----------
    status_ : "converged", "stopped", "identity" (the predictions are better left alone) or
        "closed-form"
    iterations_, gradient_, objective_ : how the fit went
    classes_ : class numbers, or the names of the score columns where they had some
    kind_ : the kind of scores it was fitted on
    n_features_in_ : number of score columns
    warnings_ : warnings of the fit
    weights_are_ : "frequency" or "importance": how ``fit`` used the weights; None without weights
    T_, ... : the fitted parameters, each under its name and an underscore. If the constructor has a
        parameter of that name, such as ``lambda_``, that one keeps the given value, and the fitted
        value is ``lambda_fitted_``
    """

    _row: _registry.Row
    _options: "dict[str, str]"

    # ---- Fitting ----

    @lists_inputs(without=("ids", "first_row"))
    def fit(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: Any = None,
        **inputs: Any,
    ) -> Any:
        """Fits the calibrator: ``fit(X, y)``, ``fit(Data(logits=..., labels=...))``, or by name
        as ``fit(logits=..., labels=...)``.  Whole weights are frequencies of rows; others
        are importance weights, scaled to their effective sample size, as with
        ``weights_are="importance"``; ``weights_are_`` says which they were.  With ``groups`` each
        group gets a calibrator of its own, mixed with that of all rows by its number of
        rows; ``transform`` then needs groups too."""
        given = self._gather("fit", X, inputs, self.kind)
        self._check_columns(X, reset=True)
        if X is not None and not isinstance(X, Data):
            self._check_kind()
        if self.kind == "probs":
            self._refuse_logits(X)
        regression = any(given.get(name) is not None for name in FORECASTS)
        if X is not None and not isinstance(X, Data) and y is None and not _truths(given):
            raise UsageError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give the true "
                "outcomes"
            )
        right = "correct" if given.get("confidence") is not None else "labels"
        classes = None if regression or right == "correct" else _class_order(X, y, given)
        if classes is not None:
            y, given["classes"] = class_codes(classes, y), classes
        self._place(given, "target" if regression else right, y, "y")
        self._place(given, "weights", sample_weight, "sample_weight")
        options = {
            spec: getattr(self, name)
            for name, spec in self._options.items()
            if not _same(getattr(self, name), self._default(spec))
        }
        with settings(self.threads, self.memory_limit, progress) as how:
            source = Data(**given)._open(how)
            method = _registry.spec(self._row.name, options)
            by_group = given.get("groups") is not None
            fitted = _core.fit(source, method, bool(self.normalize), bool(self.skip_missing), by_group)
        self._take(fitted)
        if classes is not None:
            self.classes_ = classes
        self._warn()
        return self

    def fit_logits(self, X: Any, y: Any, sample_weight: Any = None, **inputs: Any) -> Any:
        """Fits the calibrator to logits, whatever ``kind`` is; ``transform`` and ``predict_proba`` then
        take logits too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes) or (n_samples,)
            Logits of the classes, or of class 1 of two.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: see ``fit``.
        **inputs
            Other inputs of ``fit``.

        Returns
        -------
        object
            The fitted calibrator.
        """
        return self.fit(None, y, sample_weight, logits=X, **inputs)

    def _gather(self, function: str, X: Any, inputs: "dict[str, Any]", kind: str) -> "dict[str, Any]":
        """The inputs of a call by name; positional scores get the name in ``kind``."""
        if isinstance(X, Data):
            return gather(function, X, None, inputs)[0].inputs
        check_names(inputs, (), function)
        given = {name: value for name, value in inputs.items() if value is not None}
        if X is not None:
            if kind not in KINDS:
                raise UsageError(f'kind is one of {", ".join(KINDS)}, not "{kind}"')
            self._place(given, kind, X, "X")
        return given

    def _default(self, spec: str) -> Any:
        return next(option.default for option in self._row.options if option.name == spec)

    @staticmethod
    def _place(given: "dict[str, Any]", name: str, value: Any, word: str) -> None:
        if value is None:
            return
        if given.get(name) is not None:
            raise UsageError(f"{word} and {name} are both given; give only one of them, or a table as data")
        given[name] = value

    def _take(self, fitted: Any) -> None:
        """Keeps a fitted calibrator and sets its attributes."""
        content = json.loads(fitted.save())
        outcome = content["fit"]
        names = content.get("class_names")
        self._fitted = fitted
        self.kind_ = _KIND_WORDS[content["input"]]
        self.n_features_in_ = content["columns"]
        self.classes_ = np.array(names) if names else np.arange(content["classes"] or 2)
        self.status_ = outcome["status"]
        self.iterations_ = outcome["iterations"]
        self.gradient_ = outcome["gradient"]
        self.objective_ = outcome["objective"]
        self.warnings_ = list(outcome["warnings"])
        self.weights_are_ = outcome.get("weights")
        for name in vars(self).pop("_shown", ()):  # of the fit before
            vars(self).pop(name, None)
        self._shown = tuple(self._attribute(name) for name in content["parameters"])
        for name, value in content["parameters"].items():
            setattr(self, self._attribute(name), _parameter(value))

    def _attribute(self, parameter: str) -> str:
        """The attribute of a fitted parameter; never a parameter of the constructor."""
        name = parameter.replace("-", "_")
        return f"{name}_fitted_" if f"{name}_" in self.get_params() else f"{name}_"

    def _warn(self) -> None:
        name = self._row.name
        for sentence in self.warnings_:
            category = ConvergenceWarning if self.status_ == "stopped" else FitWarning
            warnings.warn(f"{name}: {sentence}", category, stacklevel=3)
        if self.status_ == "stopped" and not self.warnings_:
            sentence = f"{name}: the fit stopped before it converged"
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)

    def _warn_groups(self, unseen: "list[str]") -> None:
        """Says that rows of these groups get the map of a part of the name, or that of all rows."""
        if not unseen:
            return
        number = "1 group was" if len(unseen) == 1 else f"{len(unseen)} groups were"
        warnings.warn(
            f'{self._row.name}: {number} not seen in the fit, the first "{unseen[0]}"; their rows get the map of '
            "the known part of the name, else that of all rows",
            FitWarning,
            stacklevel=caller_level(),
        )

    def fit_transform(self, X: Any = None, y: Any = None, **given: Any) -> np.ndarray:
        """Fits, then gives the calibrated probabilities of the same scores."""
        self.fit(X, y, **given)
        scores = {name: given[name] for name in _SCORES if name in given}
        return self.transform(X, **scores)

    # ---- Applying ----

    @lists_inputs(
        without=(
            "labels", "correct", "target", "weights", "weights_are", "ids", "first_row", "ignore_index", "prevalence",
        )  # fmt: skip
    )
    def transform(self, X: Any = None, *, progress: Any = None, **inputs: Any) -> Any:
        """Calibrates scores: ``transform(X)``, a ``Data``, or by name as ``transform(logits=...)``.

        Returns probabilities in the shape and the float width of the scores: one column stays
        one, the probability of class 1.  For predictions of a number: means and variances in two
        columns, quantiles, or samples."""
        table = chosen_table(vars(self).get("_table"))
        array = self._apply(X, progress, inputs, on_gpu=table == "default")
        if table == "default":
            return as_given(array, _first(X, inputs))
        return as_table(array, table, list(self.get_feature_names_out()), X)

    def _apply(self, X: Any, progress: Any, inputs: "dict[str, Any]", on_gpu: bool = False) -> Any:
        """An array; with on_gpu, of logits on a GPU a tensor there."""
        fitted = self._require()
        given = self._gather("transform", X, inputs, self.kind_)
        self._check_columns(X, reset=False)
        for name in ("labels", "correct", "target", "weights", "weights_are", "prevalence"):
            given.pop(name, None)
        axis = given.get("class_axis")
        there = calibrated_on_gpu(fitted, given) if on_gpu else None
        if there is not None:
            return there
        with settings(self.threads, self.memory_limit, progress) as how:
            source = Data(**given)._open(how)
            values, form, rows, columns = fitted.apply(source)
        if given.get("groups") is not None:
            self._warn_groups(fitted.unseen_groups(source))
        array = np.frombuffer(values, dtype="<f4" if form == "f" else "<f8")
        array = array.reshape((rows, columns) if columns else (rows,))
        if axis is None or not columns:
            return array
        scores = next(given[name] for name in KINDS if name in given)
        return scores_as_given(array, np.shape(scores), axis)

    def predict_proba(self, X: Any = None, **given: Any) -> Any:
        """Calibrated probabilities, a column for each class; scores are given as to
        ``transform``.  Tensors of PyTorch and arrays of CuPy and JAX give the same."""
        return as_given(self._class_probabilities(X, given, on_gpu=True), _first(X, given))

    def _class_probabilities(self, X: Any, given: "dict[str, Any]", on_gpu: bool = False) -> Any:
        self._require()
        if self.kind_ == "confidence" or self.kind_ in FORECASTS:
            raise UsageError(f"{self.kind_} says nothing about classes; use transform")
        array = self._apply(X, None, given, on_gpu)
        return array if array.ndim >= 2 else np.column_stack((1 - array, array))

    def predict(self, X: Any = None, **given: Any) -> np.ndarray:
        """The most probable class of each row."""
        probs = self._class_probabilities(X, given)
        axis = given.get("class_axis")
        return self.classes_[probs.argmax(axis=1 if axis is None else axis)]

    # ---- Tables ----

    def set_output(self, *, transform: "str | None" = None) -> Any:
        """Chooses what ``transform`` returns.

        Parameters
        ----------
        transform : {'default', 'pandas', 'polars'}, default=None
            An array, or a table with the names of ``get_feature_names_out``; None changes nothing.

        Returns
        -------
        object
            The calibrator.
        """
        check_table(transform)
        if transform is not None:
            self._table = transform
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; None takes those seen in ``fit``, else ``x0``, ``x1`` and so on.

        Returns
        -------
        numpy.ndarray of str
            The names of the score columns, which calibrated columns keep.
        """
        self._require()
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{i}" for i in range(self.n_features_in_)] if seen is None else seen
            return np.asarray(names, dtype=object)
        names = np.asarray(input_features, dtype=object)
        if seen is not None and not np.array_equal(seen, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(names)}"
            )
        return names

    def _check_columns(self, X: Any, reset: bool) -> None:
        """Keeps the names and the number of columns in fit, and compares them later; the sentences
        contain those of scikit-learn."""
        shape = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] == 0:
            raise DataError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if reset and len(shape) == 2 and shape[1] == 1 and not np.iscomplexobj(X):
            raise DataError("X has 1 feature(s), the scores of class 1 of two; pass X[:, 0]")
        if not reset and len(shape) == 1 and self.n_features_in_ > 1:
            raise DataError(
                f"Reshape your data: X has one dimension, and fit had {self.n_features_in_} columns"
            )
        if len(shape) == 2:
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            vars(self).pop("feature_names_in_", None)

    def _check_kind(self) -> None:
        """Refuses scores of classes by position where predictions of a number are calibrated."""
        if self._row.task == "regression" and self.kind not in FORECASTS:
            name = type(self).__name__
            raise UsageError(
                f"{name} calibrates predictions of a number, which have names; write "
                f"{name}().fit(mean=..., variance=..., target=...), or give quantiles= or samples="
            )

    def _refuse_logits(self, X: Any) -> None:
        """Refuses negative numbers in place of probabilities; looks at the first rows only."""
        if isinstance(X, Data) or X is None or is_file(X) or not hasattr(X, "__getitem__"):
            return
        if getattr(X, "shape", None) == ():  # a single number, which has no rows; refused later
            return
        some = np.asarray(as_array(X[:1000]))
        if some.dtype.kind == "f" and bool((some < -0.01).any()):
            name = type(self).__name__
            raise UsageError(
                f"X holds logits, not probabilities; write {name}(kind='logits').fit(X, y) or "
                f"{name}().fit_logits(X, y)"
            )

    def _require(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    # ---- Describing and saving ----

    def describe(self) -> str:
        """The parameters and how the fit went, in a few lines."""
        return self._require().describe(TEXT).rstrip()

    def to_json(self) -> str:
        """The content of the file that ``save`` writes."""
        return self._require().save().decode()

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self.to_json())

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes a file for ``load`` and ``propercal apply``, in which every number reads back
        exactly."""
        _core.write_files(file_name(path), self._require().save())

    def export(self, path: "str | os.PathLike[str]", name: str = "calibrate") -> None:
        """Writes the calibrator for other runtimes, by the ending of the path: ``.onnx``, a model
        that takes ``scores`` and returns ``probabilities``, or ``.c``, a C function called
        ``name``."""
        to = shown_name(path).rpartition(".")[2]
        if to not in ("onnx", "c"):
            raise UsageError(f'calibrators are exported to onnx or c, not to "{to}"')
        _core.write_files(file_name(path), self._require().export(to, name))

    def __getstate__(self) -> "dict[str, Any]":
        state = dict(vars(self))
        if "_fitted" in state:
            state["_fitted"] = state["_fitted"].save()
        return state

    def __setstate__(self, state: "dict[str, Any]") -> None:
        self.__dict__.update(state)
        if "_fitted" in state:
            self._fitted = _core.load(state["_fitted"], "pickle", memory_bytes(state.get("memory_limit")))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags = TransformerTags()
        return tags


def _first(X: Any, given: "dict[str, Any]") -> Any:
    """The scores of a call: X, those of a Data, or those given by name."""
    given = X.inputs if isinstance(X, Data) else given
    named = (given[name] for name in KINDS if given.get(name) is not None)
    return next(named, None) if X is None or isinstance(X, Data) else X


def _truths(given: "dict[str, Any]") -> "list[str]":
    """Inputs that hold true outcomes, also as columns of a table or a file."""
    return [name for name in ("labels", "correct", "target", "data") if given.get(name) is not None]


def _class_order(X: Any, y: Any, given: "dict[str, Any]") -> "np.ndarray | None":
    """The sorted classes of y where, as in scikit-learn, they are the classes of unnamed columns and
    are not the numbers 0, 1, 2 ...; else None."""
    if X is None or y is None or isinstance(X, Data) or is_file(X) or is_file(y):
        return None
    if given.get("classes") is not None or all(isinstance(name, str) for name in getattr(X, "columns", [0])):
        return None
    try:
        shape, values = getattr(X, "shape", None) or np.asarray(X).shape, np.asarray(y)
    except (TypeError, ValueError, RuntimeError):  # refused later, with a sentence
        return None
    columns = shape[1] if len(shape) == 2 else 2
    if values.ndim != 1 or values.dtype.kind not in "iubUO" or len(values) == 0:
        return None
    if values.dtype.kind in "iub" and values.min() >= 0 and values.max() < columns:
        return None
    try:
        found = np.unique(values)
    except TypeError:  # None among words
        return None
    if list(found) == [*range(columns)]:  # of type object
        return None
    return found if len(found) == columns else None


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


# ---- Classes from rows ----


def make_class(row: _registry.Row, module: str) -> type:
    """The class of a calibrator."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = {_registry.identifier(each.name, CALIBRATOR_TAKEN): each for each in row.options}
    defaults = {name: option.default for name, option in options.items()}
    defaults.update({name: default for name, (default, _) in CALIBRATOR_POLICY.items()})

    def __init__(self: Any, **parameters: Any) -> None:
        for name in parameters:
            if name not in defaults:
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}")
        for name, default in defaults.items():
            setattr(self, name, parameters.get(name, default))

    name = _registry.class_name(row.name)
    __init__.__qualname__ = f"{name}.__init__"
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(inspect.Parameter(each, keyword, default=value) for each, value in defaults.items()),
        ]
    )
    body = {
        "__init__": __init__,
        "__doc__": calibrator_document(row, CALIBRATOR_TAKEN),
        "__module__": module,
        "_row": row,
        "_options": {name: option.name for name, option in options.items()},
    }
    return type(name, (Calibrator,), body)


def calibrator(spec: str, **policy: Any) -> Calibrator:
    """An unfitted calibrator from a spec such as ``"temperature:objective=brier"``."""
    from . import calibrators

    given_name, _, words = spec.partition(":")
    name = _core.calibrator_name(given_name)
    if name is None:
        known = [row.name for row in _registry.rows("calibrators")]
        near = difflib.get_close_matches(given_name.lower(), known, 1)
        hint = f' (did you mean "{near[0]}"?)' if near else ""
        raise UsageError(f'there is no calibrator called "{given_name}"{hint}; there are {", ".join(known)}')
    found = getattr(calibrators, _registry.class_name(name))
    given = dict(word.partition("=")[::2] for word in words.split(",") if word)
    options = {option.name: option for option in found._row.options}
    for key in given:
        if key not in options:
            raise UsageError(f'{name} has no option "{key}"; it has {", ".join(options)}')
    named = {
        _registry.identifier(key, CALIBRATOR_TAKEN): options[key].read(value)
        for key, value in given.items()
    }
    return found(**named, **policy)


def load(
    path: "str | os.PathLike[str]", *, memory_limit: "int | str | None" = None
) -> Calibrator:
    """A fitted calibrator from a file that ``save`` or ``propercal fit`` wrote; its later calls
    have the same memory limit."""
    limit = memory_bytes(memory_limit)
    made = loads(read_file(path, limit), shown_name(path), limit)
    made.memory_limit = memory_limit
    return made


def loads(content: bytes, name: str, limit: int = 0) -> Calibrator:
    """The same from the bytes of a file; the name is for messages, the limit in bytes (0: none)."""
    fitted = _core.load(content, name, limit)
    content = json.loads(fitted.save())
    kind = _KIND_WORDS[content["input"]]
    made = calibrator(content["spec"], kind=kind, normalize=content["normalize"])
    made._take(fitted)
    return made
