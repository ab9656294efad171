"""prior-shift, and measuring as if the classes had another prevalence."""

import numpy as np
import propercal as pc
import pytest


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.uniform(0.02, 0.98, n)
    return probs, (rng.uniform(size=n) < probs).astype(int)


def test_prior_shift_follows_bayes():
    probs, labels = rows()
    shift = pc.PriorShift(prevalence=0.1).fit(probs, labels)
    odds = probs / (1 - probs) * (0.1 / 0.9) / (labels.mean() / (1 - labels.mean()))
    assert np.allclose(shift.transform(probs), odds / (1 + odds), rtol=1e-12)


def test_prior_shift_without_labels():
    probs, labels = rows(4000)
    shift = pc.PriorShift(from_=0.5).fit(probs=probs)
    assert shift.status_ == "converged"
    assert abs(shift.new_[1] - shift.transform(probs).mean()) < 1e-9
    with pytest.raises(pc.UsageError, match="without labels"):
        pc.PriorShift().fit(probs=probs)


def test_measure_as_if():
    probs, labels = rows()
    found = pc.measure(probs, labels, metrics="brier", prevalence=0.1)["brier"]
    weights = np.where(labels == 1, 0.1 / labels.mean(), 0.9 / (1 - labels.mean()))
    assert np.isclose(found, 2 * np.average((probs - labels) ** 2, weights=weights))
    again = pc.measure(probs, labels, metrics="brier", prevalence=[0.9, 0.1])["brier"]
    assert again == found
