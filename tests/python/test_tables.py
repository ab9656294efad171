"""What a user of pandas, polars, DuckDB or Excel has: tables with missing values, words and categories."""

import ntpath
import subprocess
import sys

import numpy as np
import pytest

import propercal as pc

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    score = random.uniform(size=400)
    outcome = random.uniform(size=400) < score**2
    return score, outcome


@pytest.fixture(scope="module")
def table(rows):
    score, outcome = rows
    return pandas.DataFrame({"p": score, "y": np.where(outcome, "malignant", "benign")})


def test_words_with_a_positive_label(rows, table):
    score, outcome = rows
    expected = pc.ece(score, outcome)
    assert pc.ece(score, table["y"], pos_label="malignant") == expected
    assert pc.ece(score, table["y"].tolist(), pos_label="malignant") == expected
    assert pc.ece(score, table["y"].astype("category"), pos_label="malignant") == expected
    assert pc.measure(data=table, probs="p", labels="y", pos_label="malignant", metrics="ece").ece == expected
    assert pc.ece(score, np.where(outcome, 2, 1), pos_label=2) == expected
    assert pc.ece(score, outcome.tolist(), pos_label=True) == expected
    with pytest.raises(pc.UsageError, match="pos_label='Malignant' is none of the labels; they are 'benign', 'malignant'"):
        pc.ece(score, table["y"], pos_label="Malignant")


def test_nullable_columns(rows):
    score, outcome = rows
    labels = pandas.array(outcome.astype(int), dtype="Int64")
    labels[5] = pandas.NA
    kept = np.arange(len(score)) != 5
    expected = pc.ece(score[kept], outcome[kept])
    assert pc.ece(pandas.Series(score, dtype="Float64"), pandas.Series(labels), skip_missing=True) == expected
    flags = pandas.Series(outcome, dtype="boolean")
    flags[5] = pandas.NA
    assert pc.ece(score, flags, skip_missing=True) == expected
    words = pandas.Series(np.where(outcome, "yes", "no"), dtype="string")
    words[5] = pandas.NA
    assert pc.ece(score, words, pos_label="yes", skip_missing=True) == expected
    with pytest.raises(pc.DataError, match="row 5.*missing"):
        pc.ece(score, pandas.Series(labels))


def test_categories_are_names_of_columns(digits):
    probs = pandas.DataFrame(digits.probs, columns=digits.names)
    labels = pandas.Categorical.from_codes(digits.labels, digits.names)
    assert pc.ece(probs, pandas.Series(labels)) == pc.ece(digits.probs, digits.labels)


def test_polars(rows, table):
    polars = pytest.importorskip("polars")
    score, outcome = rows
    frame = polars.DataFrame({"p": score, "y": table["y"].tolist(), "z": outcome})
    expected = pc.ece(score, outcome)
    assert pc.ece(frame["p"], frame["z"]) == expected
    assert pc.ece(frame["p"], frame["y"], pos_label="malignant") == expected
    for data in (frame, frame.lazy()):
        assert pc.measure(data=data, probs="p", labels="z", metrics="ece").ece == expected


def test_duckdb(rows):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    score, outcome = rows
    frame = pandas.DataFrame({"p": score, "y": outcome.astype(int), "other": "x"})
    relation = duckdb.from_df(frame)
    assert pc.measure(data=relation, probs="p", labels="y", metrics="ece").ece == pc.ece(score, outcome)
    kept = score > 0.5
    chosen = relation.filter("p > 0.5")
    assert pc.measure(data=chosen, probs="p", labels="y", metrics="ece").ece == pc.ece(score[kept], outcome[kept])


def test_excel_and_feather_by_name(rows, tmp_path):
    score, outcome = rows
    frame = pandas.DataFrame({"p": score, "y": outcome.astype(int), "note": "x"})
    expected = pc.ece(score, outcome)
    pytest.importorskip("pyarrow")
    frame.to_feather(tmp_path / "scores.feather")
    assert pc.measure(data=tmp_path / "scores.feather", probs="p", labels="y", metrics="ece").ece == expected
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "scores.xlsx", index=False)
    found = pc.measure(data=str(tmp_path / "scores.xlsx"), probs="p", labels="y", metrics="ece").ece
    assert found == pytest.approx(expected)


