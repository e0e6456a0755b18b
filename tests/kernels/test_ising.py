"""Refits of Ising models, against the formula, a general optimiser, and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from swapwise import kernels
from swapwise.kernels import _baseline, ising

STEPS = 100
LEVELS = [kernels._compiled, _baseline]


def value_of(spins, weight, tail, head, parameters, ridge):
    """The pseudo-likelihood as it is defined."""
    coupling = np.zeros((len(spins), len(spins)))
    coupling[tail, head] = coupling[head, tail] = parameters[: len(tail)]
    fields = parameters[len(tail) :] if len(parameters) > len(tail) else np.zeros(len(spins))
    local = coupling @ spins + fields[:, None]
    log_likelihood = -np.logaddexp(0.0, -2.0 * spins * local).sum(axis=0)
    mean = np.average(log_likelihood, weights=weight if len(weight) else None)
    return mean - ridge * (parameters[: len(tail)] ** 2).sum() / 2


def gradient_of(spins, weight, tail, head, parameters, ridge):
    coupling = np.zeros((len(spins), len(spins)))
    coupling[tail, head] = coupling[head, tail] = parameters[: len(tail)]
    fields = parameters[len(tail) :] if len(parameters) > len(tail) else np.zeros(len(spins))
    margin = 2.0 * spins * (coupling @ spins + fields[:, None])
    slope = 2.0 * spins * np.exp(-np.logaddexp(0.0, margin))
    slope = slope * (weight if len(weight) else 1.0) / spins.shape[1]
    by_pair = slope @ spins.T
    couplings = by_pair[tail, head] + by_pair[head, tail] - ridge * parameters[: len(tail)]
    return np.append(couplings, slope.sum(axis=1))[: len(parameters)]


def samples_of(spins, weight):
    """Samples of binary vertices, of which nothing is missing, as the kernels take them."""
    return spins, spins, weight, np.empty(0, dtype=np.intp), np.empty(0)


def refit(module, spins, weight, *rest):
    return module.refit(samples_of(spins, weight), *rest)


def lengths_of(parameters):
    return np.full(len(parameters), 2.0)


@st.composite
def problems(draw):
    """Spins, weight, ends of some edges, size of the parameters, ridge; degenerate ones included."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_vertices = draw(st.integers(1, 8))
    samples = draw(st.sampled_from([1, 2, 5, 16, 63, 511, 512, 513, 1030]))
    kind = draw(st.sampled_from(["independent", "alike", "constant", "real"]))
    spins = rng.choice([-1.0, 1.0], (n_vertices, samples))
    if kind == "alike":
        spins = np.where(rng.random(spins.shape) < 0.8, spins[0], spins)
    elif kind == "constant":
        spins = np.repeat(spins[:, :1], samples, axis=1)
    elif kind == "real":
        spins = spins * rng.uniform(0.1, 1.5, spins.shape)
    weight = np.empty(0)
    if draw(st.booleans()):
        weight = rng.random(samples) * (rng.random(samples) < 0.8) + 1e-3
        weight /= weight.mean()
    tail, head = np.triu_indices(n_vertices, 1)
    chosen = np.flatnonzero(rng.random(len(tail)) < draw(st.sampled_from([0.0, 0.4, 1.0])))
    size = len(chosen) + (n_vertices if draw(st.booleans()) else 0)
    return spins, weight, tail[chosen], head[chosen], size, draw(st.sampled_from([0.01, 1.0]))


def evaluate(module, spins, weight, tail, head, parameters, ridge):
    size = len(parameters)
    gradient, hessian = np.full(size, np.nan), np.full((size, size), np.nan)
    graph = module.incidence(tail, head, len(spins))
    value = module.evaluate(samples_of(spins, weight), graph, parameters, len(tail), ridge, gradient, hessian)
    return value, gradient, np.tril(hessian) + np.tril(hessian, -1).T


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=60)
@given(problems(), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 400.0]))
def test_derivatives_are_those_of_the_formula(level, problem, seed, strength):
    *data, size, ridge = problem
    at = strength * np.random.default_rng(seed).standard_normal(size)
    value, gradient, hessian = evaluate(level.ising, *data, at, ridge)
    assert value == pytest.approx(value_of(*data, at, ridge), rel=1e-12, abs=1e-14)
    np.testing.assert_allclose(
        gradient, gradient_of(*data, at, ridge), rtol=1e-11, atol=1e-12 + 1e-14 * strength
    )
    if strength < 1:
        for j, shift in enumerate(1e-5 * np.eye(size)):
            slope = gradient_of(*data, at - shift, ridge) - gradient_of(*data, at + shift, ridge)
            np.testing.assert_allclose(hessian[j], slope / 2e-5, atol=1e-7)


