"""Mixed graphs: every family beside a plain version, one coupling for both ends, proofs, refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm, poisson

import swapwise as sw
from swapwise import BMatching
from swapwise.graphs import IsingPseudoLikelihood, MixedPseudoLikelihood
from tests.contracts.objective_zoo import subsets

ALL = ("binary", "gaussian", "counts", "gaussian")
SMOOTH = ("binary", "gaussian", "gaussian", "binary")


def columns(families, seed=0, n_samples=60, share=0.0):
    """A chain in which each column leans on the one before; some entries may be missing."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=n_samples)
    made = []
    for family in families:
        latent = 0.6 * latent + 0.8 * rng.normal(size=n_samples)
        made.append(
            {
                "binary": np.where(latent + rng.normal(size=n_samples) > 0.3, 1.0, -1.0),
                "gaussian": 5.0 + 3.0 * latent,
                "counts": rng.poisson(np.exp(0.4 * latent + 0.5)).astype(float),
            }[family]
        )
    X = np.column_stack(made)
    X[rng.random(X.shape) < share] = np.nan
    return X


def plain_value(X, families, variances, coupling, bias, weight=None):
    """The mean log-likelihood of the conditional distributions, from their own densities: entry by entry."""
    counts = np.ones(len(X)) if weight is None else weight
    there = ~np.isnan(X)
    centre, spread, imputed = np.zeros(X.shape[1]), np.ones(X.shape[1]), np.zeros(X.shape[1])
    for v, family in enumerate(families):
        own, shares = X[there[:, v], v], counts[there[:, v]]
        if family == "binary":
            imputed[v] = np.average(own, weights=shares)
        else:
            centre[v] = np.average(own, weights=shares)
            spread[v] = np.sqrt(np.average((own - centre[v]) ** 2, weights=shares) * variances[v])
    seen = np.where(there, (X - centre) / spread, imputed)
    total = 0.0
    for row, count in enumerate(counts):
        for v, family in enumerate(families):
            if not there[row, v]:
                continue
            local, x = bias[v] + coupling[v] @ seen[row], X[row, v]
            if family == "binary":
                total -= count * np.log1p(np.exp(-2.0 * x * local))
            elif family == "gaussian":
                total += count * norm.logpdf(x, centre[v] + spread[v] * local, spread[v])
            else:
                total += count * poisson.logpmf(x, np.exp(local / spread[v]))
    return total / counts[there.any(axis=1)].sum()


def plain_fit(objective, X, support, weight=None):
    def loss(parameters, chosen):
        coef = np.zeros(objective.n)
        coef[list(chosen)] = parameters[: len(chosen)]
        coupling = objective.data.model.coupling_matrix(coef)
        value = plain_value(
            X, objective.families, objective.variances, coupling, parameters[len(chosen) :], weight
        )
        return objective.ridge / 2 * coef @ coef - value

    start = objective.biases([])
    fits = [
        minimize(loss, np.append(np.zeros(len(chosen)), start), (chosen,), method="BFGS").fun
        for chosen in ((), support)
    ]
    return fits[0] - fits[1]


CASES = [(families, share, weighted) for families in (ALL, SMOOTH) for share, weighted in ((0, 0), (0.2, 1))]


def objective_of(families, share=0.0, weighted=False, seed=0, ridge=0.05, **options):
    X = columns(families, seed, share=share, **options)
    weight = np.random.default_rng(1).integers(0, 4, len(X)).astype(float) if weighted else None
    return X, weight, MixedPseudoLikelihood(X, families, ridge, sample_weight=weight)


@pytest.mark.parametrize(("families", "share", "weighted"), CASES)
def test_values_are_those_of_the_densities(families, share, weighted):
    X, weight, objective = objective_of(families, share, weighted, n_samples=30)
    for support in [(0,), (0, 3, 5)]:
        assert objective(support) == pytest.approx(plain_fit(objective, X, support, weight), abs=1e-8)
    coef = np.linspace(-0.3, 0.4, objective.n)
    fields = objective.data.best_fields(coef)
    coupling = objective.data.model.coupling_matrix(coef)
    plain = plain_value(X, families, objective.variances, coupling, fields, weight)
    conditionals = objective.samples.conditionals
    score = conditionals.mean_log_likelihood(X, coupling, fields, weight)
    assert score == pytest.approx(plain, abs=1e-12)
    assert objective.mean_log_likelihood(objective.value_at(coef), coef) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize(("families", "share", "weighted"), CASES)
