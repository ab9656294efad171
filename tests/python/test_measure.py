"""measure: values, policies, files, and the same bytes as the program."""

import copy
import datetime
import pickle
import subprocess

import numpy as np
import pytest

import propercal as pc


def by_hand_ece(confidence, correct, bins=15):
    """The mean gap over bins (lo, hi] of equal width."""
    edges = np.arange(1, bins) / bins
    where = np.searchsorted(edges, confidence, side="left")
    return sum(
        abs((confidence[where == b] - correct[where == b]).sum()) for b in range(bins)
    ) / len(confidence)


def test_no_replicas_are_no_default_number():
    for call in (pc.measure, pc.compare, pc.plot):
        given = ["reliability"] if call is pc.plot else []
        with pytest.raises(pc.UsageError, match="replicas is 0; give a whole number, 1 or more"):
            call(*given, [0.2, 0.8, 0.6, 0.3], [0, 1, 1, 0], interval=0.9, replicas=0)


def test_values_by_hand(digits):
    result = pc.measure(digits.probs, digits.labels, metrics=["accuracy", "brier", "log", "ece"])
    truth = np.eye(10)[digits.labels]
    rows = np.arange(len(digits.labels))
    assert result.accuracy == digits.correct.mean()
    assert result.brier == pytest.approx(((digits.probs - truth) ** 2).sum(1).mean(), rel=1e-12)
    assert result.log == pytest.approx(-np.log(digits.probs[rows, digits.labels]).mean(), rel=1e-12)
    assert result.ece == pytest.approx(by_hand_ece(digits.confidence, digits.correct), rel=1e-12)


def test_no_device_without_a_gpu(digits):
    result = pc.measure(digits.probs, digits.labels)
    assert [value.device for value in result] == [None] * len(result)
    assert "device" not in result.to_json() and "GPU" not in repr(result)


def test_values_are_made_once(digits):
    result = pc.measure(digits.probs, digits.labels)
    assert result.ece is result.ece and list(result)[0] is list(result)[0]
    again = pickle.loads(pickle.dumps(result))
    assert again.ece == result.ece and again.ece.device is None


def test_kinds_agree(digits):
    by_probs = pc.measure(digits.probs, digits.labels)
    by_logits = pc.measure(logits=digits.logits.astype(np.float64), labels=digits.labels)
    by_logs = pc.measure(log_probs=np.log(digits.probs), labels=digits.labels)
    by_hits = pc.measure(confidence=digits.confidence, correct=digits.correct, metrics="ece")
    for name in ("accuracy", "brier", "log", "ece"):
        assert getattr(by_logits, name) == pytest.approx(getattr(by_probs, name), rel=1e-12)
        assert getattr(by_logs, name) == pytest.approx(getattr(by_probs, name), rel=1e-12)
    assert by_hits.ece == by_probs.ece


def test_the_bytes_of_the_program(digits, digits_files, program):
    command = [program, "measure", "--json"]
    for name, path in digits_files.items():
        command += [f"--{name}", str(path)]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    assert pc.measure(logits=digits.logits, labels=digits.labels).to_json().encode() == printed
    assert pc.measure(**digits_files).to_json().encode() == printed
    assert (
        pc.measure(logits=digits.logits, labels=digits.labels, threads=1).to_json().encode()
        == printed
    )


def test_groups_of_metrics_and_specs(digits):
    result = pc.measure(digits.probs, digits.labels, metrics=["proper", "ece:bins=20", "ece"])
    assert {"brier", "log"} <= {value.metric for value in result}
    assert result["ece:bins=20"] != result["ece"]
    assert len([value for value in result if value.metric == "ece"]) == 2


def test_weights_are_frequencies(digits):
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(digits.labels))
    weighted = pc.measure(digits.probs, digits.labels, weights=weights)
    repeated = pc.measure(digits.probs.repeat(weights, axis=0), digits.labels.repeat(weights))
    assert [*map(float, weighted)] == [*map(float, repeated)]


def test_groups(digits):
    sizes = np.where(digits.labels < 5, "small", "large")
    result = pc.measure(digits.probs, digits.labels, groups=sizes)
    assert list(result.groups) == list(dict.fromkeys(sizes.tolist()))
    for name, values in result.groups.items():
        own = pc.measure(digits.probs[sizes == name], digits.labels[sizes == name])
        assert [*map(float, values)] == [*map(float, own)]
        assert values.ece.group == name
        lines = repr(values).splitlines()
        assert len(lines) == len(values) and len({line.rfind("  ") for line in lines}) == 1


