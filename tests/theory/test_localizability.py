"""Localizability: known constants, the proposition for sparse objectives, collections one by one, errors."""

from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapwise import Coverage, CustomSetFunction, LeastSquares, Linear, Uniform, maximize
from swapwise.theory import localizable as module
from swapwise.theory.constants import restricted_constants
from swapwise.theory.localizable import (
    Counterexample,
    Localizability,
    check_localizability,
    known_localizability,
    localizability,
)
from tests.contracts.objective_zoo import coverage, custom, facility_location, ising, least_squares, linear

pytestmark = pytest.mark.filterwarnings("ignore:of . chosen columns only")

sizes = st.tuples(st.integers(1, 2), st.integers(1, 3))


@st.composite
def functions(draw):
    """Any function that is monotone and not negative, with at most four elements."""
    kinds = st.one_of(linear(), coverage(), facility_location(), custom(), least_squares(), ising())
    return draw(kinds.filter(lambda f: f.n <= 4))


def test_the_definitions_are_written_where_readers_look():
    general = "Σ_{P∈𝒫} [f(X △ P) − f(X)]  ≥  α k f(X*) − (β₁ ℓ + β₂ k) f(X)"
    sparse = "−(m/2) ‖y − x‖²  ≥  u(y) − u(x) − ⟨∇u(x), y − x⟩  ≥  −(M/2) ‖y − x‖²"
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text()
    for text in (localizability.__doc__, Localizability.__doc__, Counterexample.__doc__, glossary):
        assert general in text
    assert "at least k" in localizability.__doc__
    assert sparse in restricted_constants.__doc__
    assert sparse in glossary
    assert "∪ X is independent" in " ".join(glossary.split())  # p-exchange systems


def sides(f, triple, X, X_star, collection, k, l):  # noqa: E741
    """Both sides of the inequality, as they are written down."""
    alpha, beta1, beta2 = triple
    left = sum(times * (f(set(X) ^ set(P)) - f(X)) for P, times in collection)
    return left, alpha * k * f(X_star) - (beta1 * l + beta2 * k) * f(X)


def appearances(collection, element):
    return sum(times for P, times in collection if element in P)


def assert_is_counterexample(f, triple, s, t, wrong):
    assert wrong is not None
    X, X_star = set(wrong.X), set(wrong.X_star)
    assert max(len(X), len(X_star)) <= s
    assert all(isinstance(times, int) and times > 0 for _, times in wrong.collection)
    assert all(len(P) <= t and list(P) == sorted(set(P) & (X ^ X_star)) for P, _ in wrong.collection)
    assert all(appearances(wrong.collection, v) >= wrong.k for v in X_star - X)
    assert all(appearances(wrong.collection, v) <= wrong.l for v in X - X_star)
    assert wrong.l >= wrong.k >= 1
    left, right = sides(f, triple, wrong.X, wrong.X_star, wrong.collection, wrong.k, wrong.l)
    assert (wrong.left, wrong.right) == pytest.approx((left, right))
    assert left < right


def triple_of(loc):
    return loc.alpha, loc.beta1, loc.beta2


@settings(max_examples=100)
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=4), sizes)
def test_linear_functions_are_1_1_0(weights, size):
    loc = localizability(Linear(weights), *size)
    assert triple_of(loc) == pytest.approx((1.0, 1.0, 0.0), abs=1e-8)
    assert (loc.s, loc.t) == size


@settings(max_examples=100)
@given(st.one_of(linear(), coverage(), facility_location()).filter(lambda f: f.n <= 4), sizes)
def test_known_constants_hold_and_are_no_better_than_the_best(f, size):
    known = known_localizability(f)
    assert (known.s, known.t) == (None, None)
    assert triple_of(known) == (1.0, 1.0, 0.0 if isinstance(f, Linear) else 1.0)
    assert check_localizability(f, *triple_of(known), *size) is None
    assert localizability(f, *size).ratio() >= known.ratio() - 1e-8
    assert localizability(f, *size, p=3, q=2).ratio(3, 2) >= known.ratio(3, 2) - 1e-8


