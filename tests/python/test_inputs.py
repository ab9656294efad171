"""Whatever holds numbers gives the same result, without copies where memory allows."""

import array
import decimal
import subprocess
import sys
import types

import numpy as np
import pytest

import propercal as pc

METRICS = ["accuracy", "brier", "ece", "ks"]


def same(digits, scores, labels=None, **more):
    """Is the result that of the plain arrays?"""
    labels = digits.labels if labels is None else labels
    result = pc.measure(scores, labels, metrics=METRICS, **more)
    plain = pc.measure(digits.probs.astype(np.float32), digits.labels, metrics=METRICS)
    return [*map(float, result)] == [*map(float, plain)]


@pytest.fixture(scope="module")
def probs(digits):
    return digits.probs.astype(np.float32)


# ---- NumPy and lists ----


def test_layouts_of_memory(digits, probs):
    assert same(digits, np.asfortranarray(probs))
    assert same(digits, probs[::-1], digits.labels[::-1])
    wide = np.zeros((len(probs), 33), dtype=np.float32)
    wide[:, 2:32:3] = probs
    assert same(digits, wide[:, 2:32:3])
    packed = np.zeros(len(probs), dtype=[("a", "u1"), ("p", "f4", 10)])
    packed["p"] = probs
    assert packed["p"].strides[0] % 4 != 0
    assert same(digits, packed["p"])
    frozen = probs.copy()
    frozen.flags.writeable = False
    assert same(digits, frozen)
    assert same(digits, probs.astype(">f4"))
    assert same(digits, memoryview(probs))


def test_types_of_scores(digits, probs):
    assert same(digits, probs.astype(np.float64))
    assert same(digits, probs.astype(np.longdouble))
    assert same(digits, probs.tolist())
    assert same(digits, [list(map(float, row)) for row in probs])
    half = digits.logits.astype(np.float16)
    assert pc.brier(logits=half, labels=digits.labels) == pc.brier(
        logits=half.astype(np.float32), labels=digits.labels
    )
    hard = np.eye(10, dtype=np.int8)[digits.labels]
    assert pc.accuracy(hard, digits.labels) == 1


@pytest.mark.parametrize(
    "kind", ["i1", "u1", "i2", "u2", "<i4", ">i4", "u4", "i8", "u8", "f2", "f8"]
)
def test_types_of_labels(digits, probs, kind):
    assert same(digits, probs, digits.labels.astype(kind))
    assert same(digits, probs, digits.labels.astype(kind)[:, None])
    assert same(digits, probs, np.repeat(digits.labels.astype(kind), 2)[::2])


def test_other_labels(digits, probs):
    assert same(digits, probs, np.eye(10)[digits.labels])
    assert same(digits, probs, np.eye(10, dtype=bool)[digits.labels])
    assert same(digits, probs, digits.labels.tolist())
    assert same(digits, probs, array.array("q", digits.labels.tolist()))
    assert same(digits, probs, digits.labels.astype(object))
    names = np.array(digits.names)[digits.labels]
    assert same(digits, probs, names, classes=digits.names)
    assert same(digits, probs, names.astype(object), classes=digits.names)
    assert same(digits, probs, names.astype("S"), classes=digits.names)
    assert same(digits, probs, names.tolist(), classes=digits.names)


def test_binary(digits):
    score = digits.probs[:, 3].copy()
    labels = digits.labels == 3
    one = pc.measure(score, labels)
    assert one.to_dict()["data"]["view"] == "positive"
    assert pc.ece(score, labels) == pc.ece(digits.probs[:, 3], labels.astype(np.int64))
    with pytest.raises(pc.DataError, match="lists of one score, which means a single class"):
        pc.measure(score[:, None], labels)


def test_masked_arrays_do_not_lose_their_mask(digits):
    masked = np.ma.masked_array(digits.probs.copy(), mask=False)
    masked[2, 1] = np.ma.masked
    with pytest.raises(pc.DataError, match="probs, row 2.*missing"):
        pc.measure(masked, digits.labels)


