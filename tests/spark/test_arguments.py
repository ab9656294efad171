"""Every public argument and class of propercal.spark, on small tables; the first test finds those that no test gives."""

import ast
import inspect
import pathlib
import random

import numpy as np
import pyarrow as arrow
import pytest
from pyspark.errors import PythonException
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as sql

import propercal as pc
from propercal import spark as pcs

# ---- Nothing is left out ----


def dict_keys(node, names):
    """The keys of a dict display, also of others that are unpacked into it."""
    if isinstance(node, ast.Name):
        return set(names.get(node.id, ()))
    if not isinstance(node, ast.Dict):
        return set()
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return keys.union(*(dict_keys(each, names) for key, each in zip(node.keys, node.values) if key is None))


def calls_of(function):
    """The calls ``pcs.NAME(...)`` in a function: name, number of positional arguments, names of the others."""
    names = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                names.setdefault(target.id, set()).update(dict_keys(node.value, names))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.value.id == "pcs":
                given = {word.arg for word in node.keywords if word.arg}
                given.update(*(dict_keys(word.value, names) for word in node.keywords if not word.arg))
                yield node.func.attr, len(node.args), given


def called():
    """For each public name the arguments that tests give: a number for those by position."""
    found = {}
    for path in pathlib.Path(__file__).parent.glob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        scripts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        places = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        places += [ast.parse(text) for text in scripts if text.startswith("\nimport ") and "pcs." in text]
        for name, count, given in [call for place in places for call in calls_of(place)]:
            one = "Calibration" if name in ESTIMATORS else name
            found.setdefault(one, set()).update(given, range(count))
    return found


def test_a_call_is_read():
    tree = ast.parse("def f():\n  a = {'x': 1}\n  b = {**a, 'y': 2}\n  b |= {'z': 3}\n  pcs.plot(1, 2, ax=4, **b)")
    assert list(calls_of(tree)) == [("plot", 2, {"ax", "x", "y", "z"})]


ESTIMATORS = [name for name in pcs.__all__ if inspect.isclass(getattr(pcs, name)) and name not in (
    "Calibration", "CalibrationEvaluator", "CalibrationModel", "TableComparison")]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in pcs.__all__ if name not in ESTIMATORS])
def test_every_argument_is_given(name):
    one = getattr(pcs, name)
    if one in (pcs.CalibrationModel, pcs.TableComparison):  # made by fit and compare
        assert name in pathlib.Path(__file__).read_text(encoding="utf-8")
        return
    given = called().get(name, set())
    parameters = list(inspect.signature(one).parameters.values())
    wanted = [(i, each.name) for i, each in enumerate(parameters) if each.kind is not each.VAR_KEYWORD]
    assert [argument for i, argument in wanted if i not in given and argument not in given] == []


# ---- Tables ----

FEW = 1200


@pytest.fixture(scope="session")
def few(spark):
    """Rows of three classes in many forms; two partitions in the order of the rows."""
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(FEW, 3))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(np.int32)
    probs = np.exp(2 * logits) / np.exp(2 * logits).sum(axis=1, keepdims=True)
    top = probs.argmax(axis=1)
    columns = {
        "p": arrow.array(list(probs)),
        "z": arrow.array(list(2 * logits)),
        "l": arrow.array(list(np.log(probs))),
        "short": arrow.array(list(probs * 0.995)),
        "c": probs.max(axis=1),
        "hit": top == labels,
        "one": probs[:, 1],
        "is one": labels == 1,
        "y": labels,
        "w": np.arange(FEW) % 3 + 1.0,
        "site": np.array(["north", "south"])[np.arange(FEW) % 2],
        "row": np.arange(FEW),
    }
    frame = spark.createDataFrame(arrow.table(columns)).coalesce(1).sortWithinPartitions("row").cache()
    return frame, {**columns, "p": probs, "z": 2 * logits, "l": np.log(probs), "short": probs * 0.995}


