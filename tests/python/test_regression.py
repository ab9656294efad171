"""Predictions of a number: keywords, functions, calibrators."""

import numpy as np
import propercal as pc
import pytest


@pytest.fixture(scope="module")
def forecasts():
    rng = np.random.default_rng(5)
    mean = rng.normal(size=500)
    variance = 0.1 + rng.random(500)
    target = mean + np.sqrt(3 * variance) * rng.normal(size=500)
    return mean, variance, target


def test_measure_takes_means_and_variances(forecasts):
    mean, variance, target = forecasts
    result = pc.measure(mean=mean, variance=variance, target=target, metrics=["dss", "crps"])
    expected = np.mean((mean - target) ** 2 / variance + np.log(variance))
    assert result["dss"] == pytest.approx(expected, rel=1e-12)
    same = pc.measure(mean=mean, std=np.sqrt(variance), target=target, metrics=["dss", "crps"])
    assert same["crps"] == pytest.approx(result["crps"], rel=1e-12)


def test_functions_of_both_tasks(forecasts):
    mean, variance, target = forecasts
    likelihood = pc.log(mean=mean, variance=variance, target=target)
    dss = pc.dss(mean=mean, variance=variance, target=target)
    assert likelihood == pytest.approx((dss + np.log(2 * np.pi)) / 2, rel=1e-12)
    assert pc.log([0.5, 0.5], [0, 1]) == pytest.approx(np.log(2))
    assert pc.skce(mean=mean, variance=variance, target=target, length=2.0) > 0
    assert pc.coverage(mean=mean, variance=variance, target=target, levels_=[0.5]) > 0


def test_quantiles_and_samples(forecasts):
    mean, variance, target = forecasts
    samples = mean[:, None] + np.sqrt(variance)[:, None] * np.linspace(-2, 2, 9)
    levels = (0.1, 0.5, 0.9)
    quantiles = samples[:, [2, 4, 6]]
    assert pc.crps(samples=samples, target=target) > 0
    result = pc.measure(quantiles=quantiles, levels=levels, target=target, metrics="quantile-ce")
    below = [abs(np.mean(target <= quantiles[:, j]) - levels[j]) for j in range(3)]
    assert result["quantile-ce"] == pytest.approx(np.mean(below), rel=1e-12)
    running = pc.Measure("quantile-ce")
    for part in np.array_split(np.arange(500), 4):
        running.update(quantiles=quantiles[part], levels=levels, target=target[part])
    assert running.result()["quantile-ce"] == result["quantile-ce"]


def test_calibrators(forecasts):
    mean, variance, target = forecasts
    platt = pc.VariancePlatt().fit(mean=mean, variance=variance, target=target)
    after = platt.transform(mean=mean, variance=variance)
    assert after.shape == (500, 2) and np.array_equal(after[:, 0], mean)
    assert after[:, 1] == pytest.approx(platt.w_ * variance + platt.b_, rel=1e-12)
    ratio = pc.variance_ratio(mean=after[:, 0], variance=after[:, 1], target=target)
    assert 0.9 < ratio < 1.1
    scale = pc.VarianceScale().fit(mean=mean, std=np.sqrt(variance), target=target)
    assert scale.w_ == pytest.approx(np.mean((mean - target) ** 2 / variance), rel=1e-12)


def test_sentences(forecasts):
    mean, variance, target = forecasts
    with pytest.raises(pc.UsageError, match="mean needs variance or std"):
        pc.measure(mean=mean, target=target)
    with pytest.raises(pc.UsageError, match="mean goes with target"):
        pc.measure(mean=mean, variance=variance, labels=target)
    with pytest.raises(pc.DataError, match="not above 0"):
        pc.crps(mean=mean, variance=variance - 5, target=target)
    with pytest.raises(pc.UsageError, match="without their levels"):
        pc.crps(quantiles=np.zeros((500, 3)), target=target)


