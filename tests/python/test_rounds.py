"""Rounds: the bytes of one process, however the rows are divided."""

import itertools
import pickle

import numpy as np
import pytest

import propercal as pc

SPECS = ("default", "ace", "ece:binning=mass")


@pytest.fixture(scope="module")
def rows():
    data = pc.simulate(4000, 5, factor=2)
    rng = np.random.default_rng(1)
    return {
        "logits": data.logits,
        "labels": data.labels,
        "weights": rng.integers(0, 4, 4000).astype(float),
        "groups": np.array(["north", "south", "10", "9"])[rng.integers(0, 4, 4000)],
    }


def measured(given, parts, specs=SPECS, **how):
    """Each round divides the rows in another way."""
    rng = np.random.default_rng(2)
    rounds = pc.Rounds(specs, kind="logits", **how)
    while not rounds.done:
        request = rounds.request()
        tallies = [pc.RoundsWorker(request).tally()]
        for chosen in np.array_split(rng.permutation(len(given["labels"])), parts):
            worker = pc.RoundsWorker(request)
            for half in np.array_split(chosen, 2):
                worker.update(**{name: value[half] for name, value in given.items()})
            tallies.append(worker.tally())
        middle = len(tallies) // 2
        first, second = pc.merge_tallies(tallies[:middle]), pc.merge_tallies(tallies[middle:])
        rounds.absorb(pc.merge_tallies([second, first]))
    return rounds.result()


@pytest.mark.parametrize("more", [(), ("weights",), ("groups",), ("weights", "groups")])
def test_bytes_of_one_process(rows, more):
    given = {name: rows[name] for name in ("logits", "labels", *more)}
    whole = pc.measure(metrics=SPECS, **given)
    for parts, classes in ((1, 5), (6, None)):
        assert measured(given, parts, classes=classes).to_json() == whole.to_json()


def test_fractional_weights(rows):
    given = {"logits": rows["logits"], "labels": rows["labels"], "weights": rows["weights"] + 0.3}
    whole = pc.measure(metrics=SPECS, **given)
    assert measured(given, 3).to_json() == whole.to_json()


def test_rows_that_change(rows):
    rounds = pc.Rounds("ks", kind="logits")
    for shift in (0, 1e-6):
        worker = pc.RoundsWorker(rounds.request())
        worker.update(logits=rows["logits"] + np.float32(shift), labels=rows["labels"])
        tally = worker.tally()
        if shift == 0:
            rounds.absorb(tally)
    with pytest.raises(pc.DataError, match="^the rows of this round differ from those of the first"):
        rounds.absorb(tally)
    with pytest.raises(pc.UsageError, match="the rounds are not done"):
        rounds.result()


def test_scores_of_one_column(rows):
    """Workers that need nothing but the scores also know which rows they read."""
    scores = 1 / (1 + np.exp(-rows["logits"][:, 1].astype(float)))
    labels = (rows["labels"] == 1).astype(np.int32)
    rounds = pc.Rounds("ks", kind="probs")
    whole = pc.measure(scores, labels, metrics="ks")

    def tally(scores, labels):
        worker = pc.RoundsWorker(rounds.request())
        for part in (slice(0, 1000), slice(1000, None)):
            worker.update(probs=scores[part], labels=labels[part])
        return worker.tally()

    rounds.absorb(tally(scores, labels))
    other = np.where(np.arange(len(scores)) == 2000, 1 - scores, scores)
    with pytest.raises(pc.DataError, match="^the rows of this round differ from those of the first"):
        rounds.absorb(tally(other, labels))
    while not rounds.done:
        rounds.absorb(tally(scores[::-1].copy(), labels[::-1].copy()))
    assert rounds.result().to_json() == whole.to_json()