# ---- Measuring ----


def test_other_scores(few):
    frame, rows = few
    metrics = ["brier", "ece"]
    found = pcs.measure(frame, log_probs="l", labels="y", metrics=metrics)
    assert found.to_json() == pc.measure(log_probs=rows["l"], labels=rows["y"], metrics=metrics).to_json()
    found = pcs.measure(frame, confidence="c", correct="hit", metrics="ece")
    assert found.to_json() == pc.measure(confidence=rows["c"], correct=rows["hit"], metrics="ece").to_json()
    found = pcs.measure(frame, probs="short", labels="y", normalize=True, metrics=metrics)
    assert found.to_json() == pc.measure(rows["short"], rows["y"], normalize=True, metrics=metrics).to_json()


def test_decimals(few):
    frame, rows = few
    kinds = {"p": "array<decimal(12,10)>", "one": "decimal(12,10)", "w": "decimal(6,2)"}
    exact = frame.withColumns({name: sql.col(name).cast(kind) for name, kind in kinds.items()}).cache()
    plain = exact.select(sql.col("p").cast("array<double>"), sql.col("one").cast("double")).toPandas()
    given = {"weights": rows["w"], "metrics": "brier"}
    found = pcs.measure(exact, probs="p", labels="y", weights="w", metrics="brier")
    assert found.to_json() == pc.measure(np.array(plain["p"].tolist()), rows["y"], **given).to_json()
    found = pcs.measure(exact, probs="one", labels="is one", weights="w", metrics="brier")
    assert found.to_json() == pc.measure(plain["one"].to_numpy(), rows["is one"], **given).to_json()


def test_settings_of_measure(few):
    frame, rows = few
    seen = []
    columns = {"probs": "p", "labels": "y"}
    given = {"metrics": ["brier", "ece"], "interval": 0.9, "replicas": 30, "interval_method": "percentile", "seed": 4}
    found = pcs.measure(frame, memory_limit="1GB", progress=lambda *words: seen.append(words[:2]), **columns, **given)
    whole = pc.measure(rows["p"], rows["y"], **given)
    assert found.ece.interval == whole.ece.interval and found.brier == whole.brier
    assert "with a method of intervals" in str(found) or found.brier.interval is None
    assert seen == [("readings of the table", 1), ("readings of the table", 2)]
    with pytest.raises(MemoryError):
        pcs.measure(frame, memory_limit=1000, **columns)


def test_nulls(few):
    """In labels, weights and groups; rows left out are counted, also beside intervals."""
    frame, rows = few
    row = sql.col("row")
    for name, sentence in (
        ("y", "partition 0: labels, row 70: the label is missing; remove the row or pass skip_missing=True"),
        ("w", "partition 0: weights, row 70: the weight is missing; remove the row or pass skip_missing=True"),
        ("site", "partition 0: groups, row 70: the group is missing; give every row a group"),
    ):
        gaps = frame.withColumn(name, sql.when(row % 500 != 70, sql.col(name)))
        with pytest.raises(pc.DataError) as found:
            pcs.measure(gaps, probs="p", labels="y", weights="w", groups="site", metrics="brier")
        assert str(found.value) == sentence
    gaps = frame.withColumn("y", sql.when(row % 500 != 70, sql.col("y")))
    kept = np.arange(FEW) % 500 != 70
    given = {"skip_missing": True, "interval": 0.9, "replicas": 30, "metrics": ["ece", "brier"]}
    found = pcs.measure(gaps, probs="p", labels="y", weights="w", **given)
    labels = np.where(kept, rows["y"].astype(float), np.nan)
    whole = pc.measure(rows["p"], labels, weights=rows["w"], **given)
    assert found.to_json() == whole.to_json() and whole.ece.interval
    assert found.to_dict()["data"]["skipped_rows"] == 3


