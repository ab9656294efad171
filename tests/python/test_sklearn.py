"""What a user of scikit-learn does: scorers, weights, words for classes, tables, the other order."""

import inspect
import pickle

import numpy as np
import pytest

import propercal as pc

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC


@pytest.fixture(scope="module")
def cells():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def words(cells):
    return np.where(cells[1] == 1, "benign", "malignant")


def test_cross_validation(cells):
    X, y = cells
    found = cross_val_score(LogisticRegression(), X, y, cv=3, scoring=pc.scorers.log)
    assert found == pytest.approx(cross_val_score(LogisticRegression(), X, y, cv=3, scoring="neg_log_loss"))
    many = cross_validate(GaussianNB(), X, y, cv=3, scoring={"ece": pc.scorers.ece, "accuracy": "accuracy"})
    assert (many["test_ece"] < 0).all() and (many["test_accuracy"] > 0.9).all()
    assert (cross_val_score(GaussianNB(), X, y, cv=3, scoring=pc.scorers.accuracy) > 0.9).all()


def test_search_prefers_the_lower_error(cells):
    X, y = cells
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1, 1.0]}, scoring=pc.make_scorer("brier"))
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert (scores < 0).all() and search.best_index_ == scores.argmax()
    assert clone(search).scoring.metric == "brier"


def test_value_is_that_of_the_metric(cells, words):
    X, y = cells
    model = LogisticRegression().fit(X, words)
    value = pc.make_scorer("ece", bins=20)(model, X, words)
    assert value == -pc.ece(model.predict_proba(X), (words == "malignant").astype(int), bins=20)
    probability = model.predict_proba(X)[:, 0]
    benign = pc.make_scorer("brier", pos_label="benign")(model, X, words)
    assert -benign == pytest.approx(
        2 * brier_score_loss(words, probability, pos_label="benign")  # of both classes
    )
    margins = LinearSVC().fit(X, words)
    one = pc.make_scorer("brier", pos_label="benign")(margins, X, words)
    assert one == pytest.approx(pc.make_scorer("brier", pos_label="malignant")(margins, X, words))
    with pytest.raises(pc.UsageError, match="'unknown' is no class of the estimator; it has benign, malignant"):
        pc.make_scorer("brier", pos_label="unknown")(model, X, words)


def test_a_fold_without_a_class():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    model = GaussianNB().fit(X, names)
    assert pc.scorers.log(model, X[:100], names[:100]) == pytest.approx(
        -log_loss(names[:100], model.predict_proba(X[:100]), labels=model.classes_), rel=1e-6
    )


def test_weights_are_routed(cells):
    X, y = cells
    weights = np.where(y == 1, 3, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = pc.make_scorer("brier").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        seen = cross_val_score(model, X, y, cv=2, scoring=scorer, params={"sample_weight": weights})
        plain = cross_val_score(model, X, y, cv=2, scoring=pc.scorers.brier)
        search = GridSearchCV(model, {"C": [1]}, scoring=scorer, cv=2).fit(X, y, sample_weight=weights)
    assert (seen != plain).all()
    assert search.best_score_ == pytest.approx(seen.mean())
    model.fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert -scorer(model, X, y, weights) == pytest.approx(2 * np.average((p - y) ** 2, weights=weights))


def test_regressors(cells):
    X = np.linspace(0, 6, 40)[:, np.newaxis]
    y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 40)
    model = GaussianProcessRegressor(alpha=0.01).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert pc.scorers.crps(model, X, y) == -pc.crps(mean=mean, std=std, target=y)
    with pytest.raises(pc.DataError, match="LinearRegression predicts numbers without their uncertainty"):
        pc.scorers.crps(LinearRegression().fit(X, y), X, y)


def test_scorers_are_objects_like_others():
    scorer = pc.make_scorer("ece", bins=20)
    assert repr(scorer) == "Scorer(metric='ece:bins=20')"
    assert pickle.loads(pickle.dumps(scorer)).metric == "ece:bins=20"
    assert set(pc.scorers.__all__) <= set(dir(pc.scorers)) and "ece" in pc.scorers.__all__
    with pytest.raises(pc.UsageError, match="does not say which of two models is better; choose one of"):
        pc.make_scorer("sharpness" if "sharpness" in dir(pc) else "confidence")
    with pytest.raises(pc.UsageError, match="eec"):
        pc.make_scorer("eec")


# ---- The other order of arguments ----


def test_swapped_arguments_are_recognised(digits):
    binary = digits.correct.astype(int)
    for labels, scores in ((digits.labels, digits.probs), (binary, digits.confidence), (binary.astype(float), digits.confidence),
                           (np.where(binary, "yes", "no"), digits.confidence)):  # fmt: skip
        with pytest.raises(pc.UsageError, match="probs holds class numbers and labels holds scores; give the scores first .* propercal.sklearn"):
            pc.ece(labels, scores)
    with pytest.raises(pc.UsageError, match="logits holds class numbers"):
        pc.measure(logits=digits.labels, labels=digits.logits)