def test_half_is_the_best_for_a_submodular_function():
    """X = {0, 1} against X* = {2, 3}: to swap 0 for 3 or 1 for 2 gains nothing, and X* is worth twice."""
    f = Coverage([{"a"}, {"b"}, {"a", "c"}, {"b", "d"}])
    assert localizability(f, 2, 2).ratio() == pytest.approx(1 / 2)


@settings(max_examples=150)
@given(st.one_of(least_squares(), ising()).filter(lambda f: f.n <= 4), sizes)
def test_sparse_objectives_have_the_constants_of_the_proposition(f, size):
    """(m_{2s} / M_{s,t}, M_{s,t} / m_{2s}, 0), where u is strongly concave."""
    s, t = size
    constants = restricted_constants(f, s, t)
    m, M = constants.m_2s, constants.M_st
    assume(m > 1e-6 * M)
    assert check_localizability(f, m / M, M / m, 0.0, s, t) is None
    loc = localizability(f, s, t)
    assert loc.ratio() >= (m / M) ** 2 * (1 - 1e-8)


def test_orthogonal_columns_attain_the_proposition():
    f = LeastSquares(np.eye(3), [3.0, 2.0, 1.0])
    assert check_localizability(f, 1.0, 1.0, 0.0, 2, 2) is None
    assert_is_counterexample(f, (1.01, 1.0, 0.0), 2, 2, check_localizability(f, 1.01, 1.0, 0.0, 2, 2))


@settings(max_examples=150)
@given(functions(), sizes, st.sampled_from([(1, 1), (2, 1), (3, 2)]))
def test_the_best_triple_holds_and_no_better_one_does(f, size, system):
    p, q = system
    loc = localizability(f, *size, p=p, q=q)
    alpha, beta1, beta2 = triple_of(loc)
    assert check_localizability(f, alpha, beta1, beta2, *size) is None
    if not any(f(chosen) > 1e-8 for chosen in combinations(range(f.n), min(f.n, size[0]))):
        return  # zero is localizable with any constants
    better = [(alpha * 1.01 + 1e-3, beta1, beta2)]
    if alpha > 0:
        # No other β₁ and β₂ have a better ratio, and no smaller ones the same.
        total = alpha / (loc.ratio(p, q) * 1.01)
        better += [(alpha, share * total / (p - 1 + 1 / q), (1 - share) * total) for share in (0.0, 0.3, 1.0)]
        better.append((0.99 * alpha, 0.99 * beta1, 0.99 * beta2))
    for triple in better:
        assert_is_counterexample(f, triple, *size, check_localizability(f, *triple, *size))


def collections_of(X, X_star, t, most):
    """Every collection of moves with multiplicities up to ``most``, as pairs of move and multiplicity."""
    apart = sorted(set(X) ^ set(X_star))
    moves = [P for size in range(1, t + 1) for P in combinations(apart, size)]
    for times in product(range(most + 1), repeat=len(moves)):
        yield [(P, count) for P, count in zip(moves, times, strict=True) if count]


def worst_by_hand(f, triple, s, t, most):
    """The least left side minus right side, over all small collections and all k and ℓ that fit."""
    sets = [chosen for size in range(s + 1) for chosen in combinations(range(f.n), size)]
    values = {chosen: f(chosen) for size in range(f.n + 1) for chosen in combinations(range(f.n), size)}
    worst = np.inf
    for X, X_star in product(sets, repeat=2):
        for collection in collections_of(X, X_star, t, most):
            k = min((appearances(collection, v) for v in set(X_star) - set(X)), default=2)
            if k == 0:
                continue
            left = sum(n * (values[tuple(sorted(set(X) ^ set(P)))] - values[X]) for P, n in collection)
            fits = max((appearances(collection, v) for v in set(X) - set(X_star)), default=1)
            for fewer in range(1, k + 1):
                l = max(fewer, fits)  # noqa: E741
                right = triple[0] * fewer * values[X_star] - (triple[1] * l + triple[2] * fewer) * values[X]
                worst = min(worst, left - right)
    return worst


@settings(max_examples=60)
@given(functions().filter(lambda f: 0 < f.n <= 3), st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2)]))
def test_no_small_collection_violates_the_triple(f, size):
    most = 2 if size == (2, 1) or size[0] == 1 else 1
    loc = localizability(f, *size)
    assert worst_by_hand(f, triple_of(loc), *size, most) >= -1e-7 * (1 + f(range(f.n)))


