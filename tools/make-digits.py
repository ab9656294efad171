#!/usr/bin/env python3
"""Remakes examples/digits: predictions of a deliberately over-confident classifier.

    python3 -m venv .venv-digits
    .venv-digits/bin/pip install numpy==2.2.6 scikit-learn==1.6.1
    .venv-digits/bin/python tools/make-digits.py [FOLDER]

A network with one hidden layer is trained on 300 of the 1797 handwritten digits that ship with
scikit-learn, without any regularisation and long after it has learnt all 300 by heart.  It then
predicts 700 digits for validation and the other 797 for testing.

Full-batch gradient descent in double precision has no random order and does not magnify
rounding, and the logits are rounded to 1/1024: the files come out the same on every machine.
"""

import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits

SEED = 3
TRAIN, VALIDATION = 300, 700
HIDDEN, CLASSES = 12, 10
STEPS, RATE, MOMENTUM = 20000, 0.5, 0.9


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


class Network:
    """Inputs -> tanh units -> logits."""

    def __init__(self, inputs, random):
        self.parts = [
            random.normal(0.0, inputs**-0.5, (inputs, HIDDEN)),
            np.zeros(HIDDEN),
            random.normal(0.0, HIDDEN**-0.5, (HIDDEN, CLASSES)),
            np.zeros(CLASSES),
        ]

    def hidden(self, images):
        return np.tanh(images @ self.parts[0] + self.parts[1])

    def logits(self, images):
        return self.hidden(images) @ self.parts[2] + self.parts[3]

    def gradient(self, images, labels):
        hidden = self.hidden(images)
        error = softmax(hidden @ self.parts[2] + self.parts[3])
        error[np.arange(len(labels)), labels] -= 1.0
        error /= len(labels)
        back = (error @ self.parts[2].T) * (1.0 - hidden**2)
        return [images.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]

    def train(self, images, labels):
        speeds = [np.zeros_like(part) for part in self.parts]
        for _ in range(STEPS):
            for part, speed, slope in zip(self.parts, speeds, self.gradient(images, labels)):
                speed *= MOMENTUM
                speed -= RATE * slope
                part += speed


def describe(name, logits, labels):
    """Accuracy, mean confidence and the expected calibration error with 15 equal bins."""
    confidence = softmax(logits.astype(np.float64)).max(axis=1)
    correct = logits.argmax(axis=1) == labels
    bins = np.clip(np.ceil(confidence * 15).astype(int) - 1, 0, 14)
    error = sum(abs((confidence - correct)[bins == b].sum()) for b in range(15)) / len(labels)
    print(
        f"{name}: {len(labels)} rows, accuracy {correct.mean():.4f}, "
        f"mean confidence {confidence.mean():.4f}, ece {error:.4f}"
    )


def save(path, array):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=(1, 0))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "examples" / "digits"
    folder.mkdir(parents=True, exist_ok=True)

    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target
    random = np.random.RandomState(SEED)
    order = random.permutation(len(labels))
    ends = (TRAIN, TRAIN + VALIDATION)
    train, validation, test = np.split(order, ends)

    network = Network(images.shape[1], random)
    network.train(images[train], labels[train])
    for name, rows in (("val", validation), ("test", test)):
        logits = (np.rint(network.logits(images[rows]) * 1024.0) / 1024.0).astype("<f4")
        save(folder / f"logits_{name}.npy", logits)
        save(folder / f"labels_{name}.npy", labels[rows].astype("<i4"))
        describe(name, logits, labels[rows])


if __name__ == "__main__":
    main()