def test_missing_values(digits):
    probs = digits.probs.copy()
    probs[3, 2] = np.nan
    with pytest.raises(pc.DataError, match="row 3.*skip_missing=True"):
        pc.measure(probs, digits.labels)
    skipped = pc.measure(probs, digits.labels, skip_missing=True)
    kept = np.arange(len(probs)) != 3
    assert skipped.to_dict()["data"]["skipped_rows"] == 1
    assert skipped.brier == pc.brier(digits.probs[kept], digits.labels[kept])


def test_normalize(digits):
    probs = digits.probs * 1.001
    with pytest.raises(pc.DataError, match="normalize=True"):
        pc.measure(probs, digits.labels)
    result = pc.measure(probs, digits.labels, normalize=True)
    assert result.to_dict()["data"]["normalized_rows"] == len(probs)
    assert result.brier == pytest.approx(pc.brier(digits.probs, digits.labels), rel=1e-9)


def test_precision(digits):
    metrics = ["brier", "ece"]  # others need whole rows, which are always exact
    fast = pc.measure(logits=digits.logits, labels=digits.labels, metrics=metrics, precision="fast")
    exact = pc.measure(logits=digits.logits, labels=digits.labels, metrics=metrics)
    assert fast.to_dict()["data"]["precision"] == "fast"
    assert fast.brier == pytest.approx(exact.brier, rel=1e-6)
    with pytest.raises(pc.UsageError, match="precision"):
        pc.measure(logits=digits.logits, labels=digits.labels, precision="sloppy")


def test_files_with_selectors(digits, tmp_path):
    np.savez(tmp_path / "run.npz", logits=digits.logits, y=digits.labels)
    lines = ["label,weight", *(f"{label},1" for label in digits.labels)]
    (tmp_path / "y.csv").write_text("\n".join(lines) + "\n")
    expected = pc.measure(logits=digits.logits, labels=digits.labels).to_json()
    npz = str(tmp_path / "run.npz")
    assert pc.measure(logits=npz + ":logits", labels=npz + ":y").to_json() == expected
    mixed = pc.measure(logits=digits.logits, labels=f"{tmp_path / 'y.csv'}:label")
    assert mixed.to_json() == expected
    np.savez(tmp_path / "data.npz", logits=digits.logits, labels=digits.labels)
    assert pc.measure(data=tmp_path / "data.npz").to_json() == expected


