"""Many moves in one compiled call are those that local search makes one by one."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swapwise as sw
from swapwise.objectives.least_squares.state import LeastSquaresState


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, samples = draw(st.integers(1, 12)), draw(st.integers(2, 15))
    X = rng.integers(-1, 2, (samples, n)) * 1.0 if draw(st.booleans()) else rng.standard_normal((samples, n))
    if n > 2 and draw(st.booleans()):
        X[:, 1] = X[:, 0]
    y = rng.standard_normal(samples)
    labels = (np.arange(n) % 3).tolist()
    constraint = draw(
        st.sampled_from(
            [
                sw.Uniform(n, 4),
                sw.Partition(labels, 2),
                sw.Partition(labels, 2).truncate(3),
                sw.Partition(labels, 2).contract([0]),
                sw.Partition(labels, 2).restrict(range(n - n // 2)),
                sw.Laminar(n, [(range(n // 2), 2), (range(n), 4)]),
            ]
        )
    )
    return sw.LeastSquares(X, y, ridge=draw(st.sampled_from([0.0, 0.5]))), constraint


def moves_of(result):
    return [(event.added, event.dropped) for event in result.history]


@given(problems(), st.sampled_from(["empty", "arbitrary"]), st.sampled_from([None, 0, 2]))
def test_same_moves_as_one_by_one(problem, start, max_iter):
    objective, constraint = problem
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        compiled = sw.maximize(objective, constraint, start=start, max_iter=max_iter)
        patch.setattr(LeastSquaresState, "best_run", lambda *_: [])
        single = sw.maximize(objective, constraint, start=start, max_iter=max_iter)
    assert moves_of(compiled) == moves_of(single)
    assert compiled.status == single.status
    for event in compiled.history:
        assert event.value == pytest.approx(objective(event.support), abs=1e-7)


def large(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, n))
    return sw.LeastSquares(X, X[:, :6].sum(axis=1) + rng.standard_normal(50)), sw.Uniform(n, 5)


def test_no_time_no_moves():
    result = sw.maximize(*large(), time_limit=0)
    assert (result.n_iter, result.status) == (0, sw.Status.TIME_LIMIT)


def test_the_answer_and_the_history_are_apart():
    result = sw.maximize(*large())
    result.history[-1].support[0] = -1
    assert result.support.min() >= 0


def test_moves_of_one_call_share_its_time_and_say_so():
    result = sw.maximize(*large())
    assert result.n_iter > 1
    assert {event.n_together for event in result.history} == {result.n_iter}
    assert len({event.seconds for event in result.history}) == 1
    assert 0 < result.history[0].seconds <= result.seconds
