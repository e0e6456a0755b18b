"""The simplified definition of localizability, against all bijections one by one."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

import swapwise as sw
from swapwise.theory import simplified as module


def a_function(rng):
    """Return a function of 3 to 5 elements, often not submodular, sometimes 0 or flat, and a size."""
    n = int(rng.integers(3, 6))
    steps = {S: rng.choice([0.0, 0.0, 1.0, 2.5]) for k in range(1, n + 1) for S in combinations(range(n), k)}
    values = {
        S: sum(steps[P] for k in range(1, len(S) + 1) for P in combinations(S, k)) for S in [(), *steps]
    }
    f = sw.CustomSetFunction(lambda chosen: values[tuple(sorted(chosen))], n, monotone=True)
    return f, int(rng.integers(1, min(n, 3) + 1))


def inequalities(f, s):
    """Yield f(X), f(X*) and the sum of gains, for all pairs of sets and all bijections."""
    for X, star in product(combinations(range(f.n), s), repeat=2):
        out, into = sorted({*X} - {*star}), sorted({*star} - {*X})
        for order in permutations(into):
            swaps = zip(out, order, strict=True)
            yield f(X), f(star), sum(f({*X} - {x} | {new}) - f(X) for x, new in swaps)


def best_ratio_by_hand(rows):
    """Return the largest min (f(X) + r·gain)/f(X*) over r: where two of these lines cross, or at an end."""
    f_X, f_star, gain = rows[rows[:, 1] > 0].T
    steps = np.unique(np.column_stack([f_X, gain]) / f_star[:, None], axis=0)
    low, slope = steps.T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = ((low[:, None] - low) / (slope - slope[:, None])).ravel()
    r = np.append(crossings[np.isfinite(crossings) & (crossings > 0)], [0.0, 1.0])
    allowed = (rows[:, [0]] + rows[:, [2]] * r >= -1e-9).all(axis=0)
    return np.where(allowed, (low[:, None] + slope[:, None] * r).min(axis=0), 0.0).max()


def test_the_best_constants_are_those_of_all_bijections():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        f, s = a_function(rng)
        rows = np.array(list(inequalities(f, s)))
        scale = rows[:, :2].max() or 1.0
        found = sw.theory.localizability(f, s, 2, simplified=True)
        assert (found.s, found.t, found.beta2, found.simplified) == (s, 2, 0.0, True)
        assert (rows @ [found.beta1, -found.alpha, 1.0] >= -1e-8 * scale * (1 + found.beta1)).all()
        if rows[:, 1].any():
            assert found.ratio() == pytest.approx(best_ratio_by_hand(rows), rel=1e-5, abs=1e-8), seed
        assert sw.theory.check_localizability(f, found.alpha, found.beta1, 0.0, s, 2, simplified=True) is None
        alpha, beta = rng.choice([0.3, 0.7, 1.0, 1.5], 2)
        wrong = sw.theory.check_localizability(f, alpha, beta / 2, beta / 2, s, 2, simplified=True)
        margin = (rows @ [beta, -alpha, 1.0]).min()
        assert (wrong is None) == (margin >= -1e-8 * scale)
        if wrong is not None:
            assert wrong.left - wrong.right == pytest.approx(margin)
            assert {v for P, _ in wrong.collection for v in P} == {*wrong.X} ^ {*wrong.X_star}
            assert all(len(P) == 2 and times == 1 for P, times in wrong.collection)


@pytest.mark.parametrize("seed", range(20))
def test_from_a_base_the_guarantee_holds_and_is_no_smaller_than_the_general_one(seed):
    rng = np.random.default_rng(seed)
    f, s = a_function(rng)
    few, general = sw.theory.localizability(f, s, 2, simplified=True), sw.theory.localizability(f, s, 2)
    assert few.ratio() >= general.ratio() - 1e-6
    matroid = sw.Uniform(f.n, s)
    best = sw.maximize(f, matroid, "exhaustive").value
    for start in combinations(range(f.n), s):
        for T in (0, 1, 2, None):
            search = sw.maximize(
                f, matroid, "oblivious", start=list(start), max_iter=1000 if T is None else T
            )
            assert search.value >= sw.guarantee("oblivious", matroid, few, T=T).ratio * best - 1e-8 * (
                1 + best
            )


def test_it_guarantees_more_on_regressions():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(5):
        A = rng.standard_normal((15, 5))
        f = sw.LeastSquares(A, A @ rng.standard_normal(5) + rng.standard_normal(15))
        ratios.append(
            [sw.theory.localizability(f, 2, 2, simplified=short).ratio() for short in (True, False)]
        )
    simplified, general = np.mean(ratios, axis=0)
    assert simplified > 1.1 * general


def test_a_search_that_need_not_end_at_a_base_is_named():
    """No single element has a value, and all pairs have the same: from the empty set, nothing is found."""
    f = sw.CustomSetFunction(lambda chosen: float(len(chosen) >= 2), 4, monotone=True)
    known = sw.theory.localizability(f, 2, 2, simplified=True)
    assert known.ratio() == 1.0
    assert sw.maximize(f, sw.Uniform(4, 2), "oblivious", start="empty").value == 0.0
    stated = sw.guarantee("oblivious", sw.Uniform(4, 2), known)
    assert repr(stated).endswith('assuming that the search begins at a base, as with start="arbitrary"')


def test_it_is_for_matroids_of_its_rank():
    known = sw.theory.localizability(sw.Linear([1.0, 2.0, 3.0, 4.0]), 2, 2, simplified=True)
    assert (known.alpha, known.beta1) == (1.0, 1.0)
    with pytest.raises(TypeError, match=r"is for a matroid; localizability\(f, s, t\) is for systems"):
        sw.guarantee("oblivious", sw.BMatching([(0, 1), (1, 2), (2, 3), (3, 0)], 1), known)
    with pytest.raises(ValueError, match="of size 2 is for a matroid of that rank, not 1"):
        sw.guarantee("oblivious", sw.Uniform(4, 1), known)
    with pytest.raises(ValueError, match="for a matroid, p = 1; got p = 2"):
        known.ratio(p=2)


def test_wrong_arguments_are_named(monkeypatch):
    f = sw.Linear([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="swaps of two elements, t = 2; got t = 3"):
        sw.theory.localizability(f, 2, 3, simplified=True)
    with pytest.raises(ValueError, match="p = 1; got p = 2"):
        sw.theory.localizability(f, 2, 2, p=2, simplified=True)
    with pytest.raises(ValueError, match=r"sets must have s = 2 elements each, got \[1\]"):
        sw.theory.localizability(f, 2, 2, sets=[[1], [0, 1]], simplified=True)
    with pytest.raises(ValueError, match="3 elements have 0 pairs of sets of size 4"):
        sw.theory.check_localizability(f, 1.0, 1.0, 0.0, 4, 2, simplified=True)
    monkeypatch.setattr(module, "MOST_PAIRS", 8)
    with pytest.raises(ValueError, match="3 elements have 9 pairs of sets of size 2; 1 to 8 are feasible"):
        sw.theory.localizability(f, 2, 2, simplified=True)
    assert sw.theory.localizability(f, 2, 2, sets=[[1, 2]], simplified=True).ratio() == pytest.approx(1.0)