@settings(max_examples=100)
@given(functions().filter(lambda f: 0 < f.n <= 3), st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 2.0])] * 3))
def test_what_a_small_collection_violates_is_found(f, triple):
    if worst_by_hand(f, triple, 2, 1, 1) < -1e-6 * (1 + f(range(f.n))):
        assert_is_counterexample(f, triple, 2, 1, check_localizability(f, *triple, 2, 1))


def test_slip_4_the_published_definition_fails_for_linear_functions():
    """Without ℓ ≥ k: two additions of X*, no element of X goes out, k = 2 and ℓ = 1."""
    f, X, X_star = Linear([1.0, 1.0]), (0,), (0, 1)
    collection = [((1,), 2)]
    assert all(appearances(collection, v) >= 2 for v in set(X_star) - set(X))
    # What the sets share is gained by no move, but counts k times on the right, and is taken off ℓ times.
    assert sides(f, (1.0, 1.0, 0.0), X, X_star, collection, k=2, l=1) == (2.0, 3.0)
    assert sides(f, (1.0, 1.0, 0.0), X, X_star, collection, k=2, l=2) == (2.0, 2.0)
    assert check_localizability(f, 1.0, 1.0, 0.0, 2, 2) is None
    pairs = module._Pairs(f, 2, 2)
    counted = module._evaluated(pairs, pairs.pairs.index((X, X_star)), dict(collection), 2, (1.0, 1.0, 0.0))
    assert (counted.k, counted.l, counted.left, counted.right) == (2, 2, 2.0, 2.0)


def test_falls_within_rounding_do_not_count():
    f = CustomSetFunction(lambda chosen: (len(chosen) > 0) - 5e-10 * (len(chosen) > 1), 3)
    loc = localizability(f, 2, 2)
    assert triple_of(loc) == pytest.approx(triple_of(localizability(Coverage([{"a"}] * 3), 2, 2)), abs=1e-6)
    assert check_localizability(f, *triple_of(loc), 2, 2) is None


def test_losses_without_end_are_found():
    """β₁ too small: only many more drops than additions show it, whatever β₂ is."""
    f = Linear([1.0, 2.0])
    wrong = check_localizability(f, 0.1, 0.99, 50.0, 1, 2)
    assert_is_counterexample(f, (0.1, 0.99, 50.0), 1, 2, wrong)
    assert wrong.l > 1000 * wrong.k


def test_worst_collections_with_fractions():
    """Three elements, any two of which lose most: each pair once, and every element goes out twice."""
    f = CustomSetFunction(lambda chosen: [0.0, 0.3, 0.7, 1.0][len(chosen)], 3)
    pairs = module._Pairs(f, 3, 2)
    everything_to_nothing = pairs.pairs.index(((0, 1, 2), ()))
    for price in (None, 1.06):
        collection, k = module._worst(pairs, everything_to_nothing, price)
        assert collection == {(0, 1): 1, (0, 2): 1, (1, 2): 1}
        assert k == 2


@pytest.mark.parametrize("simplified", [False, True])
def test_from_a_set_without_value_the_ratio_is_1_if_moves_find_some_and_else_0(simplified):
    assert localizability(Linear([0.0, 1.0, 2.0]), 1, 2, sets=[[0]], simplified=simplified).ratio() == 1.0
    both = CustomSetFunction(lambda chosen: float({2, 3} <= set(chosen)), 4, monotone=True)
    assert localizability(both, 2, 2, sets=[[0, 1]], simplified=simplified).ratio() == 0.0


def test_equal_sets_bound_alpha():
    f = Linear([1.0])
    wrong = check_localizability(f, 3.0, 1.0, 1.5, 1, 1)
    assert_is_counterexample(f, (3.0, 1.0, 1.5), 1, 1, wrong)