def test_order_of_scikit_learn(digits):
    assert pc.sklearn.ece(digits.labels, digits.probs, bins=20) == pc.ece(digits.probs, digits.labels, bins=20)
    y = np.where(digits.correct, "right", "wrong")
    expected = pc.ece(digits.confidence, digits.correct)
    assert pc.sklearn.ece(y, digits.confidence, pos_label="right") == expected
    assert pc.sklearn.ece(2 * digits.correct.astype(int) - 1, digits.confidence) == expected
    two = np.column_stack([digits.confidence, 1 - digits.confidence])
    assert pc.sklearn.brier(y, two) == pc.sklearn.brier(y, two[:, ::-1], labels=["wrong", "right"])
    # Of two classes the value of scikit-learn, which has one column; the sum on request.
    assert pc.sklearn.brier(y, two) == pytest.approx(brier_score_loss(y, two[:, 1], pos_label="wrong"))
    assert pc.sklearn.brier(y, two[:, 1], pos_label="wrong") == pytest.approx(pc.sklearn.brier(y, two))
    assert pc.sklearn.brier(y, two, half=False) == pytest.approx(2 * pc.sklearn.brier(y, two))
    assert "half of\n" in pc.sklearn.brier.__doc__ and "half of" not in pc.sklearn.ece.__doc__
    weights = np.arange(len(y)) % 3
    assert pc.sklearn.log(digits.labels, digits.probs, sample_weight=weights) == pc.log(
        digits.probs, digits.labels, weights=weights
    )
    with pytest.raises(pc.UsageError, match="the classes 'right', 'wrong'; give pos_label"):
        pc.sklearn.ece(y, digits.confidence)
    with pytest.raises(pc.UsageError, match="y_true has 2 classes and y_prob 10 columns; give labels"):
        pc.sklearn.ece(y, digits.probs)


# ---- Calibrators ----


def test_words_for_classes(cells, words):
    X, _ = cells
    scores = LogisticRegression().fit(X, words).predict_proba(X)
    fitted = pc.Temperature().fit(scores, words)
    assert list(fitted.classes_) == ["benign", "malignant"]
    assert fitted.T_ == pc.Temperature().fit(scores, (words == "malignant").astype(int)).T_
    assert set(fitted.predict(scores)) == {"benign", "malignant"}


def test_output_tables(digits):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pandas.DataFrame(digits.probs, columns=digits.names, index=np.arange(len(digits.labels)) + 7)
    fitted = pc.Temperature().fit(table, digits.labels)
    assert list(fitted.feature_names_in_) == list(fitted.get_feature_names_out()) == digits.names
    assert isinstance(fitted.transform(table), np.ndarray)
    assert fitted.set_output(transform="pandas") is fitted
    made = fitted.transform(table)
    assert list(made.columns) == digits.names and list(made.index) == list(table.index)
    assert isinstance(fitted.predict_proba(table), np.ndarray)
    assert isinstance(clone(fitted).set_output(transform="polars").fit_transform(table, digits.labels), polars.DataFrame)
    with sklearn.config_context(transform_output="pandas"):
        plain = pc.Temperature().fit(digits.probs, digits.labels).transform(digits.probs)
    assert list(plain.columns) == [f"x{i}" for i in range(10)]
    chain = make_pipeline(pc.Temperature()).set_output(transform="pandas").fit(table, digits.labels)
    assert list(chain.get_feature_names_out()) == digits.names
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(table.rename(columns={"digit 0": "zero"}))
    with pytest.raises(pc.UsageError, match="transform='excel' is unknown"):
        fitted.set_output(transform="excel")


def parameters(document):
    """The entries of the section Parameters: name, type."""
    section = document.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    return [line for line in section.split("\n") if line and not line.startswith(" ")]


def documented():
    """The functions of metrics, the classes of calibrators, and what else people call."""
    rows = [*pc.list_metrics(), *pc.list_calibrators()]
    names = {row.name.replace("-", "_") for row in rows} | {pc._registry.class_name(row.name) for row in rows}
    return sorted(name for name in names | {"measure", "Data", "CalibratedClassifier", "make_scorer"} if inspect.isroutine(getattr(pc, name, None)) or inspect.isclass(getattr(pc, name, None)))


@pytest.mark.parametrize("name", documented())
def test_docstrings_by_numpydoc(name):
    document = inspect.cleandoc(getattr(pc, name).__doc__)
    found = parameters(document)
    assert found and all(" : " in line or line.startswith("**") for line in found)
    assert not any(" | " in line or ", default " in line for line in found)
    listed = [each for line in found if " : " in line for each in line.partition(" : ")[0].split(", ")]
    taken = inspect.signature(getattr(pc, name)).parameters
    assert len(set(listed)) == len(listed) and set(listed) <= set(taken)


def test_docstrings_name_choices_and_arrays():
    assert "objective : {'nll', 'brier'" in pc.Temperature.__doc__ or "objective : {'log', 'brier'" in pc.Temperature.__doc__
    assert "array-like of shape (n_samples, n_classes)" in pc.ece.__doc__
    assert "weights : array-like of shape (n_samples,), default=None" in pc.ece.__doc__
