"""Data sets: from arrays, tables and files to a source of the library, without copying where
possible.

An input becomes a tuple for python/core/core_source.c: a file, an array or Arrow data.  Only
values that the library cannot read are converted here: texts become numbers with names, unusual
types of numbers usual ones.
"""

import difflib
import functools
import importlib
import inspect
from typing import Any, Callable, Iterable, Mapping, TypeVar

import numpy as np

from . import _core
from ._array_types import NAMED, check_numbers, usual
from ._axes import flatten
from ._conversions import as_array, is_file, outcomes, package_of, padded, seconds, torch_array
from ._errors import DataError, UsageError, file_name
from ._gpu_arrays import dlpack_on_gpu, from_cuda_interface, from_dlpack, torch_on_gpu
from ._groups import joined
from ._parameters import INPUT_NAMES, INPUTS, usual_names
from ._registry import rows
from ._tables import Files, files_of, is_frame, is_table_file, table_of, with_columns

KINDS = {
    "probs": 1,
    "logits": 2,
    "log_probs": 3,
    "confidence": 4,
    "mean": 5,  # with variance; 6 with std
    "quantiles": 7,
    "samples": 8,
}
#: kinds of predictions of a number
FORECASTS = ("mean", "quantiles", "samples")


# ---- Arrays ----


def _from_torch(name: str, tensor: Any) -> tuple:
    if tensor.is_cuda:
        return torch_on_gpu(name, tensor)
    if not tensor.is_cpu:
        raise UsageError(f"{name} is on the device {tensor.device}; pass {name}.cpu()")
    return _from_numpy(name, torch_array(tensor))


def _array(name: str, value: Any) -> tuple:
    if hasattr(value, "toarray"):
        raise DataError(f"{name} is a sparse matrix; pass {name}.toarray()")
    if hasattr(value, "predict_proba"):
        raise DataError(f"{name} is a model, {type(value).__name__}; give its probabilities, model.predict_proba(X)")
    try:
        array = np.asanyarray(value)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is not an array: {error}") from None
    return ("array", *usual(name, array))


def _from_numpy(name: str, value: np.ndarray) -> tuple:
    return ("array", *usual(name, value))


@functools.lru_cache(maxsize=256)
def _array_reader(kind: type) -> "Callable[[str, Any], tuple] | None":
    """The function that makes a part of arrays of a type; None for others than NumPy's and PyTorch's."""
    if issubclass(kind, np.ndarray):
        return _from_numpy
    return _from_torch if kind.__module__.partition(".")[0] == "torch" and hasattr(kind, "is_cuda") else None


# ---- pandas ----


def _column_names(columns: Any) -> "tuple[str, ...] | None":
    names = [name for name in columns]
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def _from_pandas(name: str, value: Any) -> tuple:
    """A part, and the names of columns."""
    if value.ndim == 2:
        array = value.to_numpy()
        if array.dtype == object:
            array = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return _array(name, array), _column_names(value.columns)
    if value.dtype.kind in "fiub" and isinstance(value.dtype, np.dtype):
        return _array(name, value.to_numpy()), None
    if value.dtype.kind in "fiub":
        return _array(name, value.to_numpy(dtype=np.float64, na_value=np.nan)), None
    if name not in NAMED or value.isna().all():
        return _array(name, value.to_numpy(dtype=object)), None
    codes, names = value.factorize()
    return ("array", np.asarray(codes), tuple(str(each) for each in names)), None


def _arrow_pair(value: Any) -> tuple:
    pair = value.__arrow_c_array__()
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise UsageError("__arrow_c_array__ did not give a schema and an array; check the program that made it")
    return pair


# ---- Parts ----


def part(name: str, value: Any) -> tuple:
    """A part of a data set, and the names of its columns where they are known here."""
    if value is None:
        return None, None
    if is_file(value):
        files = files_of(value)
        if isinstance(files, Files):
            return ("files", tuple(file_name(each) for each in files)), None
        return ("file", file_name(files)), None
    reader = _array_reader(type(value))
    if reader is not None:
        return reader(name, value), None
    if package_of(value) == "pandas":
        return _from_pandas(name, value)
    if hasattr(value, "__cuda_array_interface__"):
        return from_cuda_interface(name, value), None
    if dlpack_on_gpu(value):
        return from_dlpack(name, value), None
    if hasattr(value, "__arrow_c_stream__"):
        return ("stream", value.__arrow_c_stream__(), None), None
    if hasattr(value, "__arrow_c_array__"):
        return ("arrow", *_arrow_pair(value)), None
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = np.from_dlpack(value)
    return _array(name, value), None


