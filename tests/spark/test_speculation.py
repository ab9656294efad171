"""A task that Spark starts twice counts once."""

import os
import socket
import subprocess
import sys

import pyarrow as arrow
import pyspark
import pytest

import propercal as pc

# Copies of slow tasks start on other hosts only, so this cluster has two, of the same machine.
HOSTS = ("127.0.0.2", "127.0.0.3")

DRIVER = """
import os, sys, time
import pyarrow as arrow
from pyspark.sql import SparkSession
from propercal import spark as pcs

master, path, folder = sys.argv[1:]
settings = {
    "spark.ui.enabled": "false",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.2",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
}
builder = SparkSession.builder.master(master)
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")


def wait_for_copy(batches):
    from pyspark import TaskContext

    first = TaskContext.get().partitionId() == 0
    for number, batch in enumerate(batches):
        if first and number == 0:
            try:
                os.close(os.open(os.path.join(folder, "first"), os.O_CREAT | os.O_EXCL))
            except FileExistsError:  # the copy
                open(os.path.join(folder, "copy"), "w").close()
            for _ in range(1200):
                if os.path.exists(os.path.join(folder, "copy")):
                    break
                time.sleep(0.1)
        yield batch


table = arrow.ipc.open_file(path).read_all().select(["p", "y"])
frame = session.createDataFrame(table).repartition(6)
frame = frame.mapInArrow(wait_for_copy, frame.schema)
print(pcs.measure(frame, probs="p", labels="y", metrics=["brier", "ece", "sce"]).to_json(), end="")
session.stop()
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture()
def cluster(tmp_path):
    """The address of a master with one worker on each host."""
    program = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    shared = ["--webui-port", "0"]
    words = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), *shared]
    started = []

    def start(*words, **environment):
        full = {**os.environ, **environment}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([program, *words], env=full, **silent))

    try:
        start(*words)
        for host in HOSTS:
            place = ["--host", host, "-c", "1", "-m", "512m", "-d", str(tmp_path / host), *shared]
            start("org.apache.spark.deploy.worker.Worker", *place, address, SPARK_LOCAL_IP=host)
        yield address
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def test_a_task_runs_twice(cluster, rows, tmp_path):
    path, folder = str(tmp_path / "rows.arrow"), tmp_path / "marks"
    folder.mkdir()
    table = rows.table()
    with arrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    for host in HOSTS:
        (tmp_path / host).mkdir(exist_ok=True)
    words = [sys.executable, "-c", DRIVER, cluster, path, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(os.listdir(folder)) == ["copy", "first"]
    whole = pc.measure(rows.probs, rows.labels, metrics=["brier", "ece", "sce"])
    assert done.stdout == whole.to_json()
