"""Proofs of graphs that list the neighbourhoods that matter, against all graphs."""

from itertools import combinations
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import swapwise as sw
from swapwise.certify import subsets, summands
from swapwise.certify.root import root_node
from swapwise.certify.set_table import SetPrices, SetTable, UnlistedSets
from swapwise.certify.subsets import ListedSets, SubsetSearch
from swapwise.certify.summands import SummandNode
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from swapwise.paper.instances import paper_ising
from swapwise.search.result import Status
from tests.certify.problem_zoo import randoms

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no strong-concavity bound",
    "ignore:.*separable",
    "ignore:.*never changes sign",
    "ignore:.*did not converge",
    "ignore:.*allows only the empty set",
)

NOTHING = np.array([], dtype=np.intp)


def spins_of(random, n_samples, n_vertices):
    """Return spins that hang together, some of which may be constant, equal or opposite."""
    spins = np.sign(random.standard_normal((n_samples, n_vertices)) + random.standard_normal((n_samples, 1)))
    if random.random() < 0.2:
        spins[:, 0] = random.choice([-1.0, 1.0])
    if random.random() < 0.2:
        spins[:, 1] = random.choice([-1.0, 1.0]) * spins[:, 2]
    return spins if random.random() < 0.8 else spins * random.uniform(0.5, 2.0, n_vertices)


def some_ising(random, n_vertices, ridges=(0.0, 0.01, 0.2)):
    """Return an Ising model with or without ridge, fields and weights, and for some pairs only."""
    spins = spins_of(random, int(random.integers(5, 40)), n_vertices)
    weight = random.integers(0, 3, len(spins)) + (np.arange(len(spins)) == 0)
    pairs = list(combinations(range(n_vertices), 2))
    kept = [pair for pair in pairs if random.random() < 0.9] or pairs
    return sw.graphs.IsingPseudoLikelihood(
        spins,
        ridge=float(random.choice(ridges)),
        fields=bool(random.integers(2)),
        edges=kept,
        sample_weight=weight if random.random() < 0.3 else None,
    )


def some_graphs(random, objective):
    """Return limits on degrees, perhaps on the number of edges too, and perhaps with edges forced in."""
    b = random.integers(0, 4, objective.n_vertices).tolist() if random.random() < 0.3 else 2
    limits = sw.BMatching(objective.edges, b if isinstance(b, int) else dict(enumerate(b)))
    if random.random() < 0.5:
        limits = limits.truncate(int(random.integers(1, 5)))
    if random.random() < 0.3:
        edge = int(random.integers(objective.n))
        if limits.is_independent([edge]):
            limits = limits.contract([edge])
    return limits


def all_values(objective, constraint):
    """Return the values of all independent sets with what is forced in."""
    values = {}
    for size in range(min(objective.n, constraint.max_size()) + 1):
        for chosen in combinations(range(objective.n), size):
            if set(constraint.forced.tolist()) <= set(chosen) and constraint.is_independent(chosen):
                values[chosen] = objective(chosen)
    return values


@pytest.fixture
def only_lists(monkeypatch):
    """Have no table of all sets, and bounds and splits even of a few."""
    monkeypatch.setattr(summands, "MOST_SETS", 0)
    monkeypatch.setattr(subsets, "FEW_SETS", 2)
    monkeypatch.setattr(subsets, "WORK_PER_BOUND", 0)
    monkeypatch.setattr(subsets, "CHUNK", 3)


@pytest.mark.parametrize("seed", range(24))
def test_no_graph_is_above_the_bounds_and_the_best_is_found(only_lists, monkeypatch, seed):
    random = np.random.default_rng(seed)
    if seed % 4 == 0:
        monkeypatch.setattr(subsets, "MOST_LISTED", 2)  # lists that are cut short
    objective = some_ising(random, 4 + seed % 2)
    constraint = some_graphs(random, objective)
    values = all_values(objective, constraint)
    best, tolerance = max(values.values()), 1e-8
    answer = np.array(list(values)[random.integers(len(values))], dtype=np.intp)
    seen = []
    node = root_node(
        objective, Region.of(constraint), answer, Clock(), lambda kind, bound: seen.append(bound)
    )
    assert isinstance(node, SummandNode)
    node.observe = lambda kind, bound: seen.append(bound)
    node.tighten(objective(answer), Clock())
    assert min([node.bound, *seen]) >= best - tolerance
    result = sw.exact(objective, constraint)
    if result.status == Status.OPTIMAL:
        assert result.value == pytest.approx(best, abs=tolerance)
    else:
        assert result.certificate.upper_bound >= best - tolerance