def _choose(data: Any, columns: Any) -> Any:
    """One column of a table, or several."""
    if isinstance(columns, str):
        return data[columns]
    if isinstance(data, dict):
        return np.column_stack([as_array(data[name]) for name in columns])
    return data.select(list(columns)) if package_of(data) == "pyarrow" else data[list(columns)]


def _chosen(data: Any, given: dict) -> dict:
    """The columns of a table that arguments name."""
    chosen = {}
    for name, value in given.items():
        named = isinstance(value, str) or (
            isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)
        )
        chosen[name] = _choose(data, value) if named else value
    return chosen


_TRUTHS = ("labels", "correct", "target")


@functools.lru_cache(maxsize=256)
def _check_inputs(given: "tuple[str, ...]") -> None:
    """Exactly one kind of scores is given, with the truth that goes with it; remembers names that are right."""
    found = [name for name in KINDS if name in given]
    if not found:
        raise UsageError(
            "there are no scores; give one of probs, logits, log_probs, confidence, mean, quantiles, samples or data"
        )
    if len(found) > 1:
        raise UsageError(f"{found[0]} and {found[1]} are both given; give only one of them")
    right = _truth(found[0])
    for wrong in _TRUTHS:
        if wrong in given and wrong != right:
            raise UsageError(f"{found[0]} goes with {right}; give it in place of {wrong}")
    if found[0] == "mean" and ("variance" in given) == ("std" in given):
        raise UsageError("mean needs variance or std, its uncertainty; give one of them")
    if found[0] != "mean" and ("variance" in given or "std" in given):
        raise UsageError("variance and std need mean; give it too")


def _are_whole(given: tuple) -> bool:
    """True if a part holds class numbers or names; looks at its first values only."""
    _, array, names = given
    some = array[:1000]
    return names is not None or array.dtype.kind in "iub" or bool((some == np.floor(some)).all())


def _check_order(parts: "dict[str, tuple | None]") -> None:
    """Refuses labels in place of scores together with scores in place of labels."""
    second = parts.get("labels")
    if second is None or second[0] != "array":
        return
    scores = next((name for name in KINDS if name in parts and name not in FORECASTS), None)
    first = None if scores is None else parts[scores]
    if first is None or first[0] != "array" or first[1].ndim != 1:
        return
    if not _are_whole(second) and _are_whole(first):
        raise UsageError(
            f"{scores} holds class numbers and labels holds scores; give the scores first and the labels "
            "second, or call the function of propercal.sklearn, which takes (y_true, y_prob)"
        )


def _truth(scores: str) -> str:
    """The name of the true outcomes for a kind of scores."""
    return "target" if scores in FORECASTS else "correct" if scores == "confidence" else "labels"


def _levels(value: Any) -> "tuple[float, ...] | None":
    """Levels of quantiles from numbers or from a text such as 0.05/0.5/0.95."""
    if isinstance(value, str):
        value = value.split("/")
    return None if value is None else tuple(float(each) for each in value)


#: values of weights_are, in the order of the enum pcal_weights
WEIGHTS_ARE = (None, "frequency", "importance")


def _weights_are(word: "str | None") -> int:
    if word not in WEIGHTS_ARE:
        raise UsageError(f"weights_are {word!r} is unknown; give 'frequency' or 'importance'")
    return WEIGHTS_ARE.index(word)


def _without_axes(given: "dict[str, Any]", class_axis: Any, ignore_index: Any) -> "dict[str, Any]":
    """Inputs with rows in place of pixels and the like, where arrays have more dimensions."""
    scores = next((name for name in KINDS if name in given), None)
    deep = scores is not None and len(getattr(given[scores], "shape", ())) > 2
    if not deep and class_axis is None and ignore_index is None:
        return given
    arrays = {name: as_array(value) for name, value in given.items()}
    return flatten(arrays, scores, class_axis, ignore_index)