def test_derivatives_equal_finite_differences(families, share, weighted):
    _, _, objective = objective_of(families, share, weighted, seed=1)
    coef, every = np.linspace(-0.3, 0.4, objective.n), np.arange(objective.n)
    hessian = objective.hessian_at(coef, every)
    for j, shift in enumerate(1e-5 * np.eye(objective.n)):
        above, below = (objective.value_and_gradient_at(coef + sign * shift) for sign in (1, -1))
        assert objective.gradient_at(coef)[j] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-7)
        np.testing.assert_allclose(hessian[j], (below[1] - above[1]) / 2e-5, atol=1e-6)


@pytest.mark.parametrize(("families", "share", "weighted"), CASES)
def test_fits_and_moves(families, share, weighted):
    _, _, objective = objective_of(families, share, weighted, seed=2)
    support = np.array([0, 3])
    coef = objective.coef(support)
    assert objective.value_at(coef) == pytest.approx(objective(support), abs=1e-11)
    np.testing.assert_allclose(objective.gradient_at(coef)[support], 0.0, atol=1e-6)
    state = objective.start(support)
    for batch in BMatching.complete(4, 2).moves(support, 1):
        moves = batch.to_list()
        after = [objective(move.result(support)) for move in moves.moves()]
        np.testing.assert_allclose(state.gains(moves), np.array(after) - state.value, atol=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_all_binary_is_an_ising_model(share):
    X = columns(["binary"] * 4, 3, share=share)
    mixed, ising = MixedPseudoLikelihood(X, "binary", 0.05), IsingPseudoLikelihood(X, 0.05, fields=True)
    for support in ([1], [0, 2, 5]):
        assert mixed(support) == pytest.approx(ising(support), abs=1e-13)
        np.testing.assert_allclose(mixed.biases(support), ising.biases(support), atol=1e-10)
    coef = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(mixed.gradient_at(coef), ising.gradient_at(coef), atol=1e-12)
    assert mixed.upper_bound() == pytest.approx(ising.upper_bound(), abs=1e-12)
    assert mixed.smoothness(3) == pytest.approx(ising.smoothness(3))


def test_weights_of_edges_are_partial_correlations():
    rng = np.random.default_rng(0)
    precision = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, -0.3], [0.0, -0.3, 1.0]])
    X = rng.multivariate_normal(np.zeros(3), np.linalg.inv(precision), 20_000)
    objective = MixedPseudoLikelihood(X, "gaussian")
    weights = objective.coef(range(3))
    np.testing.assert_allclose(weights, [-0.4, 0.0, 0.3], atol=0.02)
    conditional = 1 / np.diag(np.linalg.inv(np.corrcoef(X.T)))
    np.testing.assert_allclose(objective.variances, conditional, rtol=0.01)
    np.testing.assert_allclose(objective.residual_variances(np.arange(3)), conditional, rtol=0.01)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_no_place_curves_more_than_is_claimed(share):
    _, _, objective = objective_of(SMOOTH, share, True, seed=4)
    every = np.arange(objective.n)
    bound = objective.curvature(every)
    for scale in (0.0, 1.0, 3.0):
        hessian = objective.hessian_at(scale * np.random.default_rng(3).normal(size=objective.n), every)
        assert np.linalg.eigvalsh(bound - hessian).min() > -1e-12
    for support in filter(len, subsets(objective.n)):
        largest = np.linalg.eigvalsh(bound[np.ix_(support, support)]).max()
        assert largest <= objective.smoothness(len(support)) + 1e-12


