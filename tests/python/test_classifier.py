"""CalibratedClassifier around classifiers of scikit-learn."""

import pathlib
import re
import warnings

import numpy as np
import pytest

import propercal as pc

pytest.importorskip("sklearn")
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks


@pytest.fixture(scope="module")
def cells():
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(StandardScaler().fit_transform(X), y, random_state=0)


@pytest.fixture(scope="module")
def blobs():
    """Features that repeat each other make a naive classifier over-confident."""
    X, y = make_classification(
        3000,
        20,
        n_informative=5,
        n_redundant=15,
        n_classes=4,
        n_clusters_per_class=1,
        class_sep=0.7,
        random_state=1,
    )
    return train_test_split(X, y, test_size=0.5, random_state=0)


def test_repairs_what_is_over_confident(blobs):
    X, X_test, y, y_test = blobs
    plain = GaussianNB().fit(X, y)
    made = pc.CalibratedClassifier(GaussianNB()).fit(X, y)
    before = pc.measure(plain.predict_proba(X_test), y_test, metrics=["ece", "log"])
    after = pc.measure(made.predict_proba(X_test), y_test, metrics=["ece", "log"])
    assert after.ece < before.ece / 2 and after.log < before.log
    assert made.calibrator_.T_ > 1
    assert (made.predict(X_test) == plain.predict(X_test)).all()


def test_by_hand(blobs):
    """One calibrator on out-of-fold probabilities, and the classifier on all rows."""
    X, X_test, y, _ = blobs
    folds = StratifiedKFold(4)
    held, truth = [], []
    for train, test in folds.split(X, y):
        held.append(GaussianNB().fit(X[train], y[train]).predict_proba(X[test]))
        truth.append(y[test])
    repair = pc.Temperature().fit(np.concatenate(held), np.concatenate(truth))
    expected = repair.predict_proba(GaussianNB().fit(X, y).predict_proba(X_test))
    made = pc.CalibratedClassifier(GaussianNB(), cv=4).fit(X, y)
    assert (made.predict_proba(X_test) == expected).all()


def test_prefit(blobs):
    X, X_test, y, y_test = blobs
    trained = GaussianNB().fit(X, y)
    made = pc.CalibratedClassifier(trained, method="histogram:bins=10", cv="prefit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.FitWarning)
        made.fit(X_test, y_test)
        repair = pc.Histogram(bins=10, normalize=True).fit(trained.predict_proba(X_test), y_test)
    assert made.estimator_ is trained
    assert (made.predict_proba(X) == repair.predict_proba(trained.predict_proba(X))).all()


def test_ensemble(blobs):
    X, X_test, y, _ = blobs
    made = pc.CalibratedClassifier(GaussianNB(), cv=3, ensemble=True).fit(X, y)
    assert len(made.pairs_) == 3
    parts = [repair.predict_proba(each.predict_proba(X_test)) for each, repair in made.pairs_]
    assert np.allclose(made.predict_proba(X_test), np.mean(parts, axis=0))


@pytest.mark.parametrize(
    "y_of", [lambda y: y, lambda y: np.where(y == 1, "yes", "no"), lambda y: y * 4 - 2]
)
def test_two_classes(cells, y_of):
    X, X_test, y, y_test = cells
    made = pc.CalibratedClassifier(LinearSVC()).fit(X, y_of(y))
    probs = made.predict_proba(X_test)
    assert probs.shape == (len(X_test), 2) and np.allclose(probs.sum(axis=1), 1)
    assert list(made.classes_) == sorted(set(y_of(y)))
    assert made.calibrator_.kind_ == "logits" and made.calibrator_.n_features_in_ == 1
    assert made.score(X_test, y_of(y_test)) > 0.9


def test_methods_and_responses(cells):
    X, X_test, y, _ = cells
    by_name = pc.CalibratedClassifier(LogisticRegression(), method="temperature:objective=brier")
    by_object = pc.CalibratedClassifier(
        LogisticRegression(), method=pc.Temperature(objective="brier", normalize=True)
    )
    assert (
        by_name.fit(X, y).predict_proba(X_test) == by_object.fit(X, y).predict_proba(X_test)
    ).all()
    decided = pc.CalibratedClassifier(LogisticRegression(), response="decision_function").fit(X, y)
    logs = pc.CalibratedClassifier(LogisticRegression(), response="predict_log_proba").fit(X, y)
    assert np.allclose(decided.predict_proba(X_test), logs.predict_proba(X_test), atol=1e-6)
    with pytest.raises(pc.UsageError, match="response is"):
        pc.CalibratedClassifier(LogisticRegression(), response="predict").fit(X, y)
    with pytest.raises(pc.UsageError, match='no calibrator called "warmth"'):
        pc.CalibratedClassifier(LogisticRegression(), method="warmth").fit(X, y)
    with pytest.raises(pc.UsageError, match='"temprature" .did you mean "temperature"'):
        pc.CalibratedClassifier(LogisticRegression(), method="temprature").fit(X, y)
    with pytest.raises(pc.UsageError, match='temperature has no option "heat"'):
        pc.CalibratedClassifier(LogisticRegression(), method="temperature:heat=3").fit(X, y)


@pytest.mark.filterwarnings("ignore::propercal.FitWarning")  # platt says that it acts on log-odds
def test_methods_by_the_names_of_scikit_learn(cells):
    X, X_test, y, _ = cells
    sigmoid = pc.CalibratedClassifier(LogisticRegression(), method="sigmoid").fit(X, y)
    platt = pc.CalibratedClassifier(LogisticRegression(), method="platt").fit(X, y)
    assert (sigmoid.predict_proba(X_test) == platt.predict_proba(X_test)).all()


@pytest.mark.filterwarnings("ignore::propercal.FitWarning")  # a forest may say 0 where 1 is true
def test_in_pipelines_and_searches(cells):
    X, _, y, _ = cells
    chain = make_pipeline(
        StandardScaler(), pc.CalibratedClassifier(RandomForestClassifier(20, random_state=0), cv=3)
    )
    assert cross_val_score(chain, X, y, cv=3).mean() > 0.9
    inside = pc.CalibratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    assert inside.fit(X, y).n_features_in_ == X.shape[1]


def test_weights_and_arguments(cells):
    X, _, y, _ = cells
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    made = pc.CalibratedClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)
    assert made.calibrator_.to_dict()["fit"]["weighted"]
    plain = pc.CalibratedClassifier(LogisticRegression()).fit(X, y)
    assert made.calibrator_.T_ != plain.calibrator_.T_