@pytest.mark.parametrize("seed", range(8))
def test_bounds_are_no_worse_than_by_all_sets(monkeypatch, seed):
    random = np.random.default_rng(seed)
    objective = some_ising(random, 5, ridges=(0.01, 0.2))
    constraint = some_graphs(random, objective)
    answer = sw.maximize(objective, constraint).support
    bounds = []
    for most in (summands.MOST_SETS, 0):
        monkeypatch.setattr(summands, "MOST_SETS", most)
        node = root_node(objective, Region.of(constraint), answer, Clock())
        node.tighten(objective(answer), Clock())
        bounds.append(node.bound)
    assert bounds[1] == pytest.approx(bounds[0], rel=2e-2, abs=1e-8)


def fitted(summand, subset):
    """Return what a summand comes to on a set, as far as a plain search finds out: never too much."""
    (signals,), (prices,), ridge = summand._design(np.array([subset], dtype=np.intp))

    def loss(beta):
        likelihood = -(summand._weight * np.logaddexp(0, -2 * beta @ signals)).mean()
        return -likelihood + ridge @ beta**2 / 4 - prices @ beta

    best = minimize(loss, np.zeros(len(prices))).fun if len(prices) else loss(np.zeros(0))
    return -best - summand._at_zero


@settings(max_examples=30, deadline=None)
@given(randoms, st.integers(0, 40))
def test_a_search_lists_all_sets_above_the_threshold(random, few):
    objective = some_ising(random, 6)
    summand = max(objective.summands(objective.coef([0])), key=lambda each: len(each.elements))
    n, size = len(summand.elements), int(random.integers(0, 4))
    prices = random.choice([0.0, 0.02, -0.05]) * random.random(n)
    held = random.choice(n, min(size, n, int(random.integers(2))), replace=False)
    candidates = np.setdiff1d(np.arange(n), held)[: int(random.integers(n + 1))]
    sets = [
        (*held.tolist(), *more)
        for k in range(size - len(held) + 1)
        for more in combinations(candidates.tolist(), k)
    ]
    priced = np.array([fitted(summand, s) + prices[list(s)].sum() for s in sets])
    threshold = float(random.choice(priced)) - 1e-6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "FEW_SETS", few)
        patch.setattr(subsets, "WORK_PER_BOUND", 0)
        found = SubsetSearch(summand, prices, size, threshold, Clock()).run(held, candidates)
    listed = {tuple(sorted(row[row < n].tolist())) for row in found.subsets}
    assert found.threshold == threshold
    assert len(listed) == len(found.bounds)
    assert listed <= {tuple(sorted(s)) for s in sets}
    assert listed >= {
        tuple(sorted(s)) for s, value in zip(sets, priced, strict=True) if value > threshold + 1e-9
    }
    assert (found.bounds + np.append(prices, 0.0)[found.subsets].sum(axis=1) > threshold).all()


@settings(max_examples=30, deadline=None)
@given(randoms)
def test_no_set_of_a_summand_is_above_the_bound_among_candidates(random):
    objective = some_ising(random, 7)
    for summand in objective.summands(objective.coef([0, 1]))[:3]:
        n = len(summand.elements)
        held = np.arange(min(n, int(random.integers(3))))
        candidates = np.arange(len(held), n)
        at_most = int(random.integers(len(candidates) + 1))
        at_least = int(random.integers(at_most + 1))
        prices = random.choice([0.0, 0.1]) * random.standard_normal(len(candidates))
        bound, worth = summand.bound_among(held, candidates, (at_least, at_most), prices)
        assert len(worth) == len(candidates)
        for _ in range(8):
            more = random.permutation(len(candidates))[: int(random.integers(at_least, at_most + 1))]
            value = fitted(summand, np.append(held, candidates[more])) + prices[more].sum()
            assert value <= bound + 1e-9


