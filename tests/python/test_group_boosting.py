"""group-boosting against a brute force in NumPy; what it promises about log scores and groups."""

import itertools

import numpy as np
import propercal as pc
import pytest
from scipy.optimize import minimize_scalar

pytestmark = pytest.mark.filterwarnings("ignore:group-boosting. validate=no")


def simulated(rows, seed):
    """Probabilities of class 1 that are wrong in groups which overlap."""
    draw = np.random.default_rng(seed)
    z = draw.normal(0, 1.2, rows)
    groups = {"site": draw.choice(["north", "south", "west"], rows), "sex": draw.choice(["f", "m"], rows)}
    north, women, west = groups["site"] == "north", groups["sex"] == "f", groups["site"] == "west"
    shift = 0.9 * (north & women) - 0.6 * (north & ~women) - 0.3 * women + 0.5 * np.sign(z) * west
    labels = (draw.random(rows) < 1 / (1 + np.exp(-z - shift))).astype(int)
    return 1 / (1 + np.exp(-z)), labels, groups


def three_classes(rows, seed):
    draw = np.random.default_rng(seed)
    z = draw.normal(0, 1.5, (rows, 3))
    group = draw.choice(["a", "b"], rows)
    z_true = z + np.where(group == "a", 0.9, -0.4)[:, None] * np.array([1, 0, 0])
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    q = np.exp(z_true) / np.exp(z_true).sum(1, keepdims=True)
    labels = np.array([draw.choice(3, p=row) for row in q])
    return p, labels, group


def masks(groups):
    """All groups by name, and all rows as ''."""
    columns = list(groups)
    found = {"": np.ones(len(groups[columns[0]]), bool)}
    for size in range(1, len(columns) + 1):
        for chosen in itertools.combinations(columns, size):
            for values in itertools.product(*(sorted(set(groups[c])) for c in chosen)):
                mask = np.all([groups[c] == v for c, v in zip(chosen, values)], axis=0)
                if mask.any():
                    found[" & ".join(f"{c}={v}" for c, v in zip(chosen, values))] = mask
    return found


def cells(p, bins):
    """Bins as (lo, hi], 0 in the first, counted from 1."""
    edges = np.arange(1, bins) / bins
    return np.searchsorted(edges, p, side="left") + 1


def moved(p, k, inside, size):
    """Adds a size to the log-odds of class k: probabilities in proportion to p exp(size)."""
    q = p.copy()
    q[inside, k] *= np.exp(size)
    return q / q.sum(1, keepdims=True)


def brute(p, labels, groups, steps, bins, rate):
    """Steps by score statistics of all cells and a line search; p has a column for each class."""
    sets, taken = masks(groups), []
    for _ in range(steps):
        best = (0, None)
        for k in range(p.shape[1]) if p.shape[1] > 2 else [1]:
            y, where = labels == k, cells(p[:, k], bins)
            for name, mask in sets.items():
                for b in range(bins + 1):
                    inside = mask & ((where == b) | (b == 0))
                    spread = (p[inside, k] * (1 - p[inside, k])).sum()
                    value = (y - p[:, k])[inside].sum() ** 2 / spread if spread > 0 else 0
                    if value > best[0] * (1 + 1e-9):
                        best = (value, (name, k, b, inside))
        name, k, b, inside = best[1]

        def loss(size, k=k, inside=inside):
            return -np.log(moved(p, k, inside, size)[np.arange(len(p)), labels]).sum()

        size = rate * minimize_scalar(loss, bounds=(-4, 4), method="bounded", options={"xatol": 1e-10}).x
        p = moved(p, k, inside, size)
        taken.append((name, k, b, size))
    return p, taken


def log_score(p, labels):
    return -np.log(np.where(labels == 1, p, 1 - p)).mean()


