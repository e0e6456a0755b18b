"""Regressions by the record of a family, against scikit-learn and statsmodels."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_gamma_deviance, mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw
from swapwise.estimators import glm
from swapwise.objectives.glm import FAMILIES

NAMES = ["poisson", "gamma", "negative-binomial"]
ALPHA = 0.5


def problem(family, n=300, n_features=8, seed=0, exposure=1.0):
    """Two true features, 1 and 4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * np.arange(1, n_features + 1) + 3
    mean = exposure * np.exp(0.5 + 0.4 * (X[:, 1] - 3) / 2 - 0.6 * (X[:, 4] - 3) / 5)
    if family == "gamma":
        return X, rng.gamma(2.0, mean / 2.0)
    if family == "negative-binomial":
        mean = mean * rng.gamma(1 / ALPHA, ALPHA, n)
    return X, rng.poisson(mean).astype(float)


def model_of(family, kind=sw.SparseGLMRegressor, **options):
    if family == "negative-binomial":
        options.setdefault("alpha", ALPHA)
    return kind(family=family, **options)


def deviance(family, y, mean, weight=None, alpha=ALPHA):
    if family == "gamma":
        return mean_gamma_deviance(y, mean, sample_weight=weight)
    if family == "poisson":
        return mean_poisson_deviance(y, mean, sample_weight=weight)
    ratio = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0.0)
    return 2 * np.average(
        ratio - (y + 1 / alpha) * np.log((1 + alpha * y) / (1 + alpha * mean)), weights=weight
    )


@pytest.mark.parametrize("family", NAMES)
def test_the_true_features_are_found(family):
    X, y = problem(family)
    fitted = model_of(family, constraint=2).fit(X, y)
    assert fitted.support_.tolist() == [1, 4]
    np.testing.assert_allclose(fitted.coef_[[1, 4]], [0.2, -0.12], atol=0.06)
    assert fitted.family_.name == family
    assert fitted.certify(X, y).optimal


