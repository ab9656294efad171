"""What a user of pandas, polars, DuckDB or Excel has: tables with missing values, words and categories."""

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


def test_results_by_the_name_they_were_asked_for(digits):
    found = pc.measure(digits.probs, digits.labels, metrics=["nll", "brier_score_loss", "ece:n_bins=20"])
    assert found["nll"] == found["log"] and found["ece:n_bins=20"] == found["ece:bins=20"]
    assert found["brier_score_loss"] == pc.brier(digits.probs, digits.labels, half=True)
