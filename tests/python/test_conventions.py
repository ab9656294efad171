"""Conventions of `ece` against the packages themselves, on scores that lie on edges of bins.

Needs torchmetrics, torch and netcal.  Without them tests/golden/edges.tsv, which this file has
written (python test_conventions.py FOLDER), proves the same.
"""

import itertools
import pathlib
import sys

import numpy as np
import pytest

BINS = [10, 15, 20, 100]
TYPES = {"f32": np.float32, "f64": np.float64}


def edge_scores(dtype):
    """Every edge of every number of bins, one ulp to each side, 0, 1 and just below 1."""
    edges = np.concatenate([(np.arange(m + 1) / np.float64(m)).astype(dtype) for m in BINS])
    rounded = edges.astype(np.float32).astype(dtype)
    near = [edges, np.nextafter(edges, dtype(0)), np.nextafter(edges, dtype(1)), rounded]
    top = 1 - np.array([2.0**-24, 2.0**-25, 2.0**-26, 3e-8, 2e-8])
    return np.unique(np.concatenate([*near, top.astype(dtype)]))


def edge_rows(dtype, columns):
    """Rows whose score, or whose class 1 or top class of several, is on an edge; labels."""
    score = edge_scores(dtype)
    hits = np.arange(len(score)) * 7 % 3 % 2
    if columns == 1:
        return score, hits
    if columns == 2:
        return np.stack([dtype(1) - score, score], axis=1), hits
    keep = score > dtype(0.4)
    rest = (dtype(1) - score) / dtype(2)
    rows = np.stack([rest, score, dtype(1) - score - rest], axis=1)
    return rows[keep], np.where(hits == 1, 1, np.arange(len(score)) % 2 * 2)[keep]


def peer_guo2017(scores, labels, bins, norm):
    """temperature_scaling.py, _ECELoss.forward, behind its softmax of float32 logits."""
    import torch

    scores, labels = torch.from_numpy(scores), torch.from_numpy(labels)
    if scores.ndim == 1:
        confidences, accuracies = scores, labels.eq(1)
    else:
        confidences, predictions = torch.max(scores, 1)
        accuracies = predictions.eq(labels)
    confidences = confidences.float()
    bounds = torch.linspace(0, 1, bins + 1)
    ece = torch.zeros(1)
    for lower, upper in zip(bounds[:-1], bounds[1:]):
        in_bin = confidences.gt(lower.item()) * confidences.le(upper.item())
        share = in_bin.float().mean()
        if share.item() > 0:
            accuracy = accuracies[in_bin].float().mean()
            ece += torch.abs(confidences[in_bin].mean() - accuracy) * share
    return float(ece)


def peer_torchmetrics(scores, labels, bins, norm):
    import torch
    from torchmetrics.functional.classification import (
        binary_calibration_error,
        multiclass_calibration_error,
    )

    preds, target = torch.from_numpy(scores), torch.from_numpy(labels)
    if scores.ndim == 1:
        return float(binary_calibration_error(preds, target, n_bins=bins, norm=norm))
    classes = scores.shape[1]
    return float(multiclass_calibration_error(preds, target, classes, n_bins=bins, norm=norm))


def peer_netcal(scores, labels, bins, norm):
    """With float32 scores the package counts rows between edges in float64 and averages them
    between edges in float32, so that a score may be in two bins: they are widened for it."""
    from netcal.metrics import ECE

    return float(ECE(bins).measure(scores.astype(np.float64), labels))


PEERS = {"guo2017": peer_guo2017, "torchmetrics": peer_torchmetrics, "netcal": peer_netcal}
NORMS = {"guo2017": ["l1"], "torchmetrics": ["l1", "l2", "max"], "netcal": ["l1"]}
# Packages sum in the precision of the scores, or move scores of 0 and 1 by one epsilon.
TOLERANCE = {"f32": 2e-6, "f64": 2e-6}


def spec(convention, kind, columns, bins, norm):
    if convention == "torchmetrics" and kind == "f64" and columns == 1:
        convention = "torchmetrics64"
    return f"ece:bins={bins},{'' if norm == 'l1' else f'norm={norm},'}convention={convention}"


@pytest.mark.parametrize(
    "convention, norm", [(name, norm) for name in PEERS for norm in NORMS[name]]
)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_edges(convention, norm, kind, columns):
    import propercal as pc

    pytest.importorskip({"guo2017": "torch"}.get(convention, convention))
    scores, labels = edge_rows(TYPES[kind], columns)
    for bins in BINS:
        asked = spec(convention, kind, columns, bins, norm)
        expected = PEERS[convention](scores, labels, bins, norm)
        got = pc.measure(scores, labels, metrics=asked)[asked]
        assert abs(got - expected) < TOLERANCE[kind], (bins, got, expected)


def test_the_published_counterexamples():
    import propercal as pc

    scores = np.array([[0.7, 0.3], [0.72, 0.28]], dtype=np.float32)
    asked = "ece:bins=10,convention=torchmetrics"
    assert abs(pc.measure(scores, [1, 0], metrics=asked)[asked] - 0.21) < 1e-6


def write(folder):
    """The golden files: scores, labels, and what the packages say."""
    import netcal
    import torch
    import torchmetrics

    versions = (f"torch {torch.__version__.partition('+')[0]}, torchmetrics "
                f"{torchmetrics.__version__}, netcal {netcal.__version__}")
    lines = ["# Scores on the edges of bins, one ulp to each side and just below 1, in float32 and",
             "# float64, measured by the packages themselves; tests/python/test_conventions.py wrote",
             f"# this with {versions}.", "input\tspec\texpected\ttolerance\tprovenance"]
    for kind, dtype in TYPES.items():
        for columns in (1, 2, 3):
            scores, labels = edge_rows(dtype, columns)
            stem = f"edges_{kind}_{columns}"
            np.save(folder / "data" / f"{stem}.npy", scores)
            np.save(folder / "data" / f"{stem}_labels.npy", labels.astype(np.int8))
            given = f"probs=data/{stem}.npy labels=data/{stem}_labels.npy"
            for convention, peer in PEERS.items():
                for norm, bins in itertools.product(NORMS[convention], BINS):
                    value = peer(scores, labels, bins, norm)
                    lines.append("\t".join([given, spec(convention, kind, columns, bins, norm),
                                            repr(value), repr(TOLERANCE[kind]), convention]))
    (folder / "edges.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
