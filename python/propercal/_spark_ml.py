"""Evaluators, estimators and models for ``pyspark.ml``."""

from typing import Any, Iterator

import pyarrow as arrow
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasOutputCol, HasProbabilityCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable
from pyspark.ml.util import DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

from . import _core, _registry
from ._calibrator import Calibrator, calibrator, loads
from ._errors import DataError, UsageError
from ._partitions import merge_rounds, read_with_length
from ._rounds import FitRounds, answer_rounds
from ._settings import memory_bytes
from ._spark_columns import Table, is_vector, quoted, scores, select, unless_null
from ._spark_measure import ask, measure
from ._spark_worker import FitPart, applied_to

TEXT = TypeConverters.toString


class _HasScores(HasProbabilityCol, HasLabelCol, HasWeightCol):
    """Parameters of the columns."""

    kind: "Param[str]" = Param(
        Params._dummy(), "kind", "scores in probabilityCol: probs, logits or log_probs", TEXT
    )

    probabilityCols: "Param[list[str]]" = Param(
        Params._dummy(),
        "probabilityCols",
        "columns of scores, one for each class, in place of probabilityCol",
        TypeConverters.toListString,
    )

    def getKind(self) -> str:
        return self.getOrDefault(self.kind)

    def getProbabilityCols(self) -> "list[str]":
        return self.getOrDefault(self.probabilityCols)

    def _scores(self) -> "str | list[str]":
        """The name of the column of scores, or the names of several."""
        several = self.isDefined(self.probabilityCols) and self.getProbabilityCols()
        return list(several) if several else self.getProbabilityCol()

    def _columns(self) -> "dict[str, Any]":
        weights = self.getOrDefault(self.weightCol) if self.isDefined(self.weightCol) else None
        return {
            self.getKind(): self._scores(),
            "labels": self.getLabelCol(),
            "weights": weights or None,
        }


class _SkipsMissing(Params):
    """The parameter of rows with a missing value."""

    skipMissing: "Param[bool]" = Param(
        Params._dummy(), "skipMissing", "whether rows with missing values are left out", TypeConverters.toBoolean
    )

    def _set_given(self, given: "dict[str, Any]") -> None:
        """Sets the arguments of a constructor; messages call skipMissing by its name in Python."""
        if "skip_missing" in given:
            given["skipMissing"] = given.pop("skip_missing")
        self._set(**given)

    def getSkipMissing(self) -> bool:
        return self.getOrDefault(self.skipMissing)


class CalibrationEvaluator(_HasScores, _SkipsMissing, Evaluator, DefaultParamsReadable, DefaultParamsWritable):
    """A metric of calibration as an evaluator, for ``CrossValidator`` and the like.

    >>> CalibrationEvaluator(metricName="ece:bins=20").evaluate(predictions)

    Parameters
    ----------
    probabilityCol, labelCol, weightCol : columns: arrays, vectors or the score of class 1; class
        numbers; weights of rows
    probabilityCols : columns of scores, one for each class, in place of probabilityCol
    kind : scores in probabilityCol: ``"probs"``, ``"logits"`` or ``"log_probs"``
    metricName : spec of a metric, as of ``propercal.measure``
    keepScores : as ``keep_scores`` of ``measure``, for metrics that need all scores at once
    skipMissing : as ``skip_missing`` of ``measure``, by either name: leave out rows with a missing value
    """

    metricName: "Param[str]" = Param(Params._dummy(), "metricName", "spec of a metric", TEXT)
    keepScores: "Param[bool]" = Param(
        Params._dummy(), "keepScores", "whether scores reach the driver", TypeConverters.toBoolean
    )

    @keyword_only
    def __init__(
        self,
        *,
        probabilityCol: str = "probability",
        probabilityCols: "list[str] | None" = None,
        labelCol: str = "label",
        weightCol: "str | None" = None,
        kind: str = "probs",
        metricName: str = "brier",
        keepScores: bool = False,
        skipMissing: bool = False,
        skip_missing: bool = False,
    ) -> None:
        super().__init__()
        self._setDefault(kind="probs", metricName="brier", keepScores=False, skipMissing=False)
        self._set_given(self._input_kwargs)

    def getMetricName(self) -> str:
        return self.getOrDefault(self.metricName)

    def getKeepScores(self) -> bool:
        return self.getOrDefault(self.keepScores)

    def _row(self) -> _registry.Row:
        return _registry.parse("metrics", _core.canonical(self.getMetricName()))[0]

    def isLargerBetter(self) -> bool:
        better = self._row().better
        if better is None:
            raise UsageError(
                f"neither low nor high values of {self.getMetricName()} are better; choose another "
                "metric, such as brier or log"
            )
        return better == "higher"

    def _evaluate(self, dataset: Any) -> float:
        chosen = {"metrics": self.getMetricName(), "keep_scores": self.getKeepScores()}
        chosen |= {"skip_missing": self.getSkipMissing()}
        result = measure(dataset, **chosen, **self._columns())
        return float(next(iter(result)))


