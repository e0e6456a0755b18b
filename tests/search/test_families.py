"""Searches and proofs under families beyond matroids, and pairs of them, against enumeration."""

import numpy as np
import pytest

import swapwise as sw
from benchmarks.families.small import coverage, least_squares
from benchmarks.families.zoo import families_and_pairs, member_of, neighbours

pytestmark = pytest.mark.filterwarnings("ignore:.*(chosen columns|strong-concavity)")

PAIRS = sorted(families_and_pairs())


def logistic(random, n):
    X = random.standard_normal((30, n))
    return sw.Logistic(X, X[:, 0] + X[:, 1] + random.standard_normal(30) > 0, ridge=0.1)


def problem(names, seed, make):
    random = np.random.default_rng([seed, *map(ord, "+".join(names))])
    member = member_of(names, random, int(random.integers(7, 10)))
    return make(random, member.constraint.n), member


@pytest.mark.parametrize(
    ("make", "names"),
    [(make, names) for make in (least_squares, coverage) for names in PAIRS]
    + [(logistic, names) for names in PAIRS if len(names) == 1],
    ids=lambda value: " and ".join(value) if isinstance(value, tuple) else value.__name__,
)
def test_answers_are_locally_optimal_and_proofs_true(make, names):
    f, member = problem(names, 0, make)
    values = {chosen: f(sorted(chosen)) for chosen in member.answers()}
    best = max(values.values())
    found = sw.maximize(f, member.constraint, "oblivious")
    chosen = frozenset(found.support.tolist())
    assert found.status is sw.Status.LOCAL_OPTIMUM
    assert found.value == pytest.approx(values[chosen], abs=1e-9)
    near = [values[target] for target in neighbours(member, chosen, set(values))]
    assert max(near, default=0.0) <= found.value + 1e-8
    proven = sw.exact(f, member.constraint)
    assert proven.status is sw.Status.OPTIMAL
    assert proven.value == pytest.approx(best, abs=1e-8)
    for nodes in (0, 1, 3):
        assert sw.certify(f, member.constraint, found, max_nodes=nodes).upper_bound >= best - 1e-9
    assert found.guarantee.ratio <= found.value / best + 1e-9
    has_theorem = member.has_theorem and member.constraint.p is not None
    assert has_theorem or found.guarantee.by_theorem is None or found.guarantee.by_theorem.vacuous


@pytest.mark.parametrize("names", [pair for pair in PAIRS if len(pair) == 1], ids=" and ".join)
def test_the_default_search_finds_nearly_all_there_is(names):
    shares = []
    for seed in range(10):
        f, member = problem(names, seed, least_squares)
        best = max(f(sorted(chosen)) for chosen in member.answers())
        shares.append(sw.maximize(f, member.constraint).value / best)
    assert np.mean(shares) > 0.99


@pytest.mark.parametrize("names", [("few groups",), ("budget", "strong hierarchy"), ("conflicts", "budget")])
def test_many_columns_are_searched_by_working_sets(names):
    random = np.random.default_rng(1)
    n = 300
    X = random.standard_normal((60, n))
    y = X[:, :5].sum(axis=1) + 0.1 * random.standard_normal(60)
    constraints = {
        "few groups": sw.FewGroups(np.arange(n) % 20, 3, size=6),
        "budget": sw.Knapsack(random.integers(1, 4, n), 9.0),
        "strong hierarchy": sw.Hierarchy(n, {e: [e % 10, e % 7] for e in range(10, n)}, 8),
        "conflicts": sw.Conflicts(n, [(e, e + 1) for e in range(n - 1)]),
    }
    parts = [constraints[name] for name in names]
    constraint = sw.Intersection(*parts) if len(parts) > 1 else parts[0]
    f = sw.LeastSquares(X, y)
    found = sw.maximize(f, constraint)
    assert "working sets" in [run.name for run in found.strategies]
    assert found.status is sw.Status.LOCAL_OPTIMUM
    assert found.value >= sw.maximize(f, constraint, "oblivious", start="empty").value - 0.02
    assert f(found.support) == pytest.approx(found.value, abs=1e-9)
    assert sw.certify(f, constraint, found, time_limit=1).upper_bound >= found.value - 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("change", ["truncate", "restrict", "contract", "all"])
def test_matchings_of_a_size_with_edges_in_and_out(change, seed):
    random = np.random.default_rng(seed)
    edges = [tuple(random.choice(6, 2, replace=False).tolist()) for _ in range(9)]
    whole = constraint = sw.BMatching(edges, 2)
    size, inside, outside = 9, frozenset[int](), frozenset[int]()
    if change in ("truncate", "all"):
        size, constraint = 3, constraint.truncate(3)
    if change in ("restrict", "all"):
        outside, constraint = frozenset({4, 7}), constraint.restrict([0, 1, 2, 3, 5, 6, 8])
    if change in ("contract", "all"):
        inside, constraint = frozenset({2}), constraint.contract([2])
    f = least_squares(random, 9)
    subsets = (frozenset(e for e in range(9) if number >> e & 1) for number in range(512))
    values = {
        chosen: f(sorted(chosen))
        for chosen in subsets
        if inside <= chosen and not outside & chosen and len(chosen) <= size
        if whole.is_independent(chosen)
    }
    found, proven = sw.maximize(f, constraint), sw.exact(f, constraint)
    best = max(values.values())
    assert found.value == pytest.approx(values[frozenset(found.support.tolist())], abs=1e-9)
    assert frozenset(proven.support.tolist()) in values
    assert proven.status is sw.Status.OPTIMAL
    assert proven.value == pytest.approx(best, abs=1e-8)
    assert sw.certify(f, constraint, found, max_nodes=1).upper_bound >= best - 1e-9