def test_headers(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("0,1\n0.2,0.8\n0.9,0.1\n")
    labels = [1, 0]
    with pytest.raises(pc.Error, match="header=True or header=False"):
        pc.measure(path, labels)
    assert pc.measure(path, labels, header=True).accuracy == 1
    assert pc.measure(path, [1, 1, 0], header=False).to_dict()["data"]["rows"] == 3


def test_wrong_arguments(digits):
    with pytest.raises(pc.UsageError, match="there are no scores; give one of probs, logits"):
        pc.measure(labels=digits.labels)
    with pytest.raises(pc.UsageError, match="probs and logits are both given"):
        pc.measure(digits.probs, digits.labels, logits=digits.logits)
    with pytest.raises(pc.UsageError, match="confidence goes with correct"):
        pc.measure(confidence=digits.confidence, labels=digits.labels)
    with pytest.raises(pc.UsageError, match="give them with labels"):
        pc.measure(digits.probs)
    with pytest.raises(pc.UsageError, match='did you mean "ece"'):
        pc.measure(digits.probs, digits.labels, metrics="ecee")
    with pytest.raises(TypeError):
        pc.measure(digits.probs, digits.labels, bins=3)


def test_one_class(digits):
    probs = digits.probs[digits.labels == 3]
    labels = np.full(len(probs), 3)
    with pytest.raises(pc.DataError, match="every label is class 3.* with metrics"):
        pc.measure(probs, labels)
    assert pc.measure(probs, labels, metrics="ece").ece == pc.ece(probs, labels)


# ---- Measures that grow ----


@pytest.mark.parametrize("cuts", [[], [1], [100, 101, 500]])
def test_parts_give_the_bits_of_the_whole(digits, cuts):
    running = pc.Measure(["default", "skce"])
    for part in np.split(np.arange(len(digits.labels)), cuts):
        running.update(logits=digits.logits[part], labels=digits.labels[part])
    whole = pc.measure(logits=digits.logits, labels=digits.labels, metrics=["default", "skce"])
    assert running.result().to_json() == whole.to_json()


def test_groups_of_parts_meet_by_name(digits):
    names = np.where(digits.labels < 5, "small", "large")
    running = pc.Measure()
    for part in (slice(0, 300), slice(300, None)):
        running.update(digits.probs[part], digits.labels[part], groups=names[part])
    whole = pc.measure(digits.probs, digits.labels, groups=names)
    assert running.result().to_json() == whole.to_json()


def test_merging_and_files(digits, tmp_path, program):
    first, second = pc.Measure(), pc.Measure()
    first.update(logits=digits.logits[:300], labels=digits.labels[:300])
    second.update(logits=digits.logits[300:], labels=digits.labels[300:], first_row=300)
    first.save(tmp_path / "first.pcal")
    second.save(tmp_path / "second.pcal")
    whole = pc.measure(logits=digits.logits, labels=digits.labels).to_json()
    loaded = pc.Measure.load(tmp_path / "first.pcal").merge(
        pc.Measure.load(tmp_path / "second.pcal")
    )
    assert loaded.result().to_json() == whole
    assert pc.Measure().merge(first).merge(second).result().to_json() == whole
    files = [str(tmp_path / name) for name in ("first.pcal", "second.pcal")]
    printed = subprocess.run([program, "merge", *files, "--json"], check=True, capture_output=True)
    assert printed.stdout.decode() == whole


def test_a_refused_part_changes_nothing(digits):
    running = pc.Measure("ece").update(digits.probs, digits.labels)
    before = running.result().to_json()
    with pytest.raises(pc.DataError, match=f"row {len(digits.labels)}"):
        running.update(digits.probs[:5] * 2, digits.labels[:5])
    with pytest.raises(pc.Error):
        running.update(digits.probs[:5, :4] * 0 + 0.25, digits.labels[:5] % 4)
    assert running.result().to_json() == before
    with pytest.raises(pc.UsageError, match="nothing was measured yet"):
        pc.Measure().result()


def test_a_loaded_measure_goes_on(digits, tmp_path):
    specs = ["ece:bins=20,norm=l2", "brier"]
    whole = pc.measure(digits.probs, digits.labels, metrics=specs)
    first = pc.Measure(specs, normalize=True).update(digits.probs[:300], digits.labels[:300])
    first.save(tmp_path / "first.pcal")
    loaded = pc.Measure.load(tmp_path / "first.pcal")
    loaded.update(digits.probs[300:], digits.labels[300:])
    assert loaded.result().to_dict()["results"] == whole.to_dict()["results"]
    fresh = pc.Measure(specs, normalize=True).merge(pc.Measure.load(tmp_path / "first.pcal"))
    fresh.update(digits.probs[300:], digits.labels[300:])
    assert fresh.result().to_dict()["results"] == whole.to_dict()["results"]
    other = pc.Measure("accuracy")
    with pytest.raises(pc.UsageError, match="other metrics"):
        other.merge(loaded)
    other.update(confidence=digits.confidence, correct=digits.correct)  # nothing has changed


def part_of(digits, begin, end, **more):
    rows = slice(begin, end)
    part = pc.Measure(["default", "accuracy"])
    given = {name: value[rows] for name, value in more.items()}
    return part.update(digits.probs[rows], digits.labels[rows], first_row=begin, **given)


def test_bytes_and_pickles(digits):
    rows = len(digits.labels)
    names = np.array(["10", "9", "b", "a"])[np.arange(rows) % 4]
    whole = pc.measure(digits.probs, digits.labels, groups=names, metrics=["default", "accuracy"])
    assert list(whole.groups) == ["9", "10", "a", "b"]
    cuts = [0, 1, 300, 300, 500, rows]
    parts = [part_of(digits, *cut, groups=names) for cut in zip(cuts, cuts[1:])]
    orders = [list(range(5)), [4, 2, 0, 1, 3]]
    copies = (
        lambda part: pc.Measure.from_bytes(part.to_bytes()),
        lambda part: pickle.loads(pickle.dumps(part)),
        copy.deepcopy,
        lambda part: part,
    )
    for order in orders:
        for taken in copies:
            total = pc.Measure(["default", "accuracy"])
            for at in order:
                total.merge(taken(parts[at]))
            assert total.result().to_json() == whole.to_json()
    empty = pc.Measure.from_bytes(parts[2].to_bytes())  # rows 300 to 300
    assert empty.merge(parts[0]).update(digits.probs[:0], digits.labels[:0]) is empty
    with pytest.raises(pc.DataError, match="is damaged; copy it again"):
        pc.Measure.from_bytes(parts[2].to_bytes()[:-3])
    with pytest.raises(pc.DataError, match="is not a saved state"):
        pc.Measure.from_bytes(b"else")


def test_a_part_is_merged_once(digits):
    part = part_of(digits, 100, 200).to_bytes()
    total = part_of(digits, 0, 100).merge(pc.Measure.from_bytes(part))
    before = total.to_bytes()
    with pytest.raises(pc.DataError, match="rows 100 to 199 are in another part too"):
        total.merge(pc.Measure.from_bytes(part))
    assert total.to_bytes() == before


def test_no_part_is_forgotten(digits):
    """More than 4096 parts, no two of them adjacent."""
    total = pc.Measure("accuracy")
    for i in range(5000):
        total.update(digits.probs[:1], digits.labels[:1], first_row=2 * i)
    total = pc.Measure.from_bytes(total.to_bytes())
    again = pc.Measure("accuracy").update(digits.probs[:1], digits.labels[:1], first_row=6002)
    with pytest.raises(pc.DataError, match="rows 6002 to 6002 are in another part too"):
        total.merge(pc.Measure.from_bytes(again.to_bytes()))
    # rows of this process are not compared: without first_row those of each measure are counted from 0
    assert total.merge(again).result().accuracy == 1.0


def test_blocks_do_not_depend_on_parts(digits):
    spec = "skce:estimator=block,block=7"
    whole = pc.measure(digits.probs, digits.labels, metrics=spec)
    cuts = [0, 3, 5, 130, 400, len(digits.labels)]
    parts = []
    for begin, end in zip(cuts, cuts[1:]):
        rows = slice(begin, end)
        part = pc.Measure(spec).update(digits.probs[rows], digits.labels[rows], first_row=begin)
        parts.append(part.to_bytes())
    total = pc.Measure(spec)
    for at in (3, 0, 4, 2, 1):
        total.merge(pc.Measure.from_bytes(parts[at]))
    assert total.result().to_json() == whole.to_json()
    with pytest.raises(pc.DataError, match="are in another part too; pass first_row"):
        fresh = pc.Measure(spec).update(digits.probs[:9], digits.labels[:9])
        fresh.merge(pc.Measure(spec).update(digits.probs[9:20], digits.labels[9:20]))


def test_repeated_rows(digits):
    weights = np.broadcast_to(2.0, len(digits.labels))
    twice = pc.measure(digits.probs, digits.labels, weights=weights, metrics="brier")
    assert twice.brier == pc.measure(digits.probs, digits.labels, metrics="brier").brier
    row = np.broadcast_to(digits.probs[:1], digits.probs.shape)
    assert pc.accuracy(row, digits.labels) == pc.accuracy(row.copy(), digits.labels)


# ---- Weights and ids ----


def test_weights_that_are_not_frequencies(digits):
    n = len(digits.labels)
    plain = pc.measure(digits.probs, digits.labels, interval=0.95, replicas=100)
    shares = pc.measure(
        digits.probs, digits.labels, weights=np.ones(n) / n, interval=0.95, replicas=100
    )
    assert plain.weights_are is None and plain.effective_sample_size == n
    assert shares.weights_are == "importance"
    assert shares.effective_sample_size == pytest.approx(n)
    assert shares.verdict == plain.verdict
    assert shares.ece.interval.high == pytest.approx(plain.ece.interval.high, rel=1e-5)
    many = pc.measure(digits.probs, digits.labels, weights=np.full(n, 7), metrics="ece")
    assert many.weights_are == "frequency" and many.effective_sample_size == 7 * n
    one = pc.measure(
        digits.probs, digits.labels, weights=np.full(n, 7), weights_are="importance", metrics=["ece", "cwce"]
    )
    assert one.weights_are == "importance" and one.verdict == plain.verdict
    with pytest.raises(pc.UsageError, match="'often' is unknown"):
        pc.measure(digits.probs, digits.labels, weights=np.ones(n), weights_are="often")
    with pytest.raises(pc.DataError, match="frequencies are whole numbers"):
        pc.measure(
            digits.probs, digits.labels, weights=np.ones(n) / n, weights_are="frequency"
        )


def test_the_order_of_rows_does_not_matter(digits):
    order = np.random.default_rng(3).permutation(len(digits.labels))
    how = {"metrics": ["default", "skce", "mmce"], "interval": 0.95, "null": True, "replicas": 40}
    here = pc.measure(digits.probs, digits.labels, **how)
    there = pc.measure(digits.probs[order], digits.labels[order], **how)
    assert here.to_json() == there.to_json()
    ids = np.arange(len(order)) * 3
    other = digits.probs**0.5 / (digits.probs**0.5).sum(1, keepdims=True)
    here = pc.measure(digits.probs, digits.labels, ids=ids, against_probs=other, replicas=40)
    there = pc.measure(
        digits.probs[order],
        digits.labels[order],
        ids=ids[order],
        against_probs=other[order],
        replicas=40,
    )
    assert here.to_json() == there.to_json()
    named = pc.measure(
        digits.probs, digits.labels, ids=[f"row {i}" for i in ids], metrics="ece", interval=0.9
    )
    assert named.ece.interval is not None
    with pytest.raises(pc.DataError, match="have the same id"):
        pc.measure(digits.probs, digits.labels, ids=ids // 6, metrics="ece", interval=0.9)


def test_periods():
    """Times of NumPy, of Python, as text and as seconds since 1970, in order of time."""
    probs, labels = np.array([0.9, 0.2, 0.7, 0.4]), np.array([1, 0, 0, 1])
    days = ["2026-02-02", "2026-01-01", "2026-02-01", "2026-01-31"]
    dates = np.array(days, dtype="datetime64[ns]")
    for times in (days, dates, dates.astype("datetime64[s]").astype(int), [*map(datetime.date.fromisoformat, days)]):
        result = pc.measure(probs, labels, metrics="accuracy", time=times, every="month")
        assert {name: float(values.accuracy) for name, values in result.groups.items()} == {
            "2026-01": 0.5,
            "2026-02": 0.5,
        }
        assert list(result.groups) == ["2026-01", "2026-02"]
    east = datetime.timezone(datetime.timedelta(hours=-2))
    result = pc.measure(probs, labels, metrics="accuracy", time=[datetime.datetime(2026, 1, 1, 23, tzinfo=east)] * 4, every="day")
    assert list(result.groups) == ["2026-01-02"]
    with pytest.raises(pc.UsageError, match="time needs the length of the periods; add every"):
        pc.measure(probs, labels, time=dates)
    with pytest.raises(pc.DataError, match="a time is missing; give every row a time"):
        pc.measure(probs, labels, time=np.array(["NaT", *days[1:]], dtype="datetime64[D]"), every="day")
    with pytest.raises(pc.UsageError, match="time and groups cannot be combined"):
        pc.measure(probs, labels, time=dates, every="day", groups=days)


def test_ragged_rows(tmp_path):
    rows, labels = [[1.0, 2.0, 0.5], [0.3, -1.0], [0.1, 0.2, 0.3, 2.0]], [1, 0, 3]
    expected = np.mean([np.log(np.exp(z).sum()) - z[y] for z, y in zip(map(np.array, rows), labels)])
    assert np.isclose(pc.measure(logits=rows, labels=labels, ragged=True)["log"], expected)
    padded = np.array([[*row, *[np.nan] * (4 - len(row))] for row in rows])
    assert np.isclose(pc.measure(logits=padded, labels=labels, ragged=True)["log"], expected)
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"logits": arrow.array(rows), "labels": labels})
    assert np.isclose(pc.measure(data=table, logits="logits", labels="labels", ragged=True)["log"], expected)
    with pytest.raises(pc.DataError, match="no score for"):
        pc.measure(logits=rows, labels=[1, 2, 3], ragged=True)


def test_abstentions():
    given = dict(confidence=[0.9, 0.8, np.nan], correct=[1.0, 0.0, np.nan], metrics=["accuracy"])
    result = pc.measure(**given, abstain=[False, False, True])
    assert result["accuracy"] == pytest.approx(1 / 3)
    assert result.to_dict()["data"]["abstained_rows"] == 1


def test_clusters_bring_intervals():
    probs, labels = [0.9, 0.8, 0.3, 0.4, 0.7, 0.2], [1, 0, 0, 1, 1, 0]
    result = pc.measure(probs, labels, cluster=[0, 0, 1, 1, 2, 2], metrics="brier", replicas=50)
    assert result.brier.interval is not None
