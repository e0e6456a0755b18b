from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import swapwise as sw
from swapwise.checks import as_generator
from swapwise.search import restarts
from swapwise.search.restarts import BATCH
from tests.search.searching import best_of_searches
from tests.search.test_record import check_record


def hard_problem():
    """Correlated features, on which a local search often ends in a poor optimum."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 30)) + 0.3 * rng.standard_normal((40, 30))
    return X, X @ rng.standard_normal(30) + rng.standard_normal(40)


def test_restarts_are_never_worse_and_sometimes_better():
    X, y = hard_problem()
    values = [sw.SparseRegressor(4, n_restarts=n).fit(X, y).result_.value for n in (0, 2, 10)]
    assert values == sorted(values)
    assert values[-1] > values[0]


@pytest.mark.parametrize("seed", [None, 0, 7])
def test_the_same_call_gives_the_same_answer(seed):
    X, y = hard_problem()
    first, again = (sw.SparseRegressor(4, n_restarts=5, random_state=seed).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    np.testing.assert_array_equal(first.selection_frequency_, again.selection_frequency_)


def test_seeds_differ_and_none_is_zero():
    X, y = hard_problem()
    none, zero, one = (
        sw.SparseRegressor(4, n_restarts=12, random_state=seed).fit(X, y).selection_frequency_.tolist()
        for seed in (None, 0, 1)
    )
    assert none == zero != one


def test_random_states_of_all_kinds():
    assert as_generator(np.random.RandomState(3)).random() == as_generator(np.random.RandomState(3)).random()
    assert as_generator(np.random.default_rng(3)).random() == as_generator(3).random()


def test_frequencies_are_shares_of_all_searches():
    X, y = hard_problem()
    model = sw.SparseRegressor(4, n_restarts=7).fit(X, y)
    share = model.selection_frequency_
    assert share.shape == (30,)
    assert share.sum() == pytest.approx(4)
    np.testing.assert_allclose(share * 8, np.round(share * 8), atol=1e-12)
    assert (share[model.support_] >= 1 / 8).all()
    once = sw.SparseRegressor(4).fit(X, y)
    assert np.flatnonzero(once.selection_frequency_).tolist() == once.support_.tolist()


def test_the_first_search_is_the_one_asked_for():
    X, y = hard_problem()
    objective, constraint = sw.LeastSquares(X, y), sw.Uniform(30, 4)
    for options in ({"start": [0, 1, 2, 3], "max_iter": 0}, {"method": "random", "random_state": 3}):
        found = best_of_searches(objective, constraint, **options)
        assert found.best.support.tolist() == sw.maximize(objective, constraint, **options).support.tolist()


@pytest.mark.parametrize("method", ["random", "random-residual-greedy"])
def test_random_methods_draw_again(method):
    X, y = hard_problem()
    once, often = (sw.SparseRegressor(4, method=method, n_restarts=n).fit(X, y) for n in (0, 6))
    assert often.result_.value > once.result_.value
    assert np.count_nonzero(often.selection_frequency_) > 4


@pytest.mark.parametrize("method", ["greedy", "modular", "exhaustive"])
def test_methods_with_one_answer_refuse_restarts(method):
    X, y = hard_problem()
    with pytest.raises(ValueError, match=f"n_restarts must be 0 for {method}, which would find the same"):
        sw.SparseRegressor(2, method=method, n_restarts=1).fit(X, y)
    assert len(sw.SparseRegressor(2, method=method).fit(X, y).support_) == 2


def test_no_time_no_restarts():
    X, y = hard_problem()
    with pytest.warns(ConvergenceWarning, match=r"time_limit=0\.0"):
        model = sw.SparseRegressor(4, forced=[3], n_restarts=1000, time_limit=0.0).fit(X, y)
    assert model.result_.status == "TIME_LIMIT"
    assert model.selection_frequency_[3] == 1.0  # of the one search that was made


def test_restarts_keep_to_the_constraint():
    X, y = hard_problem()
    constraint = sw.Intersection(sw.Partition(np.arange(30) % 5, 1), sw.Partition(np.arange(30) // 10, 1))
    model = sw.SparseRegressor(constraint, n_restarts=4).fit(X, y)
    assert constraint.is_independent(model.support_)
    assert model.selection_frequency_.sum() <= 3 + 1e-12


def test_an_interrupt_among_restarts_keeps_what_was_found(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    X = np.random.default_rng(0).standard_normal((60, 300))
    monkeypatch.setattr(restarts, "search_again", interrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted: the answer is the best so far"):
        model = sw.SparseRegressor(3, n_restarts=5).fit(X, X[:, 0])
    assert 0 in model.support_
    assert model.result_.status == sw.Status.INTERRUPTED


def test_restarts_that_time_leaves_no_room_for_are_told():
    X, y = hard_problem()
    with pytest.warns(ConvergenceWarning, match=r"cut short by time_limit=0\.2"):
        model = sw.SparseRegressor(4, n_restarts=10**6, time_limit=0.2).fit(X, y)
    assert model.result_.status == sw.Status.TIME_LIMIT
    assert len(model.support_) == 4


@pytest.mark.parametrize("kind", [sw.SparseRegressor, sw.SparseClassifier])
def test_restarts_of_working_sets_are_never_worse_and_repeatable(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 250)) + rng.standard_normal((60, 250))
    y = X[:, :8].sum(axis=1) + 5 * rng.standard_normal(60)
    y = y if kind is sw.SparseRegressor else y > 0
    once, often, again = (kind(6, n_restarts=n).fit(X, y) for n in (0, 6, 6))
    assert often.result_.value >= once.result_.value
    np.testing.assert_array_equal(often.coef_, again.coef_)


def test_the_record_leads_over_every_answer_that_was_the_best():
    X, y = hard_problem()
    objective = sw.LeastSquares(X, y)
    found = best_of_searches(objective, sw.Uniform(30, 4), "oblivious", n_restarts=20).best
    check_record(found, objective)
    assert "restart" in {event.strategy for event in found.history}
    assert found.method == "oblivious, restart"


def watched(monkeypatch, change):
    """Return a list that gets what every restart began with and what it led to, as ``change`` has it."""
    made, search = [], restarts.search_again

    def watch(problem, kept, *rest):
        result = change(len(made), search(problem, kept, *rest))
        made.append((kept, result))
        return result

    monkeypatch.setattr(restarts, "search_again", watch)
    return made


def test_restarts_begin_with_parts_of_the_best_answer_before_their_batch(monkeypatch):
    def better_than_all_before(number, result):
        support = np.arange(number, number + 4)
        return replace(result, value=2.0 + number, support=support, history=[])

    made = watched(monkeypatch, better_than_all_before)
    X, y = hard_problem()
    first = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(30, 4))
    best_of_searches(sw.LeastSquares(X, y), sw.Uniform(30, 4), n_restarts=3 * BATCH)
    results = [first] + [result for _, result in made]
    for number, (kept, _) in enumerate(made):
        known = results[number // BATCH * BATCH].support
        assert set(kept) <= set(known if number % 2 else [])
    assert any(len(kept) for kept, _ in made)


def test_an_interrupt_within_a_batch_loses_no_search(monkeypatch):
    def interrupted(number, result):
        if number == 4:
            raise KeyboardInterrupt
        return result

    made = watched(monkeypatch, interrupted)
    X, y = hard_problem()
    found = best_of_searches(sw.LeastSquares(X, y), sw.Uniform(30, 4), n_restarts=BATCH)
    assert found.best.status == sw.Status.INTERRUPTED
    assert len(made) == 4
    np.testing.assert_allclose(found.frequency * 5, np.round(found.frequency * 5), atol=1e-12)
    assert found.best.value >= max(result.value for _, result in made)


@pytest.mark.parametrize("status", [sw.Status.TIME_LIMIT, sw.Status.INTERRUPTED])
def test_a_search_that_is_cut_short_is_the_last(monkeypatch, status):
    made = watched(monkeypatch, lambda n, result: replace(result, status=status) if n == 2 else result)
    X, y = hard_problem()
    found = best_of_searches(sw.LeastSquares(X, y), sw.Uniform(30, 4), n_restarts=3 * BATCH)
    assert found.best.status == status
    assert len(made) == 3