def test_refused_arrays(digits):
    with pytest.raises(pc.DataError, match="probs has 3 dimensions"):
        pc.measure(np.zeros((2, 2, 2)), [0, 1])
    with pytest.raises(pc.DataError, match="probs has 0 dimensions"):
        pc.measure(0.5, [1])
    with pytest.raises(pc.DataError, match="complex"):
        pc.measure(digits.probs.astype(complex), digits.labels)
    with pytest.raises(pc.DataError, match="probs has no rows"):
        pc.measure(np.zeros((0, 3)), [])
    with pytest.raises(pc.DataError, match="probs has no columns"):
        pc.measure(np.zeros((3, 0)), [0, 1, 2])
    with pytest.raises(pc.DataError, match="probs is not an array"):
        pc.measure([[0.5, 0.5], [1.0]], [0, 1])
    with pytest.raises(pc.DataError, match="weights"):
        pc.measure(digits.probs, digits.labels, weights=["a"] * len(digits.labels))
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(pc.DataError, match=r"probs is a sparse matrix; pass probs.toarray\(\)"):
        pc.measure(sparse.csr_matrix(digits.probs), digits.labels)


# ---- Other packages ----


def test_torch(digits, probs):
    torch = pytest.importorskip("torch")
    assert same(digits, torch.from_numpy(probs), torch.from_numpy(digits.labels).long())
    assert same(digits, torch.from_numpy(probs).requires_grad_())
    assert same(digits, torch.from_numpy(np.ascontiguousarray(probs.T)).T)
    brain = torch.from_numpy(digits.logits).bfloat16()
    assert pc.brier(logits=brain, labels=digits.labels) == pc.brier(
        logits=brain.float(), labels=digits.labels
    )
    with pytest.raises(pc.UsageError, match=r"probs is on the device meta; pass probs.cpu\(\)"):
        pc.ece(torch.empty((3, 2), device="meta"), [0, 1, 1])


def test_jax(digits, probs):
    jnp = pytest.importorskip("jax.numpy")
    assert same(digits, jnp.asarray(probs), jnp.asarray(digits.labels))
    brain = jnp.asarray(digits.logits).astype(jnp.bfloat16)
    assert pc.brier(logits=brain, labels=digits.labels) == pc.brier(
        logits=np.asarray(brain.astype(jnp.float32)), labels=digits.labels
    )


def test_anything_with_the_array_protocols(digits, probs):
    class Interface:
        __array_interface__ = probs.__array_interface__

    class Method:
        def __array__(self, dtype=None, copy=None):
            return probs

    class Pack:
        def __dlpack__(self, **given):
            return probs.__dlpack__(**given)

        def __dlpack_device__(self):
            return probs.__dlpack_device__()

    assert same(digits, Interface())
    assert same(digits, Method())
    assert same(digits, Pack())


def test_pandas(digits, probs):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(probs, columns=digits.names)
    assert same(digits, table, pandas.Series(digits.labels))
    names = pandas.Series(digits.names)[digits.labels].reset_index(drop=True)
    assert same(digits, table, names)
    assert same(digits, table, names.astype("category"))
    assert same(digits, table, names.astype(object))
    assert same(digits, table, pandas.Series(digits.labels, dtype="Int64"))
    assert same(digits, table.astype("Float32"), digits.labels)
    assert same(digits, pandas.DataFrame(probs), digits.labels)
    assert pc.measure(table, names).to_dict()["data"]["class_names"] == digits.names
    missing = pandas.Series(digits.labels, dtype="Int64")
    missing[5] = pandas.NA
    with pytest.raises(pc.DataError, match="labels, row 5"):
        pc.measure(table, missing)
    table["truth"] = names
    assert same(digits, digits.names, "truth", data=table)


def test_polars(digits, probs):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(probs, schema=digits.names)
    assert same(digits, table, polars.Series(digits.labels))
    assert same(digits, table, digits.labels)
    assert same(digits, probs, polars.Series(digits.labels.astype(np.int64)))
    names = polars.Series([digits.names[label] for label in digits.labels])
    assert same(digits, table, names)
    assert same(digits, table, names.cast(polars.Categorical))
    assert same(digits, table, names.cast(polars.Enum(digits.names)))
    lists = polars.Series(probs, dtype=polars.Array(polars.Float32, 10))
    assert same(digits, lists, names, classes=digits.names)
    groups = polars.Series(
        ["a long name of a group" if i % 2 else "odd" for i in range(len(probs))]
    )
    result = pc.measure(probs, digits.labels, groups=groups)
    assert list(result.groups) == ["a long name of a group", "odd"]
    wide = table.with_columns(names.alias("truth"), polars.lit(2.0).alias("w"))
    assert same(digits, digits.names, "truth", data=wide)
    assert pc.measure(digits.names, "truth", weights="w", data=wide).ece == pc.ece(
        probs, digits.labels
    )