@pytest.fixture(scope="module")
def gaps(few):
    """Columns, each with all its values in the first of three partitions missing, and the rows that are left."""
    frame, rows = few
    parts = frame.repartitionByRange(3, "row").sortWithinPartitions("row").cache()
    first = sql.spark_partition_id() == 0
    columns = {name: sql.when(~first, sql.col(name)) for name in ("p", "y", "w", "site", "one")}
    columns |= {f"p{k}": sql.when(~first, sql.col("p")[k]) for k in range(3)}
    kept = np.sort([each.row for each in parts.where(~first).select("row").collect()])
    assert 300 < len(kept) < 900 and kept[0] == FEW - len(kept)
    return parts, columns, kept


def test_partitions_of_nulls(gaps, few):
    """They are missing rows, as a single null is, in every column and every call."""
    parts, columns, kept = gaps
    rows = few[1]
    whole = pc.measure(rows["p"][kept], rows["y"][kept], metrics=["brier", "ks"])
    remedy = "remove the row or pass skip_missing=True"
    score = f"partition 0: probs, row 0, column 0: the score is missing (NaN); {remedy}"
    label = f"partition 0: labels, row 0: the label is missing; {remedy}"
    for probs, names, sentence in (
        ("p", ["p"], score),
        (["p0", "p1", "p2"], ["p0", "p1", "p2"], score),
        ("p", ["y"], label),
    ):
        frame = parts.withColumns({name: columns[name] for name in names})
        given = {"probs": probs, "labels": "y", "metrics": ["brier", "ks"]}
        with pytest.raises(pc.DataError) as found:
            pcs.measure(frame, **given)
        assert str(found.value) == sentence
        found = pcs.measure(frame, **given, skip_missing=True)
        assert (found.brier, found.ks) == (whole.brier, whole.ks)
        assert found.to_dict()["data"]["skipped_rows"] == FEW - len(kept)
    frame = parts.withColumn("p", columns["p"])
    found = pcs.measure(frame, probs="p", labels="y", metrics="brier", keep_scores=True, skip_missing=True)
    assert found.brier == whole.brier
    with pytest.raises(pc.DataError, match="^partition 0: probs, row 0, column 0: the score is missing"):
        pcs.Temperature(probabilityCol="p", labelCol="y", memoryLimit="1kB").fit(frame)


@pytest.mark.parametrize("name", ["p", "y", "w"])
def test_rows_left_out_of_fits(gaps, few, name):
    """By the argument that the message names, wherever the fit reads the rows."""
    parts, columns, kept = gaps
    rows = few[1]
    frame = parts.withColumn(name, columns[name])
    given = {"probabilityCol": "p", "labelCol": "y", "weightCol": "w"}
    whole = pc.Temperature().fit(rows["p"][kept], rows["y"][kept], rows["w"][kept])
    for limit in ("256MiB", "1kB"):
        with pytest.raises(pc.DataError, match="is missing( .NaN.)?; remove the row or pass skip_missing=True$"):
            pcs.Temperature(**given, memoryLimit=limit).fit(frame)
        model = pcs.Temperature(**given, memoryLimit=limit, skip_missing=True).fit(frame)
        assert model.calibrator.T_ == whole.T_
    evaluator = pcs.CalibrationEvaluator(**given, metricName="ece", skip_missing=True)
    assert evaluator.evaluate(frame) == pc.ece(rows["p"][kept], rows["y"][kept], weights=rows["w"][kept])
    assert pcs.Temperature(skipMissing=True).getSkipMissing() and pcs.CalibrationEvaluator(skipMissing=True).getSkipMissing()
    assert not pcs.Temperature().getSkipMissing() and not pcs.CalibrationEvaluator().getSkipMissing()
    named = {"probs": "p", "labels": "y", "weights": "w"}
    compared = pcs.compare(frame, test=frame, methods=["temperature"], metrics=[], **named, skip_missing=True)
    calibrated = whole.transform(rows["p"][kept])
    found = compared.results["temperature"]
    assert found.brier == pc.brier(calibrated, rows["y"][kept], weights=rows["w"][kept])
    assert found.to_dict()["data"]["skipped_rows"] == FEW - len(kept)


