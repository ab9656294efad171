"""One class for each calibrator, made from the library's table."""

import copy
import inspect
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import propercal as pc

ROWS = [row for row in pc.list_calibrators() if row.task is None]


def class_of(row):
    return next(
        each
        for each in vars(pc.calibrators).values()
        if isinstance(each, type) and getattr(each, "_row", None) == row
    )


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.FitWarning)
        yield


@pytest.mark.filterwarnings("ignore::propercal.ConvergenceWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_calibrator_has_its_class(row, digits, tmp_path):
    made = class_of(row)
    assert getattr(pc, made.__name__) is made
    parameters = inspect.signature(made).parameters
    for option in row.options:
        name = option.name.replace("-", "_")
        name = name if name in parameters and name != "kind" else name + "_"
        assert parameters[name].default == option.default
    assert row.title[1:] in made.__doc__
    fitted = made(kind="logits").fit(digits.logits, digits.labels)
    probs = fitted.predict_proba(digits.logits)
    assert probs.dtype == np.float32 and probs.shape == digits.logits.shape
    assert ((0 <= probs) & (probs <= 1)).all()
    if row.name == "conformal-sets":
        assert set(np.unique(probs)) <= {0, 1}
    else:
        assert np.allclose(probs.sum(axis=1), 1, atol=1e-5)
    assert fitted.status_ in ("converged", "stopped", "identity", "closed-form")
    for name in fitted.to_dict()["parameters"]:
        assert hasattr(fitted, name.replace("-", "_") + "_")
    fitted.save(tmp_path / "cal.json")
    again = pc.load(tmp_path / "cal.json")
    assert type(again) is made and again.get_params() == fitted.get_params()
    assert (again.predict_proba(digits.logits) == probs).all()


def test_temperature_by_hand(digits):
    fitted = pc.Temperature(kind="logits").fit(digits.logits.astype(float), digits.labels)
    rows = np.arange(len(digits.labels))

    def loss(T):
        z = digits.logits.astype(float) / T
        z -= z.max(axis=1, keepdims=True)
        return (np.log(np.exp(z).sum(axis=1)) - z[rows, digits.labels]).mean()

    best = loss(fitted.T_)
    assert best == pytest.approx(fitted.objective_["after"], rel=1e-12)
    assert best < loss(fitted.T_ * 1.001) and best < loss(fitted.T_ * 0.999)
    assert fitted.status_ == "converged" and fitted.iterations_ > 0
    assert abs(fitted.gradient_) < 1e-8
    expected = np.exp(digits.logits / fitted.T_)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(fitted.predict_proba(digits.logits), expected, atol=1e-6)


def test_the_same_as_the_program(digits, digits_files, program, tmp_path):
    words = [
        program,
        "fit",
        "--method",
        "temperature:objective=brier",
        "-o",
        str(tmp_path / "a.json"),
    ]
    for name, path in digits_files.items():
        words += [f"--{name}", str(path)]
    subprocess.run(words, check=True, capture_output=True)
    fitted = pc.Temperature(objective="brier").fit(logits=digits.logits, labels=digits.labels)
    fitted.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    words = [program, "apply", str(tmp_path / "b.json"), "-o", str(tmp_path / "out.npy")]
    subprocess.run(
        [*words, "--logits", str(digits_files["logits"])], check=True, capture_output=True
    )
    assert (np.load(tmp_path / "out.npy") == fitted.transform(digits.logits)).all()
    assert (
        pc.load(tmp_path / "a.json").transform(digits_files["logits"])
        == np.load(tmp_path / "out.npy")
    ).all()


def test_forms_of_fit_agree(digits):
    first = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    second = pc.Temperature().fit(logits=digits.logits, labels=digits.labels)
    third = pc.Temperature(kind="logits").fit(X=digits.logits, y=digits.labels)
    assert first.T_ == second.T_ == third.T_
    assert second.kind_ == "logits"
    assert (second.transform(digits.logits) == first.transform(logits=digits.logits)).all()
    assert (
        first.fit_transform(digits.logits, digits.labels) == first.transform(digits.logits)
    ).all()
    with pytest.raises(pc.UsageError, match="X and probs are both given"):
        pc.Temperature().fit(digits.probs, digits.labels, probs=digits.probs)
    with pytest.raises(pc.UsageError, match='kind is one of probs.* not "scores"'):
        pc.Temperature(kind="scores").fit(digits.probs, digits.labels)
    with pytest.raises(pc.DataError, match="fitted on logits and is applied to probs"):
        first.transform(probs=digits.probs)


def test_weights_are_frequencies(digits):
    weights = np.random.default_rng(2).integers(0, 4, len(digits.labels))
    weighted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels, weights)
    repeated = pc.Temperature(kind="logits").fit(
        digits.logits.repeat(weights, axis=0), digits.labels.repeat(weights)
    )
    assert weighted.T_ == repeated.T_