def test_edges_at_every_vertex():
    begin, edges, others = ising.incidence(np.array([0, 0, 2]), np.array([1, 2, 3]), 5)
    assert begin.tolist() == [0, 2, 3, 5, 6, 6]
    assert edges.tolist() == [0, 1, 0, 1, 2, 2]
    assert others.tolist() == [1, 2, 0, 0, 3, 2]


def test_step_lengths_of_couplings_and_fields():
    couplings, fields = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    assert ising.step_lengths(np.array([2, 0]), 4, couplings, fields).tolist() == [3, 1, 4, 5]
    assert ising.step_lengths(np.array([2, 0]), 2, couplings, fields).tolist() == [3, 1]


@settings(max_examples=40)
@given(problems(), st.booleans())
def test_a_refit_finds_the_maximum(problem, far):
    *data, size, ridge = problem
    start = np.full(size, 30.0 if far else 0.0)  # so far out that nothing has curvature
    parameters = start.copy()
    value, converged = refit(ising, *data, parameters, ridge, lengths_of(parameters), 1e-15, STEPS)
    assert value == pytest.approx(value_of(*data, parameters, ridge), abs=1e-12)
    if size == 0:
        return
    best = minimize(
        lambda at: -value_of(*data, at, ridge),
        np.zeros(size),
        jac=lambda at: -gradient_of(*data, at, ridge),
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 10_000},
    )
    if size == len(data[2]):  # fields of vertices that never change have no maximum
        assert converged
        assert value == pytest.approx(-best.fun, abs=1e-9)
    else:
        assert value > -best.fun - 1e-3


@settings(max_examples=40)
@given(problems(), st.data())
def test_moves_are_refits_one_by_one(problem, data):
    spins, weight, tail, head, size, ridge = problem
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n_edges, n_fields = len(tail), size - len(tail)
    chosen = np.flatnonzero(rng.random(n_edges) < 0.5)
    rows = data.draw(st.sampled_from([0, 1, 3, 30]))
    added = rng.choice(np.append(np.setdiff1d(np.arange(n_edges), chosen), -1), (rows, 1))
    dropped = rng.choice(np.append(chosen, -1), (rows, 2))
    parameters = np.zeros(len(chosen) + n_fields)
    ends = tail[chosen], head[chosen]
    refit(ising, spins, weight, *ends, parameters, ridge, lengths_of(parameters), 1e-15, STEPS)
    couplings, fields = np.full(n_edges, 2.0), np.full(len(spins), 2.0)
    whole = (samples_of(spins, weight), tail, head, ridge, couplings, fields)
    before = parameters.copy()
    moves = (whole, chosen, parameters, added, dropped, 1e-13, STEPS)
    values, converged = ising.values_after(*moves, 1)
    assert (parameters == before).all()
    for row in range(rows):
        kept = [e for e in range(len(chosen)) if chosen[e] not in dropped[row]]
        edges = np.append(chosen[kept], added[row][added[row] >= 0]).astype(int)
        start = np.concatenate(
            [parameters[kept], np.zeros(len(edges) - len(kept)), parameters[len(chosen) :]]
        )
        lengths = lengths_of(start)
        alone = refit(ising, spins, weight, tail[edges], head[edges], start, ridge, lengths, 1e-13, STEPS)
        assert (values[row], converged[row]) == alone
    for n_threads in (2, 4):
        many = ising.values_after(*moves, n_threads)
        assert (many[0] == values).all()
        assert (many[1] == converged).all()


@settings(max_examples=40)
@given(problems())
def test_all_levels_agree(problem):
    *data, size, ridge = problem
    fits = []
    for level in LEVELS:
        parameters = np.zeros(size)
        value, converged = refit(level.ising, *data, parameters, ridge, lengths_of(parameters), 1e-15, STEPS)
        fits.append((value, converged))
    assert fits[0][1] == fits[1][1]
    assert fits[0][0] == pytest.approx(fits[1][0], rel=1e-9 if not fits[0][1] else 1e-12, abs=1e-13)