def test_tables_keep_their_names(cells):
    pandas = pytest.importorskip("pandas")
    X, X_test, y, _ = cells
    table = pandas.DataFrame(X, columns=[f"cell {i}" for i in range(X.shape[1])])
    made = pc.CalibratedClassifier(LogisticRegression()).fit(table, y)
    assert made.feature_names_in_[0] == "cell 0"


def test_refusals(cells):
    X, _, y, _ = cells
    with pytest.raises(pc.DataError, match="one class"):
        pc.CalibratedClassifier(LogisticRegression()).fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(pc.DataError, match="fewer than the 5 folds"):
        pc.CalibratedClassifier(LogisticRegression()).fit(X[:20], [0] * 17 + [1] * 3)
    with pytest.raises(pc.DataError, match="a fold lacks a class"):
        order = np.argsort(load_iris().target, kind="stable")
        flowers = load_iris()
        pc.CalibratedClassifier(GaussianNB(), cv=KFold(3)).fit(
            flowers.data[order], flowers.target[order]
        )
    trained = LogisticRegression().fit(X, y)
    with pytest.raises(pc.DataError, match="a class that the estimator does not know"):
        pc.CalibratedClassifier(trained, cv="prefit").fit(X, y + 1)


def test_no_private_names_of_scikit_learn():
    folder = pathlib.Path(pc.__file__).parent
    lines = [line for path in folder.glob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    private = [line for line in lines if re.search(r"from sklearn.* import .*\b_|from sklearn[.\w]*\._|^\s+_\w+,$", line)]
    assert private == []


@parametrize_with_checks(
    [
        pc.CalibratedClassifier(LogisticRegression(), cv=2),
        pc.CalibratedClassifier(LinearSVC(), cv=2, ensemble=True),
        pc.CalibratedClassifier(GaussianNB(), method="histogram", cv=3),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_contract_of_estimators(estimator, check):
    check(estimator)


# A column of a calibrator's X is a class: these checks fit three classes on two columns.
NOT_OURS = dict.fromkeys(
    [
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
    ],
    "labels are no classes of these columns",
)


def _few_rows(error):
    """Was a check failed because its data have too few rows for this calibrator?"""
    while error is not None:
        if "too many for" in str(error) or "rows are too few" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


@pytest.mark.parametrize("name", [row.name for row in pc.list_calibrators() if row.task != "regression"])
@pytest.mark.filterwarnings("ignore")
def test_contract_of_calibrators(name):
    estimator = getattr(pc, pc._registry.class_name(name))(kind="logits")
    found = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=NOT_OURS)
    failed = {each["check_name"]: each["exception"] for each in found if each["status"] == "failed"}
    assert [check for check, error in failed.items() if not _few_rows(error)] == []
    assert len(found) - len(failed) >= 24