class _CalibrationParams(_HasScores, HasOutputCol):
    method: "Param[str]" = Param(
        Params._dummy(), "method", "spec of a calibrator, such as temperature:objective=brier", TEXT
    )
    handleInvalid: "Param[str]" = Param(
        Params._dummy(), "handleInvalid", "rows without scores: error, or keep (null comes out)", TEXT
    )

    def getMethod(self) -> str:
        return self.getOrDefault(self.method)

    def getHandleInvalid(self) -> str:
        return self.getOrDefault(self.handleInvalid)


class Calibration(_CalibrationParams, _SkipsMissing, Estimator, DefaultParamsReadable, DefaultParamsWritable):
    """A calibrator as an estimator; there is also a class for each method, such as
    ``Temperature``.

    >>> model = Calibration(method="isotonic", outputCol="calibrated").fit(validation)
    >>> model.transform(test)

    The fit is that of ``propercal`` on all rows.  Rows of at most ``memoryLimit`` are collected by
    the driver.  Larger tables stay where they are and are read in rounds, once for each pass of the
    fit; methods that need all rows at once are refused then.  Both give the same calibrator.

    Parameters
    ----------
    method : spec of a calibrator
    probabilityCol, probabilityCols, labelCol, weightCol, kind : as of ``CalibrationEvaluator``
    outputCol : column of calibrated probabilities, in the form of probabilityCol; an array for probabilityCols
    handleInvalid : of ``transform``: ``"error"``, or ``"keep"``: null scores give null
    skipMissing : of ``fit``: leave out rows with a missing value; messages call it ``skip_missing``, and so
        may you
    memoryLimit : rows that the driver may collect, in bytes; larger tables are read in rounds
    progress : True, ``"tqdm"``, or a function called as ``f(what, done, total)`` for each round; not saved
    """

    memoryLimit: "Param[str]" = Param(
        Params._dummy(), "memoryLimit", "bytes of rows that the driver may collect: 500MB, 2GiB", TEXT
    )

    @keyword_only
    def __init__(
        self,
        *,
        method: str = "temperature",
        probabilityCol: str = "probability",
        probabilityCols: "list[str] | None" = None,
        labelCol: str = "label",
        weightCol: "str | None" = None,
        kind: str = "probs",
        outputCol: str = "calibrated",
        handleInvalid: str = "error",
        skipMissing: bool = False,
        skip_missing: bool = False,
        memoryLimit: str = "256MiB",
        progress: Any = None,
    ) -> None:
        super().__init__()
        self._progress = self._input_kwargs.pop("progress", None)
        self._setDefault(
            method="temperature",
            kind="probs",
            outputCol="calibrated",
            handleInvalid="error",
            skipMissing=False,
            memoryLimit="256MiB",
        )
        self._set_given(self._input_kwargs)

    def _fit(self, dataset: Any) -> "CalibrationModel":
        unfitted = calibrator(self.getMethod(), kind=self.getKind(), skip_missing=self.getSkipMissing())
        table = select(dataset, self._columns())
        limit = memory_bytes(self.getOrDefault(self.memoryLimit))
        rows, needed = _size(table.frame)
        if needed <= limit:
            found = table.frame.toArrow()
            names = {} if table.classes is None else {"classes": table.classes}
            fitted = unfitted.fit(**{name: found.column(name) for name in found.column_names}, **names)
        else:
            fitted = self._fit_in_rounds(table, rows, needed, limit)
        model = CalibrationModel(fitted)
        model._resetUid(self.uid)
        return self._copyValues(model)

    def _fit_in_rounds(self, table: Table, rows: int, needed: int, limit: int) -> Calibrator:
        try:
            rounds = FitRounds(self.getMethod(), skip_missing=self.getSkipMissing())
        except UsageError:
            raise UsageError(
                f"fitting {self.getMethod()} needs all {rows} rows, {needed} bytes, in the memory of "
                f"the driver, and memoryLimit is {limit}; fit on a sample, such as "
                f"df.sample({limit / needed / 2:.2g}, seed=0), or raise memoryLimit"
            ) from None
        read = read_with_length(lambda request, width: ask(table, FitPart, request, merge_rounds, width))
        answer_rounds(rounds, read, self._progress)
        return rounds.calibrator()