def tables_of(spins, weight, tail, head):
    """Count patterns in the plainest way."""
    graph = ising.incidence(tail, head, len(spins))
    begin, _, others = graph
    weight = weight if len(weight) else np.ones(spins.shape[1])
    first, columns, shares = [0], [], []
    for v in range(len(spins)):
        seen = spins[[v, *others[begin[v] : begin[v + 1]]]]
        patterns, which = np.unique(seen, axis=1, return_inverse=True)
        first.append(first[-1] + patterns.shape[1])
        columns.append(patterns)
        shares.append(np.bincount(which.ravel(), weight) / weight.sum())
    signs = np.zeros((int(np.diff(begin).max()), first[-1]))
    for v, patterns in enumerate(columns):
        signs[: len(patterns) - 1, first[v] : first[v + 1]] = patterns[1:]
    own = np.concatenate([patterns[0] for patterns in columns])
    return (np.array(first), own, np.concatenate(shares), signs), graph


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=40)
@given(problems(), st.integers(0, 10**6))
def test_counts_say_what_samples_say(level, problem, seed):
    spins, weight, tail, head, size, ridge = problem
    counted = tables_of(spins, weight, tail, head)
    at = np.random.default_rng(seed).standard_normal(size)
    gradient, hessian = np.full(size, np.nan), np.full((size, size), np.nan)
    value = level.ising_tables.evaluate(*counted, at, len(tail), ridge, gradient, hessian)
    expected = evaluate(level.ising, spins, weight, tail, head, at, ridge)
    assert value == pytest.approx(expected[0], abs=1e-12)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-12)
    np.testing.assert_allclose(np.tril(hessian), np.tril(expected[2]), atol=1e-12)
    limits = ridge, lengths_of(at), 1e-15, STEPS
    fit = level.ising_tables.refit(*counted, len(tail), at.copy(), *limits)
    assert fit[0] == pytest.approx(refit(level.ising, spins, weight, tail, head, at, *limits)[0], abs=1e-9)


def mixed_value(own, seen, weight, kinds, scales, coupling, fields):
    """The mean of ``x h − A(h)``, entry by entry, over what is not missing."""
    local, total = coupling @ seen + fields[:, None], 0.0
    for v, (kind, scale) in enumerate(zip(kinds, scales, strict=True)):
        h, x = local[v], own[v]
        level = [
            lambda h, scale: np.logaddexp(h, -h),
            lambda h, scale: scale * h**2 / 2,
            lambda h, scale: np.exp(scale * h),
        ][kind](h, scale)
        missing = (x == 0) if kind == 0 else np.isnan(x)
        terms = np.where(missing, -np.log(2.0) * (kind == 0), np.nan_to_num(x) * h - level)
        total += np.average(terms, weights=weight if len(weight) else None)
    return total


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_vertices_of_every_family(level, weighted):
    rng = np.random.default_rng(0)
    kinds, scales = np.array([0, 1, 2, 1]), np.array([1.0, 0.4, 0.7, 1.3])
    signs = rng.choice([-1.0, 1.0], 700)
    own = np.stack([signs, rng.normal(size=700), 0.7 * rng.poisson(2.0, 700), signs + rng.normal(size=700)])
    missing = rng.random(own.shape) < 0.1
    seen = np.where(missing, 0.2, own)
    own = np.where(missing, np.where(kinds == 0, 0.0, np.nan)[:, None], own)
    weight = rng.random(700) if weighted else np.empty(0)
    weight = weight / weight.mean() if weighted else weight
    tail, head = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3])
    graph, at = level.ising.incidence(tail, head, 4), rng.normal(size=8) / 4

    def value(parameters):
        coupling = np.zeros((4, 4))
        coupling[tail, head] = coupling[head, tail] = parameters[:4]
        penalty = 0.05 * (parameters[:4] ** 2).sum()
        return mixed_value(own, seen, weight, kinds, scales, coupling, parameters[4:]) - penalty

    def derivatives(parameters):
        gradient, hessian = np.empty(8), np.empty((8, 8))
        samples = own, seen, weight, kinds, scales
        found = level.ising.evaluate(samples, graph, parameters, 4, 0.1, gradient, hessian)
        return found, gradient, np.tril(hessian) + np.tril(hessian, -1).T

    found, gradient, hessian = derivatives(at)
    assert found == pytest.approx(value(at), abs=1e-12)
    for j, shift in enumerate(1e-5 * np.eye(8)):
        assert gradient[j] == pytest.approx((value(at + shift) - value(at - shift)) / 2e-5, abs=1e-8)
        slopes = derivatives(at - shift)[1] - derivatives(at + shift)[1]
        np.testing.assert_allclose(hessian[j], slopes / 2e-5, atol=1e-7)