def test_columns_of_type_void(gaps):
    """They are columns of nulls."""
    parts, _, _ = gaps
    void = parts.withColumn("void", sql.lit(None))
    given = {"probs": "p", "labels": "y", "metrics": "brier"}
    for more, sentence in (
        ({"labels": "void"}, "labels, row 0: the label is missing"),
        ({"weights": "void"}, "weights, row 0: the weight is missing"),
        ({"probs": "void", "labels": "is one"}, 'probs, row 0, column "values": the score is missing'),
    ):
        with pytest.raises(pc.DataError, match=f"^partition 0: {sentence}"):
            pcs.measure(void, **{**given, **more})
    with pytest.raises(pc.DataError, match="^no rows are left: every row has a missing value$"):
        pcs.measure(void, **{**given, "labels": "void"}, skip_missing=True)


def test_equal_rows_without_a_weight(few):
    """Rows whose weight is NaN are left out, not those that equal them."""
    frame, rows = few
    nan = sql.when(sql.col("row") % 7 == 0, float("nan")).otherwise(sql.col("w"))
    frame = frame.union(frame.withColumn("w", nan))
    weights = np.concatenate([rows["w"], np.where(np.arange(FEW) % 7 == 0, np.nan, rows["w"])])
    given = {"metrics": "ece", "interval": 0.9, "replicas": 20, "skip_missing": True}
    found = pcs.measure(frame, probs="p", labels="y", weights="w", **given)
    whole = pc.measure(np.tile(rows["p"], (2, 1)), np.tile(rows["y"], 2), weights=weights, **given)
    assert found.to_json() == whole.to_json() and whole.ece.interval


def test_partitions_of_nulls_are_transformed(gaps, few):
    """Also vectors, whose functions in Spark fail for nulls."""
    parts, columns, kept = gaps
    rows = few[1]
    given = {"probabilityCol": "p", "labelCol": "y", "outputCol": "q"}
    model = pcs.Temperature(**given).fit(parts)
    for frame in (parts, parts.withColumn("p", array_to_vector("p"))):
        missing = frame.withColumn("p", sql.when(sql.spark_partition_id() > 0, sql.col("p")))
        with pytest.raises(PythonException, match="partition 0: probs, row 0, column 0: the score is missing"):
            model.transform(missing).count()
        made = model.copy({model.handleInvalid: "keep"}).transform(missing)
        assert made.where("q is null").count() == FEW - len(kept)
        assert made.schema["q"].dataType == frame.schema["p"].dataType
        found = pcs.measure(missing, probs="p", labels="y", metrics="brier", skip_missing=True)
        assert found.brier == pc.brier(rows["p"][kept], rows["y"][kept])


def test_one_partition_of_many_is_empty(few):
    frame, rows = few
    many = frame.repartitionByRange(40, "row")
    some = many.where(sql.spark_partition_id() != 7)
    kept = np.sort([each.row for each in some.select("row").collect()])
    assert 0 < len(kept) < FEW and some.groupBy(sql.spark_partition_id()).count().count() == 39
    found = pcs.measure(some, probs="one", labels="is one", metrics=["brier", "ks"])
    whole = pc.measure(rows["one"][kept], rows["is one"][kept], metrics=["brier", "ks"])
    assert found.to_json() == whole.to_json()


def test_axes_and_label(few):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    frame, _ = few
    figure, axes = pyplot.subplots()
    drawn = pcs.plot(frame, "reliability", probs="one", labels="is one", metrics="ece", interval=None, ax=axes, label="new")
    assert drawn is axes and len(axes.lines) + len(axes.collections) + len(axes.patches) > 0
    assert "new" in [text.get_text() for text in figure.findobj(lambda each: hasattr(each, "get_text"))]
    pyplot.close(figure)


