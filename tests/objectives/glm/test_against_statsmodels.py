"""Families against an independent fit: values, coefficients, the best set, and certificates above it."""

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm

import swapwise as sw
from tests.objectives.glm.targets import TARGETS

ORACLES = {
    sw.Logistic: lambda: sm.families.Binomial(),
    sw.Poisson: lambda: sm.families.Poisson(),
    sw.NegativeBinomial: lambda: sm.families.NegativeBinomial(alpha=0.5),
    sw.Gamma: lambda: sm.families.Gamma(sm.families.links.Log()),
}

N, LARGEST = 6, 3
SETS = [chosen for size in range(LARGEST + 1) for chosen in combinations(range(N), size)]


def problem(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, N)) + 0.5 * rng.standard_normal((60, 1))
    y = TARGETS[kind](rng, X[:, 1] - 0.8 * X[:, 4])
    options = {"alpha": 0.5} if kind is sw.NegativeBinomial else {}
    options |= {"sample_weight": rng.uniform(0.5, 2.0, 60), "offset": rng.uniform(-0.5, 0.5, 60)}
    return X, y, options


def oracle(kind, X, y, chosen, *, sample_weight, offset, alpha=None):
    """Return the fit of statsmodels, with its log-likelihood in units of the dispersion."""
    weight = sample_weight
    columns = np.column_stack([np.ones(len(y)), X[:, list(chosen)]])
    family = ORACLES[kind]()
    fit = sm.GLM(y, columns, family, var_weights=weight, offset=offset).fit(tol=1e-14, maxiter=200)
    return -fit.deviance / 2 / weight.sum(), fit.params


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", list(ORACLES))
def test_all_small_sets(kind, seed):
    X, y, options = problem(kind, seed)
    f = kind(X, y, **options)
    null, _ = oracle(kind, X, y, (), **options)
    values = {}
    for chosen in SETS:
        value, params = oracle(kind, X, y, chosen, **options)
        values[chosen] = value - null
        assert f(chosen) == pytest.approx(value - null, rel=1e-9, abs=1e-11)
        np.testing.assert_allclose(f.coef(chosen)[list(chosen)], params[1:], rtol=1e-6, atol=1e-7)
        assert f.intercept(chosen) == pytest.approx(params[0], rel=1e-6, abs=1e-7)
    best = max(values.values())
    result = sw.maximize(f, sw.Uniform(N, LARGEST), "exhaustive")
    assert result.value == pytest.approx(best, rel=1e-9)
    assert values[tuple(result.support.tolist())] == pytest.approx(best, rel=1e-9)
    assert sw.certify(f, sw.Uniform(N, LARGEST)).upper_bound >= best - 1e-10
    ridged = kind(X, y, ridge=0.05, **options)
    optimum = max(ridged(chosen) for chosen in SETS)
    assert sw.certify(ridged, sw.Uniform(N, LARGEST), time_limit=2.0).upper_bound >= optimum - 1e-10
