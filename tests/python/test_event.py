"""Predictions of a number measured as the probability of an event."""

import numpy as np
import propercal as pc
import pytest


def forecasts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(18, 4, n), rng.uniform(1, 3, n)
    return mean, std, rng.normal(mean, std)


def test_event_of_samples_is_their_share():
    mean, std, target = forecasts()
    samples = mean[:, None] + std[:, None] * np.random.default_rng(1).normal(size=(300, 20))
    found = pc.measure(samples=samples, target=target, event="> 20", metrics=["brier", "auc"])
    probs, occurred = np.mean(samples > 20, axis=1), (target > 20).astype(int)
    again = pc.measure(probs, occurred, metrics=["brier", "auc"])
    assert found["brier"] == again["brier"] and found["auc"] == again["auc"]


def test_event_of_normal_and_quantiles():
    mean, std, target = forecasts()
    normal = pc.Data(mean=mean, std=std, target=target, event="<= 18")
    found = pc.measure(normal, metrics="brier")["brier"]
    levels = np.linspace(0.01, 0.99, 99)
    from statistics import NormalDist

    quantiles = mean[:, None] + std[:, None] * np.array([NormalDist().inv_cdf(level) for level in levels])
    near = pc.measure(quantiles=quantiles, levels=levels, target=target, event="<= 18", metrics="brier")["brier"]
    assert found == pytest.approx(near, abs=2e-3)


def test_calibrator_of_an_event():
    mean, std, target = forecasts()
    fitted = pc.Beta().fit(mean=mean, std=std, target=target, event="> 20")
    out = fitted.transform(mean=mean, std=std, event="> 20")
    assert out.shape == (300,) and ((out > 0) & (out < 1)).all()


def test_event_needs_numbers():
    with pytest.raises(pc.UsageError, match="event needs predictions of a number"):
        pc.measure([0.2, 0.7], [0, 1], event="> 20")
    with pytest.raises(pc.UsageError, match='event "20" is no event'):
        pc.measure(mean=[1.0], std=[1.0], target=[2.0], event="20")