def test_pyarrow(digits, probs):
    arrow = pytest.importorskip("pyarrow")
    columns = [arrow.array(probs[:, i]) for i in range(10)]
    table = arrow.table(columns, names=digits.names)
    assert same(digits, table, arrow.array(digits.labels))
    assert same(digits, table, arrow.chunked_array([digits.labels[:7], digits.labels[7:]]))
    chunked = arrow.concat_tables([table.slice(0, 100), table.slice(100, 1), table.slice(101)])
    names = arrow.array([digits.names[label] for label in digits.labels]).dictionary_encode()
    assert chunked.column(0).num_chunks == 3
    assert same(digits, chunked, names)
    assert same(digits, chunked, arrow.chunked_array([names.slice(0, 50), names.slice(50)]))
    lists = arrow.FixedSizeListArray.from_arrays(arrow.array(probs.ravel()), 10)
    assert same(digits, lists, digits.labels)
    for kind in (arrow.list_, arrow.large_list):
        assert same(digits, arrow.array(list(probs), kind(arrow.float32())), digits.labels)
        nulls = arrow.array([None, *probs[1:]], kind(arrow.float32()))
        with pytest.raises(pc.DataError, match="probs, row 0, column 0: the score is missing"):
            pc.measure(nulls, digits.labels)
        kept = pc.measure(nulls, digits.labels, metrics="brier", skip_missing=True)
        assert kept.brier == pc.brier(probs[1:], digits.labels[1:])
        with pytest.raises(pc.DataError, match="row 1: the list has 9 values and the first one 10"):
            pc.measure(arrow.array([probs[0], probs[1][:9]], kind(arrow.float32())), digits.labels[:2])
    assert same(digits, table.to_batches()[0], digits.labels)
    null = arrow.array([None, *digits.labels[1:].tolist()])
    with pytest.raises(pc.DataError, match="labels, row 0"):
        pc.measure(table, null)
    with pytest.raises(pc.DataError, match="probs has 797 rows but labels has 790"):
        pc.measure(probs, arrow.array(digits.labels[:790]))
    wide = table.append_column("truth", [names])
    assert same(digits, digits.names, "truth", data=wide)


@pytest.mark.parametrize("kind", ["null", "float64"])
def test_columns_without_any_value(digits, probs, kind):
    """A column of Arrow's type null is a column of nulls."""
    arrow = pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    nulls, one, hits = arrow.nulls(797, getattr(arrow, kind)()), probs[:, 3], digits.labels == 3
    of_labels = arrow.nulls(797, arrow.null() if kind == "null" else arrow.int64())
    objects = pandas.Series([None] * 797, dtype=object)
    columns = {"p": nulls, "q": one}
    for given, words in (
        ({"probs": probs, "labels": of_labels}, "labels, row 0: the label is missing"),
        ({"probs": nulls, "labels": hits}, 'probs, row 0, column "values": the score is missing'),
        ({"probs": one, "labels": hits, "weights": nulls}, "weights, row 0: the weight is missing"),
        ({"probs": ["p", "q"], "labels": hits, "data": arrow.table(columns)}, 'probs, row 0, column "p": the score is missing'),
        ({"probs": objects, "labels": hits}, "probs, row 0, column 0: the score is missing"),
        ({"probs": one, "labels": objects}, "labels, row 0: the label is missing"),
        ({"probs": one, "labels": hits, "weights": objects}, "weights, row 0: the weight is missing"),
    ):
        with pytest.raises(pc.DataError, match=f"^{words}"):
            pc.measure(**given)
        with pytest.raises(pc.DataError, match="^no rows are left: every row has a missing value$"):
            pc.measure(**given, skip_missing=True)
    for groups in (arrow.nulls(797, arrow.null() if kind == "null" else arrow.string()), objects):
        with pytest.raises(pc.DataError, match="^groups, row 0: the group is missing; give every row a group$"):
            pc.measure(one, hits, groups=groups, skip_missing=True)