def _flat_samples(given: "dict[str, Any]") -> "dict[str, Any]":
    """Samples of several targets, rows x samples x targets, with the last two dimensions as columns."""
    samples = given.get("samples")
    if samples is None or is_file(samples) or np.ndim(samples) != 3:
        return given
    array, target = as_array(samples), given.get("target")
    shape = () if target is None or is_file(target) else np.shape(target)
    width = shape[1] if len(shape) == 2 else 1
    if len(shape) > 0 and width != array.shape[2]:
        raise DataError(
            f"samples has the shape {array.shape}, so each sample has {array.shape[2]} numbers, and target has the "
            f"shape {shape}; give target with {array.shape[2]} columns"
        )
    return {**given, "samples": array.reshape(len(array), -1)}


#: inputs that are arrays of rows and need no more than a look at their type
_ROW_ARRAYS = frozenset({"probs", "logits", "log_probs", "confidence", "labels", "correct", "weights"})


def _are_row_arrays(given: "dict[str, Any]") -> bool:
    for name, value in given.items():
        if name in _ROW_ARRAYS:
            if _array_reader(type(value)) is None or value.ndim > 2:
                return False
        elif name != "first_row":
            return False
    return len(given) > ("first_row" in given)


def _open_arrays(given: "dict[str, Any]", settings: tuple) -> Any:
    """The source of `_open` for arrays of rows alone, which most calls have."""
    _check_inputs(tuple(given))
    parts = {name: _array_reader(type(value))(name, value) for name, value in given.items() if name != "first_row"}
    _check_order(parts)
    check_numbers(parts)
    return _core.open(parts, settings, first_row=given.get("first_row", 0))


def _open(inputs: "dict[str, Any]", settings: tuple) -> Any:
    """A source of the extension module."""
    if _are_row_arrays(inputs):
        return _open_arrays(inputs, settings)
    given = {name: value for name, value in inputs.items() if value is not None}
    if "data" in given:
        given = with_columns(given)
    levels = _levels(given.pop("levels", None))
    weights_are = _weights_are(given.pop("weights_are", None))
    prevalence = given.pop("prevalence", None)
    prevalence = _levels([prevalence] if isinstance(prevalence, (int, float)) else prevalence)
    classes, header, every = given.pop("classes", None), given.pop("header", None), given.pop("every", None)
    event = given.pop("event", None)
    ragged = bool(given.pop("ragged", False))
    if ragged:
        given = {name: padded(value) if name in KINDS else value for name, value in given.items()}
    first_row, pos_label = given.pop("first_row", 0), given.pop("pos_label", None)
    given = _flat_samples(given)
    given = _without_axes(given, given.pop("class_axis", None), given.pop("ignore_index", None))
    data = given.get("data")
    if is_file(data) and not all(is_file(value) for value in given.values()):
        raise UsageError("data is a file and can be combined only with files; give the arrays without it")
    if data is not None and not is_file(data):
        given = _chosen(table_of(given.pop("data"), given), given)
    if classes is not None or not all(is_file(value) for value in given.values()):
        _check_inputs(tuple(given))
    positive = None
    if pos_label is not None and any(is_file(given.get(name)) for name in ("labels", "data")):
        positive = str(pos_label)
    elif pos_label is not None:
        given["labels"] = outcomes(given.get("labels"), pos_label)
    if "time" in given:
        given["time"] = seconds(given["time"])
    if "groups" in given:
        given["groups"] = joined(given["groups"])
    found = {name: part(name, value) for name, value in given.items()}
    parts = {name: each for name, (each, _) in found.items()}
    _check_order(parts)
    check_numbers(parts)
    if classes is None:
        classes = next((found[name][1] for name in KINDS if name in found), None)
    return _core.open(
        parts,
        settings,
        classes=None if classes is None else tuple(str(each) for each in classes),
        first_row=first_row,
        header=header_mode(header),
        levels=levels,
        weights_are=weights_are,
        prevalence=prevalence,
        every=every,
        positive=positive,
        event=event,
        ragged=ragged,
    )


