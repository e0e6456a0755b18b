"""scikit-learn's own checks, and life inside its pipelines and searches."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw

MODELS = [sw.SparseRegressor, sw.SparseClassifier, sw.SparseGLMRegressor]
ESTIMATORS = [*MODELS, sw.SparseSelector]

# scikit-learn itself skips it unless SCIPY_ARRAY_API is set before SciPy is imported.
SKIPPED_BY_SKLEARN = {"check_array_api_input"}


def problem(kind, n_features=6):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, n_features))
    signal = X[:, 1] - 0.7 * X[:, 4]
    if kind is sw.SparseClassifier:
        return X, np.where(3 * signal + rng.logistic(size=80) > 0, "yes", "no")
    if kind is sw.SparseGLMRegressor:
        return X, rng.poisson(np.exp(signal))
    return X, signal + rng.standard_normal(80)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("options", [{}, {"n_restarts": 2, "ridge": 0.01}])
def test_scikit_learns_checks(kind, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks hand in constant targets and the like
        report = check_estimator(kind(**options), on_skip=None, on_fail=None)
    outcome = {status: [] for status in ("passed", "skipped", "failed", "xfail")}
    for entry in report:
        outcome[entry["status"]].append(entry["check_name"])
    assert outcome["failed"] == outcome["xfail"] == []
    assert set(outcome["skipped"]) <= SKIPPED_BY_SKLEARN
    assert len(outcome["passed"]) >= 50


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_int_beyond_the_number_of_features_is_fine(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = kind(constraint=100).fit(*problem(kind))
    assert fitted.support_.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", MODELS)
def test_in_pipelines_and_searches(kind):
    X, y = problem(kind)
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), kind()), {f"{kind.__name__.lower()}__constraint": [1, 2, 6]}, cv=3
    )
    grid.fit(X, y)
    best = grid.best_estimator_[-1]
    assert grid.best_params_ == {f"{kind.__name__.lower()}__constraint": 2}
    assert best.support_.tolist() == [1, 4]
    scores = cross_val_score(kind(constraint=2), X, y, cv=3)
    assert scores.shape == (3,)
    assert (scores > 0.2).all()


@pytest.mark.parametrize("kind", MODELS)
def test_pickles_and_clones(kind):
    X, y = problem(kind)
    fitted = kind(constraint=sw.Partition(np.arange(6) % 3, 1), n_restarts=1).fit(X, y)
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    assert back.support_.tolist() == fitted.support_.tolist()
    assert back.constraint_.is_independent(back.result_.support)
    assert back.certify(X, y, max_nodes=0).value == pytest.approx(fitted.result_.value)
    fresh = clone(fitted)
    assert not hasattr(fresh, "coef_")
    np.testing.assert_array_equal(fresh.fit(X, y).coef_, fitted.coef_)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("container", [csr_matrix, csc_array])
def test_sparse_input_is_dense_input(kind, container):
    X, y = problem(kind)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = kind(constraint=2).fit(X, y)
    sparse = kind(constraint=2).fit(container(X), y)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12)
    predicted = sparse.predict(container(X)), dense.predict(X)
    if predicted[1].dtype.kind == "f":
        np.testing.assert_allclose(*predicted, rtol=1e-10)
    else:
        np.testing.assert_array_equal(*predicted)


@pytest.mark.parametrize("kind", MODELS)
def test_frames_bring_names(kind):
    X, y = problem(kind)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    fitted = kind(constraint=2).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_allclose(fitted.coef_, kind(constraint=2).fit(X, y).coef_, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[list("fedcba")])


@pytest.mark.parametrize("kind", MODELS)
def test_the_chosen_have_names(kind):
    X, y = problem(kind)
    with pytest.raises(NotFittedError):
        kind(2).get_feature_names_out()
    unnamed = kind(2).fit(X, y)
    assert unnamed.get_feature_names_out().tolist() == ["x1", "x4"]
    assert unnamed.get_feature_names_out(list("abcdef")).tolist() == ["b", "e"]
    named = kind(2).fit(pd.DataFrame(X, columns=list("uvwxyz")), y)
    assert named.get_feature_names_out().tolist() == ["v", "y"]
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        named.get_feature_names_out(list("abcdef"))


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("limit", "status"), [({"max_iter": 0}, "ITERATION_LIMIT"), ({"time_limit": 0.0}, "TIME_LIMIT")]
)
def test_a_search_that_was_cut_short_is_warned_about(kind, limit, status):
    ((name, value),) = limit.items()
    # From a set, where the rule alone decides when to stop.
    model = kind(2, start=[0, 1], **limit)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*problem(kind))
    assert [str(w.message) for w in caught] == [
        f"the search was cut short by {name}={value}: the answer is the best so far (see result_.status)"
    ]
    assert model.result_.status == status
    if kind is not sw.SparseSelector:
        assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", MODELS)
def test_certificates_are_for_the_data_of_fit(kind):
    X, y = problem(kind)
    fitted = kind(constraint=2, ridge=0.1).fit(X, y)
    certificate = fitted.certify(X, y)
    assert certificate.value == pytest.approx(fitted.result_.value)
    assert certificate.ratio > 0.99
    with pytest.raises(ValueError, match="the data must be the training data"):
        fitted.certify(X[::-1], y)
    with pytest.raises(ValueError, match="the data must be the training data"):
        fitted.set_params(ridge=0.5).certify(X, y)


@pytest.mark.parametrize("kind", MODELS)
def test_certificates_know_weights(kind):
    X, y = problem(kind)
    weight = np.arange(80) % 3
    fitted = kind(constraint=2).fit(X, y, weight)
    assert fitted.certify(X, y, weight).value == pytest.approx(fitted.result_.value)
    with pytest.raises(ValueError, match="the data must be the training data"):
        fitted.certify(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"fit_intercept": "yes"}, TypeError, "fit_intercept must be True or False, got 'yes'"),
        ({"standardize": None}, TypeError, "standardize must be True or False, got None"),
        ({"ridge": -1.0}, ValueError, "ridge must be a non-negative number, got -1.0"),
        ({"n_restarts": -1}, ValueError, "n_restarts must be a non-negative integer, got -1"),
        ({"method": "best"}, ValueError, "method must be a pivot rule or one of .* got 'best'"),
        ({"start": "middle"}, ValueError, "start must be an independent set or one of .* got 'middle'"),
        ({"q": 0}, ValueError, "q must be at least 1, got 0"),
        ({"random_state": "now"}, TypeError, "random_state must be a non-negative integer"),
        ({"time_limit": -1}, ValueError, "time_limit must be a non-negative number, got -1"),
    ],
)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_checked_in_fit(kind, parameters, error, message):
    estimator = kind(**parameters)
    with pytest.raises(error, match=message):
        estimator.fit(*problem(kind))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_weights_are_checked(kind):
    X, y = problem(kind)
    with pytest.raises(ValueError, match=r"sample_weight must be non-negative, got -1\.0 at position 79"):
        kind().fit(X, y, np.append(np.ones(79), -1))
    with pytest.raises(ValueError, match="sample_weight must have a positive entry, got zeros only"):
        kind().fit(X, y, np.zeros(80))
