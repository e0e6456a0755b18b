"""Missing entries: terms that are left out, means for neighbours, and proofs that hold all the same."""

import dask.array as da
import numpy as np
import pytest
from scipy.optimize import minimize

import swapwise as sw
from swapwise import BMatching
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.graphs.ising.samples import Samples
from tests.contracts.objective_zoo import subsets

CASES = [(fields, weighted) for fields in (False, True) for weighted in (False, True)]


def spins_with_gaps(seed=0, n_samples=40, n_vertices=4, share=0.25):
    """Spins of which each mostly repeats the one before, more often up than down, and some are missing."""
    rng = np.random.default_rng(seed)
    spins = np.where(rng.random((n_samples, n_vertices)) < 0.65, 1.0, -1.0)
    for v in range(1, n_vertices):
        spins[:, v] = np.where(rng.random(n_samples) < 0.5, spins[:, v - 1], spins[:, v])
    spins[rng.random(spins.shape) < share] = np.nan
    return spins


def weights(spins, weighted):
    return np.random.default_rng(1).integers(0, 4, len(spins)).astype(float) if weighted else None


def plain_value(spins, coupling, bias, fields, weight=None, completed=None):
    """The mean over all rows with an answer of the terms of what was observed: one entry at a time."""
    counts = np.ones(len(spins)) if weight is None else weight
    total, rows = 0.0, 0.0
    means = np.zeros(spins.shape[1])
    for u in range(spins.shape[1]) if fields else ():
        there = ~np.isnan(spins[:, u])
        means[u] = np.average(spins[there, u], weights=counts[there])
    if completed is None:
        completed = np.where(np.isnan(spins), means, spins)
    for row, seen, count in zip(spins, completed, counts, strict=True):
        if np.isnan(row).all():
            continue
        rows += count
        for v, own in enumerate(row):
            if np.isnan(own):
                continue
            local = bias[v]
            for u, other in enumerate(seen):
                local += coupling[u, v] * other
            total -= count * np.log1p(np.exp(-2 * own * local))
    return total / rows


def completion(spins, seed):
    """Spins with others in place of what is missing."""
    drawn = np.random.default_rng(seed).choice([-1.0, 1.0], spins.shape)
    return np.where(np.isnan(spins), drawn, spins)


def plain_fit(objective, spins, support, weight=None, completed=None):
    """The best value on a graph, by a general method on the plain version; relative to nothing at all."""
    size, n_vertices = len(support), objective.n_vertices

    def loss(parameters, chosen):
        coef = np.zeros(objective.n)
        coef[list(chosen)] = parameters[: len(chosen)]
        bias = parameters[len(chosen) :] if objective.fields else np.zeros(n_vertices)
        coupling = objective.data.model.coupling_matrix(coef)
        return objective.ridge / 2 * coef @ coef - plain_value(
            spins, coupling, bias, objective.fields, weight, completed
        )

    options = {"method": "BFGS", "options": {"gtol": 1e-8}}
    n_fields = n_vertices * objective.fields
    fitted = minimize(loss, np.zeros(size + n_fields), (support,), **options)
    alone = minimize(loss, np.zeros(n_fields), ((),), **options).fun if n_fields else loss(np.zeros(0), ())
    return alone - fitted.fun


@pytest.mark.parametrize("completed", [False, True])
@pytest.mark.parametrize(("fields", "weighted"), CASES)
def test_values_are_those_of_the_plain_version(fields, weighted, completed):
    spins = spins_with_gaps(n_samples=25)
    weight, seen = weights(spins, weighted), completion(spins, 5) if completed else None
    objective = IsingPseudoLikelihood(spins, 0.05, fields, sample_weight=weight, completed=seen)
    for support in [(1,), (0, 3, 5)]:
        plain = plain_fit(objective, spins, support, weight, seen)
        assert objective(support) == pytest.approx(plain, abs=1e-9)
    coef = np.linspace(-0.5, 0.8, objective.n)
    bias = objective.data.best_fields(coef)
    coupling = objective.data.model.coupling_matrix(coef)
    at_zero = plain_value(spins, 0 * coupling, objective.biases([]), fields, weight, seen)
    value = plain_value(spins, coupling, bias, fields, weight, seen) - at_zero - 0.025 * coef @ coef
    assert objective.value_at(coef) == pytest.approx(value, abs=1e-12)
    likelihood = value + at_zero + 0.025 * coef @ coef
    assert objective.mean_log_likelihood(value, coef) == pytest.approx(likelihood, abs=1e-12)


@pytest.mark.parametrize(
    ("completed", "message"),
    [
        (np.ones((3, 2)), r"completed must have the shape of the samples, \(2, 2\), got \(3, 2\)"),
        (
            [[1, 1], [1, 1]],
            r"hold what was observed as it is, got 1 for -1 at position \(1, 0\)",
        ),
        ([[1, np.nan], [-1, 1]], "completed"),
    ],
)
def test_what_is_completed_must_be_the_samples(completed, message):
    with pytest.raises(ValueError, match=message):
        IsingPseudoLikelihood([[1, np.nan], [-1, 1]], completed=completed)
    with pytest.raises(ValueError, match=message):
        sw.graphs.MixedPseudoLikelihood([[1, np.nan], [-1, 1]], "binary", completed=completed)


