"""propercal.spark on real executors gives the bytes of one process."""

import os
import signal

import numpy as np
import pyarrow as arrow
import pytest
from pyspark.errors import PythonException
from pyspark.ml.functions import array_to_vector
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, DoubleType

import propercal as pc
from propercal import _spark_measure, _spark_ml
from propercal import spark as pcs

METRICS = ["brier", "log", "ece", "sce", "ks"]


# ---- Measuring ----


def test_default_metrics_by_group(df, rows):
    used = df.groupBy(sql.spark_partition_id()).count().count()
    assert 1 < used < df.rdd.getNumPartitions()  # one partition has no rows
    found = pcs.measure(df, probs="p", labels="y", groups="site")
    whole = pc.measure(rows.probs, rows.labels, groups=rows.groups)
    assert found.to_json() == whole.to_json()
    assert list(found.groups) == ["9", "10", "east", "west"]
    assert found.figure().svg == whole.figure().svg


def test_plot_and_report(df, rows, tmp_path):
    given = {"metrics": ["ece", "sce", "brier"], "replicas": 50}
    whole = pc.measure(rows.probs, rows.labels, interval=0.95, **given)
    drawn = pcs.plot(df, probs="p", labels="y", **given)
    assert drawn.svg == pc.plot("reliability", whole).svg
    page = pcs.report(df, probs="p", labels="y", title="A <table>", **given)
    assert page.html == whole.report("A <table>").html and "A &lt;table&gt;" in page.html
    page.save(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert str(whole.verdict)[:40] in text and "checks of rows, are left out" in page.html
    with pytest.raises(pc.UsageError, match="ks-graph"):
        pcs.plot(df, "ks-graph", probs="p", labels="y", **given)


def test_forms_of_scores(df, rows):
    whole = pc.measure(rows.probs, rows.labels, weights=rows.weights, metrics=METRICS)
    vectors = df.withColumn("v", array_to_vector("p")).withColumn("y", sql.col("y").cast("double"))
    given = {"weights": "w", "metrics": METRICS}
    assert pcs.measure(vectors, probs="v", labels="y", **given).to_json() == whole.to_json()
    names = {"classes": rows.names, "weights": rows.weights, "metrics": METRICS}
    named = pc.measure(rows.probs, rows.labels, **names)
    assert pcs.measure(df, probs=rows.names, labels="y", **given).to_json() == named.to_json()


def test_other_kinds(df, rows):
    plain = pc.measure(rows.probs[:, 1], rows.labels == 1, metrics=["brier", "ece"])
    assert pcs.measure(df, probs="one", labels="is one", metrics=["brier", "ece"]).to_json() == (
        plain.to_json()
    )
    logits = pc.measure(logits=rows.logits, labels=rows.labels, metrics="ece")
    one = pcs.measure(df, logits="z", labels="y", metrics="ece", as_frame=True).collect()
    assert len(one) == 1 and one[0].ece == logits.ece and one[0].json == logits.to_json()


def test_rows_move_between_rounds(df, rows, monkeypatch):
    """Each round reads the rows in other partitions and another order."""
    rounds = []

    def moved(table, *request):
        rounds.append(len(rounds) + 1)
        frame = table.frame.repartition(rounds[-1]).sortWithinPartitions("labels", "weights")
        return ask(table._replace(frame=frame), *request)

    ask = _spark_measure.ask
    monkeypatch.setattr(_spark_measure, "ask", moved)
    found = pcs.measure(df, probs="p", labels="y", weights="w", metrics=["ks", "ece:binning=mass"])
    whole = pc.measure(
        rows.probs, rows.labels, weights=rows.weights, metrics=["ks", "ece:binning=mass"]
    )
    assert found.to_json() == whole.to_json()
    assert len(rounds) > 1


def test_intervals_and_nulls(df, rows):
    """Replicas are drawn by the executors; equal rows of other partitions and groups are counted."""
    given = {"metrics": ["ece", "sce", "brier"], "interval": 0.9, "replicas": 50, "seed": 3}
    halves = np.arange(len(rows.labels)) % 2
    frame = df.withColumn("half", sql.col("row") % 2)
    found = pcs.measure(frame, probs="p", labels="y", weights="w", groups="half", **given)
    whole = pc.measure(rows.probs, rows.labels, weights=rows.weights, groups=halves, **given)
    assert found.to_json() == whole.to_json()
    rounded = frame.union(frame).withColumn("one", sql.round("one", 2)).repartition(7).cache()
    few = rounded.select("one", "is one", "half").toPandas()
    assert few["one"].nunique() < 120
    null = {"metrics": ["ece", "brier", "accuracy"], "interval": 0.9, "null": True, "replicas": 50}
    again = pcs.measure(rounded, probs="one", labels="is one", groups="half", **null)
    assert again.to_json() == (
        pc.measure(few["one"], few["is one"], groups=few["half"], **null).to_json()
    )
    numbered = pcs.measure(df, probs="one", labels="is one", ids="row", **{**given, "metrics": "ece"})
    ids = np.arange(len(rows.labels))
    named = pc.measure(rows.probs[:, 1], rows.labels == 1, ids=ids, **{**given, "metrics": "ece"})
    assert numbered.to_json() == named.to_json()


def test_intervals_of_the_default_metrics(df, rows):
    """Enough rows for all of them; of fewer rows, metrics of sorted scores say so."""
    data = pc.simulate(17_000, 3, factor=1.5, seed=1)
    logits, labels = np.asarray(data.logits, float), np.asarray(data.labels)
    table = arrow.table({"z": list(logits), "y": labels}).to_pandas()
    frame = df.sparkSession.createDataFrame(table).repartition(5)
    given = {"interval": 0.95, "replicas": 50, "seed": 3}
    found = pcs.measure(frame, logits="z", labels="y", **given)
    assert found.to_json() == pc.measure(logits=logits, labels=labels, **given).to_json()
    assert found.ks.interval and found.smece.interval
    few = pcs.measure(df, probs="p", labels="y", metrics=["ks", "ece"], **given)
    assert few.ks.interval is None and few.ece.interval
    assert "ks: needs 16384 rows in rounds" in str(few)


def test_one_row_twice(spark, monkeypatch):
    """Intervals of the default metrics, figure, report and comparison; only the round that draws joins equal rows."""
    rng = np.random.default_rng(3)
    where = np.append(np.arange(16_400), [5, 5])
    scores = rng.random(16_400)
    labels = (rng.random(16_400) < 0.1 + 0.8 * scores).astype(np.int32)[where]
    scores = scores[where]
    table = arrow.table({"p": scores, "y": labels, "w": np.full(len(where), 1.25)})
    frame = spark.createDataFrame(table).repartition(2).cache()
    joins, join = [], _spark_measure._joined

    def joined(table):
        joins.append(1)
        return join(table)

    monkeypatch.setattr(_spark_measure, "_joined", joined)
    given = {"interval": 0.95, "replicas": 30}
    whole = pc.measure(scores, labels, **given)
    columns = {"probs": "p", "labels": "y", "replicas": 30}
    assert pcs.measure(frame, interval=0.95, **columns).to_json() == whole.to_json()
    assert whole.ks.interval and whole.smece.interval and len(joins) == 1
    whole = pc.measure(scores, labels, metrics=["ks", "ece"], **given)
    columns["metrics"] = ["ks", "ece"]
    assert pcs.plot(frame, **columns).svg == pc.plot("reliability", whole).svg
    assert pcs.report(frame, **columns).html == whole.report().html
    few = {"methods": ["identity"], "metrics": ["ks"], "interval": 0.9}
    compared = pcs.compare(frame, test=frame, probs="p", labels="y", **few).results["identity"]
    assert compared.to_json() == pc.measure(scores, labels, metrics=["brier", "ks"], interval=0.9).to_json()
    joins.clear()
    found = pcs.measure(frame, weights="w", interval=0.95, **columns)
    assert not joins and "rounds draw rows whose weights are frequencies" in str(found)
    assert found.ks == pc.measure(scores, labels, weights=np.full(len(where), 1.25), metrics="ks").ks


def test_rows_that_change_are_noticed(df):
    """The rows of each reading differ, as of a table that is computed anew."""

    def change(batches):
        import random

        for batch in batches:
            flipped = [random.random() for _ in range(batch.num_rows)]
            yield arrow.RecordBatch.from_arrays([arrow.array(flipped), batch.column(1)], names=["p", "y"])

    frame = df.select("one", "is one").mapInArrow(change, "p double, y boolean")
    sentence = r"^the rows of this round differ from those of the first \(4000 rows then, 4000 now\); store"
    with pytest.raises(pc.DataError, match=sentence):
        pcs.measure(frame, probs="p", labels="y", metrics="ks")


def test_all_scores_on_the_driver(df, rows):
    given = {"metrics": ["auc", "mmce", "ks", "ece"], "interval": 0.9, "replicas": 40, "seed": 2}
    found = pcs.measure(df, probs="one", labels="is one", keep_scores=True, **given)
    assert found.to_json() == pc.measure(rows.probs[:, 1], rows.labels == 1, **given).to_json()
    with pytest.raises(pc.UsageError, match="^auc needs every score.*keep_scores=True does$"):
        pcs.measure(df, probs="one", labels="is one", metrics="auc")
    named = {"probabilityCol": "one", "labelCol": "is one", "metricName": "spiegelhalter"}
    evaluator = pcs.CalibrationEvaluator(keepScores=True, **named)
    assert evaluator.evaluate(df) == pc.measure(
        rows.probs[:, 1], rows.labels == 1, metrics="spiegelhalter"
    ).spiegelhalter


def refused(frame, sentence, kind=pc.DataError, **given):
    with pytest.raises(kind) as found:
        pcs.measure(frame, **{"probs": "p", "labels": "y", "metrics": "brier", **given})
    assert str(found.value) == sentence


def test_missing_rows(df, rows):
    gaps = df.withColumn("p", sql.when(sql.col("row") % 1000 != 17, sql.col("p")))
    kept = np.arange(len(rows.labels)) % 1000 != 17
    found = pcs.measure(gaps, probs="p", labels="y", metrics="brier", skip_missing=True)
    assert found.brier == pc.brier(rows.probs[kept], rows.labels[kept])
    assert found.to_dict()["data"]["skipped_rows"] == 4
    with pytest.raises(pc.DataError, match=r"^partition \d: probs, row \d+, column 0: the score is"):
        pcs.measure(gaps, probs="p", labels="y", metrics="brier")


def test_bad_input(df):
    one = df.coalesce(1)
    labels = one.withColumn("y", sql.when(sql.col("row") == 17, 9).otherwise(sql.col("y")))
    short = one.withColumn("p", sql.when(sql.col("row") == 17, sql.slice("p", 1, 3)).otherwise(sql.col("p")))
    with pytest.raises(pc.DataError, match=r"^partition 0: .*the list has 3 values and the first one 4"):
        pcs.measure(short, probs="p", labels="y", metrics="brier")
    with pytest.raises(pc.DataError, match=r"^partition 0: labels, row \d+: .*9"):
        pcs.measure(labels, probs="p", labels="y", metrics="brier")
    everywhere = df.repartitionByRange(4, "row")  # of bad rows in all partitions, that of the first counts
    everywhere = everywhere.withColumn("y", sql.when(sql.col("row") % 300 == 17, 9).otherwise(sql.col("y")))
    with pytest.raises(pc.DataError, match=r"^partition 0: labels, row \d+: .*9"):
        pcs.measure(everywhere, probs="p", labels="y", metrics="brier")
    refused(df.where("row < 0"), "the table has no rows; give at least one")
    refused(
        df,
        'there is no column "q"; the table has ' + ", ".join(df.columns),
        kind=pc.UsageError,
        probs="q",
    )
    refused(df, "probs goes with labels; name its column", kind=pc.UsageError, labels=None)
    refused(
        df,
        "skce:estimator=block forms blocks of consecutive rows, and the rows of a Spark table have "
        "no order; collect the rows, or use another metric",
        kind=pc.UsageError,
        metrics="skce:estimator=block",
    )


def test_lists_of_unequal_length(df):
    """The first bad row by partition and position, in any batch (of 300 rows)."""
    one = df.coalesce(1).sortWithinPartitions("row")
    sentence = "partition {}: probs, row {}: the list has 3 values and the first one 4; give lists of equal length"

    def short(frame, bad):
        return frame.withColumn("p", sql.when(bad, sql.slice("p", 1, 3)).otherwise(sql.col("p")))

    for row in (301, 600, 1017):
        refused(short(one, sql.col("row") >= row), sentence.format(0, row))
    none = sql.when(sql.col("row") != 900, sql.col("p"))
    gap = short(one, sql.col("row") == 901).withColumn("p", none)
    refused(
        gap,
        "partition 0: probs, row 900, column 0: the score is missing (NaN); remove the row or pass skip_missing=True",
    )
    refused(gap, sentence.format(0, 901), skip_missing=True)
    parts = df.repartitionByRange(4, "row").sortWithinPartitions("row").cache()
    number = parts.select("row", sql.spark_partition_id().alias("part")).toPandas().sort_values(["part", "row"])
    number["position"] = number.groupby("part").cumcount()
    for first in (int(number[number.part == 2].row.min()), 3990):
        bad = number[number.row >= first].iloc[0]
        for more in ({}, {"keep_scores": True}):
            refused(short(parts, sql.col("row") >= first), sentence.format(bad.part, bad.position), **more)
    bad = short(parts, sql.col("row") >= first)
    with pytest.raises(pc.DataError, match="^partition 3: probs, row .* has 3 values and the first one 4"):
        pcs.Isotonic(probabilityCol="p", labelCol="y", memoryLimit="100kB").fit(bad)


# ---- Failures of executors ----


def test_an_executor_dies(df, rows, tmp_path):
    """The first worker that gets a row kills its own executor."""
    if df.sparkSession.sparkContext.master.startswith("local["):
        pytest.skip("there are no executors to kill")
    marker = str(tmp_path / "killed")

    def kill_once(batches):
        # the parent of a worker is a daemon, whose parent is the executor
        with open(f"/proc/{os.getppid()}/stat", encoding="ascii") as file:
            executor = int(file.read().rpartition(")")[2].split()[1])
        for batch in batches:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
                continue
            os.kill(executor, signal.SIGKILL)

    columns = df.select("p", "y", "w", "site")
    frame = columns.mapInArrow(kill_once, columns.schema)
    found = pcs.measure(frame, probs="p", labels="y", weights="w", groups="site", metrics=METRICS)
    assert os.path.exists(marker)
    given = {"weights": rows.weights, "groups": rows.groups, "metrics": METRICS}
    assert found.to_json() == pc.measure(rows.probs, rows.labels, **given).to_json()


# ---- pyspark.ml ----


def test_evaluator_and_estimators(df, rows, tmp_path):
    vectors = df.select(array_to_vector("p").alias("probability"), sql.col("y").alias("label"), "p")
    evaluator = pcs.CalibrationEvaluator(metricName="brier", probabilityCol="calibrated")
    estimator = pcs.Calibration()
    grid = ParamGridBuilder().addGrid(estimator.method, ["identity", "temperature"]).build()
    search = CrossValidator(
        estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1
    )
    best = search.fit(vectors).bestModel
    assert best.getMethod() == "temperature" and not evaluator.isLargerBetter()
    fitted = pc.Temperature().fit(rows.probs, rows.labels)
    assert best.calibrator.T_ == fitted.T_
    best.write().overwrite().save(str(tmp_path / "model"))
    loaded = pcs.CalibrationModel.load(str(tmp_path / "model"))
    assert loaded.calibrator.to_json() == fitted.to_json() and loaded.uid == best.uid
    evaluator.save(str(tmp_path / "evaluator"))
    assert pcs.CalibrationEvaluator.load(str(tmp_path / "evaluator")).getMetricName() == "brier"
    made = loaded.transform(vectors)
    assert made.schema["calibrated"].dataType == vectors.schema["probability"].dataType
    assert evaluator.evaluate(made) == pc.brier(fitted.transform(rows.probs), rows.labels)


def test_transform_keeps_forms_and_nulls(df, rows):
    model = pcs.Isotonic(labelCol="is one", probabilityCol="one").fit(df)
    made = model.transform(df)
    assert made.schema["calibrated"].dataType == DoubleType()
    assert made.columns == [*df.columns, "calibrated"]
    table = made.select("row", "calibrated").toArrow().sort_by("row")
    fitted = pc.Isotonic().fit(rows.probs[:, 1], rows.labels == 1)
    assert np.array_equal(table.column("calibrated").to_numpy(), fitted.transform(rows.probs[:, 1]))
    gaps = df.withColumn("p", sql.when(sql.col("row") > 99, sql.col("p")))
    keep = pcs.Temperature(
        objective="brier", probabilityCol="p", labelCol="y", outputCol="q", handleInvalid="keep"
    ).fit(df.where("row > 99"))
    made = keep.transform(gaps)
    assert made.schema["q"].dataType == ArrayType(DoubleType())
    assert made.where("q is null").count() == 100
    assert keep.getMethod() == "temperature:objective=brier"


def test_positions_beside_nulls(df):
    """Rows that handleInvalid="keep" leaves out count for the positions of others."""
    model = pcs.Temperature(probabilityCol="p", labelCol="y", outputCol="q", handleInvalid="keep").fit(df)
    one = df.coalesce(1).sortWithinPartitions("row").withColumn("p", sql.when(sql.col("row") > 99, sql.col("p")))
    for row in (150, 450):
        bad = one.withColumn(
            "p", sql.when(sql.col("row") == row, sql.array_repeat(sql.lit(0.5), 4)).otherwise(sql.col("p"))
        )
        with pytest.raises(PythonException, match=f"partition 0: probs, row {row}: "):
            model.transform(bad).count()


def test_large_tables_are_fitted_in_rounds(df, rows, monkeypatch):
    """Each round reads the rows in other partitions and another order."""
    rounds = []

    def moved(table, *request):
        rounds.append(len(rounds) + 1)
        frame = table.frame.repartition(len(rounds) % 3 + 1).sortWithinPartitions("labels")
        return ask(table._replace(frame=frame), *request)

    ask = _spark_ml.ask
    monkeypatch.setattr(_spark_ml, "ask", moved)
    given = {"probabilityCol": "p", "labelCol": "y", "weightCol": "w", "memoryLimit": "100kB"}
    for method, unfitted in (("temperature", pc.Temperature()), ("isotonic", pc.Isotonic())):
        rounds.clear()
        model = pcs.Calibration(method=method, **given).fit(df)
        fitted = unfitted.fit(rows.probs, rows.labels, weights=rows.weights)
        assert model.calibrator.to_json() == fitted.to_json()
        assert len(rounds) == 2 if method == "isotonic" else len(rounds) > 1
    wrong = df.coalesce(1).withColumn("y", sql.when(sql.col("row") == 17, 9).otherwise(sql.col("y")))
    with pytest.raises(pc.DataError, match=r"^partition \d: labels, row \d+: .*9"):
        pcs.Temperature(**given).fit(wrong)


def test_a_batch_of_nulls_in_a_fit_by_rounds(spark, df):
    """Batches of nulls alone have a type of their own, beside batches of lists."""
    gaps = df.coalesce(1).sortWithinPartitions("row")
    gaps = gaps.withColumn("p", sql.when(sql.col("row") < 150, None).otherwise(sql.col("p")))
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        with pytest.raises(pc.DataError, match="^partition 0: probs, row 0"):
            pcs.Temperature(probabilityCol="p", labelCol="y", memoryLimit="1kB").fit(gaps)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_columns_of_classes_in_estimators(df, rows):
    """A column for each class, labels by their names; rounds tell their progress."""
    named = df.withColumn("name", sql.concat(sql.lit("class "), sql.col("y")))
    fitted = pc.Temperature().fit(rows.probs, rows.labels, classes=rows.names)
    seen = []
    for limit, progress in (("256MiB", None), ("100kB", lambda what, done, total: seen.append((what, done)))):
        given = {"probabilityCols": rows.names, "labelCol": "name", "memoryLimit": limit, "progress": progress}
        model = pcs.Temperature(**given).fit(named)
        assert model.calibrator.to_json() == fitted.to_json()
    assert seen[:2] == [("readings of the table", 1), ("readings of the table", 2)]
    made = model.transform(named)
    assert made.schema["calibrated"].dataType == ArrayType(DoubleType())
    found = np.array(made.orderBy("row").toPandas()["calibrated"].tolist())
    assert np.array_equal(found, fitted.transform(rows.probs))
    evaluator = pcs.CalibrationEvaluator(probabilityCols=rows.names, labelCol="name")
    assert evaluator.evaluate(named) == pc.brier(rows.probs, rows.labels)


def test_few_answers_reach_the_driver(df, rows, monkeypatch):
    """Of 60 partitions, with the settings of shuffles that Spark starts with."""
    counts = []

    def counted(answers, merge):
        found = list(answers)
        counts.append(len(found))
        return conclude(found, merge)

    conclude = _spark_measure.conclude
    monkeypatch.setattr(_spark_measure, "conclude", counted)
    session = df.sparkSession
    session.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        found = pcs.measure(df.repartition(60), probs="p", labels="y", metrics="brier")
    finally:
        session.conf.set("spark.sql.shuffle.partitions", "2")
    assert found.brier == pc.brier(rows.probs, rows.labels)
    assert counts[0] <= _spark_measure.MERGERS


def test_fits_are_exact_or_refused(df):
    with pytest.raises(pc.UsageError) as found:
        pcs.MatrixODIR(probabilityCol="p", labelCol="y", memoryLimit="100kB").fit(df)
    assert str(found.value) == (
        "fitting matrix-odir needs all 4000 rows, 160000 bytes, in the memory of the driver, and "
        "memoryLimit is 100000; fit on a sample, such as df.sample(0.31, seed=0), or raise "
        "memoryLimit"
    )


def test_compare(df, rows):
    """Each calibrator and each result is that of one process."""
    first = np.arange(len(rows.labels)) < 2000
    given = {"probs": "p", "labels": "y", "metrics": ["ece"], "interval": 0.9}
    found = pcs.compare(df.where("row < 2000"), test=df.where("row >= 2000"), **given)
    assert list(found.results)[-1] == "identity" and found.model is found.models[found.chosen]
    fitted = pc.Temperature().fit(rows.probs[first], rows.labels[first])
    whole = pc.measure(
        fitted.transform(rows.probs[~first]), rows.labels[~first], metrics=["brier", "ece"], interval=0.9
    )
    assert found.models["temperature"].calibrator.to_json() == fitted.to_json()
    assert found.results["temperature"].to_json() == whole.to_json()
    table = found.to_pandas()
    assert list(table.columns) == ["brier", "ece"] and table.index[0] == found.chosen
    assert table["brier"].is_monotonic_increasing
    assert repr(found).splitlines()[0].split() == ["method", "brier", "ece"]
    with pytest.raises(pc.UsageError, match="^name the column of scores"):
        pcs.compare(df, test=df, labels="y")
    with pytest.raises(pc.UsageError, match="^neither low nor high values of oe-ratio are better"):
        pcs.compare(df, test=df, probs="p", labels="y", by="oe-ratio")