def test_numbers_as_objects(digits, probs):
    """Numbers of columns of type object or category are their values, not the order of the first of each."""
    pandas = pytest.importorskip("pandas")
    one, hits = probs[:, 3].astype(float), digits.labels == 3
    weights, number = np.arange(797) * 7 % 3 + 1.0, digits.logits[:, 0].astype(float)
    ways = (
        lambda column: pandas.Series(column, dtype=object),
        lambda column: pandas.Series(column).astype("category"),
        lambda column: pandas.Series([decimal.Decimal(float(each)) for each in column]),
        lambda column: np.array([decimal.Decimal(float(each)) for each in column], dtype=object),
    )
    plain = {
        "brier": {"probs": one, "labels": hits, "weights": weights},
        "crps": {"mean": number, "std": weights, "target": number + weights},
    }
    for metric, given in plain.items():
        expected = pc.measure(**given, metrics=metric).to_json()
        for name in given:
            for way in ways:
                found = pc.measure(**{**given, name: way(given[name])}, metrics=metric)
                assert found.to_json() == expected, (metric, name)
        table = pandas.DataFrame({name: ways[0](column) for name, column in given.items()})
        assert pc.measure(data=table, **{name: name for name in given}, metrics=metric).to_json() == expected


def test_class_numbers_as_objects(digits, probs):
    one, hits = probs[:, 3], (digits.labels == 3).astype(int)
    for scores, labels in ((one, hits), (one, hits == 1), (probs, digits.labels)):
        plain, found = pc.Temperature().fit(scores, labels), pc.Temperature().fit(scores, labels.astype(object))
        assert found.T_ == plain.T_ and list(found.classes_) == list(plain.classes_)


def test_objects_that_are_no_numbers(digits, probs):
    """Texts and dates are no scores and weights, whose values their order of appearance would be."""
    pandas = pytest.importorskip("pandas")
    one, hits = probs[:, 3], digits.labels == 3
    texts, dates = np.array(["0.5"] * 797), pandas.Series(pandas.to_datetime(["2026-11-20"] * 797))
    lists, arrays = pandas.Series([[0.5, 0.5]] * 797), pandas.Series([np.array([0.5])] * 797)
    for value, shown in (
        (texts, "'0.5'"), (pandas.Series(texts), "'0.5'"), (dates, "'2026-11-20 00:00:00'"), (lists, r"'\[0.5, 0.5\]'"), (arrays, r"'\[0.5\]'"),
    ):  # fmt: skip
        for given in ({"probs": value}, {"probs": one, "weights": value}):
            words = f"^{[*given][-1]} has values that are no numbers, such as {shown}; give an array of numbers alone$"
            with pytest.raises(pc.DataError, match=words):
                pc.measure(**given, labels=hits)


def test_gaps_among_objects(digits, probs):
    """NA of pandas, and masks of texts and objects."""
    pandas = pytest.importorskip("pandas")
    one, hits = probs[:, 3].astype(float), digits.labels == 3
    gap, words = np.arange(797) == 5, np.where(digits.labels % 2, "odd", "even")
    expected = pc.brier(one[~gap], hits[~gap])

    def ways(column):
        objects = column.astype(object)
        objects[5] = pandas.NA
        return objects, np.ma.masked_array(column, gap), np.ma.masked_array(column.astype(object), gap)

    for given in ({"probs": each, "labels": hits} for each in ways(one)):
        assert pc.brier(**given, skip_missing=True) == expected
        with pytest.raises(pc.DataError, match="probs, row 5, column 0: the score is missing"):
            pc.brier(**given)
    for labels in ways(hits):
        assert pc.brier(one, labels, skip_missing=True) == expected
    for groups in ways(words):
        with pytest.raises(pc.DataError, match="^groups, row 5: the group is missing; give every row a group$"):
            pc.measure(one, hits, groups=groups, skip_missing=True)
    with pytest.raises(pc.DataError, match="^groups, row 0: the group is missing"):
        pc.measure(one, hits, groups=np.array([None, pandas.NA, *words[2:]], dtype=object))
    table = pandas.DataFrame({"n": pandas.Series(digits.labels).astype("Int64").mask(gap), "w": words})
    with pytest.raises(pc.DataError, match="^groups: the column n has a missing value; give every row a group$"):
        pc.measure(one, hits, groups=table)


