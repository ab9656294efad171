"""Fixtures: a small cluster of real executors, and tables with known results; and what runs the code of pages and
docstrings on clusters."""

import os
import pathlib
import sys

import numpy as np
import pyarrow as arrow
import pytest

os.environ.update(
    PYSPARK_PYTHON=sys.executable,
    PYSPARK_DRIVER_PYTHON=sys.executable,
    SPARK_LOCAL_IP="127.0.0.1",
    SPARK_LOCAL_HOSTNAME="localhost",
)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import run_docstrings  # noqa: E402
import run_pages  # noqa: E402

ROWS, CLASSES = 4000, 4
#: two executors; "local[2]" is one process, for a quick look
MASTER = os.environ.get("PROPERCAL_SPARK_MASTER", "local-cluster[2,1,1024]")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
    "spark.sql.parquet.compression.codec": "gzip",  # snappy needs a library that does not load where musl is installed
}


class Rows:
    """Predictions that are too confident, with weights and groups."""

    def __init__(self):
        rng = np.random.default_rng(7)
        truth = rng.normal(size=(ROWS, CLASSES))
        noise = rng.gumbel(size=truth.shape)
        self.logits = 2 * truth
        self.labels = (truth + noise).argmax(axis=1).astype(np.int32)
        exp = np.exp(self.logits)
        self.probs = exp / exp.sum(axis=1, keepdims=True)
        self.weights = np.arange(ROWS) % 4 + 1.0
        self.groups = np.array(["west", "east", "10", "9"])[np.arange(ROWS) % 4]
        self.names = [f"class {k}" for k in range(CLASSES)]

    def table(self):
        columns = {
            "p": arrow.array(list(self.probs)),
            "z": arrow.array(list(self.logits)),
            "y": self.labels,
            "w": self.weights,
            "site": self.groups,
            "one": self.probs[:, 1],
            "is one": self.labels == 1,
            "row": np.arange(ROWS),
        }
        columns |= {name: self.probs[:, k] for k, name in enumerate(self.names)}
        return arrow.table(columns)


def page_sections(*kinds):
    """The sections of docs that call propercal on these kinds of clusters, as parameters: page, blocks."""
    docs = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
    return [
        pytest.param(page, found, id=f"{page.stem}-{title}".rstrip("-").replace(" ", "-"))
        for page in sorted(docs.rglob("*.md"))
        for title, found in run_pages.sections(page.read_text(encoding="utf-8"))
        if run_pages.clusters(found) & {*kinds}
    ]


def docstrings(*kinds):
    """The docstrings with examples for these kinds of clusters, as parameters: file, name, text."""
    return [
        pytest.param(path, name, text, id=f"{path.stem}-{name}")
        for path, kind in run_docstrings.files()
        if kind in kinds
        for name, text in run_docstrings.docstrings(path)
    ]


def check_page(page, found, given, places=None):
    """Runs the blocks of a section and compares what they print with what the page shows."""
    for block, said in zip(found, run_pages.run(found, given, places)[0]):
        if block.has_output:
            assert run_pages.agree(said, block.shown), f"{page.name}: {block.code}\nprints\n\n{said}"


def check_docstring(path, name, text, given):
    count, complaint = run_docstrings.run(path, name, text, given)
    assert count > 0 and complaint == ""


def page_table(count=800):
    """The table that pages and docstrings take for granted: its columns have the names that they use."""
    rng = np.random.default_rng(3)
    dog = rng.uniform(0.001, 0.999, count)
    label = (rng.random(count) < 0.1 + 0.8 * dog).astype(np.int32)
    probs = np.column_stack([1 - dog, dog])
    return arrow.table({
        "probability": arrow.array(list(probs)),
        "label": label,
        "site": np.array(["berlin", "paris"])[np.arange(count) % 2],
        "p_cat": probs[:, 0],
        "p_dog": probs[:, 1],
        "row": np.arange(count),
    })  # fmt: skip


@pytest.fixture(scope="session")
def rows():
    return Rows()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).appName("propercal")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    warehouse = tmp_path_factory.mktemp("warehouse")
    session = builder.config("spark.sql.warehouse.dir", warehouse.as_uri()).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def df(spark, rows):
    """Three partitions, one of them without rows."""
    from pyspark.sql import functions as sql

    frame = spark.createDataFrame(rows.table())
    part = sql.when(sql.col("row") < 1000, 0).otherwise(5)
    return frame.repartitionByRange(3, part, sql.col("row") % 2 * part).cache()