def test_refusals(rows):
    with pytest.raises(pc.UsageError, match="^auc needs every score"):
        pc.Rounds("auc", kind="logits", classes=5)
    with pytest.raises(pc.UsageError, match="kind is one of probs"):
        pc.Rounds("ece", kind="logit")
    with pytest.raises(pc.DataError, match="^the request is not a request of rounds"):
        pc.RoundsWorker(b"something else")
    with pytest.raises(pc.UsageError, match="there are no tallies to merge"):
        pc.merge_tallies([])
    worker = pc.RoundsWorker(pc.Rounds("ece", kind="probs").request())
    with pytest.raises(pc.UsageError, match="begun for scores of the kind probability"):
        worker.update(logits=rows["logits"], labels=rows["labels"])
    with pytest.raises(pc.UsageError, match="an update of this worker failed"):
        worker.tally()


def test_requests_and_tallies_are_plain_bytes(rows):
    request = pc.Rounds("ece", kind="logits").request()
    assert isinstance(request, bytes) and pickle.loads(pickle.dumps(request)) == request
    assert len(request) < 200


# ---- Fitting ----


def fitted_in_rounds(method, parts, **policy):
    rounds = pc.FitRounds(method, **policy)
    while not rounds.done:
        tallies = [pc.RoundsWorker(rounds.request()).update(**part).tally() for part in parts]
        rounds.absorb(pc.merge_tallies(tallies))
    return rounds.calibrator(), rounds.round