def test_lists_are_cut_at_the_threshold_that_they_state(monkeypatch):
    monkeypatch.setattr(subsets, "MOST_LISTED", 5)
    objective = sw.graphs.IsingPseudoLikelihood(spins_of(np.random.default_rng(1), 40, 8), ridge=0.1)
    summand = objective.summands(np.zeros(objective.n))[0]
    found = SubsetSearch(summand, np.zeros(7), 3, -np.inf, Clock()).run(NOTHING, np.arange(7))
    values = np.concatenate(
        [summand.bounds(np.array(list(combinations(range(7), k)), dtype=np.intp)) for k in range(4)]
    )
    assert len(found.bounds) <= 10
    assert np.sum(values > found.threshold + 1e-9) <= len(found.bounds)


def test_prices_make_summands_agree():
    """Two summands want one of two elements each, and not the same one: the best is 1 + 2, and not 2 + 2."""
    subsets_ = np.array([[2], [0], [1]])
    lists = [
        ListedSets(subsets_, np.array([0.0, 2.0, 1.0]), -np.inf),
        ListedSets(subsets_, np.array([0.0, 1.0, 2.0]), -np.inf),
    ]
    table = SetTable([np.arange(2), np.arange(2)], lists, 2, 1)
    rows = np.arange(6)
    assert table.choose(rows, table.no_prices()).bound == pytest.approx(4.0)
    assert table.choose(rows, SetPrices(np.array([-0.5, 0.5, 0.5, -0.5, 0.0]), 0.0)).bound == pytest.approx(
        3.0
    )
    # Each element costs 1 in all, and a set of one element gives that back.
    assert table.choose(rows, SetPrices(np.array([-1.0, 0, 0, -1.0, 0.0]), 1.0)).bound == pytest.approx(3.0)
    objective = sw.graphs.IsingPseudoLikelihood(np.ones((2, 2)) * [1, -1], ridge=0.1)
    node = SummandNode(objective, table, Region.of(sw.Uniform(2, 1)))
    node.tighten(3.0, Clock())
    assert node.bound == pytest.approx(3.0)


def test_a_summand_of_which_nothing_is_listed_is_bounded_by_what_is_known_of_the_rest():
    lists = [
        ListedSets(np.array([[0]]), np.array([2.0]), 1.0),
        ListedSets(np.zeros((0, 1), np.intp), np.zeros(0), 1.5),
    ]
    nothing, size = np.zeros(3), np.ones(2, dtype=np.intp)
    table = SetTable(
        [np.arange(1), np.arange(1)], lists, 1, 1, rest=UnlistedSets(np.array([1.0, 1.5]), nothing, size)
    )
    choice = table.choose(np.arange(1), table.no_prices())
    assert choice.bound == pytest.approx(3.5)
    assert choice.maxima == pytest.approx([2.0, 1.5])


def test_thirty_vertices_are_proven_in_seconds():
    instance = paper_ising(30, 3, n_samples=500, random_state=1, thin=20, burn_in=500)
    objective = sw.graphs.IsingPseudoLikelihood(instance.spins, ridge=0.01, fields=True)
    certificate = sw.certify(objective, sw.BMatching(objective.edges, 3), time_limit=60)
    assert certificate.ratio > 0.999


def test_time_limits_and_searches_that_take_too_long(monkeypatch):
    instance = paper_ising(24, 3, n_samples=100, random_state=1, thin=5, burn_in=100)
    objective = sw.graphs.IsingPseudoLikelihood(instance.spins, ridge=0.01)
    constraint = sw.BMatching(objective.edges, 3)
    answer = sw.maximize(objective, constraint)
    begin = perf_counter()
    certificate = sw.certify(objective, constraint, answer, time_limit=0.3)
    assert perf_counter() - begin < 5
    assert certificate.upper_bound >= answer.value
    monkeypatch.setattr(summands, "MOST_SETS", 0)
    assert isinstance(root_node(objective, Region.of(constraint), answer.support, Clock()), SummandNode)
    monkeypatch.setattr(subsets, "MOST_WORK", 0)
    node = root_node(objective, Region.of(constraint), answer.support, Clock())
    assert not isinstance(node, SummandNode)
    with pytest.raises(OutOfTime):
        root_node(objective, Region.of(constraint), answer.support, Clock(0.0))
