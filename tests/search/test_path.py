from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.maximize import THEORY
from swapwise.search import path as path_module
from swapwise.search.path import warm_path
from swapwise.search.plan import resolve
from tests.search.test_record import check_record


def correlated(seed, n_samples=60, n_features=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 5)) @ rng.standard_normal((5, n_features))
    X = X + rng.standard_normal((n_samples, n_features))
    return X - X.mean(0), X @ rng.standard_normal(n_features) + rng.standard_normal(n_samples)


def least_squares(seed):
    X, y = correlated(seed)
    return sw.LeastSquares(X, y - y.mean())


def logistic(seed):
    X, y = correlated(seed)
    noise = np.random.default_rng(seed).logistic(size=len(y))
    return sw.Logistic(X, y + 4 * noise > y.mean(), ridge=1e-3)


OBJECTIVES = [least_squares, logistic]


def sizes_of(kind, n, sizes):
    if kind == "uniform":
        return [sw.Uniform(n, size) for size in sizes]
    partition = sw.Partition(np.arange(n) % 5, 2)
    if kind == "partition":
        return [partition.truncate(size) for size in sizes]
    if kind == "capacity":
        return [sw.Partition(np.arange(n) % 5, size) for size in sizes]
    return [partition.truncate(size).contract([3, 7]) for size in sizes if size >= 2]


def plan_of(objective, constraint, method="auto", **options):
    return resolve(objective, constraint, method, hooks=THEORY, **options)


def values(results):
    return np.array([result.value for result in results])


def forward_only(objective, constraints):
    """Each search begins at the answer before, written with nothing but maximize."""
    results = [sw.maximize(objective, constraints[0])]
    for constraint in constraints[1:]:
        results.append(sw.maximize(objective, constraint, start=results[-1]))
    return results


@pytest.mark.parametrize("make", OBJECTIVES)
@pytest.mark.parametrize("kind", ["uniform", "partition", "capacity", "forced"])
def test_answers_are_allowed_local_optima_at_least_as_good_as_going_forward(make, kind):
    objective = make(1)
    constraints = sizes_of(kind, objective.n, range(1, 7))
    results = warm_path(objective, constraints, plan_of(objective, constraints[0]))
    plain = values(forward_only(objective, constraints))
    assert (values(results) >= plain - 1e-9).all()
    assert (np.diff(values(results)) >= -1e-12).all()
    for result, constraint in zip(results, constraints, strict=True):
        assert constraint.is_independent(result.support)
        assert np.isin(constraint.forced, result.support).all()
        assert result.status == "LOCAL_OPTIMUM"
        again = sw.maximize(objective, constraint, start=result.support)
        assert again.support.tolist() == result.support.tolist()
        assert result.value == pytest.approx(objective(result.support), rel=1e-12)
        np.testing.assert_allclose(result.coef, objective.coef(result.support), rtol=1e-9)
        check_record(result, objective, constraint.forced)