@pytest.mark.parametrize("method", ["temperature", "vector", "isotonic", "histogram", "platt"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_in_rounds_is_the_fit_of_one_process(method, dtype):
    data = pc.simulate(3000, 4, factor=2, seed=5)
    logits = data.logits.astype(dtype)
    parts = [
        {"logits": logits[rows], "labels": data.labels[rows]}
        for rows in np.array_split(np.random.default_rng(0).permutation(3000), 3)
    ]
    found, rounds = fitted_in_rounds(method, parts)
    whole = pc.calibrators.__dict__[type(found).__name__](kind="logits").fit(
        logits=logits, labels=data.labels
    )
    assert found.to_json() == whole.to_json()
    assert rounds >= 1


def test_intervals_and_nulls(rows):
    """Replicas are drawn by the workers, each over its rows."""
    given = {name: rows[name] for name in ("logits", "labels", "weights")}
    asked = {"interval": 0.9, "null": True, "replicas": 40, "seed": 4}
    found = measured(given, 3, specs=["ece", "sce"], **asked)
    assert found.to_json() == pc.measure(**given, metrics=["ece", "sce"], **asked).to_json()
    assert found.ece.interval[0] < found.ece < found.ece.interval[1]
    default = measured(given, 3, specs=(), interval=0.9, replicas=40)
    assert default.ece.interval is not None and default.smece.interval is None
    assert "smece: needs 16384 rows in rounds" in str(default)


@pytest.mark.parametrize("weighted", ["", "whole", "fractional"])
def test_one_row_twice(weighted):
    """Equal rows in several parts: the round that draws takes them joined, the others as they are or joined."""
    data = pc.simulate(16_400, 2, factor=1.5, seed=2)
    where = np.append(np.arange(16_400), [5, 5])
    given = {"logits": data.logits[where], "labels": data.labels[where]}
    if weighted:
        given["weights"] = np.ones(len(where)) + (where == 5) + (0.25 if weighted == "fractional" else 0)
    counts = np.bincount(where, weights=given.get("weights"))
    joined = {"logits": data.logits, "labels": data.labels, "weights": counts.astype(float)}
    asked = {"interval": 0.9, "replicas": 30}
    whole = pc.measure(**given, **asked).to_json()
    for late in (False, True):
        rounds, drawn = pc.Rounds(kind="logits", **asked), 0
        while not rounds.done:
            joins = rounds.draws or (late and rounds.round > 1 and weighted != "fractional")
            drawn += rounds.draws
            rows = joined if joins else given
            order = np.random.default_rng(rounds.round).permutation(len(rows["labels"]))
            tallies = []
            for part in np.array_split(order, 3):
                worker = pc.RoundsWorker(rounds.request())
                tallies.append(worker.update(**{name: each[part] for name, each in rows.items()}).tally())
            rounds.absorb(pc.merge_tallies(tallies))
        assert drawn == (weighted != "fractional") and not rounds.draws
        found = rounds.result()
        if weighted == "fractional":
            assert "rounds draw rows whose weights are frequencies" in str(found)
        else:
            assert found.to_json() == whole and found.ks.interval and found.smece.interval


def test_fits_that_need_all_rows_are_refused():
    with pytest.raises(pc.UsageError, match="network needs all rows at once"):
        pc.FitRounds("network")
    with pytest.raises(pc.UsageError, match="the rounds are not done"):
        pc.FitRounds("temperature").calibrator()


# ---- Going on in another process ----


def test_fits_refuse_groups(rows):
    worker = pc.RoundsWorker(pc.FitRounds("temperature").request())
    with pytest.raises(pc.UsageError) as caught:
        worker.update(logits=rows["logits"], labels=rows["labels"], groups=rows["groups"])
    assert str(caught.value) == (
        "calibrators of groups cannot be fitted in rounds; remove groups, or fit in one process"
    )


def test_resumed_rounds(rows):
    given = {"logits": rows["logits"], "labels": rows["labels"]}
    first, tallies = pc.Rounds("ks", kind="logits").request(), []
    while True:  # a new coordinator for each round
        rounds = pc.Rounds.resume(first, tallies)
        if rounds.done:
            break
        tallies.append(pc.RoundsWorker(rounds.request()).update(**given).tally())
    assert len(tallies) > 1
    assert rounds.result().to_json() == pc.measure(metrics="ks", **given).to_json()
    with pytest.raises(pc.UsageError, match="^the request is one of Rounds; call Rounds.resume$"):
        pc.FitRounds.resume(first)
    fit = pc.FitRounds("temperature", seed=3)
    later = pc.FitRounds.resume(fit.request())
    assert later.request() == fit.request() and later.round == 1


# ---- Tallies ----


@pytest.mark.parametrize("method", [None, "temperature", "isotonic"])
def test_the_order_of_merging_does_not_change_a_byte(rows, method):
    given = {"logits": rows["logits"], "labels": rows["labels"], "weights": rows["weights"]}
    rounds = pc.Rounds(SPECS, kind="logits") if method is None else pc.FitRounds(method)
    while not rounds.done:
        tallies = []
        for part in (slice(0, 900), slice(900, 901), slice(901, None)):
            worker = pc.RoundsWorker(rounds.request())
            tallies.append(worker.update(**{name: each[part] for name, each in given.items()}).tally())
        merged = pc.merge_tallies(tallies)
        assert pc.merge_tallies(tallies[::-1]) == merged
        assert pc.merge_tallies([tallies[1], pc.merge_tallies([tallies[2], tallies[0]])]) == merged
        rounds.absorb(merged)


def test_levels_and_replicas_are_checked_at_once():
    with pytest.raises(pc.UsageError, match="level of intervals must be between 0 and 1"):
        pc.Rounds("ece", interval=1.5)
    with pytest.raises(pc.UsageError, match="replicas is 0; give a whole number, 1 or more"):
        pc.Rounds("ece", interval=0.9, replicas=0)


# ---- Groups of several columns ----


def test_several_columns_of_groups(rows):
    """Sums and bins show all unions, as one process does; metrics that need later rounds refuse."""
    given = {"logits": rows["logits"], "labels": rows["labels"]}
    given["groups"] = np.stack([rows["labels"] % 2, np.arange(4000) % 3], axis=1)
    whole = pc.measure(metrics=["ece", "brier"], **given)
    assert measured(given, 3, ["ece", "brier"]).to_json() == whole.to_json() and len(whole.groups) == 11
    for asked in ({"metrics": "ks"}, {"metrics": "ece", "interval": 0.9}, {"metrics": "brier", "null": True}):
        worker = pc.RoundsWorker(pc.Rounds(kind="logits", **asked).request())
        with pytest.raises(pc.UsageError) as found:
            worker.update(**given)
        assert str(found.value) == (
            "in rounds, metrics of sorted scores, intervals and nulls take one column of groups, and groups has "
            "several; join the columns into one"
        )


# ---- Lists of scores ----


def test_lists_of_unequal_length_by_position():
    arrow = pytest.importorskip("pyarrow")
    gap, short = [[float("nan"), 0.8], [0.3, 0.3, 0.4], [0.5, 0.5]], [[0.2, 0.8], [0.3, 0.7], [1.0]]
    cases = [(gap, "probs, row 300, column 0: the score is missing (NaN); remove the row or pass skip_missing=True")]
    words = "the list has 1 values and the first one 2; give lists of equal length"
    cases.append((short, f'probs, column "values", row 302: {words}'))
    for rows, sentence in cases:
        worker = pc.RoundsWorker(pc.Rounds("brier", kind="probs").request())
        with pytest.raises(pc.DataError) as found:
            worker.update(probs=arrow.array(rows), labels=[0, 1, 1], first_row=300)
        assert str(found.value) == sentence and found.value.row == int(sentence.split("row ")[1][:3])


def partitions_of(kind, *partitions, label=0, **policy):
    """What the driver of a cluster says about these batches of lists of scores, for any order of merging.
    Batches of nulls alone may have the type null (kind None)."""
    arrow = pytest.importorskip("pyarrow")
    from propercal._partitions import LengthNeeded, RoundPart, answer_part, conclude, merge_answers, merge_rounds

    request = pc.Rounds("brier", kind="probs", **policy).request()
    given = []
    for batches in partitions:
        given.append([])
        for rows in batches:
            typed = kind is not None or any(row is not None for row in rows)
            scores = arrow.array(rows, (kind or arrow.list_)(arrow.float64())) if typed else arrow.nulls(len(rows))
            given[-1].append((len(rows), {"probs": scores, "labels": arrow.array([label] * len(rows))}))

    def answered(width):
        return [answer_part(batches, number, RoundPart, request, width) for number, batches in enumerate(given)]

    answers = answered(None)
    try:
        conclude(answers, merge_rounds)
    except LengthNeeded as needed:
        answers = answered(needed.width)
    except pc.Error:
        pass
    said = set()
    for order in itertools.permutations(range(len(answers))):
        for middle in range(len(order)):
            some = (order[:middle], order[middle:])
            halves = [merge_answers([answers[i] for i in each], merge_rounds) for each in some]
            try:
                conclude(halves, merge_rounds)
                said.add("")
            except pc.Error as error:
                said.add((type(error), error.row, str(error)))
    (one,) = said
    return one


@pytest.mark.parametrize("wide", [False, True])
def test_partitions_with_lists_of_unequal_length(wide):
    """The first list of the first partition sets the length; of other rows the first one is reported."""
    arrow = pytest.importorskip("pyarrow")
    kind = arrow.large_list if wide else arrow.list_
    two, three, gap = [0.2, 0.8], [0.2, 0.3, 0.5], [float("nan"), 1.0]
    assert partitions_of(kind, [[two, two], [two]], [], [[two]]) == ""
    equal = "give lists of equal length"

    def first(row, partition, sentence, *partitions):
        assert partitions_of(kind, *partitions) == (pc.DataError, row, f"partition {partition}: {sentence}")

    odd = f"the list has 3 values and the first one 2; {equal}"
    first(3, 0, f"probs, row 3: {odd}", [[two, two], [two, three]], [[two]], [[three]])
    first(2, 1, f"probs, row 2: {odd}", [[two]], [[two, two], [three, three]], [[three]])
    first(0, 1, f"probs, row 0: {odd}", [[two]], [[three, two]], [[three], [two]])
    first(0, 2, f"probs, row 0: the list has 2 values and the first one 3; {equal}", [], [[three]], [[two], [three]])
    missing = "probs, row 1, column 0: the score is missing (NaN); remove the row or pass skip_missing=True"
    first(1, 0, missing, [[two], [gap, three]], [[three]])
    first(1, 0, missing, [[two], [gap]], [[three]])


@pytest.mark.parametrize("typed", [True, False])
def test_batches_of_nulls_alone(typed):
    """They take the length of the first list of their partition, or that of other partitions."""
    arrow = pytest.importorskip("pyarrow")
    kind = arrow.list_ if typed else None
    two, three = [0.2, 0.8], [0.2, 0.3, 0.5]
    missing = "row 0, column 0: the score is missing (NaN); remove the row or pass skip_missing=True"
    batches = [[None, None], [None, two], [None], [two]]
    found = partitions_of(kind, batches, [[None]])
    assert found == (pc.DataError, 0, f"partition 0: probs, {missing}")
    skip = {"skip_missing": True}
    assert partitions_of(kind, batches, [[two]], **skip) == ""
    odd = "the list has 3 values and the first one 2; give lists of equal length"
    found = partitions_of(kind, batches, [[None], [three]], [[None]], **skip)
    assert found == (pc.DataError, 1, f"partition 1: probs, row 1: {odd}")
    found = partitions_of(kind, [*batches, [None, three]], [[None]], **skip)
    assert found == (pc.DataError, 7, f"partition 0: probs, row 7: {odd}")
    assert partitions_of(kind, [[None], [None]], batches, [[None]], **skip) == ""
    assert partitions_of(kind, [[None]], [[three]], label=2, **skip) == ""
    found = partitions_of(kind, [[three]], [[None, None], [None]])
    assert found == (pc.DataError, 0, f"partition 1: probs, {missing}")
    found = partitions_of(kind, [[None]], [[None]], **skip)
    words = "partition 0: probs: every row of the table is null; give a list of scores for each row"
    assert found == ((pc.DataError, 0, words) if typed else "")


def test_a_table_read_again_for_the_length_of_lists():
    """Once: later rounds know it."""
    from propercal._partitions import LengthNeeded, read_with_length

    widths = []

    def read(request, width):
        widths.append(width)
        if width is None:
            raise LengthNeeded(3)
        return request

    answer = read_with_length(read)
    assert [answer(b"a"), answer(b"b")] == [b"a", b"b"] and widths == [None, 3, 3]


def test_columns_of_a_table_in_partitions():
    arrow = pytest.importorskip("pyarrow")
    from propercal._partitions import RoundPart, answer_part, conclude, merge_rounds

    request = pc.Rounds("brier", kind="probs").request()
    table = arrow.table({"p": [[0.2, 0.8], [0.3, 0.3, 0.4]], "y": [0, 1]})
    found = answer_part([(2, {"data": table, "probs": "p", "labels": "y"})], 0, RoundPart, request)
    with pytest.raises(pc.DataError, match="^block 3: probs, row 1: the list has 3 values and the first one 2"):
        conclude([found.of_partition(3)], merge_rounds, "block")


@pytest.mark.parametrize("method", ["temperature", "histogram:bins=3", "isotonic", "platt", "vector"])
def test_a_part_without_weights_of_a_fit(method):
    """Rows without weights count as rows of weight 1 beside those that have some."""
    data = pc.simulate(400, 3, factor=2, seed=5)
    weights = np.linspace(0.5, 19.7, 200)
    found = []
    for others in ({}, {"weights": np.ones(200)}):
        rounds = pc.FitRounds(method)
        while not rounds.done:
            first, second = (pc.RoundsWorker(rounds.request()) for _ in range(2))
            first.update(logits=data.logits[:200], labels=data.labels[:200], weights=weights)
            second.update(logits=data.logits[200:], labels=data.labels[200:], **others)
            rounds.absorb(pc.merge_tallies([first.tally(), second.tally()]))
        found.append(rounds.calibrator().predict_proba(data.logits).tobytes())
    assert found[0] == found[1]