# ---- Comparing ----


def test_compare_by_other_columns(few):
    frame, rows = few
    compared = pcs.compare(
        frame,
        test=frame,
        methods=["identity", "temperature"],
        by="log",
        metrics=["brier"],
        logits="z",
        labels="y",
        weights="w",
        groups="site",
        interval=0.9,
        memory_limit="64MiB",
    )
    assert isinstance(compared, pcs.TableComparison) and isinstance(compared.model, pcs.CalibrationModel)
    fitted = pc.Temperature(kind="logits").fit(rows["z"], rows["y"], weights=rows["w"])
    assert compared.chosen == "temperature" and compared.model.calibrator.T_ == fitted.T_
    given = {"weights": rows["w"], "groups": rows["site"], "interval": 0.9, "metrics": ["log", "brier"]}
    whole = pc.measure(fitted.transform(rows["z"]), rows["y"], **given)
    assert compared.results["temperature"].to_json() == whole.to_json()


# ---- pyspark.ml ----


@pytest.fixture(scope="session")
def fewer(few):
    frame, rows = few
    names = ("p", "z", "y", "w", "one", "is one")
    return frame.where("row < 300").coalesce(1).cache(), {name: rows[name][:300] for name in names}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(fewer, name):
    frame, rows = fewer
    model = getattr(pcs, name)(probabilityCol="p", labelCol="y").fit(frame)
    assert model.calibrator.to_json() == getattr(pc, name)().fit(rows["p"], rows["y"]).to_json()


def test_logits_in_estimators(fewer, tmp_path):
    """Also the persistence of an estimator and of a pipeline."""
    frame, rows = fewer
    given = {"probabilityCol": "z", "labelCol": "y", "kind": "logits", "weightCol": "w", "outputCol": "q"}
    estimator = pcs.Temperature(objective="brier", **given)
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    loaded = pcs.Temperature.load(str(tmp_path / "estimator"))
    assert type(loaded) is pcs.Temperature and loaded.uid == estimator.uid
    assert loaded.getMethod() == "temperature:objective=brier" and loaded.getKind() == "logits"
    general = pcs.Calibration(method="temperature:objective=brier", handleInvalid="error", **given)
    general.save(str(tmp_path / "general"))
    pipeline = Pipeline(stages=[pcs.Calibration.load(str(tmp_path / "general"))]).fit(frame)
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = pc.Temperature(objective="brier", kind="logits").fit(rows["z"], rows["y"], weights=rows["w"])
    expected = fitted.transform(rows["z"])
    for model in (loaded.fit(frame), PipelineModel.load(str(tmp_path / "pipeline"))):
        made = model.transform(frame).select("q").toPandas()["q"]
        assert np.array_equal(np.array(made.tolist()), expected)
    given = {"labelCol": "y", "weightCol": "w", "kind": "logits", "metricName": "log", "keepScores": False}
    evaluator = pcs.CalibrationEvaluator(probabilityCol="z", **given)
    assert evaluator.evaluate(frame) == pc.measure(logits=rows["z"], labels=rows["y"], weights=rows["w"], metrics="log").log


def test_rows_of_a_fit_that_change(fewer):
    frame, _ = fewer

    def change(batches):
        for batch in batches:
            drawn = arrow.array([random.random() for _ in range(batch.num_rows)])
            yield arrow.RecordBatch.from_arrays([drawn, batch.column(1)], names=["one", "is one"])

    moving = frame.select("one", "is one").mapInArrow(change, "one double, `is one` boolean")
    estimator = pcs.Platt(probabilityCol="one", labelCol="is one", memoryLimit="1kB")
    with pytest.raises(pc.DataError, match=r"^the rows of this round differ from those of the first"):
        estimator.fit(moving)