@pytest.mark.parametrize(
    "constraint",
    [
        sw.Partition(np.arange(12) // 3, 2),
        sw.FewGroups(np.arange(12) // 3, 2),
        sw.Knapsack(np.arange(12) % 5 + 1, 12.0),
    ],
    ids=repr,
)
def test_a_path_is_not_below_searches_of_each_size(constraint):
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.standard_normal((100, 12))
        X[:, 3], X[:, 7] = X[:, 0] + 0.3 * X[:, 3], X[:, 4] + 0.3 * X[:, 7]
        objective = sw.LeastSquares(X, X @ random.standard_normal(12) + random.standard_normal(100))
        constraints = [constraint.truncate(size) for size in range(1, 7)]
        path = warm_path(objective, constraints, plan_of(objective, constraints[0]))
        alone = [sw.maximize(objective, limited).value for limited in constraints]
        assert (values(path) >= np.array(alone) - 1e-9).all()


def test_going_back_and_fresh_starts_both_help(monkeypatch):
    """On these data, going forward alone is worse at some sizes than the path, and each part is why."""

    def total(sweeps, fresh_every):
        monkeypatch.setattr(path_module, "SWEEPS", sweeps)
        monkeypatch.setattr(path_module, "FRESH_EVERY", fresh_every)
        sums = 0.0
        for seed in range(6):
            objective = least_squares(seed)
            constraints = sizes_of("uniform", objective.n, range(1, 13))
            plan = replace(plan_of(objective, constraints[0]), explores=False)
            sums += values(warm_path(objective, constraints, plan)).sum()
        return sums

    never = 10**6  # then only the last size has a fresh start
    plain, back, fresh, both = total(0, never), total(2, never), total(0, 3), total(2, 3)
    assert plain < back - 1e-6
    assert plain < fresh - 1e-6
    assert both >= max(back, fresh) - 1e-9


@settings(max_examples=30)
@given(seed=st.integers(0, 999), sizes=st.sets(st.integers(0, 12), min_size=1).filter(any))
def test_any_growing_sizes(seed, sizes):
    objective = least_squares(seed)
    constraints = sizes_of("uniform", objective.n, sorted(sizes))
    results = warm_path(objective, constraints, plan_of(objective, constraints[0]))
    assert [len(result.support) for result in results] == sorted(sizes)
    cold = sw.maximize(objective, constraints[-1], "oblivious")
    assert results[-1].value >= cold.value - 1e-9  # the last size has its fresh start


@pytest.mark.parametrize("start", ["empty", "greedy", "modular", "best-singleton", "relaxation", "set"])
def test_the_first_search_begins_where_the_plan_says(start):
    X, y = correlated(2)
    objective = sw.LeastSquares(X, y, ridge=1.0)
    constraint = sw.Uniform(objective.n, 4)
    begins_at = np.array([3, 9, 20, 28]) if start == "set" else start
    (result,) = warm_path(objective, [constraint], plan_of(objective, constraint, start=begins_at))
    expected = sw.maximize(objective, constraint, start=begins_at)
    assert result.support.tolist() == expected.support.tolist()
    assert result.n_iter == expected.n_iter == len(result.history)


@pytest.mark.parametrize("method", ["greedy", "modular", "random", "random-residual-greedy", "exhaustive"])
def test_other_methods_answer_each_size_by_itself(method):
    objective = least_squares(3)
    constraints = sizes_of("uniform", objective.n, [1, 2])
    results = warm_path(objective, constraints, plan_of(objective, constraints[0], method), seed=5)
    for result, constraint in zip(results, constraints, strict=True):
        cold = sw.maximize(objective, constraint, method, random_state=5)
        assert result.support.tolist() == cold.support.tolist()
        assert result.method == method
        assert result.status == "COMPLETE"


@pytest.mark.parametrize("make", OBJECTIVES)
def test_without_time_there_is_still_an_answer_for_every_size(make):
    objective = make(0)
    constraints = sizes_of("forced", objective.n, range(2, 6))
    results = warm_path(objective, constraints, plan_of(objective, constraints[0]), time_limit=0.0)
    assert [result.support.tolist() for result in results] == [[3, 7]] * 4
    assert {str(result.status) for result in results} == {"TIME_LIMIT"}


def test_the_largest_number_of_moves_is_for_every_search():
    objective = least_squares(0)
    constraints = sizes_of("uniform", objective.n, [4, 8])
    results = warm_path(objective, constraints, plan_of(objective, constraints[0], max_iter=1))
    assert [result.n_iter for result in results] == [1, 1]


@pytest.mark.parametrize("kind", ["uniform", "partition"])
def test_fresh_starts_are_greedy_sets_of_the_size_that_is_wanted(kind):
    objective = least_squares(4)
    constraints = sizes_of(kind, objective.n, range(1, 9))
    searches = path_module.PathSearch(
        objective, constraints, plan_of(objective, constraints[0]), path_module.Clock(), 0
    )
    starts = searches._fresh_starts()
    assert list(starts) == [7, 4, 1]
    for place, start in starts.items():
        greedy = sw.maximize(objective, constraints[place], "greedy")
        assert start[-1].support.tolist() == greedy.support.tolist()


def test_what_is_missed_least_is_dropped_first():
    """Orthogonal columns: an element is missed as much as its target is large."""
    objective = sw.LeastSquares(np.eye(8), np.array([1.0, 8, 3, 6, 5, 4, 7, 2]))
    constraints = sizes_of("uniform", 8, [2, 5, 8])
    searches = path_module.PathSearch(
        objective, constraints, plan_of(objective, constraints[0]), path_module.Clock(), 0
    )
    assert searches._reduced(np.arange(8), 1).tolist() == [1, 3, 4, 5, 6]
    assert searches._reduced(np.arange(8), 0).tolist() == [1, 6]
    one_each = [sw.Partition([0, 0, 0, 0, 1, 1, 1, 1], 1).contract([2])]
    searches = path_module.PathSearch(
        objective, one_each, plan_of(objective, one_each[0]), path_module.Clock(), 0
    )
    assert searches._reduced(np.arange(8), 0).tolist() == [2, 6]