def test_weights_that_are_not_frequencies(digits):
    n = len(digits.labels)
    plain = pc.Platt(kind="logits").fit(digits.logits, digits.labels)
    assert plain.weights_are_ is None
    shares = pc.Platt(kind="logits").fit(digits.logits, digits.labels, np.ones(n) / n)
    assert shares.weights_are_ == "importance"
    assert (shares.transform(digits.logits) == plain.transform(digits.logits)).all()
    weights = np.random.default_rng(2).integers(1, 4, n)
    counts = pc.Platt(kind="logits").fit(digits.logits, digits.labels, weights)
    assert counts.weights_are_ == "frequency"
    whole = pc.Platt().fit(
        logits=digits.logits, labels=digits.labels, weights=weights, weights_are="importance"
    )
    half = pc.Platt().fit(logits=digits.logits, labels=digits.labels, weights=weights / 2)
    assert whole.weights_are_ == half.weights_are_ == "importance"
    assert (whole.transform(logits=digits.logits) == half.transform(logits=digits.logits)).all()
    with pytest.raises(pc.DataError, match="frequencies are whole numbers"):
        pc.Platt().fit(
            logits=digits.logits,
            labels=digits.labels,
            weights=np.ones(n) / n,
            weights_are="frequency",
        )


def test_one_column(digits):
    score, hits = digits.probs[:, 3], digits.labels == 3
    fitted = pc.Temperature().fit(score, hits)
    assert fitted.transform(score).shape == score.shape
    probs = fitted.predict_proba(score)
    assert probs.shape == (len(score), 2) and np.allclose(probs.sum(axis=1), 1)
    assert (fitted.predict(score) == (probs[:, 1] > 0.5)).all()
    sure = pc.Histogram(kind="confidence").fit(digits.confidence, digits.correct)
    assert sure.transform(digits.confidence).shape == digits.confidence.shape
    with pytest.raises(pc.UsageError, match="use transform"):
        sure.predict_proba(digits.confidence)


def test_names_of_classes(digits):
    fitted = pc.Temperature().fit(
        digits.probs, np.array(digits.names)[digits.labels], classes=digits.names
    )
    assert fitted.classes_.tolist() == digits.names
    assert fitted.predict(digits.probs)[0] == digits.names[digits.probs[0].argmax()]
    with pytest.raises(pc.DataError, match="in the same order"):
        fitted.transform(digits.probs, classes=digits.names[::-1])


def test_tables_in_arrays_out(digits):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(digits.logits, schema=digits.names)
    fitted = pc.Temperature(kind="logits").fit(table, digits.labels)
    plain = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    assert fitted.T_ == plain.T_
    assert (fitted.transform(table) == plain.transform(digits.logits)).all()


def test_float_width_and_strides(digits):
    fitted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    wide = fitted.transform(digits.logits.astype(np.float64))
    assert wide.dtype == np.float64
    assert (wide.astype(np.float32) == fitted.transform(digits.logits)).all()
    assert (fitted.transform(digits.logits[::-1]) == fitted.transform(digits.logits)[::-1]).all()
    assert fitted.transform(digits.logits).flags.writeable


# ---- Warnings ----


def test_a_fit_that_did_not_converge_warns():
    probs, labels = [[0.9, 0.1], [0.2, 0.8]], [0, 1]
    with pytest.warns(pc.ConvergenceWarning, match="temperature: "):
        fitted = pc.Temperature().fit(probs, labels)
    assert fitted.status_ == "stopped" and fitted.warnings_


def test_other_warnings(digits):
    with pytest.warns(pc.FitWarning, match="have no rows and get their midpoint"):
        fitted = pc.Histogram().fit(digits.probs, digits.labels)
    assert fitted.status_ == "closed-form"


# ---- Customs of scikit-learn ----


def test_parameters(digits):
    made = pc.Histogram(bins=7, binning="mass")
    assert made.get_params()["bins"] == 7
    assert made.set_params(bins=9).bins == 9
    with pytest.raises(ValueError):
        made.set_params(boxes=3)
    with pytest.raises(TypeError, match="boxes"):
        pc.Histogram(boxes=3)
    assert "bins=9" in repr(made)
    fitted = made.fit(digits.probs, digits.labels)
    assert "bins=9" in fitted.to_dict()["spec"]