@pytest.mark.parametrize("families", [ALL, SMOOTH])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_proofs_are_never_below_the_optimum(families, share):
    for seed in range(3):
        _, _, objective = objective_of(families, share, seed=seed)
        constraint = BMatching.complete(4, 1)
        best = max(objective(graph) for graph in subsets(6) if constraint.is_independent(graph))
        result = sw.maximize(objective, constraint)
        assert result.value == pytest.approx(best, abs=1e-9)
        assert sw.certify(objective, constraint, result, max_nodes=1).upper_bound >= best - 1e-12
        assert objective.upper_bound() >= objective(range(6)) - 1e-12
        if families is SMOOTH:
            assert sw.exact(objective, constraint).value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_bounds_of_vertices_are_tight_at_a_fit(share):
    _, _, objective = objective_of(SMOOTH, share, True, seed=5)
    support = [0, 1, 4]
    total = 0.0
    for summand in objective.summands(objective.coef(support)):
        neighbours = np.flatnonzero(np.isin(summand.elements, support))
        total += summand.bounds(neighbours[None])[0]
    assert total == pytest.approx(objective(support), abs=1e-8)


def test_a_row_without_any_answer_changes_nothing():
    X, _, before = objective_of(ALL, 0.2)
    after = MixedPseudoLikelihood(np.insert(X, 7, np.nan, axis=0), ALL, 0.05)
    assert before([0, 2]) == after([0, 2])


def test_neighbours_see_what_was_completed():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.choice([-1.0, 1.0], 60), rng.normal(5, 2, 60), rng.poisson(3, 60)])
    families = ["binary", "gaussian", "counts"]
    means = X[:50].mean(axis=0)
    gaps = X.copy()
    gaps[50:, 1:] = np.nan
    coef = np.array([0.3, -0.2, 0.0])
    # Of spins alone there are terms in the last rows, and they see what the complete data hold.
    seen = MixedPseudoLikelihood(gaps, families, 0.05, completed=X)
    local = seen.samples.local_fields(coef, np.zeros(3))
    z = (X - means * [0, 1, 1]) / np.where([False, True, True], X[:50].std(axis=0), 1.0)
    z /= np.sqrt(seen.variances)
    np.testing.assert_allclose(local[0], z @ [0.0, 0.3, -0.2], atol=1e-12)
    filled = np.where(np.isnan(gaps), np.array([0.0, *means[1:]]), gaps)
    by_means = MixedPseudoLikelihood(gaps, families, 0.05, completed=filled)
    assert by_means([0, 2]) == pytest.approx(MixedPseudoLikelihood(gaps, families, 0.05)([0, 2]), abs=1e-12)


def test_units_of_measurement_do_not_matter():
    X, _, before = objective_of(SMOOTH)
    after = MixedPseudoLikelihood(X * [1, 100, 0.01, 1] + [0, 7, -3, 0], SMOOTH, 0.05)
    assert before([0, 2, 5]) == pytest.approx(after([0, 2, 5]), abs=1e-12)


def test_columns_without_any_variation():
    X = columns(ALL)
    X[:, 0], X[:, 1], X[:, 2] = 1.0, 4.0, 0.0
    objective = MixedPseudoLikelihood(X, ALL, 0.05)
    assert objective([0, 1, 3]) == pytest.approx(0.0, abs=1e-8)  # fields are at the ends of their range
    assert np.isfinite(objective.coef(range(6))).all()


def test_counts_have_no_smoothness():
    _, _, objective = objective_of(ALL)
    assert objective.curvature(np.arange(2)) is None
    with pytest.raises(TypeError, match="a smoothness constant"):
        sw.maximize(objective, BMatching.complete(4, 1), "non-oblivious")


@pytest.mark.parametrize(
    ("X", "families", "options", "message"),
    [
        (
            [[0, 1.0]],
            ["binary", "gaussian"],
            {},
            r"column 0 of X must hold -1 and \+1, as it is binary; got 0",
        ),
        ([[1, 0.5]], ["binary", "counts"], {}, "column 1 of X must hold whole numbers from 0, .*; got 0.5"),
        ([[1, 1.0]], ["binary"], {}, "families must have a name for each of 2 columns, got 1"),
        ([[1, 1.0]], ["binary", "odd"], {}, "families must be among binary, gaussian, counts; got 'odd'"),
        ([[np.nan, np.nan]], "gaussian", {}, "a value in a sample of positive weight, got none"),
        ([[1, np.inf]], "gaussian", {}, "X must be finite, got inf"),
        ([[1, 2.0]], "gaussian", {"variances": [1, 0]}, "variances must be positive, got 0 at position 1"),
    ],
)
def test_refusals(X, families, options, message):
    with pytest.raises(ValueError, match=message):
        MixedPseudoLikelihood(X, families, **options)