@pytest.mark.parametrize(("family", "peer"), [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_are_those_of_scikit_learn(family, peer, fit_intercept):
    X, y = problem(family)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    options = {"standardize": False, "fit_intercept": fit_intercept}
    fitted = model_of(family, constraint=3, ridge=0.01, **options).fit(X, y, weight)
    peer = peer(alpha=0.01, tol=1e-10, max_iter=10_000, fit_intercept=fit_intercept)
    peer.fit(X[:, fitted.support_], y, weight)
    np.testing.assert_allclose(fitted.coef_[fitted.support_], peer.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fitted.intercept_, peer.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fitted.predict(X), peer.predict(X[:, fitted.support_]), rtol=1e-4)
    assert fitted.score(X, y, weight) == pytest.approx(peer.score(X[:, fitted.support_], y, weight), abs=1e-6)


def statsmodels_fit(family, X, y, offset, weight, alpha=ALPHA):
    api = pytest.importorskip("statsmodels.api")
    families = {
        "poisson": lambda: api.families.Poisson(),
        "gamma": lambda: api.families.Gamma(api.families.links.Log()),
        "negative-binomial": lambda: api.families.NegativeBinomial(alpha=alpha),
    }
    design = api.add_constant(X)
    peer = api.GLM(y, design, families[family](), offset=offset, freq_weights=weight)
    return peer.fit(tol=1e-12, maxiter=200)


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("is_shifted", [True, False])
def test_coefficients_and_scores_are_those_of_statsmodels(family, is_shifted):
    hours = np.random.default_rng(2).uniform(0.5, 4, 300)
    X, y = problem(family, exposure=hours if is_shifted else 1.0)
    offset = np.log(hours) if is_shifted else None
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    fitted = model_of(family, constraint=3, ridge=0.0).fit(X, y, weight, offset)
    peer = statsmodels_fit(family, X[:, fitted.support_], y, offset, weight)
    np.testing.assert_allclose(fitted.coef_[fitted.support_], peer.params[1:], rtol=1e-6, atol=1e-8)
    assert fitted.intercept_ == pytest.approx(peer.params[0], rel=1e-6)
    np.testing.assert_allclose(fitted.predict(X, offset), peer.fittedvalues, rtol=1e-6)
    explained = 1 - peer.deviance / peer.null_deviance
    assert fitted.score(X, y, weight, offset) == pytest.approx(explained, abs=1e-6)


@pytest.mark.parametrize("family", NAMES)
def test_scores_without_offset_are_the_deviance_explained(family):
    X, y = problem(family)
    fitted = model_of(family, constraint=2).fit(X, y)
    by_hand = 1 - deviance(family, y, fitted.predict(X)) / deviance(family, y, np.full(len(y), y.mean()))
    assert fitted.score(X, y) == pytest.approx(by_hand, abs=1e-9)
    if family != "negative-binomial":
        power = {"poisson": 1, "gamma": 2}[family]
        assert fitted.score(X, y) == pytest.approx(d2_tweedie_score(y, fitted.predict(X), power=power))


def test_poisson_is_the_default():
    X, y = problem("poisson")
    named, own = sw.SparseGLMRegressor(2, family="poisson").fit(X, y), sw.SparseGLMRegressor(2).fit(X, y)
    np.testing.assert_array_equal(named.coef_, own.coef_)
    assert repr(named._build(named._read(X, y), None)).startswith("Poisson(")
    record = sw.SparseGLMRegressor(2, family=FAMILIES["poisson"].family).fit(X, y)
    np.testing.assert_array_equal(record.coef_, own.coef_)
    assert not hasattr(named, "alpha_")


def test_a_record_of_ones_own():
    X, y = problem("gamma")
    renamed = replace(FAMILIES["gamma"].family, name="claims", deviance_name="loss of claims")
    own = sw.SparseGLMRegressorCV(sizes=[1, 2], family=renamed, cv=3).fit(X, y)
    known = sw.SparseGLMRegressorCV(sizes=[1, 2], family="gamma", cv=3).fit(X, y)
    np.testing.assert_allclose(own.path_["cv_mean"], known.path_["cv_mean"])
    assert sw.plot_path(own).get_ylabel() == "cross-validated loss of claims"


class TestDispersion:
    def test_alpha_is_estimated_in_alternation(self):
        X, y = problem("negative-binomial", n=2000)
        fitted = sw.SparseGLMRegressor(2, family="negative-binomial").fit(X, y)
        assert fitted.support_.tolist() == [1, 4]
        assert fitted.alpha_ == pytest.approx(ALPHA, rel=0.15)
        assert fitted.alpha_ == fitted.family_.parameter
        given = sw.SparseGLMRegressor(2, family="negative-binomial", alpha=fitted.alpha_).fit(X, y)
        np.testing.assert_allclose(given.coef_, fitted.coef_, rtol=1e-9)
        assert given.alpha_ == fitted.alpha_
        assert fitted.certify(X, y).value == pytest.approx(fitted.result_.value)
        assert fitted.start == "auto"

    def test_alpha_is_that_of_statsmodels(self):
        api = pytest.importorskip("statsmodels.api")
        X, y = problem("negative-binomial", n=2000)
        fitted = sw.SparseGLMRegressor(2, family="negative-binomial", ridge=0.0).fit(X, y)
        peer = api.NegativeBinomial(y, api.add_constant(X[:, fitted.support_])).fit(disp=False, maxiter=200)
        assert fitted.alpha_ == pytest.approx(peer.params[-1], rel=0.02)
        np.testing.assert_allclose(fitted.coef_[fitted.support_], peer.params[1:-1], rtol=0.02)

    def test_one_alpha_for_a_path(self):
        X, y = problem("negative-binomial", n=800)
        fitted = sw.SparseGLMRegressorCV(family="negative-binomial", criterion="bic").fit(X, y)
        assert fitted.support_.tolist() == [1, 4]
        assert fitted.alpha_ == pytest.approx(ALPHA, rel=0.2)
        given = clone(fitted).set_params(alpha=fitted.alpha_).fit(X, y)
        np.testing.assert_allclose(given.path_["bic"], fitted.path_["bic"], rtol=1e-7)

    def test_counts_that_vary_no_more_than_poissons(self):
        X, y = problem("poisson", n=1000)
        fitted = sw.SparseGLMRegressor(2, family="negative-binomial").fit(X, y)
        poisson = sw.SparseGLMRegressor(2).fit(X, y)
        assert fitted.alpha_ < 0.05
        np.testing.assert_allclose(fitted.coef_, poisson.coef_, atol=0.01)

    def test_rounds_have_an_end(self, monkeypatch):
        monkeypatch.setattr(glm, "PARAMETER_CHANGE", -1.0)
        monkeypatch.setattr(glm, "MOST_ROUNDS", 2)
        X, y = problem("negative-binomial")
        with pytest.warns(ConvergenceWarning, match=r"alpha was 0\.\d+ in the last of 2 rounds and would be"):
            sw.SparseGLMRegressor(2, family="negative-binomial").fit(X, y)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"family": "negative-binomial", "alpha": 0.0}, ValueError, "alpha must be a positive number"),
            (
                {"family": "cubic"},
                ValueError,
                "family must be one of poisson, .*, or a Family.*; got .cubic'",
            ),
            ({"family": "logistic"}, ValueError, "family must be one of poisson, .*; got 'logistic'"),
            ({"family": 3}, ValueError, "family must be one of .* got 3"),
        ],
    )
    def test_what_does_not_go_together(self, options, error, message):
        with pytest.raises(error, match=message):
            sw.SparseGLMRegressor(**options).fit(*problem("poisson"))


