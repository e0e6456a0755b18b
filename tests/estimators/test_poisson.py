import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import PoissonRegressor

from swapwise import SparseGLMRegressor, SparseGLMRegressorCV


def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)) * [1, 5, 0.2, 1, 3, 1] + [0, 3, -2, 0, 1, 4]
    exposure = rng.uniform(0.5, 4.0, 200)
    y = rng.poisson(exposure * np.exp(0.1 * X[:, 1] - 0.4 * X[:, 3] + 2.0 * X[:, 2] + 4))
    return X, y, rng.integers(0, 4, 200).astype(float), np.log(exposure)


def plain_fit(X, y, weight, offset, ridge, fit_intercept=True):
    """The penalised mean log-likelihood, maximised without any of our code."""
    weight = weight / weight.sum()

    def loss(theta):
        coef, intercept = theta[:-1], theta[-1] if fit_intercept else 0.0
        eta = X @ coef + intercept + offset
        excess = weight * (np.exp(eta) - y)
        slope = np.append(X.T @ excess + ridge * coef, excess.sum() if fit_intercept else 0.0)
        return weight @ (np.exp(eta) - y * eta) + ridge * coef @ coef / 2, slope

    theta = minimize(loss, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return theta[:-1], theta[-1]


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_coefficients_are_those_of_scikit_learn(weighted, fit_intercept, by_group):
    X, y, weight, _ = problem()
    weight = weight if weighted else None
    options = {"groups": list("aabbcd")} if by_group else {}
    model = SparseGLMRegressor(2, ridge=0.1, standardize=False, fit_intercept=fit_intercept, **options).fit(
        X, y, weight
    )
    refit = PoissonRegressor(
        alpha=0.1, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-10, max_iter=1000
    ).fit(X[:, model.support_], y, weight)
    np.testing.assert_allclose(model.coef_[model.support_], refit.coef_, atol=1e-6)
    assert model.intercept_ == pytest.approx(refit.intercept_, abs=1e-5)
    np.testing.assert_allclose(model.predict(X), refit.predict(X[:, model.support_]), rtol=1e-5)
    assert model.score(X, y, weight) == pytest.approx(refit.score(X[:, model.support_], y, weight), abs=1e-6)
    assert not np.delete(model.coef_, model.support_).any()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_offsets(ridge, fit_intercept):
    X, y, weight, offset = problem()
    model = SparseGLMRegressor(2, ridge=ridge, standardize=False, fit_intercept=fit_intercept)
    model.fit(X, y, weight, offset)
    coef, intercept = plain_fit(X[:, model.support_], y, weight, offset, ridge, fit_intercept)
    np.testing.assert_allclose(model.coef_[model.support_], coef, atol=1e-5)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-5)
    expected = np.exp(X[:, model.support_] @ coef + intercept + offset)
    np.testing.assert_allclose(model.predict(X, offset), expected, rtol=1e-4)


def test_offsets_are_the_same_as_rates_with_weights():
    X, y, _, offset = problem()
    exposure = np.exp(offset)
    counts = SparseGLMRegressor(2, ridge=0.0).fit(X, y, offset=offset)
    chosen = counts.support_
    rates = PoissonRegressor(alpha=0.0, solver="newton-cholesky", tol=1e-10)
    rates.fit(X[:, chosen], y / exposure, exposure)
    np.testing.assert_allclose(counts.coef_[chosen], rates.coef_, atol=1e-6)
    np.testing.assert_allclose(counts.predict(X, 0.0), rates.predict(X[:, chosen]), rtol=1e-5)
    # A rate of its own for all samples is then the null model of both.
    assert counts.score(X, y, offset=offset) == pytest.approx(
        rates.score(X[:, chosen], y / exposure, exposure)
    )


@pytest.mark.parametrize("scalar", [1.5, 2, np.float32(0.5), np.array(1.0)])
def test_a_number_is_the_offset_of_all_samples(scalar):
    X, y, weight, _ = problem()
    vector = np.full(200, float(scalar))
    model = SparseGLMRegressor(2).fit(X, y, weight, scalar)
    same = SparseGLMRegressor(2).fit(X, y, weight, vector)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.intercept_ == same.intercept_
    assert model.intercept_ == pytest.approx(SparseGLMRegressor(2).fit(X, y, weight).intercept_ - scalar)
    np.testing.assert_array_equal(model.predict(X, scalar), model.predict(X, vector))
    assert model.score(X, y, offset=scalar) == model.score(X, y, offset=vector)
    assert model.certify(X, y, weight, scalar).value == pytest.approx(model.result_.value)
    with pytest.raises(ValueError, match="offset must be finite, got nan"):
        model.predict(X, np.nan)


@pytest.mark.parametrize("kind", [SparseGLMRegressor, SparseGLMRegressorCV])
def test_an_offset_that_is_missing_later_is_warned_about(kind):
    X, y, _, offset = problem()
    model = kind(2).fit(X, y, offset=offset)
    for call in (lambda: model.predict(X), lambda: model.score(X, y)):
        with pytest.warns(UserWarning, match="fitted with an offset; predictions are for offset 0") as caught:
            call()
        assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X, offset)
        model.predict(X, 0)
        model.score(X, y, offset=offset)
        model.fit(X, y).predict(X)


def test_without_a_ridge_units_do_not_matter():
    X, y, weight, offset = problem()
    scaled = SparseGLMRegressor(3, ridge=0.0).fit(X, y, weight, offset)
    plain = SparseGLMRegressor(3, ridge=0.0, standardize=False).fit(X, y, weight, offset)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-6)
    assert scaled.intercept_ == pytest.approx(plain.intercept_, abs=1e-5)


def test_the_ridge_is_on_standardised_columns():
    X, y, weight, offset = problem()
    model = SparseGLMRegressor(2, ridge=0.3).fit(X, y, weight, offset)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    coef, _ = plain_fit((X / deviation)[:, model.support_], y, weight, offset, 0.3)
    np.testing.assert_allclose((model.coef_ * deviation)[model.support_], coef, atol=1e-5)


def test_certificates_know_the_offset():
    X, y, weight, offset = problem()
    model = SparseGLMRegressor(2, ridge=0.1).fit(X, y, weight, offset)
    assert model.certify(X, y, weight, offset).value == pytest.approx(model.result_.value)
    with pytest.raises(ValueError, match="the data must be the training data"):
        model.certify(X, y, weight)


def test_says_what_is_wrong_with_counts_and_offsets():
    X, y, _, offset = problem()
    with pytest.raises(ValueError, match=r"y must be non-negative, got -1\.0 at position 0"):
        SparseGLMRegressor().fit(X, np.append(-1, y[1:]))
    with pytest.raises(ValueError, match="y must have a positive entry, got zeros only"):
        SparseGLMRegressor().fit(X, np.zeros(200))
    with pytest.raises(ValueError, match="offset must have length 200, got length 199"):
        SparseGLMRegressor().fit(X, y, offset=offset[1:])
    with pytest.raises(ValueError, match="offset must have length 200, got length 199"):
        SparseGLMRegressor().fit(X, y).predict(X, offset[1:])


def test_scores_at_the_edges():
    X, y, _, _ = problem()
    model = SparseGLMRegressor(2).fit(X, y)
    assert model.score(X, np.full(200, 3)) == 0.0  # nothing to explain, and it was not hit
    vanishing = np.where(model.coef_ > 0, -1e5, 1e5)
    assert model.predict([vanishing]) == 0.0
    assert np.isfinite(model.score([vanishing, X[0]], [5, 1]))