def header_mode(header: "bool | None") -> int:
    """The number of pcal_header: auto, yes, no."""
    return 0 if header is None else 1 if header else 2


# ---- Data sets ----

#: inputs that describe rows, which a second model of the same rows shares
_SHARED = ("labels", "target", "levels", "weights", "weights_are", "groups", "ids", "time", "every", "data",
           "classes", "header", "first_row", "prevalence", "event", "ragged", "abstain")  # fmt: skip


class Data:
    """Predictions with their truth, by name: ``Data(logits=z, labels=y)``.

    ``measure``, ``plot``, ``report``, ``compare``, ``study``, ``inspect``, ``Measure.update`` and
    the functions of the metrics take one as their first argument, in place of the same names as
    keywords; ``val=`` and ``against=`` take one too.  Nothing is read or copied before that.

    Parameters
    ----------
    probs, logits, log_probs : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores of the classes, or of class 1 of two.  Exactly one of them, or ``confidence``.  NumPy,
        PyTorch, CuPy and JAX arrays, also on an NVIDIA GPU (``docs/gpu.md``), pandas, polars and pyarrow tables, lists, or the name of
        a file as on the command line (``"run.npz:logits"``).
    labels : array-like of shape (n_samples,) or (n_samples, n_classes)
        Class numbers from 0, names of the score columns, or one-hot rows.
    confidence, correct : array-like of shape (n_samples,)
        Probability of the predicted label, and whether it was right.
    abstain : array-like of shape (n_samples,)
        Beside ``confidence``: True for each row in which the model did not answer.  Such a row counts as an
        answer with confidence 0 that is wrong; see ``docs/selective.md``.
    ragged : bool, default=False
        Rows have different numbers of choices: missing scores (NaN, the end of a shorter list) are
        choices that the row does not have, of probability 0; see ``docs/start/for-language-models.md``.
    mean, variance, std : array-like of shape (n_samples,)
        Of predicted normal distributions of a number; ``mean`` and one of the others, with ``target``.
    quantiles : array-like of shape (n_samples, n_levels)
        Predicted quantiles of a number.
    levels : sequence of float
        Levels of the quantiles.
    samples : array-like of shape (n_samples, n_draws) or (n_samples, n_draws, n_targets)
        Draws from predicted distributions, or members of an ensemble.
    target : array-like of shape (n_samples,) or (n_samples, n_targets)
        The true numbers.  Several for each row, beside ``samples`` of as many, are measured by ``energy_score``.
    event : str
        An event about the number, such as ``'> 20'`` or ``'<= 0'``: its predicted probability is measured
        as a binary prediction of its outcome; see ``docs/forecasts.md``.
    weights : array-like of shape (n_samples,)
        Weights of the rows.
    weights_are : {'frequency', 'importance'}, default=None
        A row of weight 3 is three rows, or one row that counts for more; None takes integers for
        frequencies.
    groups : array-like of shape (n_samples,), or table
        Group of each row.  Up to four columns (a table, a dict, an array of two dimensions) are groups that
        overlap: results show those of each column, and their intersections.
    ids : array-like of shape (n_samples,)
        Unique id of each row, the key of its random draws; None takes its content.
    time : array-like of shape (n_samples,)
        Time of each row, in place of ``groups``: dates and times of NumPy, pandas or Python, texts in
        ISO 8601 (UTC without an offset), or seconds since 1970.  Groups are then the periods.
    every : str
        Length of the periods, in UTC: ``'hour'``, ``'day'``, ``'week'`` (from Monday), ``'month'``,
        ``'quarter'``, ``'year'``, or a length such as ``'6h'``.
    data : table or path-like
        A table or a file; with a table or a Parquet file the other arguments name its columns.
    classes : sequence of str
        Names of the classes.
    header : bool, default=None
        Whether the first line of CSV files is a header; None detects it.
    first_row : int, default=0
        Index of the first row, for messages.
    pos_label : int, float, bool or str, default=None
        Label of class 1, where ``labels`` are two words or numbers other than 0 and 1.
    prevalence : float or sequence of float, default=None
        Reweights rows to these class shares: that of class 1 of two, or one for each class; see
        ``docs/prevalence.md``.
    class_axis : int, default=None
        Axis of the classes in scores of more than two dimensions: 1 for the logits (N, K, H, W) of
        images.  Each pixel is a row; ``labels`` have the shape (N, H, W), and ``groups``, ``weights``
        and ``cluster`` that shape or one value for each image.
    ignore_index : int, default=None
        Label of rows that are left out, such as 255 or -100.
    """

    def __init__(self, probs: Any = None, labels: Any = None, **inputs: Any) -> None:
        given = {"probs": probs, "labels": labels}
        named = usual_names("Data", {**inputs, **{k: v for k, v in given.items() if v is not None}})
        check_names(named, (), "Data")
        self._inputs = {name: value for name, value in named.items() if value is not None}

    @property
    def inputs(self) -> "dict[str, Any]":
        """The inputs by name."""
        return dict(self._inputs)

    def __repr__(self) -> str:
        return f"Data({', '.join(self._inputs)})"

    @classmethod
    def _of(cls, inputs: "dict[str, Any]") -> "Data":
        """A data set of inputs whose names are right."""
        made = object.__new__(cls)
        made._inputs = {name: value for name, value in inputs.items() if value is not None}
        return made

    def _open(self, settings: tuple, **more: Any) -> Any:
        """A source of these inputs; `more` replaces some of them, whose names are right."""
        return _open({**self._inputs, **more} if more else self._inputs, settings)

    def _has_no_rows(self) -> bool:
        """True if the scores are an empty array or table."""
        for name, value in self._inputs.items():
            if (name in KINDS or name == "data") and not is_file(value):
                return hasattr(value, "__len__") and len(value) == 0
        return False

    def _with(self, **inputs: Any) -> "Data":
        """A copy with other inputs, whose names are right; None removes one."""
        return Data._of({**self._inputs, **inputs})

    def _with_clusters(self, cluster: Any) -> "Data":
        """The library takes clusters as groups; here so that a wrong length names ``cluster``."""
        name = next((name for name in KINDS if name in self._inputs), None)
        scores = None if name is None else self._inputs[name]
        arrays = not is_file(cluster) and not is_file(scores) and hasattr(scores, "__len__")
        by_row = "class_axis" not in self._inputs and len(getattr(scores, "shape", ())) <= 2
        if arrays and by_row and hasattr(cluster, "__len__") and getattr(cluster, "ndim", 1) == 1:
            if len(cluster) != len(scores):
                raise DataError(
                    f"cluster has {len(cluster)} rows, but {name} has {len(scores)}; give one cluster for each row"
                )
        return self._with(groups=cluster)

    def _same_rows(self, other: "Data") -> "Data":
        """Another model of these rows, with labels, weights and the like of these."""
        shared = {name: value for name, value in self._inputs.items() if name in _SHARED}
        if "confidence" in other._inputs:
            shared.pop("labels", None)
        return Data(**{**shared, **other._inputs})

    def _val(self, other: "Data") -> "Data":
        """Other rows to fit on; quantiles have the levels of these."""
        extra = {}
        if "quantiles" in other._inputs and "levels" not in other._inputs:
            extra["levels"] = self._inputs.get("levels")
        for name in ("classes", "header", "event", "ragged"):
            if name not in other._inputs:
                extra[name] = self._inputs.get(name)
        return other._with(**extra)


