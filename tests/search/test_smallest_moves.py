"""Moves that add few elements come first, and the search ends where none of any size improves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reference.systems import reachable
from swapwise import (
    BMatching,
    Coverage,
    Graphic,
    Intersection,
    LeastSquares,
    Logistic,
    NonOblivious,
    Oblivious,
    Partition,
    SemiOblivious,
    Status,
    maximize,
)
from swapwise.clock import Budget

N = 9
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4), (0, 4)]
FOREST = Intersection(Graphic(EDGES), Partition([0, 1, 2, 0, 1, 2, 0, 1, 2], 1))
SYSTEMS = {"forest": (FOREST, 1), "pairs of edges": (BMatching(EDGES, 1), 2)}


def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, N)) + 2 * rng.standard_normal((25, 1))
    return rng, X, X[:, :4] @ rng.standard_normal(4) + rng.standard_normal(25)


def covered(rng):
    return Coverage([set(rng.integers(0, 12, rng.integers(1, 6)).tolist()) for _ in range(N)])


OBJECTIVES = {
    "least squares": lambda rng, X, y: LeastSquares(X, y),
    "logistic": lambda rng, X, y: Logistic(X, y > np.median(y), ridge=0.1),
    "coverage": lambda rng, X, y: covered(rng),
}


def rises(objective, constraint, q, support):
    """Return the sizes of all moves that improve a set."""
    p = constraint.p
    kind = "exchange system" if constraint.group_limits() is not None else "matroid intersection"
    before = objective(support)
    moves = reachable(set(support), constraint.is_independent, N, p, q, kind, dominated=False)
    sets = [(added, set(support) - set(dropped) | set(added)) for added, dropped in moves]
    return [len(added) for added, after in sets if objective(sorted(after)) > before + 1e-7]


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_default_search_takes_the_smallest_moves_and_ends_where_none_improves(name, kind, seed):
    constraint, q = SYSTEMS[name]
    objective = OBJECTIVES[kind](*data(seed))
    result = maximize(objective, constraint, "oblivious", q=q)
    assert result.status is Status.LOCAL_OPTIMUM
    support = result.begin
    for event in result.history:
        if event.strategy == "oblivious":
            assert len(event.added) == min(rises(objective, constraint, q, support.tolist()))
        support = event.support
    assert not rises(objective, constraint, q, support.tolist())


RULES = {
    "oblivious": Oblivious(),
    "semi-oblivious": SemiOblivious(),
    "non-oblivious": NonOblivious(),
    "one smoothness": NonOblivious("global"),
}


def smallest(rule, state, constraint, q, incumbent):
    """Return size and score of the best of the smallest moves that score enough, by a look at all of them."""
    best = {}
    for batch in rule.batches(state, constraint, q):
        listed = batch.to_list()
        sizes = (listed.added >= 0).sum(axis=1).tolist()
        for size, score in zip(sizes, rule.scores(state, listed).tolist(), strict=True):
            best[size] = max(best.get(size, -np.inf), score)
    enough = [(size, score) for size, score in sorted(best.items()) if score > incumbent]
    return enough[0] if enough else None


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_rule_finds_the_best_of_the_smallest_moves(name, rule, seed):
    constraint, q = SYSTEMS[name]
    rng, X, y = data(seed)
    state = LeastSquares(X, y).start(constraint.random_set(np.empty(0, dtype=np.intp), rng))
    incumbent = float(rng.choice([1e-9, 0.01, 0.05]))
    expected = smallest(RULES[rule], state, constraint, q, incumbent)
    if RULES[rule] is RULES["one smoothness"] and q > 1:
        return  # one integer program for moves of all sizes
    found = RULES[rule].find_smallest(state, constraint, q, incumbent, Budget())
    if expected is None:
        assert found is None
    else:
        assert (len(found.move.added), found.score) == (expected[0], pytest.approx(expected[1], abs=1e-9))


def test_starts_by_name_are_searched_to_the_letter():
    """Somewhere, the best move of all adds two elements though one that adds one improves."""
    sizes = set()
    for seed in range(20):
        _, X, y = data(seed)
        by_name = maximize(LeastSquares(X, y), FOREST, start="arbitrary")
        by_default = maximize(LeastSquares(X, y), FOREST, start=by_name.history[0].support)
        first = zip(by_name.history[1:2], by_default.history[:1], strict=False)
        sizes |= {(len(one.added), len(other.added)) for one, other in first}
    assert (2, 1) in sizes


def test_a_search_cut_short_guarantees_nothing_if_it_did_not_look_at_all_moves():
    _, X, y = data(0)
    objective = LeastSquares(X, y, ridge=5.0)
    by_name = maximize(objective, FOREST, start="empty", max_iter=2)
    by_default = maximize(objective, FOREST, max_iter=2)
    assert by_name.guarantee.by_theorem.ratio > by_default.guarantee.by_theorem.ratio == 0.0