@pytest.mark.parametrize(("bins", "rate"), [(10, 0.2), (4, 1.0)])
def test_brute_force(bins, rate):
    p, labels, groups = simulated(600, 1)
    fitted = pc.GroupBoosting(steps=12, bins=bins, rate=rate, validate=False)
    fitted.fit(probs=p, labels=labels, groups=groups)
    expected, _ = brute(np.stack([1 - p, p], 1), labels, groups, 12, bins, rate)
    assert fitted.transform(probs=p, groups=groups) == pytest.approx(expected[:, 1], abs=1e-6)


def test_brute_force_of_three_classes():
    p, labels, group = three_classes(400, 2)
    fitted = pc.GroupBoosting(steps=10, bins=5, validate=False)
    fitted.fit(probs=p, labels=labels, groups={"g": group})
    expected, _ = brute(p, labels, {"g": group}, 10, 5, 0.2)
    assert fitted.transform(probs=p, groups={"g": group}) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("steps", [1, 5, 40, 400])
def test_log_score_never_grows_on_the_rows_of_the_fit(steps):
    p, labels, groups = simulated(300, 3)
    fitted = pc.GroupBoosting(steps=steps, validate=False, rate=1.0).fit(probs=p, labels=labels, groups=groups)
    after = log_score(fitted.transform(probs=p, groups=groups), labels)
    assert after < log_score(p, labels)
    assert fitted.objective_["after"] == pytest.approx(after, abs=1e-12)
    assert fitted.objective_["before"] == pytest.approx(log_score(p, labels), abs=1e-12)


def test_validation_chooses_a_beginning_of_all_steps():
    p, labels, groups = simulated(1500, 4)
    chosen = pc.GroupBoosting(steps=200).fit(probs=p, labels=labels, groups=groups)
    assert 0 < chosen.iterations_ < 200
    same = pc.GroupBoosting(steps=chosen.iterations_, validate=False).fit(probs=p, labels=labels, groups=groups)
    assert np.array_equal(
        chosen.transform(probs=p, groups=groups), same.transform(probs=p, groups=groups)
    )  # the same bits


def test_nothing_to_learn():
    """Labels drawn from the probabilities, whatever the groups: few steps or none, and no harm."""
    draw = np.random.default_rng(5)
    p = draw.random(400)
    labels, group = (draw.random(400) < p).astype(int), draw.choice(["a", "b"], 400)
    fitted = pc.GroupBoosting().fit(probs=p, labels=labels, groups=group)
    assert fitted.iterations_ < 20
    assert np.abs(fitted.transform(probs=p, groups=group) - p).mean() < 0.02


def test_lower_multicalibration_on_other_rows():
    """Means over five sets: the largest gap and the log score fall on rows that the fit has not seen."""
    before, after = [], []
    for seed in range(5):
        p, labels, groups = simulated(4000, 10 + seed)
        q, truth, others = simulated(4000, 100 + seed)
        fitted = pc.GroupBoosting().fit(probs=p, labels=labels, groups=groups)
        metrics = ["multicalibration:bins=1", "multicalibration", "log"]
        for scores, out in ((q, before), (fitted.transform(probs=q, groups=others), after)):
            result = pc.measure(probs=scores, labels=truth, groups=others, metrics=metrics)
            out.append([float(result[m]) for m in metrics])
    before, after = np.mean(before, 0), np.mean(after, 0)
    assert after[0] < 0.5 * before[0]
    assert after[1] < 0.8 * before[1]
    assert after[2] < before[2] - 0.005


def test_order_of_rows_and_weights():
    p, labels, groups = simulated(500, 6)
    one = pc.GroupBoosting(steps=30).fit(probs=p, labels=labels, groups=groups)
    order = np.random.default_rng(7).permutation(500)
    two = pc.GroupBoosting(steps=30).fit(
        probs=p[order], labels=labels[order], groups={name: values[order] for name, values in groups.items()}
    )
    assert np.array_equal(one.transform(probs=p, groups=groups), two.transform(probs=p, groups=groups))
    twice = {name: np.tile(values, 2) for name, values in groups.items()}
    three = pc.GroupBoosting(steps=30).fit(probs=np.tile(p, 2), labels=np.tile(labels, 2), groups=twice)
    four = pc.GroupBoosting(steps=30).fit(probs=p, labels=labels, groups=groups, weights=np.full(500, 2.0))
    assert np.array_equal(three.transform(probs=p, groups=groups), four.transform(probs=p, groups=groups))