def test_compare(forecasts):
    mean, variance, target = forecasts
    keys = {"mean": mean, "variance": variance, "target": target}
    found = pc.compare(**keys, replicas=50)
    # The shift of variance-platt is at its bound here, so that the two differ in the tenth digit.
    assert found.chosen in ("variance-platt", "variance-scale") and found.to_dict()["by"] == "dss"
    assert found.calibrator.transform(mean=mean, variance=variance).shape == (500, 2)
    half = {name: value[:250] for name, value in keys.items()}
    rest = {f"val_{name}": value[250:] for name, value in keys.items()}
    second = pc.compare(**half, **rest, by="crps", methods=["variance-scale"], replicas=50)
    scale = np.mean((mean[250:] - target[250:]) ** 2 / variance[250:])
    after = pc.crps(mean=mean[:250], variance=scale * variance[:250], target=target[:250])
    assert second.rows[1]["metrics"]["crps"] == pytest.approx(after, rel=1e-12)
    models = {"as it is": {"mean": mean, "variance": variance}}
    models["wide"] = {"mean": mean, "std": np.sqrt(3 * variance)}
    assert pc.compare(models=models, target=target, replicas=50).chosen == "wide"
    quantiles = mean[:, None] + np.sqrt(variance)[:, None] * np.array([-1.2, 0, 1.2])
    levels = (0.12, 0.5, 0.88)
    assert pc.compare(quantiles=quantiles, levels=levels, target=target, replicas=50).chosen


def test_inspect_and_plot(forecasts):
    mean, variance, target = forecasts
    reported = pc.inspect(mean=mean, variance=variance, target=target)
    assert "mean target" in repr(reported)
    platt = pc.VariancePlatt().fit(mean=mean, variance=variance, target=target)
    figure = pc.plot("pit", mean=mean, variance=variance, target=target, calibrator=platt)
    assert "before calibration" in figure.svg
    quantiles = mean[:, None] + np.array([-1.0, 0, 1])
    levels = (0.1, 0.5, 0.9)
    assert pc.plot("coverage", quantiles=quantiles, levels=levels, target=target).data["marks"]


def _forms(mean, std):
    """The same predictions in every form, and wider ones."""
    steps, levels = np.linspace(-1.6, 1.6, 9), (0.1, 0.5, 0.9)
    ends = np.array([-1.2816, 0, 1.2816])
    yield (
        {"mean": mean, "std": std},
        {"against_mean": mean, "against_std": 1.5 * std},
    )
    yield (
        {"samples": mean[:, None] + std[:, None] * steps},
        {"against_samples": mean[:, None] + 1.5 * std[:, None] * steps},
    )
    yield (
        {"quantiles": mean[:, None] + std[:, None] * ends, "levels": levels},
        {"against_quantiles": mean[:, None] + 1.5 * std[:, None] * ends},
    )


def test_how_sure_every_metric_is(forecasts):
    """Intervals, differences and nulls of all metrics that a form has, or a reason."""
    mean, variance, target = (part[:80] for part in forecasts)
    names = [row.name for row in pc.list_metrics() if row.task == "regression"]
    had = {}
    for keys, other in _forms(mean, np.sqrt(variance)):
        form = next(iter(keys))
        for name in names:
            try:
                result = pc.measure(
                    **keys, **other, target=target, metrics=[name], interval=0.95, null=True,
                    replicas=40,
                )
            except pc.UsageError as error:
                assert "; " in str(error)
                continue
            reported = result.to_dict()["results"][0]
            assert reported["interval"] and reported["difference"]["high"] is not None
            blind = form == "quantiles" or name in ("mean-variance", "sharpness")
            assert bool(reported.get("null")) != blind
            had.setdefault(form, []).append(name)
    assert [len(had[form]) for form in had] == [16, 15, 4]


def _skce(mean, std, target):
    def kernel(distance, variance):
        return np.exp(-(distance**2) / (2 * variance)) / np.sqrt(variance)

    between, v = mean[:, None] - mean, std**2
    near = np.exp(-np.hypot(between, std[:, None] - std))
    pairs = kernel(target[:, None] - target, 1) + kernel(between, 1 + v[:, None] + v)
    pairs -= kernel(mean[:, None] - target, (1 + v)[:, None])
    pairs -= kernel(mean - target[:, None], 1 + v)
    return (near * pairs)[np.triu_indices(len(mean), 1)].mean()


