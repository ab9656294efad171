"""Fixtures: a small cluster of real executors, and tables with known results."""

import os
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

ROWS, CLASSES = 4000, 4
#: two executors; "local[2]" is one process, for a quick look
MASTER = os.environ.get("PROPERCAL_SPARK_MASTER", "local-cluster[2,1,1024]")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
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


@pytest.fixture(scope="session")
def rows():
    return Rows()


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).appName("propercal")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
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
