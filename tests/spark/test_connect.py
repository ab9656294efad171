"""propercal.spark over Spark Connect gives the bytes of one process."""

import subprocess
import sys

import pyarrow as arrow

import propercal as pc

CONNECT = """
import sys
import pyarrow as arrow
from pyspark.sql import SparkSession
from propercal import spark as pcs
session = SparkSession.builder.remote("local[2]").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "2")
table = arrow.ipc.open_file(sys.argv[1]).read_all()
frame = session.createDataFrame(table)
print(pcs.measure(frame, probs="p", labels="y", groups="site").to_json(), end="")
model = pcs.Temperature(probabilityCol="p", labelCol="y", memoryLimit="100kB").fit(frame)
print(model.calibrator.to_json(), end="")
print(model.transform(frame).where("size(calibrated) = 4").count())
given = {"probs": "one", "labels": "is one", "metrics": ["ece", "brier"], "interval": 0.9, "replicas": 30}
print(pcs.plot(frame, **given).svg, end="")
print(pcs.report(frame, title="Over Connect", **given).html, end="")
compared = pcs.compare(frame, test=frame, methods=["isotonic"], metrics=["ece"], probs="one", labels="is one")
print(compared.results["isotonic"].to_json(), end="")
session.stop()
"""


def test_spark_connect(rows, tmp_path):
    """In a process of its own, with a server that PySpark starts."""
    path = str(tmp_path / "rows.arrow")
    table = rows.table()
    with arrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    words = [sys.executable, "-c", CONNECT, path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    whole = pc.measure(rows.probs, rows.labels, groups=rows.groups).to_json()
    fitted = pc.Temperature().fit(rows.probs, rows.labels).to_json()
    given = {"metrics": ["ece", "brier"], "interval": 0.9, "replicas": 30}
    one, labels = rows.probs[:, 1], rows.labels == 1
    result = pc.measure(one, labels, **given)
    shown = pc.plot("reliability", result).svg + result.report("Over Connect").html
    scores = pc.Isotonic().fit(one, labels).transform(one)
    compared = pc.measure(scores, labels, metrics=["brier", "ece"]).to_json()
    assert done.stdout == whole + fitted + "4000\n" + shown + compared
