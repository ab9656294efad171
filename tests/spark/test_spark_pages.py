"""The code that pages and docstrings show for Apache Spark runs on executors, with tables of their names."""

import pathlib
import re

import pytest
from pyspark.sql import functions as sql
from spark_cluster import check_docstring, check_page, docstrings, page_sections, page_table

import propercal as pc
from propercal import spark as pcs

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "spark.md"
SECTIONS, DOCSTRINGS = page_sections("spark"), docstrings("spark")


@pytest.fixture(scope="module")
def places(spark, tmp_path_factory):
    """A folder in place of a store of objects, with the table that is read from there."""
    folder = tmp_path_factory.mktemp("store")
    table = spark.createDataFrame(page_table())
    table.repartition(2).write.parquet((folder / "logs" / "predictions").as_uri())
    return {"s3://": folder.as_uri() + "/"}


@pytest.fixture(scope="module")
def given(spark, places):
    df = spark.read.parquet(places["s3://"] + "logs/predictions").cache()
    validation, test = df.where("row % 2 = 0"), df.where("row % 2 = 1")
    return {"spark": spark, "df": df, "validation": validation, "test": test, "predictions": df}


@pytest.mark.parametrize("page, found", SECTIONS)
def test_page(page, found, given, places):
    names = {**given}
    if page == PAGE:
        del names["df"]  # the page reads it itself
    check_page(page, found, names, places)


@pytest.mark.parametrize("path, name, text", DOCSTRINGS)
def test_docstring(path, name, text, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_docstring(path, name, text, given)


def test_there_are_some():
    assert {param.values[0].name for param in SECTIONS} == {"spark.md"} and len(SECTIONS) == 5
    assert {param.values[0].stem for param in DOCSTRINGS} == {"_spark_ml", "spark"}


def test_the_sentence_about_a_bad_row(given):
    """Row 17 of partition 3 has no score."""
    (shown,) = re.findall(r"^DataError: (partition 3: .*)$", PAGE.read_text(encoding="utf-8"), re.M)
    bad = sql.when(sql.col("row") == 617, sql.array(sql.lit(None).cast("double"), sql.lit(0.5))).otherwise(sql.col("probability"))
    table = given["df"].repartitionByRange(4, sql.floor(sql.col("row") / 200)).sortWithinPartitions("row")
    with pytest.raises(pc.DataError) as found:
        pcs.measure(table.withColumn("probability", bad), probs="probability", labels="label")
    assert str(found.value) == shown