def check_names(names: "Iterable[str]", prefixes: "Iterable[str]", function: str) -> None:
    """Refuses keywords that name no input, with or without a prefix such as ``val``."""
    if INPUT_NAMES.issuperset(names):
        return
    for name in names:
        if name in INPUT_NAMES:
            continue
        prefix = next((each for each in prefixes if name.startswith(each + "_")), None)
        if (name if prefix is None else name[len(prefix) + 1 :]) not in INPUT_NAMES:
            raise TypeError(f"{function}() has no argument {name!r}{_remedy(name, function)}")


def _remedy(name: str, function: str) -> str:
    """What to write in place of an unknown keyword."""
    if any(option.name == name for row in rows("metrics") for option in row.options):
        return f"; it is an option of metrics, which follows their name as in metrics='ece:{name}=...'"
    known = inspect.signature(getattr(importlib.import_module(__package__), function, len)).parameters
    near = difflib.get_close_matches(name, [*known, *INPUTS], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def gather(
    function: str, first: Any, labels: Any, inputs: "dict[str, Any]", **others: "Data | None"
) -> "tuple[Data, ...]":
    """The data set of a call, and one for each name in `others`, given as a Data or by keywords
    with that name as prefix, such as ``val_probs``; None if nothing was given."""
    plain = INPUT_NAMES.issuperset(inputs)
    if not plain:
        inputs = usual_names(function, inputs)
        check_names(inputs, others, function)
        plain = INPUT_NAMES.issuperset(inputs)
    if first is not None and is_whole_table(first, labels, inputs):
        first, inputs = None, {**inputs, "data": first}
    found = []
    own = inputs
    for prefix, given in others.items():
        start = len(prefix) + 1
        prefixed = [] if plain else [key for key in inputs if key.startswith(prefix + "_")]
        if given is None and not prefixed:  # as most calls
            found.append(None)
            continue
        named = {key[start:]: inputs[key] for key in prefixed if inputs[key] is not None}
        if given is not None and named:
            raise UsageError(f"{prefix} and {prefix}_{next(iter(named))} are both given; give one")
        found.append(Data(**named) if named else as_data(prefix, given))
        own = {key: value for key, value in own.items() if not key.startswith(prefix + "_")}
    if isinstance(first, Data):
        twice = [key for key, value in {"labels": labels, **own}.items() if value is not None]
        if twice:
            raise UsageError(f"Data and {twice[0]} are both given; give {twice[0]} to Data")
        return (first, *found)
    for name, value in (("probs", first), ("labels", labels)):
        if value is None:
            continue
        if own.get(name) is not None:
            raise TypeError(f"{function}() got {name!r} twice")
        own[name] = value
    return (Data._of(own), *found) if found else (Data._of(own),)


def is_whole_table(first: Any, labels: Any, inputs: "dict[str, Any]") -> bool:
    """Is the first argument a table, and not the scores?  Then others name its columns, if any."""
    if first is None or inputs.get("data") is not None or not (is_table_file(first) or is_frame(first)):
        return False
    columns = (labels, *(inputs.get(name) for name in ("labels", "correct", "target")))
    return any(inputs.get(name) is not None for name in KINDS) or all(
        each is None or (isinstance(each, str) and is_frame(first)) for each in columns
    )


def as_data(name: str, given: Any) -> "Data | None":
    """A second data set; a dictionary of inputs is one too."""
    if given is None or isinstance(given, Data):
        return given
    if isinstance(given, Mapping):
        return Data(**given)
    raise TypeError(f"{name} must be a propercal.Data, such as Data(logits=..., labels=...)")


_Function = TypeVar("_Function", bound=Callable[..., Any])


def lists_inputs(*prefixes: str, without: "tuple[str, ...]" = ()) -> "Callable[[_Function], _Function]":
    """Names the inputs, and those with prefixes, in the signature of a function that takes them
    as ``**inputs``."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        known = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
        names = [each.name for each in known]
        more = [name for name in INPUTS if name not in names and name not in without]
        more += [f"{prefix}_{name}" for prefix in prefixes for name in _predictions(prefix)]
        extra = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in more]
        place = names.index("probs") if "probs" in names else -1

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if len(args) == place + 1 and "probs" in kwargs and "data" not in kwargs:  # a table and its columns
                *args, kwargs["data"] = args
            return function(*args, **kwargs)

        chosen = called if place >= 0 else function
        chosen.__signature__ = signature.replace(parameters=[*known, *extra])  # type: ignore[attr-defined]
        return chosen  # type: ignore[return-value]

    return decorate


def _predictions(prefix: str) -> "tuple[str, ...]":
    """Inputs of a second data set that have keywords of their own."""
    rows = ("labels", "target", "weights", "data") if prefix == "val" else ()
    scores = (*KINDS, "variance", "std", "correct")
    return tuple(name for name in INPUTS if name in scores or name in rows)


Data.__init__ = lists_inputs()(Data.__init__)  # type: ignore[method-assign]
