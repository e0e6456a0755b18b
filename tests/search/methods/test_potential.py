"""Potentials against plain sums over subsets, and their guarantees against exhaustive search."""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from math import inf

import numpy as np
import pytest

import swapwise as sw
from swapwise.clock import Budget
from swapwise.constraints.matroid import Matroid
from swapwise.objectives.base import SetFunction
from swapwise.search.methods import potential as potentials
from swapwise.search.methods.colours import Colouring, Recolouring, colour_weights
from swapwise.search.methods.potential import layers_of, subset_weights
from swapwise.theory.methods import distorted_share

pytestmark = pytest.mark.filterwarnings("ignore:.*chosen columns")  # duplicates are on purpose

N, GRAPH = 8, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3), (3, 4), (4, 4)]


def subsets(elements) -> list[tuple[int, ...]]:
    elements = [int(e) for e in elements]
    return list(chain.from_iterable(combinations(elements, k) for k in range(len(elements) + 1)))


def plain_potential(f: SetFunction, support, phi: float) -> float:
    """The definition: the mean over p and over the subsets that hold each element with probability p."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total, k = 0.0, len(support)
    for p, weight in zip((1 + nodes) / 2, weights / 2, strict=True):
        density = phi * np.exp(phi * p) / np.expm1(phi)
        mean = sum(f(B) * p ** len(B) * (1 - p) ** (k - len(B)) for B in subsets(support))
        total += weight * density * mean / p
    return total


def plain_coloured(f: SetFunction, coloured: dict[int, int], weights: np.ndarray) -> float:
    return sum(
        weights[len(J)] * f([e for e, c in coloured.items() if c in J])
        for J in subsets(range(len(weights) - 1))
    )


def closed_forms(rng: np.random.Generator) -> list[SetFunction]:
    """Few small numbers, so that ties and elements that add nothing are frequent."""
    coverage = sw.Coverage(
        [rng.choice(7, rng.integers(0, 4)) for _ in range(N)], dict(enumerate(rng.integers(0, 4, 7)))
    )
    return [
        coverage,
        sw.FacilityLocation(rng.integers(0, 4, (4, N)).astype(float)),
        sw.Linear(rng.integers(0, 3, N).astype(float)),
    ]


def least_squares(rng: np.random.Generator, n: int = N) -> sw.LeastSquares:
    X = rng.normal(size=(12, n)) + 0.7 * rng.normal(size=(12, 1))
    X[:, -1] = X[:, 0]
    return sw.LeastSquares(X, X[:, :4] @ rng.normal(size=4) + 0.3 * rng.normal(size=12))


def matroids(rng: np.random.Generator) -> list[Matroid]:
    labels = rng.integers(0, 3, N)
    return [
        sw.Partition(labels, 2),
        sw.Laminar(N, [(range(4), 2), (range(2), 1), (range(N), 3)]),
        sw.Graphic(GRAPH),
        sw.Partition(labels, 2).contract([0]),
    ]


@pytest.mark.parametrize("phi", [0.75, 1.0, 4.0])
def test_closed_forms_are_the_sum_over_all_subsets(phi: float) -> None:
    rng = np.random.default_rng(0)
    for f in closed_forms(rng):
        closed = f.layered(layers_of(phi, 5))
        assert closed is not None
        for size in range(6):
            support = np.sort(rng.choice(N, size, replace=False))
            assert closed(support) == pytest.approx(plain_potential(f, support, phi), abs=1e-10)


def test_layers_are_integrals_for_large_ranks_too() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    p = (1 + nodes) / 2
    for phi in (0.5, 1.0, 8.0):
        density = weights / 2 * phi * np.exp(phi * p) / np.expm1(phi)
        exact = [(density * (1 - p) ** i).sum() for i in range(300)]
        np.testing.assert_allclose(layers_of(phi, 299), exact, rtol=1e-11)


def test_gains_in_closed_form_are_differences() -> None:
    rng = np.random.default_rng(1)
    for f in chain.from_iterable(closed_forms(rng) for _ in range(20)):
        closed = f.layered(layers_of(1.0, 4))
        assert closed is not None
        support = np.sort(rng.choice(N, 3, replace=False))
        state = closed.start(support)
        for grid in (*sw.Uniform(N, 3).moves(support), *sw.Uniform(N, 4).moves(support)):
            moves = grid.to_list()
            expected = [closed(move.result(support)) - closed(support) for move in moves.moves()]
            np.testing.assert_allclose(state.gains(moves), expected, atol=1e-12)
            np.testing.assert_allclose(state.gains(grid), grid.spread(np.array(expected)), atol=1e-12)
        move = moves.move(0)
        state.apply(move)
        assert state.value == pytest.approx(closed(move.result(support)))


@pytest.mark.parametrize("refits", [False, True])
def test_scores_of_coloured_moves_are_differences(refits: bool) -> None:
    rng = np.random.default_rng(2)
    f: SetFunction = least_squares(rng)
    if refits:
        f = sw.CustomSetFunction(f, N)
    matroid, support, colours = sw.Graphic(GRAPH), np.array([0, 1, 3, 6]), np.array([0, 1, 0, 2])
    weights = colour_weights(0.8, 3)
    coloured = Colouring(f, support, colours, weights)
    before = dict(zip(support.tolist(), colours.tolist(), strict=True))
    assert coloured.potential == pytest.approx(plain_coloured(f, before, weights))
    scores = coloured.scores(matroid, Budget())
    for (added, column, colour), score in np.ndenumerate(scores):
        dropped = int(support[column])
        rest = {e: c for e, c in before.items() if e != dropped}
        is_feasible = added not in rest and matroid.is_independent([*rest, added])
        assert np.isfinite(score) == is_feasible
        if is_feasible:
            gain = plain_coloured(f, rest | {added: colour}, weights) - plain_coloured(f, before, weights)
            assert score == pytest.approx(gain, abs=1e-10)


def test_scores_of_inherited_colours_are_those_of_all_subsets() -> None:
    rng = np.random.default_rng(3)
    f, support = least_squares(rng), np.array([0, 2, 5])
    base = Colouring(f, support, np.arange(3), subset_weights(2.0, 3), inherited=True)
    assert base.potential == pytest.approx(plain_potential(f, support, 2.0))
    scores = base.scores(sw.Uniform(N, 3), Budget())
    for added in set(range(N)) - {0, 2, 5}:
        for column in range(3):
            swapped = [added if e == support[column] else e for e in support]
            gain = plain_potential(f, swapped, 2.0) - base.potential
            assert scores[added, column, 0] == pytest.approx(gain, abs=1e-10)


@pytest.mark.parametrize("inherited", [False, True])
def test_moves_keep_the_book(inherited: bool) -> None:
    """After every move, the states of the parts are where the colours say that they are."""
    rng = np.random.default_rng(4)
    f, matroid = least_squares(rng), sw.Uniform(N, 4)
    weights = subset_weights(1.0, 4) if inherited else colour_weights(1.0, 2)
    colours = np.arange(4) if inherited else np.array([0, 0, 0, 1])
    base = Colouring(f, np.array([1, 5, 6, 7]), colours, weights, inherited=inherited)
    reached, n_moves = base.potential, 0
    for support in base.climb(matroid, 1e-10, Budget()):
        n_moves += 1
        now = dict(zip(support.tolist(), base.colours.tolist(), strict=True))
        assert base.potential == pytest.approx(plain_coloured(f, now, weights))
        assert base.potential > reached
        reached = base.potential
    assert n_moves > 0
    assert base.best_move(matroid, 1e-10, Budget()) is None


def test_an_element_may_change_its_colour() -> None:
    f, weights = least_squares(np.random.default_rng(12)), colour_weights(1.0, 3)
    base = Colouring(f, np.array([0, 2, 5]), np.array([0, 1, 1]), weights)
    gain = base.scores(sw.Uniform(N, 3), Budget())[2, 1, 0]
    before = base.potential
    base.apply(Recolouring(dropped=2, added=2, colour=0, gain=gain))
    assert base.potential == pytest.approx(plain_coloured(f, {0: 0, 2: 0, 5: 1}, weights))
    assert base.potential == pytest.approx(before + gain)


def best_value(f: SetFunction, matroid: Matroid) -> float:
    return sw.maximize(f, matroid, "exhaustive").value


@pytest.mark.parametrize("version", ["closed form", "subsets", "colours"])
def test_submodular_guarantees_are_kept(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if version == "colours":
        monkeypatch.setattr(potentials, "SMALL_BASE", 0)
    levels = 2 if version == "colours" else 4
    rng, shares = np.random.default_rng(5), []
    for _ in range(13):
        for f in closed_forms(rng)[:2]:
            if version != "closed form":
                monkeypatch.setattr(f, "layered", lambda layers: None)
            for matroid in matroids(rng):
                result = sw.maximize(f, matroid, sw.methods.FilmusWard(levels))
                details = result.strategies[-1].details
                if version == "closed form":
                    assert details["levels"] == inf
                share = distorted_share(1.0, 1.0, details["phi"], details["levels"])
                best = best_value(f, matroid)
                assert matroid.is_independent(result.support)
                assert np.isin(matroid.forced, result.support).all()
                assert share * best - 1e-9 <= result.value <= best + 1e-9
                shares.append(share)
    assert len(shares) == 104
    assert min(shares) == pytest.approx(1 - 1.5**-2 if version == "colours" else 1 - np.exp(-1))


def submodularity_ratios(f: SetFunction) -> tuple[float, float]:
    """γ and β by their definitions, over all disjoint A and B."""
    gamma, beta = 1.0, 1.0
    for union in subsets(range(f.n)):
        for B in subsets(union):
            A = [e for e in union if e not in B]
            gain = f(union) - f(A)
            if gain > 1e-12:
                gamma = min(gamma, sum(f([*A, e]) - f(A) for e in B) / gain)
                beta = max(beta, sum(f(union) - f([i for i in union if i != e]) for e in B) / gain)
    return gamma, beta


@pytest.mark.parametrize("coloured", [False, True])
def test_guarantees_for_regression_are_kept(coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if coloured:
        monkeypatch.setattr(potentials, "SMALL_BASE", 0)
    rng, shares = np.random.default_rng(6), []
    for _ in range(8):
        X = rng.normal(size=(30, 6)) + 0.1 * rng.normal(size=(30, 1))
        cached = {}
        f = sw.LeastSquares(X, X @ rng.normal(size=6) + rng.normal(size=30))
        for A in subsets(range(6)):
            cached[A] = f(A)
        gamma, beta = submodularity_ratios(sw.CustomSetFunction(lambda A, c=cached: c[tuple(A.tolist())], 6))
        for matroid in (sw.Partition([0, 0, 1, 1, 2, 2], 1), sw.Uniform(6, 3)):
            method = sw.methods.Distorted(levels=2)
            result = sw.maximize(f, matroid, method)
            details = result.strategies[-1].details
            assert details["levels"] == (2 if coloured else inf)
            visited = potentials.RATIOS if coloured else potentials.PHIS
            assert details["phi"] == visited[-1]
            share = max(distorted_share(gamma, beta, phi, details["levels"]) for phi in visited)
            assert share * best_value(f, matroid) <= result.value + 1e-9
            shares.append(share)
    assert max(shares) > 0.2  # the guarantees are not empty


def test_a_local_optimum_of_the_objective_that_is_none_of_the_potential() -> None:
    """Filmus and Ward: the oblivious search ends at half of the optimum if it begins there."""
    f = sw.Coverage([{"x"}, {"y", "u"}, {"y"}, {"x", "v"}])
    matroid, bad = sw.Partition(["a", "a", "b", "b"], 1), [0, 2]
    assert sw.maximize(f, matroid, "oblivious", start=bad).value == 2
    assert sw.maximize(f, matroid, "filmus-ward").value == 4
    closed = f.layered(layers_of(1.0, 2))
    assert closed is not None
    assert f(sw.maximize(closed, matroid, "oblivious", start=bad).support) == 4
    for base in (
        Colouring(f, np.array(bad), np.array([0, 1]), subset_weights(1.0, 2), inherited=True),
        Colouring(f, np.array(bad), np.array([0, 1]), colour_weights(1.0, 4)),
    ):
        assert f(list(base.climb(matroid, 1e-10, Budget()))[-1]) == 4


def test_larger_bases_are_coloured() -> None:
    rng = np.random.default_rng(7)
    f = least_squares(rng, 24)
    assert sw.maximize(f, sw.Uniform(24, 9), "filmus-ward").strategies[-1].details["levels"] == 4
    assert sw.maximize(f, sw.Uniform(24, 8), "filmus-ward").strategies[-1].details["levels"] == inf


def test_values_rise_and_what_is_kept_is_feasible() -> None:
    rng = np.random.default_rng(8)
    for _ in range(4):
        for f in (*closed_forms(rng), least_squares(rng)):
            for matroid in matroids(rng):
                result = sw.maximize(f, matroid, "distorted")
                values = [event.value for event in result.history]
                assert all(a < b for a, b in pairwise(values))
                assert result.value >= sw.maximize(f, matroid, "greedy").value - 1e-12


def test_time_limits_leave_a_feasible_set() -> None:
    f, matroid = least_squares(np.random.default_rng(9), 30), sw.Uniform(30, 9)
    for limit in (0.0, 0.003, 0.01):
        result = sw.maximize(f, matroid, "distorted", time_limit=limit)
        assert result.status in ("TIME_LIMIT", "COMPLETE")
        assert matroid.is_independent(result.support)
        assert result.value == pytest.approx(f(result.support))


@pytest.mark.filterwarnings("ignore:.*allows only the empty set")
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("method", ["filmus-ward", "distorted"])
def test_nothing_to_choose(n: int, method: str) -> None:
    assert sw.maximize(sw.Coverage([{1}] * n), sw.Uniform(n, 0), method).value == 0
    assert sw.maximize(sw.CustomSetFunction(len, n), sw.Uniform(n, 0), method).value == 0


def test_it_can_be_a_start() -> None:
    f = least_squares(np.random.default_rng(10))
    result = sw.maximize(f, sw.Uniform(N, 3), "oblivious", start="filmus-ward")
    assert [run.name for run in result.strategies] == ["filmus-ward", "oblivious"]


def test_what_is_missing_is_named() -> None:
    f = sw.Coverage([{1}, {2}])
    with pytest.raises(TypeError, match="filmus-ward needs a matroid"):
        sw.maximize(f, sw.SetPacking([{1, 2}, {2, 3}]), "filmus-ward")
    with pytest.raises(ValueError, match="levels must be from 1 to 10, got 11"):
        sw.methods.FilmusWard(levels=11)
    with pytest.raises(ValueError, match="phi"):
        sw.methods.Distorted(phi=[1.0, -1.0])
    assert repr(sw.methods.Distorted(phi=[1, 2])) == "Distorted(phi=(2.0, 1.0), levels=4)"