def test_null_of_skce(forecasts):
    mean, variance, target = (part[:80] for part in forecasts)
    std = np.sqrt(variance)
    keys = {"mean": mean, "std": std, "target": target}
    reported = pc.measure(**keys, metrics=["skce"], null=True, replicas=200).to_dict()["results"][0]
    assert reported["value"] == pytest.approx(_skce(mean, std, target), rel=1e-10)
    rng = np.random.default_rng(1)
    drawn = [_skce(mean, std, mean + std * rng.normal(size=80)) for _ in range(400)]
    spread = np.quantile(drawn, 0.975) - np.quantile(drawn, 0.025)
    assert abs(reported["null"]["mean"] - np.mean(drawn)) < 0.2 * np.std(drawn)
    assert 0.7 < (reported["null"]["high"] - reported["null"]["low"]) / spread < 1.4


REGRESSION = [row for row in pc.list_calibrators() if row.task == "regression"]


def class_of(row):
    classes = vars(pc.calibrators).values()
    return next(one for one in classes if isinstance(one, type) and getattr(one, "_row", None) == row)


@pytest.mark.parametrize("row", REGRESSION, ids=lambda row: row.name)
def test_fit_never_writes_parameters_of_a_number(forecasts, row):
    sklearn_base = pytest.importorskip("sklearn.base")
    mean, variance, target = forecasts
    made = class_of(row)
    ends = np.column_stack((mean - variance, mean + variance))
    inputs = {"mean": mean, "variance": variance}
    if row.name == "cqr":
        inputs = {"quantiles": ends}
    more = {"levels": (0.1, 0.9)} if row.name == "cqr" else {}
    half = {name: value[:250] for name, value in inputs.items()} | more
    rest = {name: value[250:] for name, value in inputs.items()} | more
    first = made()
    before = first.get_params()
    first.fit(target=target[:250], **half)
    assert first.get_params() == before
    fresh = made().fit(target=target[250:], **rest).transform(**rest)
    again = sklearn_base.clone(first).fit(target=target[250:], **rest).transform(**rest)
    assert np.array_equal(again, fresh)
    assert np.array_equal(first.fit(target=target[250:], **rest).transform(**rest), fresh)


@pytest.mark.parametrize("row", REGRESSION, ids=lambda row: row.name)
def test_predictions_of_a_number_have_names(row):
    name = class_of(row).__name__
    said = (
        f"{name} calibrates predictions of a number, which have names; write "
        f"{name}().fit(mean=..., variance=..., target=...), or give quantiles= or samples="
    )
    for scores in ([[-1.0, 1.0], [2.0, -3.0]], [[0.2, 0.8], [0.5, 0.5]]):
        with pytest.raises(pc.UsageError) as raised:
            class_of(row)().fit(np.array(scores), [0.0, 1.0])
        assert str(raised.value) == said


def test_several_targets():
    rng = np.random.default_rng(4)
    samples, target = rng.normal(size=(80, 5, 3)), rng.normal(0.5, 1, (80, 3))
    away = np.linalg.norm(samples - target[:, None], axis=2).mean(axis=1)
    apart = np.linalg.norm(samples[:, :, None] - samples[:, None], axis=3).sum(axis=(1, 2))
    fair = (away - apart / (2 * 5 * 4)).mean()
    assert pc.energy_score(samples=samples, target=target) == pytest.approx(fair, rel=1e-13)
    empirical = (away - apart / (2 * 5 * 5)).mean()
    assert pc.energy_score(samples=samples, target=target, estimator="empirical") == pytest.approx(empirical, rel=1e-13)
    flat = pc.measure(samples=samples.reshape(80, 15), target=target, interval=0.9)
    assert flat["energy-score"] == pc.energy_score(samples=np.asfortranarray(samples), target=target)
    assert flat.verdict is None and flat["energy-score"].interval.low < fair
    assert pc.crps(samples=samples[:, :, :1], target=target[:, 0]) == pc.crps(samples=samples[:, :, 0], target=target[:, 0])
    with pytest.raises(pc.DataError, match="give target with 3 columns"):
        pc.energy_score(samples=samples, target=target[:, :2])
    with pytest.raises(pc.UsageError, match="crps is for one target in each row"):
        pc.crps(samples=samples, target=target)
    part = pc.Measure("energy-score")
    part.update(samples=samples[:30], target=target[:30])
    part.update(samples=samples[30:], target=target[30:])
    assert part.compute()["energy-score"] == flat["energy-score"]
