"""The compiled search for many local optima: never below a plain search, whatever the data and the limits."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.data import design
from swapwise.objectives.least_squares.exploration import Exploration
from swapwise.objectives.least_squares.local_optima import SinglePrecision

# Values in single precision are off by less than this on data as here.
CLOSE = 1e-5


def problem(seed, samples, n, kind):
    """Columns with a common factor, copies, constants and zeros among them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, n)) + rng.choice([0.0, 2.0]) * rng.standard_normal((samples, 1))
    if n > 3 and kind == "degenerate":
        X[:, 1], X[:, 2], X[:, 3] = X[:, 0], 0.0, 1.0
    return X, X @ rng.standard_normal(n) * (rng.random(n) < 0.5).any() + rng.standard_normal(samples)


def settled(explored, support):
    is_settled = False
    while not is_settled:
        support, value, is_settled = explored.search_once(support)
    return support, value


def between(rng, n):
    """Lower limits on some labels, and no more places in all than a few beyond them."""
    labels = rng.integers(0, max(1, n // 4), n).tolist()
    at_least = {label: int(rng.integers(0, min(2, labels.count(label)) + 1)) for label in labels}
    return sw.Partition(labels, 2, at_least, sum(at_least.values()) + int(rng.integers(0, 4)))


def nested_lower_limits(n):
    """Thirds of halves: in the first half most places are kept for some of the thirds."""
    sets = [
        *((range(s, s + n // 2), 5) for s in (0, n // 2)),
        *((range(s, s + n // 6), 3) for s in range(0, n, n // 6)),
    ]
    tree = sw.Laminar(n, sets).laminar_tree()
    at_least = np.array([0, 3, 1, 1, 0, 2, 0, 1, 0])
    return sw.Laminar.of_tree(tree._replace(capacity=np.append(7, tree.capacity[1:]), at_least=at_least))


def limits(seed, n):
    rng = np.random.default_rng(seed)
    kind = rng.integers(5)
    if kind == 0:
        return sw.Uniform(n, int(rng.integers(0, n + 1)))
    partition = sw.Partition(rng.integers(0, max(1, n // 3), n), int(rng.integers(0, 3)))
    if kind == 1:
        return partition
    if kind == 2:
        return between(rng, n)
    if kind == 3:
        whole, half = range(n), range(n // 2)
        return sw.Laminar(n, [(whole, max(1, n // 3)), (half, max(1, n // 6))])
    base = partition.extend(np.empty(0, dtype=np.intp), rng.permutation(n))
    return partition.contract(base[: len(base) // 2])


@settings(max_examples=300)
@given(
    st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 60), st.sampled_from(["plain", "degenerate"])
)
def test_the_default_is_allowed_and_never_below_a_plain_search(seed, samples, n, kind):
    X, y = problem(seed, samples, n, kind)
    objective, constraint = sw.LeastSquares(X, y), limits(seed, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        plain = sw.maximize(objective, constraint, "oblivious", start="empty")
        found = sw.maximize(objective, constraint)
        wide = sw.maximize(objective, constraint, start="model")
    for result in (found, wide):
        assert constraint.is_independent(result.support)
        assert constraint.is_complete(result.support)
        assert set(constraint.forced) <= set(result.support)
        assert result.status is sw.Status.LOCAL_OPTIMUM
    assert found.value >= plain.value - 1e-9


@pytest.mark.parametrize("copied", [0, 1 << 21])
@pytest.mark.parametrize("seed", range(6))
def test_a_settled_set_is_a_local_optimum_with_its_value(seed, copied, monkeypatch):
    monkeypatch.setattr(design, "COPIED_ENTRIES", copied)
    X, y = problem(seed, 80, 300, "plain")
    objective = sw.LeastSquares(X, y, ridge=seed % 2)
    crowded = sw.Partition(np.arange(300) % 7, 3, {0: 2, 1: 2, 2: 1}, size=7)
    constraint = [sw.Uniform(300, 7), sw.Partition(np.arange(300) % 7, 1), crowded][seed % 3]
    explored = Exploration(objective, constraint)
    support, value = settled(explored, constraint.forced)
    assert value == pytest.approx(objective(support), abs=CLOSE)
    better = sw.maximize(objective, constraint, "oblivious", start=support)
    assert better.value <= value + CLOSE
    assert set(support) <= set(explored.candidates)
    again = explored.better(support, value, 200, np.inf)
    if again is not None:
        assert again[1] == pytest.approx(objective(again[0]), abs=CLOSE)
        assert again[1] > value


def test_copied_and_computed_products_lead_to_the_same():
    X, y = problem(3, 60, 250, "plain")
    objective = sw.LeastSquares(X, y)
    copied = settled(Exploration(objective, sw.Uniform(250, 6)), np.empty(0, dtype=np.intp))
    patch = pytest.MonkeyPatch()
    patch.setattr(design, "COPIED_ENTRIES", 0)
    computed = settled(Exploration(sw.LeastSquares(X, y), sw.Uniform(250, 6)), np.empty(0, dtype=np.intp))
    patch.undo()
    assert copied[0].tolist() == computed[0].tolist()
    assert copied[1] == pytest.approx(computed[1], abs=1e-6)


def test_most_answers_of_small_problems_are_the_best():
    best = 0
    for seed in range(60):
        X, y = problem(seed, 25, 14, "plain")
        objective = sw.LeastSquares(X, y)
        found = sw.maximize(objective, sw.Uniform(14, 4)).value
        optimum = sw.maximize(objective, sw.Uniform(14, 4), "exhaustive").value
        best += found >= optimum - 1e-9
    assert best >= 59


def test_the_same_call_gives_the_same_answer():
    X, y = problem(5, 100, 400, "plain")
    first, second = (sw.maximize(sw.LeastSquares(X, y), sw.Uniform(400, 12)) for _ in range(2))
    assert first.support.tolist() == second.support.tolist()
    assert [event.value for event in first.history] == [event.value for event in second.history]


def test_weights_and_offsets_are_taken_into_account():
    X, y = problem(6, 120, 220, "plain")
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 120)
    model = sw.SparseRegressor(6).fit(X + 20.0, y, sample_weight=weight)
    plain = sw.SparseRegressor(6, method="oblivious", start="empty").fit(X + 20.0, y, sample_weight=weight)
    assert model.result_.value >= plain.result_.value - 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_local_optima_of_a_model_are_allowed_and_have_their_values(seed):
    X, y = problem(seed, 50, 30, "plain")
    one_each, crowded = sw.Partition(np.arange(30) % 6, 1), between(np.random.default_rng(seed), 30)
    for constraint in (one_each.contract([4]), crowded, nested_lower_limits(30)):
        objective = sw.LeastSquares(X, y)
        model = SinglePrecision(objective, constraint)
        found = model.local_optima([constraint.forced], 20, np.random.default_rng(0))
        assert len(found.sets) == len(found.values) == 21
        for support, value in zip(found.sets, found.values, strict=True):
            assert constraint.is_independent(support)
            assert set(constraint.forced) <= set(support)
            assert value == pytest.approx(objective(support), abs=CLOSE)
            assert sw.maximize(objective, constraint, "oblivious", start=support).value <= value + CLOSE