def test_usual_names_need_no_arguments(rows, tmp_path):
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    score, outcome = rows
    frame = pandas.DataFrame({"id": range(400), "y_prob": score, "label": outcome.astype(int)})
    frame.to_parquet(tmp_path / "s.parquet")
    frame.to_feather(tmp_path / "s.feather")
    frame.to_csv(tmp_path / "s.csv", index=False)
    expected = pc.ece(score, outcome)
    relation = duckdb.from_df(frame)
    tables = [frame, polars.from_pandas(frame), polars.from_pandas(frame).lazy(), relation, frame.to_dict("series")]
    files = [tmp_path / name for name in ("s.parquet", "s.feather", "s.csv")]
    for data in (*tables, *files, *map(str, files)):
        assert pc.measure(data, metrics="ece").ece == expected
        assert pc.measure(data=data, metrics="ece").ece == expected
    with pytest.raises(pc.DataError, match="data has no columns for scores among a, b; give probs='COLUMN' and labels='COL"):
        pc.measure(pandas.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(pc.UsageError, match="data is a int, which has no named columns"):
        pc.measure(data=5)


def test_usual_names_of_classes_and_levels(digits):
    frame = pandas.DataFrame(digits.probs, columns=[f"probs.{name}" for name in digits.names])
    frame["label"] = [digits.names[each] for each in digits.labels]
    assert pc.measure(frame, metrics="ece").ece == pc.ece(digits.probs, digits.labels)
    target = np.linspace(-1, 1, 50)
    quantiles = pandas.DataFrame({"quantiles.0.1": target - 1, "quantiles.0.9": target + 0.5, "observed": target})
    expected = pc.measure(quantiles=quantiles.to_numpy()[:, :2], levels=[0.1, 0.9], target=target, metrics="crps").crps
    assert pc.measure(quantiles, metrics="crps").crps == expected


def test_a_table_and_its_columns(rows, tmp_path):
    score, outcome = rows
    frame = pandas.DataFrame({"p": score, "y": outcome.astype(int), "site": np.where(score < 0.5, "north", "south")})
    frame.to_csv(tmp_path / "s.csv", index=False)
    expected = pc.ece(score, outcome)
    for data in (frame, tmp_path / "s.csv", str(tmp_path / "s.csv")):
        assert pc.measure(data, probs="p", labels="y", metrics="ece").ece == expected
        assert pc.ece(data, probs="p", labels="y") == expected
        assert pc.measure(data=data, probs=["p"] if data is not frame else "p", labels="y", metrics="ece").ece == expected
        assert pc.measure(data, probs="p", labels="y", groups="site", metrics="ece").groups.keys() == {"north", "south"}
        assert pc.plot(data, probs="p", labels="y", interval=None).svg == pc.plot(score, outcome, interval=None).svg
        assert pc.compare(data, probs="p", labels="y", methods="platt", metrics="brier").rows
        assert pc.Isotonic().fit(data=data, probs="p", labels="y").predict_proba(score).shape == (400, 2)
    with pytest.raises(pc.UsageError, match='data has no column "q"; it has p, y, site'):
        pc.measure(frame, probs="q", labels="y")
    with pytest.raises(pc.UsageError, match='s.csv has no column "sit"; did you mean "site"'):
        pc.measure(tmp_path / "s.csv", probs="p", labels="y", groups="sit")


def test_several_files(rows, tmp_path):
    pytest.importorskip("pyarrow")
    score, outcome = rows
    frame = pandas.DataFrame({"prob": score, "label": np.where(outcome, "yes", "no")})
    for first in (0, 100, 200, 300):
        part = frame[first : first + 100]
        part.to_csv(tmp_path / f"part-{first}.csv", index=False)
        part.to_parquet(tmp_path / f"part-{first}.parquet")
    expected = pc.ece(score, outcome)
    for ending in ("csv", "parquet"):
        files = [tmp_path / f"part-{first}.{ending}" for first in (0, 100, 200, 300)]
        found = pc.measure(data=str(tmp_path / f"part-*.{ending}"), pos_label="yes", metrics="ece")
        assert found.ece == expected
        assert pc.measure(data=files, pos_label="yes", metrics="ece").ece == expected
        with pytest.raises(pc.IOError, match="no file matches the pattern; check it"):
            pc.measure(data=str(tmp_path / f"day-*.{ending}"))
    np.save(tmp_path / "a-1.npy", score[:200])
    np.save(tmp_path / "a-2.npy", score[200:])
    assert pc.ece(str(tmp_path / "a-*.npy"), outcome) == expected


def test_parquet_with_words(rows, table, tmp_path, monkeypatch):
    """Batches without the positive label are no error; a label that no row has is."""
    pytest.importorskip("pyarrow")
    from propercal import _parquet

    score, outcome = rows
    monkeypatch.setattr(_parquet, "_BATCH_ROWS", 3)
    for name, labels in (("words", table["y"]), ("categories", table["y"].astype("category"))):
        path = tmp_path / f"{name}.parquet"
        table.assign(y=labels).to_parquet(path, row_group_size=100)
        found = pc.measure(data=path, probs="p", labels="y", pos_label="malignant", metrics="ece")
        assert found.ece == pc.ece(score, outcome)
        with pytest.raises(pc.UsageError, match="pos_label='Yes' is none of the labels; they are 'benign'"):
            pc.measure(data=path, probs="p", labels="y", pos_label="Yes", metrics="ece")


def test_objects_of_pyarrow_and_duckdb(rows, tmp_path):
    dataset, parquet = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow.parquet")
    duckdb = pytest.importorskip("duckdb")
    score, outcome = rows
    path = tmp_path / "s.parquet"
    pandas.DataFrame({"p": score, "y": outcome.astype(int)}).to_parquet(path)
    connection = duckdb.connect()
    for data in (
        dataset.dataset(path),
        parquet.ParquetFile(path),
        parquet.read_table(path),
        connection.execute(f"select p, y from '{path}'"),
    ):
        assert pc.measure(data=data, probs="p", labels="y", metrics="ece").ece == pc.ece(score, outcome)
    connection.close()


def test_sheets(rows, tmp_path):
    pytest.importorskip("openpyxl")
    score, outcome = rows
    frame = pandas.DataFrame({"p": score, "y": outcome.astype(int)})
    path = tmp_path / "book.xlsx"
    with pandas.ExcelWriter(path) as book:
        pandas.DataFrame({"about": ["scores"]}).to_excel(book, sheet_name="notes", index=False)
        frame.to_excel(book, sheet_name="run 1", index=False)
    expected = pytest.approx(pc.ece(score, outcome))
    assert pc.measure(path, probs="p", labels="y", metrics="ece").ece == expected
    assert pc.measure(f"{path}:run 1", probs="p", labels="y", metrics="ece").ece == expected
    with pytest.raises(pc.UsageError, match='has the sheets notes, run 1; choose one as in "book.xlsx:notes"'):
        pc.measure(path)
    with pytest.raises(pc.UsageError, match='book.xlsx has no sheet "run"; it has notes, run 1'):
        pc.measure(f"{path}:run", probs="p", labels="y")


def test_inspect_tables(rows, tmp_path):
    pytest.importorskip("pyarrow")
    score, outcome = rows
    frame = pandas.DataFrame({"prob": score, "label": outcome.astype(int)})
    frame.to_parquet(tmp_path / "s.parquet")
    for data in (frame, tmp_path / "s.parquet"):
        assert "400 rows" in str(pc.inspect(data))


def test_results_by_the_name_they_were_asked_for(digits):
    found = pc.measure(digits.probs, digits.labels, metrics=["nll", "brier_score_loss", "ece:n_bins=20"])
    assert found["nll"] == found["log"] and found["ece:n_bins=20"] == found["ece:bins=20"]
    assert found["brier_score_loss"] == pc.brier(digits.probs, digits.labels, half=True)


def test_rows_without_an_answer(tmp_path):
    """A column ``abstain`` of a data frame and of a CSV file means the same."""
    frame = pandas.DataFrame({"confidence": [0.9, 0.6, 0.8], "correct": [1, 1, 1], "abstain": [0, 1, 0]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = pc.measure(frame, metrics="accuracy")
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.to_json() == pc.measure(data=tmp_path / "a.csv", metrics="accuracy").to_json()


MEASURE_PARQUET = """
import resource, sys
import propercal as pc
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)
columns = ["a", "b", "c", "d", "e", "f"]
pc.measure(data=sys.argv[1], logits=columns, labels="y", metrics=["brier", "ks"], threads=1)
before = peak()
result = pc.measure(data=sys.argv[2], logits=columns, labels="y", metrics=["brier", "ks"], threads=1)
print(result.to_dict()["data"]["rows"], peak() - before)
"""


def test_parquet_larger_than_memory(tmp_path):
    """A file of 120 MB: the memory of a process that has measured 3 MB hardly grows."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("resource")
    rows, parts = 65_536, 40
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=rows) for name in "abcdef"}
    part = arrow.table({**columns, "y": rng.integers(0, 6, rows).astype(np.int32)})
    small, large = tmp_path / "small.parquet", tmp_path / "large.parquet"
    parquet.write_table(part, small, compression="none", use_dictionary=False)
    with parquet.ParquetWriter(large, part.schema, compression="none", use_dictionary=False) as writer:
        for _ in range(parts):
            writer.write_table(part)
    assert large.stat().st_size > 100 << 20
    words = [sys.executable, "-c", MEASURE_PARQUET, str(small), str(large)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    count, grown = map(int, done.stdout.split())
    assert count == rows * parts and grown < 64


def test_paths_of_windows(monkeypatch):
    """The colon of a drive does not begin the names of columns."""
    from propercal import _tables

    assert not _tables.is_table_file("scores.csv:risk")
    monkeypatch.setattr(_tables.os.path, "splitdrive", ntpath.splitdrive)
    assert _tables.is_table_file("C:\\data\\scores.csv")
    assert not _tables.is_table_file("C:\\data\\scores.csv:risk")
    assert _tables.is_table_file("C:\\data\\book.xlsx:sheet")