def _size(frame: Any) -> "tuple[int, int]":
    """The number of rows, and their bytes in the memory of the driver."""
    first = frame.first()
    if first is None:
        raise DataError("the table has no rows; give at least one")
    if first[0] is None:  # the length of lists that are not null
        first = frame.where(sql.col(frame.columns[0]).isNotNull()).first() or first
    width = len(first[0]) if isinstance(first[0], (list, tuple)) else 1
    rows = frame.count()
    return rows, rows * 8 * (width + len(frame.columns) - 1)


class CalibrationModel(_CalibrationParams, Model, MLReadable, MLWritable):
    """A fitted calibrator, which adds a column of calibrated probabilities.

    Attributes
    ----------
    calibrator : the ``propercal.Calibrator``
    """

    def __init__(self, fitted: "Calibrator | None" = None) -> None:
        super().__init__()
        self._setDefault(kind="probs", outputCol="calibrated", handleInvalid="error")
        self.calibrator = fitted

    def setProbabilityCol(self, value: str) -> "CalibrationModel":
        return self._set(probabilityCol=value)

    def setOutputCol(self, value: str) -> "CalibrationModel":
        return self._set(outputCol=value)

    def _transform(self, dataset: Any) -> Any:
        name, output = self._scores(), self.getOutputCol()
        if output in dataset.columns:
            raise UsageError(f'there is a column "{output}" already; choose another outputCol')
        vectors = is_vector(dataset, name)
        column = scores(dataset, name)
        single = isinstance(name, str) and not vectors and not isinstance(dataset.schema[name].dataType, ArrayType)
        if self.getHandleInvalid() == "keep":
            column = _without_missing(column, single)
        taken = dataset.select(*(quoted(each) for each in dataset.columns), column.alias(output))
        result = DoubleType() if single else ArrayType(DoubleType())
        schema = StructType([*dataset.schema.fields, StructField(output, result)])
        content = self.calibrator.to_json().encode()
        keep = self.getHandleInvalid() == "keep"

        def apply(batches: "Iterator[arrow.RecordBatch]") -> "Iterator[arrow.RecordBatch]":
            return applied_to(batches, content, output, keep)

        made = taken.mapInArrow(apply, schema)
        return made.withColumn(output, unless_null(array_to_vector, quoted(output))) if vectors else made

    def write(self) -> MLWriter:
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> "MLReader[Any]":
        return _ModelReader()


class _ModelWriter(MLWriter):
    """The calibrator file is part of the metadata."""

    def __init__(self, model: CalibrationModel) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        extra = {"calibrator": self.model.calibrator.to_json()}
        DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession, extra)


class _ModelReader(MLReader):
    def load(self, path: str) -> CalibrationModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        model = CalibrationModel(loads(metadata["calibrator"].encode(), path))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _without_missing(column: Any, single: bool) -> Any:
    """Null in place of scores that are missing, or partly so."""
    if single:
        return sql.when(~sql.isnan(column), column)
    missing = sql.exists(column, lambda each: each.isNull() | sql.isnan(each))
    return sql.when(~missing, column)


# ---- A class for each method ----


def _estimator(row: _registry.Row, module: str) -> type:
    """``Temperature(objective="brier", outputCol=...)``: an estimator with its method set."""
    options = {_registry.identifier(option.name): option.name for option in row.options}

    def __init__(self: Any, **given: Any) -> None:
        chosen = {options[name]: given.pop(name) for name in list(given) if name in options}
        Calibration.__init__(self, method=_registry.spec(row.name, chosen), **given)

    body = {
        "__init__": __init__,
        "__doc__": f"{row.title}: a ``Calibration`` whose options are arguments too.",
        "__module__": module,
    }
    return type(_registry.class_name(row.name), (Calibration,), body)


def estimators(module: str) -> "dict[str, type]":
    """The estimators by the names of the classes of ``propercal``."""
    found = [row for row in _registry.rows("calibrators") if row.task is None]
    return {_registry.class_name(row.name): _estimator(row, module) for row in found}