def test_before_fitting():
    for call in ("transform", "predict_proba", "predict"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(pc.Temperature(), call)([[0.5, 0.5]])
    with pytest.raises(AttributeError):
        pc.Temperature().describe()


def test_copies(digits):
    fitted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    expected = fitted.transform(digits.logits)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        assert (again.transform(digits.logits) == expected).all()
        assert again.T_ == fitted.T_


def test_sklearn(digits):
    base = pytest.importorskip("sklearn.base")
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.validation import check_is_fitted

    fitted = pc.Temperature(kind="logits", objective="brier").fit(digits.logits, digits.labels)
    clone = base.clone(fitted)
    assert clone.get_params() == fitted.get_params() and not hasattr(clone, "T_")
    check_is_fitted(fitted)
    assert "Temperature" in fitted._repr_html_()
    with pytest.raises(NotFittedError):
        check_is_fitted(clone)
    chain = make_pipeline(pc.Temperature(kind="logits"), pc.Histogram(bins=10))
    chain.fit(digits.logits, digits.labels)
    assert chain.predict_proba(digits.logits).shape == digits.logits.shape
    assert chain[-1].kind_ == "probs"
    search = GridSearchCV(
        pc.Histogram(kind="logits"), {"bins": [5, 10]}, scoring="neg_log_loss", cv=3
    )
    search.fit(digits.logits, digits.labels)
    assert search.best_params_["bins"] in (5, 10)


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import numpy as np
import propercal as pc
data = pc.simulate(500, 3)
made = pc.Temperature(kind="logits")
assert made.get_params()["kind"] == "logits" and repr(made) == "Temperature(kind='logits')"
assert made.set_params(objective="brier").objective == "brier"
fitted = made.fit(data.logits, data.labels)
assert fitted.predict_proba(data.logits).shape == (500, 3)
try:
    pc.CalibratedClassifier
except ImportError as error:
    print(error)
"""


def test_without_sklearn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout == "CalibratedClassifier needs scikit-learn 1.6 or later\n", done.stderr


def test_files_are_checked(digits, tmp_path):
    fitted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels)
    text = fitted.to_json()
    (tmp_path / "broken.json").write_text(text[:-20])
    with pytest.raises(pc.DataError, match="broken.json"):
        pc.load(tmp_path / "broken.json")
    with pytest.raises(pc.IOError, match="nothing.json: No such file"):
        pc.load(tmp_path / "nothing.json")
    with pytest.raises(pc.IOError):
        fitted.save(tmp_path / "no" / "folder.json")


def test_groups(digits, tmp_path):
    groups = ["a" if i % 3 else "b" for i in range(len(digits.labels))]
    fitted = pc.Temperature(kind="logits").fit(digits.logits, digits.labels, groups=groups)
    reported = fitted.to_dict()["groups"]
    assert sorted(member["name"] for member in reported["members"]) == ["a", "b"]
    probs = fitted.transform(digits.logits, groups=groups)
    fitted.save(tmp_path / "cal.json")
    again = pc.load(tmp_path / "cal.json")
    assert (again.transform(digits.logits, groups=groups) == probs).all()
    with pytest.raises(pc.UsageError, match="a map for each group"):
        fitted.transform(digits.logits)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_fit_never_writes_parameters(digits, row):
    made = class_of(row)
    sklearn_base = pytest.importorskip("sklearn.base")
    options = {"epochs": 2} if "epochs" in made().get_params() else {}
    columns = slice(0, 3)
    rows = digits.labels < 3
    # Enough rows for the method with the most parameters.
    scores, labels = np.tile(digits.logits[rows][:, columns], (4, 1)), np.tile(digits.labels[rows], 4)
    half = len(labels) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = made(kind="logits", **options)
        before = first.get_params()
        first.fit(scores[:half], labels[:half])
        assert first.get_params() == before
        fresh = made(kind="logits", **options).fit(scores[half:], labels[half:])
        again = sklearn_base.clone(first).fit(scores[half:], labels[half:])
        first.fit(scores[half:], labels[half:])
    assert (again.transform(scores) == fresh.transform(scores)).all()
    assert (first.transform(scores) == fresh.transform(scores)).all()


def test_the_penalty_that_was_found(digits):
    rows = digits.labels < 3
    made = pc.calibrators.MatrixODIR(kind="logits")
    made.fit(digits.logits[rows][:, :3], digits.labels[rows])
    assert made.lambda_ == "auto" and made.lambda_fitted_ >= 0