@pytest.mark.parametrize("family", NAMES)
def test_offsets_are_asked_for_again(family):
    X, y = problem(family)
    offset = np.linspace(-1, 1, len(y))
    fitted = model_of(family, constraint=2).fit(X, y, offset=offset)
    np.testing.assert_allclose(fitted.predict(X, offset), fitted.predict(X, 0) * np.exp(offset))
    with pytest.warns(UserWarning, match="fitted with an offset; predictions are for offset 0"):
        fitted.predict(X)
    constant = model_of(family, constraint=2).fit(X, y, offset=2.0)
    plain = model_of(family, constraint=2).fit(X, y)
    np.testing.assert_allclose(constant.intercept_ + 2, plain.intercept_, rtol=1e-6)


@pytest.mark.parametrize("family", NAMES)
def test_the_path_is_what_a_plain_loop_over_folds_finds(family):
    X, y = problem(family, n=120)
    hours = np.random.default_rng(2).uniform(0.5, 4, 120)
    offset, folds = np.log(hours), list(KFold(3).split(X))
    model = model_of(family, sw.SparseGLMRegressorCV, sizes=[1, 2], cv=folds).fit(X, y, offset=offset)
    losses = np.empty((3, 2))
    for f, (train, test) in enumerate(folds):
        for s, size in enumerate([1, 2]):
            plain = model_of(family, constraint=size).fit(X[train], y[train], offset=offset[train])
            losses[f, s] = deviance(family, y[test], plain.predict(X[test], offset[test]))
    np.testing.assert_allclose(model.path_["cv_mean"], losses.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["bic", "ebic", "cv"])
