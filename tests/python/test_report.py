"""Reports, against the program."""

import json
import re
import subprocess

import numpy as np
import pytest

import propercal as pc


def test_the_same_as_the_program(digits, digits_files, program, tmp_path):
    made = pc.report(logits=digits.logits, labels=digits.labels, method="temperature", replicas=50)
    words = [program, "report", "--format", "json", "--method", "temperature", "--replicas", "50"]
    words += ["--logits", digits_files["logits"], "--labels", digits_files["labels"], "-o", "-"]
    reported = json.loads(subprocess.check_output(words))
    found = made.to_dict()
    reported["command"] = None
    assert found == reported
    inside = re.search(r'id="report">(.*?)</script>', made.html, re.S)
    assert json.loads(inside.group(1)) == found
    assert made.html.startswith("<!DOCTYPE html>") and made.markdown.startswith("# ")
    assert made._repr_html_().startswith("<iframe srcdoc=")
    kind = found["after"]["judgement"]["kind"]
    assert repr(made) == f"<report: {kind}; save it as .html, .md or .json>"
    for name, text in (("r.html", made.html), ("r.md", made.markdown), ("r.json", made.to_json())):
        made.save(tmp_path / name)
        assert (tmp_path / name).read_text() == text
    with pytest.raises(pc.UsageError):
        made.save(tmp_path / "r.pdf")
    with pytest.raises(pc.IOError):
        made.save(tmp_path / "absent" / "r.html")


def test_a_fitted_calibrator_and_a_second_set(digits):
    half = len(digits.labels) // 2
    test = dict(logits=digits.logits[half:], labels=digits.labels[half:], replicas=50)
    fitted = pc.Temperature(kind="logits").fit(digits.logits[:half], digits.labels[:half])
    one = pc.report(**test, calibrator=fitted).to_dict()
    other = pc.report(
        **test, val_logits=digits.logits[:half], val_labels=digits.labels[:half], method="temperature"
    ).to_dict()
    assert one["after"]["results"] == other["after"]["results"]


def test_numbers():
    draw = np.random.default_rng(1)
    mean, target = draw.normal(size=200), draw.normal(size=200)
    made = pc.report(mean=mean, std=np.full(200, 1.5), target=target, metrics="crps", replicas=50)
    assert [result["metric"] for result in made.to_dict()["before"]["results"]] == ["crps"]
    data = dict(mean=mean, std=np.full(200, 1.5), target=target)
    made = pc.report(**data, method="variance-platt", replicas=50)  # cross-validated
    assert made.to_dict()["calibrator"]["method"] == "variance-platt"
    second = {f"val_{name}": value for name, value in data.items()}
    made = pc.report(**data, **second, method="variance-platt", replicas=50)
    assert made.to_dict()["calibrator"]["method"] == "variance-platt"


def test_clinical_preset():
    data = pc.simulate(200, 2, seed=1)
    page = pc.report(logits=data.logits, labels=data.labels, preset="clinical", replicas=50)
    assert "Table 1." in page.html and page.to_dict()["preset"] == "clinical"
    clustered = pc.report(
        logits=data.logits, labels=data.labels, preset="clinical", cluster=np.arange(200) // 4, replicas=50
    )
    assert "patients of one cluster" in clustered.to_dict()["methods"]
    with pytest.raises(pc.UsageError, match="preset"):
        pc.report(logits=data.logits, labels=data.labels, preset="surgical")
