"""propercal.dask and propercal.ray on real clusters give the bytes of one process; skipped without them."""

import numpy as np
import pyarrow as arrow
import pytest
from spark_cluster import check_docstring, check_page, docstrings, page_sections, page_table

import propercal as pc

METRICS = ["brier", "ece", "ks", "smece", "hosmer-lemeshow"]


def frame_of(rows):
    return rows.table().to_pandas()


def check(measure, table, rows):
    """Arrays, weights and groups; columns by class; intervals by ids."""
    given = {"weights": "w", "groups": "site", "metrics": METRICS}
    whole = pc.measure(rows.probs, rows.labels, weights=rows.weights, groups=rows.groups, metrics=METRICS)
    seen = []
    found = measure(table, probs="p", labels="y", progress=lambda *words: seen.append(words), **given)
    assert found.to_json() == whole.to_json() and len(seen) > 1
    named = pc.measure(rows.probs, rows.labels, classes=rows.names, metrics=METRICS)
    assert measure(table, probs=rows.names, labels="y", metrics=METRICS).to_json() == named.to_json()
    drawn = {"metrics": "ece", "interval": 0.9, "null": True, "replicas": 40, "seed": 5}
    ids = np.arange(len(rows.labels))
    with_ids = pc.measure(rows.probs[:, 1], rows.labels == 1, ids=ids, **drawn)
    assert measure(table, probs="one", labels="is one", ids="row", **drawn).to_json() == with_ids.to_json()


def refused(measure, table, sentence, kind=pc.UsageError, **given):
    with pytest.raises(kind) as found:
        measure(table, **{"labels": "y", "metrics": "brier", **given})
    assert str(found.value) == sentence


def check_refusals(measure, table, system):
    refused(measure, table, "name the column of scores by one of probs, logits, log_probs, confidence")
    refused(
        measure, table, 'there is no argument "intervall"; choose among probs, logits, log_probs, confidence, '
        "labels, correct, groups, weights, ids, interval, null, replicas, interval_method, normalize, skip_missing",
        probs="p", intervall=0.9,
    )  # fmt: skip
    refused(
        measure, table, "skce:estimator=block forms blocks of consecutive rows, and the rows of a "
        f"{system} table have no order; collect the rows, or use another metric",
        probs="p", metrics="skce:estimator=block",
    )  # fmt: skip


def check_nulls(measure, tables, rows):
    """Tables whose first rows lack the arrays or the labels, a whole partition of them without a type."""
    kept = slice(1000, None)
    whole = pc.measure(rows.probs[kept], rows.labels[kept], metrics=["brier", "ks"])
    for table, missing in zip(tables, ("probs, row 0, column 0: the score is", "labels, row 0: the label is")):
        given = {"probs": "p", "labels": "y", "metrics": ["brier", "ks"]}
        with pytest.raises(pc.DataError, match=f" 0: {missing} missing"):
            measure(table, **given)
        found = measure(table, **given, skip_missing=True)
        assert (found.brier, found.ks, found.to_dict()["data"]["skipped_rows"]) == (whole.brier, whole.ks, 1000)


# ---- Dask ----


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # else from_pandas turns arrays into text
    with dask.config.set({"dataframe.convert-string": False}), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as one:
        yield one


def test_dask(client, rows):
    dask = pytest.importorskip("dask.dataframe")
    from propercal import dask as pcd

    frame = frame_of(rows)
    table = dask.from_pandas(frame, npartitions=18)  # answers are merged in two steps
    check(pcd.measure, table, rows)
    with_empty = dask.from_pandas(frame, npartitions=4)
    few = with_empty[with_empty["row"] >= 2500]  # partitions without rows
    kept = np.arange(len(rows.labels)) >= 2500
    whole = pc.measure(rows.probs[kept], rows.labels[kept], metrics=METRICS)
    assert pcd.measure(few, probs="p", labels="y", metrics=METRICS).to_json() == whole.to_json()
    none = "the table has no rows; give at least one"
    refused(pcd.measure, with_empty[with_empty["row"] < 0], none, pc.DataError, probs="p")
    check_refusals(pcd.measure, table, "Dask")