@pytest.mark.parametrize(("fields", "weighted"), CASES)
def test_derivatives_equal_finite_differences(fields, weighted):
    spins = spins_with_gaps(1)
    objective = IsingPseudoLikelihood(spins, 0.05, fields, sample_weight=weights(spins, weighted))
    coef, every = np.linspace(-0.5, 0.8, objective.n), np.arange(objective.n)
    hessian = objective.hessian_at(coef, every)
    for j, shift in enumerate(1e-5 * np.eye(objective.n)):
        above, below = (objective.value_and_gradient_at(coef + sign * shift) for sign in (1, -1))
        assert objective.gradient_at(coef)[j] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-8)
        np.testing.assert_allclose(hessian[j], (below[1] - above[1]) / 2e-5, atol=1e-7)


@pytest.mark.parametrize(("fields", "weighted"), CASES)
def test_no_place_curves_more_than_is_claimed(fields, weighted):
    spins = spins_with_gaps(2)
    objective = IsingPseudoLikelihood(spins, 0.05, fields, sample_weight=weights(spins, weighted))
    every = np.arange(objective.n)
    bound = objective.curvature(every)
    np.testing.assert_allclose(bound, bound.T, atol=1e-14)
    if not fields:
        np.testing.assert_allclose(bound, objective.hessian_at(np.zeros(objective.n), every), atol=1e-12)
    for scale in (0.0, 0.3, 2.0):
        hessian = objective.hessian_at(scale * np.random.default_rng(3).normal(size=objective.n), every)
        assert np.linalg.eigvalsh(bound - hessian).min() > -1e-12
    for support in filter(len, subsets(objective.n)):
        largest = np.linalg.eigvalsh(bound[np.ix_(support, support)]).max()
        assert largest <= objective.smoothness(len(support)) + 1e-12
    assert (objective.edge_curvature < 1).all()


@pytest.mark.parametrize("fields", [False, True])
def test_moves_are_scored_as_their_graphs(fields):
    objective = IsingPseudoLikelihood(spins_with_gaps(3, n_samples=60, n_vertices=5), 0.02, fields)
    state = objective.start([0, 4])
    for batch in BMatching.complete(5, 3).moves(np.array([0, 4]), 1):
        moves = batch.to_list()
        after = [objective(move.result(state.support)) for move in moves.moves()]
        np.testing.assert_allclose(state.gains(moves), np.array(after) - state.value, atol=1e-10)


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_proofs_are_never_below_the_optimum(fields, ridge):
    for seed in range(4):
        objective = IsingPseudoLikelihood(spins_with_gaps(seed, share=0.35), ridge, fields)
        constraint = BMatching.complete(4, 1)
        best = max(objective(graph) for graph in subsets(6) if constraint.is_independent(graph))
        result = sw.maximize(objective, constraint)
        assert sw.certify(objective, constraint, result, max_nodes=1).upper_bound >= best - 1e-12
        assert sw.exact(objective, constraint).value == pytest.approx(best, abs=1e-9)
        assert objective.upper_bound() >= objective(range(6)) - 1e-12


@pytest.mark.parametrize(("fields", "weighted"), CASES)
def test_bounds_of_vertices_are_tight_at_a_fit(fields, weighted):
    spins = spins_with_gaps(9)
    objective = IsingPseudoLikelihood(spins, 0.1, fields, sample_weight=weights(spins, weighted))
    support = [0, 1, 4]
    total = 0.0
    for summand in objective.summands(objective.coef(support)):
        neighbours = np.flatnonzero(np.isin(summand.elements, support))
        total += summand.bounds(neighbours[None])[0]
    assert total == pytest.approx(objective(support), abs=1e-9)


def test_what_is_missing_cannot_be_predicted():
    spins = np.array([[1.0, 1.0, np.nan], [-1.0, -1.0, np.nan], [1.0, np.nan, 1.0], [-1.0, 1.0, -1.0]])
    objective = IsingPseudoLikelihood(spins)
    assert objective.upper_bound() == pytest.approx(np.log(2) * 9 / 4)  # nine entries, four samples


def test_a_row_without_any_answer_changes_nothing():
    spins, weight = spins_with_gaps(4), np.linspace(0.5, 2.0, 40)
    blank, heavy = np.insert(spins, 7, np.nan, axis=0), np.insert(weight, 7, 9.0)
    for before, after in [
        (IsingPseudoLikelihood(spins, 0.1, True), IsingPseudoLikelihood(blank, 0.1, True)),
        (
            IsingPseudoLikelihood(spins, 0.1, True, sample_weight=weight),
            IsingPseudoLikelihood(blank, 0.1, True, sample_weight=heavy),
        ),
    ]:
        assert before([0, 2]) == after([0, 2])
        assert before.n_samples == after.n_samples
        np.testing.assert_array_equal(before.n_observed, after.n_observed)