def test_a_file_with_a_column_of_type_null(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"p": [0.25, 0.75], "y": [0, 1], "w": arrow.nulls(2)})
    with arrow.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write(table)
    path = str(tmp_path / "t.arrow")
    assert pc.measure(f"{path}:p", f"{path}:y", metrics="brier").brier == 0.125
    with pytest.raises(pc.DataError, match="t.arrow:w, row 0: the weight is missing"):
        pc.measure(f"{path}:p", f"{path}:y", weights=f"{path}:w")


def test_parquet_with_row_groups_of_nulls(digits, probs, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "gaps.parquet"
    for gaps in (slice(0, 200), slice(300, 500)):
        kept = np.ones(797, bool)
        kept[gaps] = False
        lists = arrow.array([list(row) if keep else None for row, keep in zip(probs, kept)], arrow.list_(arrow.float64()))
        parquet.write_table(arrow.table({"p": lists, "y": digits.labels}), path, row_group_size=100)
        with pytest.raises(pc.DataError, match=f"probs, row {gaps.start}, column 0: the score is missing"):
            pc.measure("p", "y", data=path)
        found = pc.measure("p", "y", data=path, metrics=["brier", "ks"], skip_missing=True)
        whole = pc.measure(probs[kept], digits.labels[kept], metrics=["brier", "ks"])
        assert (found.brier, found.ks) == (whole.brier, whole.ks)
        assert found.to_dict()["data"]["skipped_rows"] == 200


def test_parquet_without_the_positive_label(tmp_path):
    """The message shows labels after a row group of nulls."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "words.parquet"
    for labels, shown in ((["no", "nein"], "'nein', 'no'"), ([None, None], "all missing")):
        table = arrow.table({"p": [0.5] * 4, "y": arrow.array([None, None, *labels], arrow.string())})
        parquet.write_table(table, path, row_group_size=2)
        with pytest.raises(pc.UsageError, match=f"^pos_label='yes' is none of the labels; they are {shown}$"):
            pc.measure("p", "y", data=path, pos_label="yes", metrics="brier", skip_missing=True)


def test_parquet(digits, probs, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {name: probs[:, k] for k, name in enumerate(digits.names)}
    lists = arrow.array(list(probs), arrow.list_(arrow.float32()))
    table = arrow.table({"p": lists, "y": digits.labels, "other": digits.labels, **columns})
    table = table.append_column("third", [digits.labels % 3])
    path = tmp_path / "scores.parquet"
    parquet.write_table(table, path, row_group_size=100)
    assert same(digits, "p", "y", data=path)
    assert same(digits, digits.names, "y", data=str(path))
    assert pc.Temperature().fit("p", "y", data=path).T_ == pc.Temperature().fit(probs, digits.labels).T_
    for given in ({}, {"interval": 0.9, "replicas": 50}, {"metrics": ["hosmer-lemeshow", "skce"]}):
        plain = pc.measure(probs, digits.labels, groups=digits.labels % 3, **given)
        found = pc.measure("p", "y", groups="third", data=path, **given)
        assert found.to_json() == plain.to_json()
    empty = tmp_path / "empty.parquet"
    parquet.write_table(table.slice(0, 0), empty)
    with pytest.raises(pc.DataError, match="empty.parquet has no rows; give at least one"):
        pc.measure("p", "y", data=empty)
    folder = tmp_path / "many.parquet"
    folder.mkdir()
    for first in range(0, len(probs), 300):
        parquet.write_table(table.slice(first, 300), folder / f"part-{first:05}.parquet")
    assert same(digits, "p", "y", data=folder)
    with pytest.raises(pc.UsageError, match='scores.parquet has no column "othr"; did you mean "other"?'):
        pc.measure("p", "othr", data=path)
    with pytest.raises(pc.IOError, match="no.parquet could not be opened; check its name"):
        pc.measure("p", "y", data="no.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"else")
    with pytest.raises(pc.DataError, match="bad.parquet could not be read as Parquet"):
        pc.measure("p", "y", data=tmp_path / "bad.parquet")


# ---- No copies ----

PEAK = """
import sys
import numpy as np
import propercal as pc

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

rows, columns = 20000, 1000
rng = np.random.default_rng(0)
logits = np.empty((rows, columns), dtype=np.float32)
for i in range(rows):
    logits[i] = rng.standard_normal(columns, dtype=np.float32)
labels = rng.integers(0, columns, rows)
pc.ece(logits=logits[:100], labels=labels[:100])
forms = {
    "numpy": lambda: logits,
    "fortran": lambda: logits.T.copy().T,
    "pandas": lambda: __import__("pandas").DataFrame(logits, copy=False),
    "torch": lambda: __import__("torch").from_numpy(logits),
    "jax": lambda: __import__("jax").numpy.asarray(logits).block_until_ready(),
    "polars": lambda: __import__("polars").from_numpy(logits),
    "pyarrow": lambda: __import__("pyarrow").FixedSizeListArray.from_arrays(
        __import__("pyarrow").array(logits.ravel()), columns),
}
held = forms[sys.argv[1]]()
before = peak()
value = pc.ece(logits=held, labels=labels)
print((peak() - before) / logits.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("form", ["numpy", "fortran", "pandas", "torch", "jax", "polars", "pyarrow"])
def test_nothing_is_copied(form):
    if form not in ("numpy", "fortran"):
        pytest.importorskip(form)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, form], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 0.15, "an array of 80 MB was copied"


class OnGpu:
    """An array as CuPy and JAX describe theirs, at an address that no GPU holds."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "shape": (3, 4), "typestr": "<f4", "data": (64, False), "version": 3, **changes
        }  # fmt: skip


def test_arrays_on_a_gpu_need_its_driver():
    with pytest.raises(pc.Error, match="no NVIDIA driver|no GPU holds|NVIDIA driver failed"):
        pc.measure(logits=OnGpu(), labels=[0, 1, 2])


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"shape": (3, 4, 5)}, r"logits has the shape \(3, 4, 5\)"),
        ({"strides": (4, 12)}, "logits on the GPU is not contiguous"),
        ({"typestr": "<c8"}, "logits has elements of type <c8"),
        ({"mask": object()}, "logits on the GPU has a mask"),
    ],
)
def test_arrays_on_a_gpu_are_checked(changes, sentence):
    with pytest.raises(pc.DataError, match=sentence):
        pc.measure(logits=OnGpu(**changes), labels=[0, 1, 2])


class Unfinished(OnGpu):
    """As JAX describes an array: version 2, without a stream; its work may still be queued."""

    waited = False

    def __init__(self):
        super().__init__(version=2)

    def block_until_ready(self):
        self.waited = True


def test_arrays_without_a_stream_are_waited_for():
    scores = Unfinished()
    with pytest.raises(pc.Error):
        pc.measure(logits=scores, labels=[0, 1, 2])
    assert scores.waited


def test_half_precision_becomes_float32_on_the_gpu():
    class Half(OnGpu):
        def astype(self, kind):
            assert kind == "float32"
            return OnGpu(shape=(3, 4, 5))

    with pytest.raises(pc.DataError, match=r"logits has the shape \(3, 4, 5\)"):
        pc.measure(logits=Half(typestr="<f2"), labels=[0, 1, 2])


def test_dlpack_on_a_gpu_goes_through_another_package(monkeypatch):
    class Tensor:
        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, **arguments):
            raise BufferError

    for package in ("torch", "cupy"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(pc.DataError, match="logits is on a GPU; install PyTorch or CuPy"):
        pc.measure(logits=Tensor(), labels=[0, 1, 2])
    cupy = types.SimpleNamespace(from_dlpack=lambda value: OnGpu(shape=(3, 4, 5)))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(pc.DataError, match=r"logits has the shape \(3, 4, 5\)"):
        pc.measure(logits=Tensor(), labels=[0, 1, 2])