@pytest.mark.parametrize("shape", [0.5, 2.0, 200.0])
def test_criteria_know_no_scale_of_amounts(criterion, shape):
    """Whether amounts vary by 140 % or by 7 %, criteria choose what is true."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 10))
    y = 1e6 * rng.gamma(shape, np.exp((X[:, 1] - X[:, 4]) / np.sqrt(shape)) / shape)
    model = sw.SparseGLMRegressorCV(family="gamma", criterion=criterion, one_standard_error=criterion == "cv")
    assert model.fit(X, y).support_.tolist() == [1, 4]


def test_the_deviance_of_amounts_is_that_of_their_likelihood():
    stats = pytest.importorskip("scipy.stats")
    X, y = problem("gamma")
    model = sw.SparseGLMRegressorCV(family="gamma", sizes=[1, 2, 3], criterion="bic", ridge=0.0).fit(X, y)
    by_hand = []
    for size in (1, 2, 3):
        mean = sw.SparseGLMRegressor(size, family="gamma", ridge=0.0).fit(X, y).predict(X)
        shapes = np.geomspace(0.5, 8, 4001)
        by_hand.append(min(-2 * stats.gamma.logpdf(y, k, scale=mean / k).sum() for k in shapes))
    np.testing.assert_allclose(np.diff(model.path_["deviance"]), np.diff(by_hand), atol=1e-3)


@pytest.mark.parametrize("family", NAMES)
def test_pickles_clones_and_searches(family):
    X, y = problem(family)
    fitted = model_of(family, constraint=2).fit(X, y)
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).coef_, fitted.coef_)
    grid = GridSearchCV(model_of(family), {"constraint": [1, 2, 8]}, cv=3).fit(X, y)
    assert {1, 4} <= set(grid.best_estimator_.support_)


@pytest.mark.slow
@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("kind", [sw.SparseGLMRegressor, sw.SparseGLMRegressorCV])
def test_scikit_learns_checks(kind, family):
    options = {"sizes": [1, 2], "cv": 3} if kind is sw.SparseGLMRegressorCV else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks hand in constant targets and the like
        report = check_estimator(model_of(family, kind, **options), on_skip=None, on_fail=None)
    failed = [(entry["check_name"], entry["exception"]) for entry in report if entry["status"] == "failed"]
    assert failed == []


@pytest.mark.parametrize("family", NAMES)
def test_what_is_no_target(family):
    X, y = problem(family)
    with pytest.raises(ValueError, match=r"y must (be non-negative|hold positive numbers), got -"):
        model_of(family).fit(X, y - 100)
    with pytest.raises(ValueError, match=r"y must (have a positive entry|hold positive numbers), got"):
        model_of(family).fit(X, np.zeros(len(y)))


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("alpha", [None, ALPHA])
def test_files_and_sparse_matrices_are_data_in_memory(family, alpha, tmp_path):
    X, y = problem(family)
    X = np.where(X > 3, X, 0.0)
    np.save(tmp_path / "X.npy", X)
    model = sw.SparseGLMRegressor(2, family=family, alpha=alpha, ridge=0.01)
    in_memory = clone(model).fit(X, y)
    for data in (str(tmp_path / "X.npy"), csr_array(X), csc_array(X)):
        other = clone(model).fit(data, y)
        assert other.support_.tolist() == in_memory.support_.tolist()
        np.testing.assert_allclose(other.coef_, in_memory.coef_, rtol=1e-5)
        np.testing.assert_allclose(other.predict(data), in_memory.predict(X), rtol=1e-5)
        assert other.score(data, y) == pytest.approx(in_memory.score(X, y), abs=1e-7)


@pytest.mark.parametrize("family", NAMES)
def test_groups_weights_and_sparse_paths(family):
    X, y = problem(family)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    groups = list("aabbccdd")
    options = {"groups": groups, "criterion": "bic", "sizes": [1, 2, 3], "weights_are": "counts"}
    dense = model_of(family, sw.SparseGLMRegressorCV, **options).fit(X, y, weight)
    sparse = model_of(family, sw.SparseGLMRegressorCV, **options).fit(csr_array(X), y, weight)
    times = weight.astype(int)
    repeated = model_of(family, sw.SparseGLMRegressorCV, **options).fit(
        X.repeat(times, axis=0), y.repeat(times)
    )
    assert dense.path_["n_parameters"].tolist() == [3, 5, 7]
    for other in (sparse, repeated):
        np.testing.assert_allclose(other.path_["bic"], dense.path_["bic"], rtol=1e-6)
    assert dense.support_.tolist() == [0, 1, 4, 5]


def test_a_dispersion_that_is_not_used_is_said():
    X, y = problem("gamma")
    with pytest.warns(UserWarning, match="alpha is the dispersion of the negative binomial family"):
        sw.SparseGLMRegressor(2, family="gamma", alpha=0.5).fit(X, y)
    with pytest.warns(UserWarning, match="are not overdispersed"):
        sw.SparseGLMRegressor(2, family="negative-binomial").fit(X, np.full(len(y), 3.0) + (X[:, 0] > 0))
