"""A set of every size, and the size with the least loss: against enumeration and long paths."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.search.path import warm_path
from swapwise.search.plan import resolve
from swapwise.search.size_path import size_path


def least_squares(seed, n=8, n_samples=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n)) + rng.standard_normal((n_samples, 1))
    return sw.LeastSquares(X, X[:, :3].sum(axis=1) + rng.standard_normal(n_samples))


def value(state):
    return state.value


def priced(price):
    return lambda measure, size: price * size - measure


def path_of(objective, constraint, price, method="auto", **options):
    plan = resolve(objective, constraint, method, of_path=True)
    return size_path(objective, constraint, plan, value, priced(price), **options)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.005, 0.03, 0.2]))
def test_the_best_of_all_sets_is_nearly_always_found(seed, price):
    f = least_squares(seed)
    sets = itertools.chain.from_iterable(itertools.combinations(range(8), k) for k in range(9))
    best = max(f(some) - price * len(some) for some in sets)
    path = path_of(f, sw.Uniform(8, 8), price)
    found = path.measures - price * np.array([len(support) for support in path.supports])
    assert found.max() <= best + 1e-9
    assert found.max() >= best - 0.02
    assert path.best == np.argmax(found)
    assert path.result.support.tolist() == path.supports[path.best].tolist()
    for support, measure in zip(path.supports, path.measures, strict=True):
        assert measure == pytest.approx(f(support), abs=1e-9)


def test_around_the_best_size_answers_are_those_of_a_whole_path():
    f = least_squares(1, 40, 60)
    path = path_of(f, sw.Uniform(40, 40), 0.005)
    sizes = [sw.Uniform(40, k) for k in range(len(path.supports))]
    whole = warm_path(f, sizes, resolve(f, sizes[-1]))
    for place in range(max(0, path.best - 1), path.best + 2):
        assert path.measures[place] == pytest.approx(whole[place].value, rel=0.01)


def test_growth_stops_where_the_loss_has_long_been_rising():
    f = least_squares(2, 40, 60)
    assert len(path_of(f, sw.Uniform(40, 40), 0.03).supports) < 15
    assert len(path_of(f, sw.Uniform(40, 40), 0.03, beyond=np.inf).supports) == 41
    assert len(path_of(f, sw.Uniform(40, 40), 0.0, largest=7).supports) == 8


def test_what_is_forced_in_is_the_first_size():
    f, constraint = least_squares(3), sw.Uniform(8, 5).contract([6, 7])
    path = path_of(f, constraint, 0.01)
    assert path.supports[0].tolist() == [6, 7]
    assert all({6, 7} <= set(support.tolist()) for support in path.supports)


def test_the_record_leads_to_the_answer():
    f = least_squares(4, 30, 40)
    result = path_of(f, sw.Uniform(30, 30), 0.01).result
    support = set()
    for event in result.history:
        support = (support | set(event.added)) - set(event.dropped)
        assert support == set(event.support.tolist())
        assert event.value == pytest.approx(f(event.support))
    assert support == set(result.support.tolist())
    assert result.status is sw.Status.LOCAL_OPTIMUM


def test_other_methods_answer_each_size():
    f = least_squares(5)
    path = path_of(f, sw.Uniform(8, 8), 0.01, "greedy")
    for size, support in enumerate(path.supports):
        assert support.tolist() == sw.maximize(f, sw.Uniform(8, size), "greedy").support.tolist()


def test_nothing_to_choose_from_and_no_time():
    f = least_squares(6)
    assert path_of(f, sw.Uniform(8, 0), 0.0).best == 0
    late = path_of(f, sw.Uniform(8, 8), 0.0, time_limit=0.0)
    assert late.result.status is sw.Status.TIME_LIMIT
    assert sw.Uniform(8, 8).is_independent(late.result.support)


def test_an_interrupt_keeps_what_there_is_or_is_let_through(monkeypatch):
    from swapwise.search.size_path import _SizePathSearch

    def interrupt(walk, best):
        raise KeyboardInterrupt

    monkeypatch.setattr(_SizePathSearch, "_search_around", interrupt)
    f = least_squares(7)
    assert path_of(f, sw.Uniform(8, 8), 0.01).result.status is sw.Status.INTERRUPTED
    with pytest.raises(KeyboardInterrupt):
        path_of(f, sw.Uniform(8, 8), 0.01, all_or_nothing=True)