def test_a_weight_of_two_is_the_same_row_twice():
    spins = spins_with_gaps(5)
    counts = np.random.default_rng(0).integers(0, 4, len(spins))
    weighted = IsingPseudoLikelihood(spins, 0.1, True, sample_weight=counts)
    repeated = IsingPseudoLikelihood(np.repeat(spins, counts, axis=0), 0.1, True)
    assert weighted([0, 1, 3]) == pytest.approx(repeated([0, 1, 3]), abs=1e-12)
    np.testing.assert_allclose(weighted.imputed, repeated.imputed, atol=1e-15)
    np.testing.assert_array_equal(weighted.n_observed, repeated.n_observed)


@pytest.mark.parametrize("fields", [False, True])
def test_pairs_that_were_never_observed_together_teach_nothing(fields):
    spins = spins_with_gaps(6)
    spins[::2, 0], spins[1::2, 1] = np.nan, np.nan
    objective = IsingPseudoLikelihood(spins, 0.1, fields)
    assert objective.n_observed[0, 1] == 0
    assert objective([0]) == pytest.approx(0.0, abs=1e-12)


def test_how_often_pairs_were_observed():
    spins = [[1, np.nan, 1], [-1, 1, np.nan], [np.nan, np.nan, np.nan], [1, -1, -1]]
    expected = [[3, 2, 2], [2, 2, 1], [2, 1, 2]]
    np.testing.assert_array_equal(IsingPseudoLikelihood(spins).n_observed, expected)
    broken = IsingPseudoLikelihood(spins, sample_weight=[0.5, 1, 1, 2])
    np.testing.assert_array_equal(broken.n_observed, expected)
    twice = IsingPseudoLikelihood(spins, sample_weight=[2, 2, 2, 2])
    np.testing.assert_array_equal(twice.n_observed, 2 * np.array(expected))
    complete = np.where(np.arange(12).reshape(4, 3) % 5 < 2, 1, -1)
    assert (IsingPseudoLikelihood(complete).n_observed == 4).all()
    assert (IsingPseudoLikelihood(da.from_array(complete), sample_weight=[1, 0, 2, 3]).n_observed == 6).all()


def test_the_filling_is_the_mean_of_what_was_observed():
    spins = np.array([[1, np.nan, 1], [-1, 1, np.nan], [1, 1, -1]])
    objective = IsingPseudoLikelihood(spins, fields=True, sample_weight=[1, 2, 3])
    np.testing.assert_allclose(objective.imputed, [2 / 6, 1.0, -2 / 4])
    assert (IsingPseudoLikelihood(spins).imputed == 0).all()
    chunked = IsingPseudoLikelihood(da.from_array(np.array([[1, 0], [1, 1], [0, 1], [1, 1]])), fields=True)
    np.testing.assert_allclose(chunked.imputed, [0.5, 0.5])


def test_many_samples_are_not_counted_if_some_are_missing():
    spins = spins_with_gaps(7, n_samples=3000)
    objective = IsingPseudoLikelihood(spins, 0.01, True)
    assert isinstance(objective.data, Samples)
    whole = np.nan_to_num(spins, nan=1.0)
    assert not isinstance(IsingPseudoLikelihood(whole, 0.01, True).data, Samples)
    samples = Samples(objective.data.model, whole, None)
    assert samples.own is samples.seen  # no second table where nothing is missing


@pytest.mark.parametrize("fields", [False, True])
def test_a_vertex_that_was_never_observed(fields):
    spins = spins_with_gaps(8)
    spins[:, 2] = np.nan
    with pytest.warns(UserWarning, match="columns of which nothing can be learnt: 2"):
        objective = IsingPseudoLikelihood(spins, 0.1, fields)
    others = IsingPseudoLikelihood(np.delete(spins, 2, axis=1), 0.1, fields)
    assert objective([0]) == pytest.approx(others([0]), abs=1e-12)
    assert objective([3]) == pytest.approx(0.0, abs=1e-14)  # the edge (1, 2)
    assert objective.biases([0])[2] == 0
    assert np.isfinite(objective.coef(range(6))).all()


@pytest.mark.parametrize(
    ("spins", "options", "message"),
    [
        ([[np.nan, np.nan]], {}, "nothing but 0 or missing values"),
        ([[1, -1], [np.nan, np.nan]], {"sample_weight": [0, 1]}, "an observed entry in a sample of positive"),
        ([[1, np.inf], [1, np.nan]], {}, r"must be finite, got inf at position \(0, 1\)"),
        ([[0, 1], [1, np.nan]], {}, "got 0 and 1 in column 0"),
        (
            da.from_array(np.array([[0, 1], [1, np.nan]])),
            {},
            "got nan at .*; missing values need",
        ),
    ],
)
def test_refusals(spins, options, message):
    with pytest.raises(ValueError, match=message):
        IsingPseudoLikelihood(spins, **options)