@pytest.mark.filterwarnings("ignore:group-boosting. 1 group was not seen")
def test_groups_that_the_fit_has_not_seen():
    p, labels, groups = simulated(1500, 8)
    fitted = pc.GroupBoosting(validate=False, steps=60).fit(probs=p, labels=labels, groups=groups)
    scores = np.linspace(0.05, 0.95, 19)

    def mapped(name):
        return fitted.transform(probs=scores, groups=np.array([name] * 19, dtype=object))

    assert np.array_equal(mapped("site=east & sex=f"), mapped("sex=f"))
    assert not np.array_equal(mapped("site=north & sex=f"), mapped("sex=f"))
    assert np.array_equal(mapped("site=east & sex=x"), mapped("elsewhere"))  # the steps of all rows


def test_probabilities_of_zero_and_one_are_clipped():
    p = np.array([0.0, 1.0, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7] * 10)
    labels = np.array([1, 1, 0, 0, 0, 1, 1, 1] * 10)
    fitted = pc.GroupBoosting(steps=200, validate=False).fit(probs=p, labels=labels)
    out = fitted.transform(probs=p)
    assert 0 < out[0] and out[1] == 1 - 2.0**-52 and out[2] < 0.3 and out[5] > 0.7
    assert fitted.objective_["before"] in (None, "inf", "Infinity", float("inf"))
    assert fitted.objective_["after"] == pytest.approx(log_score(out, labels))


def test_files_and_sentences(tmp_path):
    p, labels, groups = simulated(300, 9)
    fitted = pc.GroupBoosting(steps=10, validate=False).fit(probs=p, labels=labels, groups=groups)
    fitted.save(tmp_path / "cal.json")
    loaded = pc.load(tmp_path / "cal.json")
    assert np.array_equal(loaded.transform(probs=p, groups=groups), fitted.transform(probs=p, groups=groups))
    with pytest.raises(pc.UsageError, match="the calibrator has a map for each group; give the groups"):
        fitted.transform(probs=p)
    with pytest.raises(pc.UsageError, match="a calibrator with groups cannot be exported"):
        fitted.export(tmp_path / "cal.c")
    alone = pc.GroupBoosting(steps=10, validate=False).fit(probs=p, labels=labels)
    with pytest.raises(pc.UsageError, match="group-boosting cannot be exported; use propercal apply"):
        alone.export(tmp_path / "cal.c")


def test_groups_that_the_fit_did_not_see_are_named():
    p, labels, groups = simulated(1500, 5)
    fitted = pc.GroupBoosting(kind="probs", steps=20).fit(p, labels, groups=groups)
    fitted.transform(p, groups=groups)  # warnings are errors in these tests
    other = {"site": np.where(np.arange(len(p)) < 10, "east", groups["site"]), "sex": groups["sex"]}
    with pytest.warns(pc.FitWarning, match=r'2 groups were not seen in the fit, the first "site=east & sex=[fm]"; their rows'):
        fitted.transform(p, groups=other)
    with pytest.warns(pc.FitWarning, match='2 groups were not seen in the fit, the first "[fm]"') as caught:
        fitted.transform(p, groups=groups["sex"])
        fitted.predict_proba(p, groups=groups["sex"])
        fitted.predict(p, groups=groups["sex"])
    assert [warning.filename for warning in caught] == [__file__] * 3


def test_steps_without_validation_are_not_called_converged():
    p, labels, groups = simulated(1500, 6)
    with pytest.warns(pc.ConvergenceWarning, match="validate=no: no rows were held out"):
        fitted = pc.GroupBoosting(kind="probs", steps=20, validate=False).fit(p, labels, groups=groups)
    assert fitted.status_ == "stopped"
    assert pc.GroupBoosting(kind="probs", steps=300).fit(p, labels, groups=groups).status_ == "converged"
