"""A search that leaves out what cannot be the best move, against one that scores every move."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import BMatching, Graphic, Intersection, Oblivious, Status, Uniform, maximize
from swapwise.clock import Clock, OutOfTime
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.graphs.ising.state import IsingState
from swapwise.objectives.base import State

pytestmark = pytest.mark.filterwarnings("ignore:the data are separable", "ignore:the fit on the edges")


def search(objective, constraint, prunes=True, method="oblivious", **options):
    """Search with one and the same objective, so that not even rounding differs."""
    with pytest.MonkeyPatch.context() as patch:
        if not prunes:
            patch.setattr(IsingState, "find_best", State.find_best)
        return maximize(objective, constraint, method, **options)


def spins_of(rng, vertices, samples, kind):
    """Few samples: separable data and equal values abound, all the more among copies of vertices."""
    spins = np.sign(rng.standard_normal((samples, vertices)) + 0.7 * rng.standard_normal((samples, 1)))
    if kind == "copies":
        spins[:, 1], spins[:, -1] = spins[:, 0], -spins[:, 2]
    return spins + 0.1 * rng.standard_normal(spins.shape) * (kind == "noise")


@st.composite
def models(draw, most_vertices=7):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    vertices, samples = draw(st.integers(4, most_vertices)), draw(st.integers(4, 40))
    spins = spins_of(rng, vertices, samples, draw(st.sampled_from(["signs", "copies", "noise"])))
    return spins, draw(st.sampled_from([0.0, 1e-4, 0.05])), draw(st.booleans())


def path(result):
    return [(event.added, event.dropped) for event in result.history]


def check_same_path(model, constraint, **options):
    objective = IsingPseudoLikelihood(*model)
    found, expected = (search(objective, constraint, prunes, **options) for prunes in (True, False))
    assert path(found) == path(expected)
    values = [[event.value for event in result.history] for result in (found, expected)]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-12)
    assert found.support.tolist() == expected.support.tolist()
    assert found.status == expected.status


starts = st.sampled_from(["empty", "arbitrary", "greedy"])


@settings(max_examples=250)
@given(models(), st.integers(1, 3), starts)
def test_same_path_as_without(model, b, start):
    check_same_path(model, BMatching.complete(model[0].shape[1], b), start=start)


@settings(max_examples=60)
@given(models(most_vertices=5), st.integers(1, 3), starts)
def test_same_path_when_moves_add_two(model, b, start):
    check_same_path(model, BMatching.complete(model[0].shape[1], b), q=2, start=start)


@settings(max_examples=60)
@given(models(most_vertices=6), st.booleans(), starts)
def test_same_path_under_other_constraints(model, one_matroid, start):
    pairs = BMatching.complete(model[0].shape[1], 2)
    uniform = Uniform(pairs.n, 4)
    check_same_path(
        model, uniform if one_matroid else Intersection(Graphic(pairs.edges), uniform), start=start
    )


class EveryFifth(Oblivious):
    """A rule of one's own, whose moves are fewer than those of its parent."""

    def batches(self, state, constraint, q):
        for moves in constraint.moves(state.support, q):
            yield moves.take(np.flatnonzero(moves.added[:, 0] % 5 == 0))


def test_rules_of_ones_own_are_not_pruned_by_moves_they_do_not_have():
    constraint = BMatching.complete(8, 2)
    for seed in range(20):
        objective = IsingPseudoLikelihood(spins_of(np.random.default_rng(seed), 8, 50, "signs"))
        found, expected = (
            search(objective, constraint, prunes, method=EveryFifth(), start="arbitrary")
            for prunes in (True, False)
        )
        assert path(found) == path(expected)


def test_it_saves_refits():
    objective = IsingPseudoLikelihood(spins_of(np.random.default_rng(0), 10, 100, "noise"))
    found, expected = (search(objective, BMatching.complete(10, 5), prunes) for prunes in (True, False))
    assert found.n_evaluations < 0.6 * expected.n_evaluations


@pytest.mark.parametrize("q", [1, 2])
def test_what_is_scored_does_not_depend_on_the_clock(q, monkeypatch):
    spins = spins_of(np.random.default_rng(1), 6, 30, "noise")
    results = []
    for seconds in (0.0, 1e9):  # one move at a time; pieces that double in size
        monkeypatch.setattr("swapwise.clock.PIECE_SECONDS", seconds)
        results.append(maximize(IsingPseudoLikelihood(spins), BMatching.complete(6, 2), "oblivious", q=q))
    assert path(results[0]) == path(results[1])
    assert results[0].n_evaluations == results[1].n_evaluations


@pytest.mark.slow
@pytest.mark.parametrize("stop", [OutOfTime, KeyboardInterrupt])
def test_a_search_cut_short_keeps_the_best_it_has_seen(stop, monkeypatch):
    """The later it is cut, the better: neither probes nor bounds make it forget a move that it knows."""
    monkeypatch.setattr("swapwise.clock.PIECE_SECONDS", 0.0)
    objective = IsingPseudoLikelihood(spins_of(np.random.default_rng(2), 7, 40, "noise"))
    constraint = BMatching.complete(7, 3)
    complete = maximize(objective, constraint, "oblivious")
    reached = 0.0
    for checks in count(1, 11):
        left = iter(range(checks))

        def check(self, left=left):
            if next(left, None) is None:
                raise stop

        with monkeypatch.context() as patch:
            patch.setattr(Clock, "check", check)
            result = maximize(objective, constraint, "oblivious")
        assert constraint.is_independent(result.support)
        assert result.value >= reached - 1e-9
        reached = result.value
        if result.status == Status.LOCAL_OPTIMUM:
            break
        assert result.status == (Status.TIME_LIMIT if stop is OutOfTime else Status.INTERRUPTED)
    assert path(result) == path(complete)
