"""Data for all tests, and the program to compare with."""

import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "examples" / "digits"


def softmax(logits):
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exp / exp.sum(axis=1, keepdims=True)


class Data:
    """Predictions of a small network on handwritten digits."""

    def __init__(self):
        self.logits = np.load(DIGITS / "logits_test.npy")
        self.labels = np.load(DIGITS / "labels_test.npy").astype(np.int32)
        self.probs = softmax(self.logits.astype(np.float64))
        self.confidence = self.probs.max(axis=1)
        self.correct = self.probs.argmax(axis=1) == self.labels
        self.names = [f"digit {i}" for i in range(10)]


@pytest.fixture(scope="session")
def digits():
    return Data()


@pytest.fixture(scope="session")
def digits_files():
    return {"logits": DIGITS / "logits_test.npy", "labels": DIGITS / "labels_test.npy"}


@pytest.fixture(scope="session")
def program():
    """The command-line program of the same sources."""
    given = os.environ.get("PROPERCAL_PROGRAM")
    path = pathlib.Path(given or ROOT / "build" / "cli" / "propercal")
    if given:
        assert path.exists(), f"{path} is not there: build the program first"
    elif not path.exists():
        pytest.skip("the program is not built; set PROPERCAL_PROGRAM")
    return str(path)