def test_dask_bad_rows(client, rows):
    dask = pytest.importorskip("dask.dataframe")
    from propercal import dask as pcd

    frame = frame_of(rows)
    frame.loc[[2017, 3990], "y"] = 9
    table = dask.from_pandas(frame, npartitions=4)
    with pytest.raises(pc.DataError, match=r"^partition 2: labels, row 17: .*9") as found:
        pcd.measure(table, probs="p", labels="y", metrics="brier")
    assert found.value.row == 17
    frame["one"] = frame["one"].where(frame["row"] % 1000 != 17)
    table = dask.from_pandas(frame, npartitions=4)
    with pytest.raises(pc.DataError, match="^partition 0: .*row 17.*missing"):
        pcd.measure(table, probs="one", labels="is one", metrics="brier")
    found = pcd.measure(table, probs="one", labels="is one", metrics="brier", skip_missing=True)
    kept = np.arange(len(rows.labels)) % 1000 != 17
    assert found.brier == pc.brier(rows.probs[kept, 1], rows.labels[kept] == 1)


def test_dask_nulls(client, rows):
    dask = pytest.importorskip("dask.dataframe")
    from propercal import dask as pcd

    tables = []
    for name in ("p", "y"):
        frame = frame_of(rows)
        frame[name] = frame[name].astype(object).where(frame["row"] >= 1000, None)
        tables.append(dask.from_pandas(frame, npartitions=4))
    check_nulls(pcd.measure, tables, rows)


def test_dask_rows_that_change(client, rows):
    dask = pytest.importorskip("dask.dataframe")
    from propercal import dask as pcd

    def change(frame):
        return frame.assign(one=np.random.default_rng().random(len(frame)))

    table = dask.from_pandas(frame_of(rows)[["one", "is one"]], npartitions=3).map_partitions(change)
    with pytest.raises(pc.DataError, match="^the rows of this round differ from those of the first"):
        pcd.measure(table, probs="one", labels="is one", metrics="ks")


# ---- Ray ----


@pytest.fixture(scope="module")
def ray():
    module = pytest.importorskip("ray")
    module.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    module.data.DataContext.get_current().enable_progress_bars = False
    yield module
    module.shutdown()


def test_ray(ray, rows):
    from propercal import ray as pcr
    from ray.data.expressions import col

    arrow_table = rows.table()
    table = ray.data.from_arrow([arrow_table.slice(at, 700) for at in range(0, arrow_table.num_rows, 700)])
    before = table.context.execution_options.preserve_order
    check(pcr.measure, table, rows)
    assert table.context.execution_options.preserve_order == before
    check_refusals(pcr.measure, table, "Ray")
    few = table.filter(expr=col("row") >= 2500)  # blocks without rows
    kept = np.arange(len(rows.labels)) >= 2500
    whole = pc.measure(rows.probs[kept], rows.labels[kept], metrics=METRICS)
    assert pcr.measure(few, probs="p", labels="y", metrics=METRICS).to_json() == whole.to_json()


def test_ray_bad_rows(ray, rows):
    from propercal import ray as pcr

    labels = rows.labels.copy()
    labels[[2017, 3990]] = 9
    arrow_table = rows.table()
    arrow_table = arrow_table.set_column(arrow_table.schema.get_field_index("y"), "y", [labels])
    table = ray.data.from_arrow([arrow_table.slice(at, 1000) for at in range(0, 4000, 1000)])
    with pytest.raises(pc.DataError, match=r"^block 2: labels, row 17: .*9") as found:
        pcr.measure(table, probs="p", labels="y", metrics="brier")
    assert found.value.row == 17


def test_ray_nulls(ray, rows):
    from propercal import ray as pcr

    tables = []
    for name in ("p", "y"):
        blocks = [rows.table().slice(at, 1000) for at in range(0, 4000, 1000)]
        place = blocks[0].schema.get_field_index(name)
        blocks[0] = blocks[0].set_column(place, name, arrow.nulls(1000))
        tables.append(ray.data.from_arrow(blocks))
    check_nulls(pcr.measure, tables, rows)


# ---- What pages and docstrings show ----


@pytest.fixture(scope="module")
def given(client, ray):
    """The tables that they take for granted."""
    dask = pytest.importorskip("dask.dataframe")
    table = page_table()
    return {"ddf": dask.from_pandas(table.to_pandas(), npartitions=3), "ds": ray.data.from_arrow(table)}


SECTIONS, DOCSTRINGS = page_sections("dask", "ray"), docstrings("dask", "ray")


@pytest.mark.parametrize("page, found", SECTIONS)
def test_page(page, found, given):
    check_page(page, found, given)


@pytest.mark.parametrize("path, name, text", DOCSTRINGS)
def test_docstring(path, name, text, given):
    check_docstring(path, name, text, given)


def test_there_are_some():
    assert [param.values[0].name for param in SECTIONS] == ["rounds.md"] and len(SECTIONS[0].values[1]) == 3
    assert [param.values[0].stem for param in DOCSTRINGS] == ["dask", "ray"]