def test_a_function_of_which_small_moves_tell_nothing():
    f = CustomSetFunction(lambda chosen: float(len(chosen) >= 2), 3)
    loc = localizability(f, 2, 1)
    assert loc.alpha == loc.ratio() == 0.0
    assert check_localizability(f, *triple_of(loc), 2, 1) is None
    assert_is_counterexample(f, (0.01, 100.0, 100.0), 2, 1, check_localizability(f, 0.01, 100.0, 100.0, 2, 1))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_zero_is_linear(n):
    f = CustomSetFunction(lambda chosen: 7.0 + 5.0 * (len(chosen) > 2 > 3 - n), n)
    assert triple_of(localizability(f, 1, 2)) == (1.0, 1.0, 0.0)
    assert check_localizability(f, 1.0, 1.0, 0.0, 1, 2) is None


@settings(max_examples=100)
@given(functions().filter(lambda f: f.n > 0), st.integers(1, 2), st.sampled_from(["empty", "arbitrary"]))
def test_local_optima_keep_the_ratio(f, s, start):
    """Theorem 9: under a matroid, with swaps of two elements."""
    loc = localizability(f, s, 2)
    matroid = Uniform(f.n, s)
    best = maximize(f, matroid, "exhaustive").value
    local = maximize(f, matroid, "oblivious", start=start).value
    assert local >= loc.ratio() * best - 1e-7 * (1 + best)


def test_ratios_of_systems():
    loc = Localizability(0.5, 2.0, 1.0)
    assert loc.ratio() == pytest.approx(0.5 / 3)
    assert loc.ratio(p=2, q=2) == pytest.approx(0.5 / 4)
    assert loc.ratio(p=1, q=5) == loc.ratio()
    assert Localizability(0.0, 0.0, 0.0).ratio() == 0.0


def test_nothing_is_known_of_other_functions():
    assert known_localizability(CustomSetFunction(len, 3)) is None
    assert known_localizability(LeastSquares(np.eye(2), [1.0, 1.0])) is None


def test_functions_that_fall_are_not_localizable():
    f = CustomSetFunction(lambda chosen: 2.0 * len(chosen) - 3.0 * (len(chosen) == 2), 2)
    with pytest.raises(ValueError, match=r"f must be monotone .* falls by 1 when \(1,\) joins \(0,\)"):
        localizability(f, 2, 1)
    triple = (0.1, 5.0, 5.0)
    assert_is_counterexample(f, triple, 2, 1, check_localizability(f, *triple, 2, 1))
    with pytest.raises(ValueError, match=r"f must be non-negative .*, got -1\.0 for \(0,\)"):
        localizability(CustomSetFunction(lambda chosen: -float(len(chosen)), 1), 1, 1)


def test_too_large_a_program_is_refused(monkeypatch):
    with pytest.raises(
        ValueError, match=r"30 elements, size 5 .* need a linear program of 3196862244838 rows"
    ):
        localizability(Linear(np.ones(30)), 5, 3)
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    with pytest.raises(ValueError, match="program of 10 rows"):
        check_localizability(Linear([1.0]), 1.0, 1.0, 0.0, 1, 1)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (3, 2), (5, 5)])
def test_rows_are_counted_before_they_are_made(size):
    pairs = module._Pairs(Linear([1.0, 2.0, 3.0, 4.0]), *size)
    count = {of_size: comb(4, of_size) for of_size in range(min(size[0], 4) + 1)}
    assert module._count_rows(4, *size, count) == len(pairs.gains) + 2 * len(pairs.pairs)


def test_wrong_arguments_are_named():
    f = Linear([1.0])
    with pytest.raises(TypeError, match=r"f must be a SetFunction .*, got <built-in function len>"):
        localizability(len, 1, 1)
    with pytest.raises(TypeError, match="f must be a SetFunction"):
        known_localizability(len)
    with pytest.raises(ValueError, match="s must be at least 1, got 0"):
        localizability(f, 0, 1)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        check_localizability(f, 1.0, 1.0, 0.0, 1, 0)
    with pytest.raises(ValueError, match=r"beta1 must be a non-negative number, got -1\.0"):
        check_localizability(f, 1.0, -1.0, 0.0, 1, 1)
    with pytest.raises(TypeError, match="p must be a non-negative integer, got 'two'"):
        localizability(f, 1, 1, p="two")
    with pytest.raises(ValueError, match="q must be at least 1, got 0"):
        Localizability(1.0, 1.0, 0.0).ratio(q=0)
