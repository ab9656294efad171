"""Several group columns: tables, dicts and arrays of two dimensions."""

import numpy as np
import propercal as pc
import pytest

PROBS = np.full(6, 0.5)
LABELS = np.array([1, 1, 0, 0, 1, 0])
SITE, SEX = ["n", "n", "n", "s", "s", "s"], ["f", "f", "m", "f", "m", "m"]
GROUPS = [
    "site=n", "site=s", "sex=f", "sex=m", "site=n & sex=f", "site=n & sex=m", "site=s & sex=f", "site=s & sex=m",
]  # fmt: skip


def measure(groups):
    return pc.measure(probs=PROBS, labels=LABELS, groups=groups, metrics=["oe-ratio", "multicalibration:bins=1"])


def test_a_dict_of_columns():
    result = measure({"site": SITE, "sex": SEX})
    assert list(result.groups) == GROUPS
    assert float(result.groups["sex=m"]["oe-ratio"]) == pytest.approx(2 / 3)
    assert float(result["multicalibration:bins=1"]) == 0.5
    assert "<td>site=n &amp; sex=f" in result._repr_html_()


def test_arrays_number_their_columns():
    result = measure(np.array([[0, 1], [0, 1], [0, 0], [1, 1], [1, 0], [1, 0]]))
    assert list(result.groups)[:4] == ["0=0", "0=1", "1=0", "1=1"]


def test_a_table():
    pandas = pytest.importorskip("pandas")
    assert list(measure(pandas.DataFrame({"site": SITE, "sex": SEX})).groups) == GROUPS


def test_sentences():
    with pytest.raises(pc.DataError, match="groups has 5 columns; give one to four"):
        measure({str(i): SITE for i in range(5)})
    with pytest.raises(pc.DataError, match="the column sex has a missing value; give every row a group"):
        measure({"site": SITE, "sex": [None, *SEX[1:]]})
    with pytest.raises(pc.DataError, match="a value of the column sex contains ' & ', which joins names; rename it"):
        measure({"site": SITE, "sex": ["a & b", *SEX[1:]]})
    with pytest.raises(pc.DataError, match="columns of different lengths"):
        measure({"site": SITE, "sex": SEX[1:]})


def test_arrow(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    columns = {"site": arrow.array(SITE), "sex": arrow.array(SEX).dictionary_encode()}
    assert list(measure(arrow.table(columns)).groups) == GROUPS
    table = arrow.table({"probs": PROBS, "labels": LABELS, **columns})
    feather.write_feather(table, tmp_path / "rows.arrow", compression="uncompressed")
    path = str(tmp_path / "rows.arrow")
    result = pc.measure(data=path, groups=f"{path}:site,sex", metrics=["oe-ratio"])
    assert list(result.groups) == GROUPS
    assert float(result.groups["sex=m"]["oe-ratio"]) == pytest.approx(2 / 3)


def test_arrow_combinations_fit_and_apply():
    arrow = pytest.importorskip("pyarrow")
    groups = arrow.table({"site": SITE * 20, "sex": SEX * 20})
    probs, labels = np.linspace(0.1, 0.9, 120), np.tile(LABELS, 20)
    with pytest.warns(pc.ConvergenceWarning, match="no rows were held out"):
        fitted = pc.GroupBoosting(steps=10, validate=False).fit(probs=probs, labels=labels, groups=groups)
    plain = fitted.transform(probs=probs, groups={"site": SITE * 20, "sex": SEX * 20})
    assert np.array_equal(fitted.transform(probs=probs, groups=groups), plain)
