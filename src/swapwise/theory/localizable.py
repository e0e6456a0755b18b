r"""Localizability: what small moves gain together, compared with the large move to any other set.

The definition is in :class:`Localizability`. (The published one leaves out ℓ ≥ k, without which not even
linear functions have it.) There are infinitely many collections 𝒫 for a pair X, X*, but none is enumerated.
Divided by k, multiplicities become weights y ≥ 0 and λ = ℓ/k ≥ 1, and the worst collection for a pair is a
linear program, whose corners are rational:

    min Σ_P y_P gain_P + β₁ λ f(X)  such that  Σ_{P∋v} y_P ≥ 1 on X* \ X  and  Σ_{P∋v} y_P ≤ λ on X \ X*

By duality, a pair has the property exactly if its elements have a_v ≥ 0 (v ∈ X*) and b_v ≥ 0 (v ∈ X) with

    Σ_{v∈P\X} a_v − Σ_{v∈P∩X} b_v ≤ gain_P for every P,   Σ_v b_v ≤ β₁ f(X),
    α f(X*) − (β₁ + β₂) f(X) ≤ Σ_v a_v − Σ_v b_v

which is linear in α, β₁ and β₂ as well: all pairs together are one linear program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, inf, lcm

import numpy as np
import scipy

from swapwise.checks import FloatArray, as_elements, as_real
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SetFunction
from swapwise.objectives.linear import Linear
from swapwise.theory.constants import as_size
from swapwise.theory.simplified import SHORT_OF_LIMIT, BasePairs, Elements, after, solved, values_of

# The most rows of a linear program, which then takes about a minute
MOST_ROWS = 200_000

Triple = tuple[float, float, float]
Collection = dict[Elements, int]


@dataclass(frozen=True)
class Localizability:
    """The constants (α, β₁, β₂) of a localizable function; sizes of None stand for any size.

    With size s and exchange size t, that is (Definition 6 of Fujii 2020): for all sets X and X* of at most s
    elements, and every collection 𝒫 of subsets P of X △ X* with at most t elements (repeated or not), ::

        Σ_{P∈𝒫} [f(X △ P) − f(X)]  ≥  α k f(X*) − (β₁ ℓ + β₂ k) f(X)

    where every element of X* ∖ X is in at least k of the P, every element of X ∖ X* in at most ℓ, and
    ℓ ≥ k ≥ 1. If ``simplified`` (Definition 5), it is: for all X and X* of exactly s elements, and every
    bijection φ from X ∖ X* to X* ∖ X, ::

        Σ_{x ∈ X ∖ X*} [f(X − x + φ(x)) − f(X)]  ≥  α f(X*) − (β₁ + β₂) f(X)

    See Also
    --------
    localizability : what computes it.
    guarantee : what follows from it.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> Localizability(alpha=1.0, beta1=1.0, beta2=1.0).ratio()
    0.5
    """

    alpha: float
    beta1: float
    beta2: float
    s: int | None = None
    t: int | None = None
    simplified: bool = False

    def ratio(self, p: int = 1, q: int = 1) -> float:
        """Return the share ``α / (β₁ (p − 1 + 1/q) + β₂)`` of the optimum that local search ends with.

        p = q = 1 is a matroid; p ≥ 2 an intersection of p matroids or a p-exchange system, with moves of
        exchange parameter q. As ℓ ≥ k, the factor of β₁ is never below 1.

        >>> Localizability(alpha=1.0, beta1=1.0, beta2=0.0).ratio(p=2, q=4)
        0.8
        """
        if self.simplified:
            _require_matroid(p)
        return self.alpha / (self.beta1 * _stretch(p, q) + self.beta2) if self.alpha else 0.0


@dataclass(frozen=True)
class Counterexample:
    """Two sets and a collection that violate an inequality of localizability: ``left < right``.

    The inequality is (see :func:`localizability`) ::

        Σ_{P∈𝒫} [f(X △ P) − f(X)]  ≥  α k f(X*) − (β₁ ℓ + β₂ k) f(X)

    Attributes
    ----------
    X, X_star : the two sets
    collection : the subsets P of X △ X*, and how often each is in 𝒫
    k : every element of X* ∖ X is in at least that many of the P
    l : ℓ: every element of X ∖ X* is in at most that many of the P; never less than k
    left, right : both sides of the inequality

    See Also
    --------
    check_localizability : what returns it.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Linear
    >>> wrong = check_localizability(Linear([2.0, 1.0]), 1.5, 1.0, 0.0, s=1, t=2)
    >>> wrong.left < wrong.right
    True
    """

    X: Elements
    X_star: Elements
    collection: list[tuple[Elements, int]]
    k: int
    l: int  # noqa: E741
    left: float
    right: float


def known_localizability(f: SetFunction) -> Localizability | None:
    """Return the constants of known classes: (1, 1, 0) if linear, (1, 1, 1) if submodular, else None."""
    _require_set_function(f)
    if not (f.monotone and f.submodular):
        return None
    return Localizability(1.0, 1.0, 0.0 if isinstance(f, Linear) else 1.0)


def localizability(
    f: SetFunction,
    s: int,
    t: int,
    *,
    p: int = 1,
    q: int = 1,
    sets: Iterable[Iterable[int]] | None = None,
    simplified: bool = False,
) -> Localizability:
    """Return the (α, β₁, β₂) of the best ratio ``α / (β₁ (p − 1 + 1/q) + β₂)`` that f has.

    f is (α, β₁, β₂)-localizable with size s and exchange size t (Definition 6 of Fujii 2020) if for all sets
    X and X* of at most s elements, and every collection 𝒫 of subsets P of X △ X* with at most t elements
    each, repeated or not, ::

        Σ_{P∈𝒫} [f(X △ P) − f(X)]  ≥  α k f(X*) − (β₁ ℓ + β₂ k) f(X)

    where every element of X* ∖ X is in at least k of the P, every element of X ∖ X* in at most ℓ, and
    ℓ ≥ k ≥ 1.

    Among triples of that ratio it is one with the least β₁ + β₂; the ratio is 0 if small moves do not show
    the value of large ones. Every pair of sets enters the linear program: this is for small n and s.

    With ``simplified``, it is Definition 5: for all X and X* of exactly s elements, and every bijection φ
    from X ∖ X* to X* ∖ X, ::

        Σ_{x ∈ X ∖ X*} [f(X − x + φ(x)) − f(X)]  ≥  α f(X*) − (β₁ + β₂) f(X)

    Then t is 2 and ``beta2`` is 0. A matroid of rank s needs no more (p = 1), and the ratio is larger.

    ``sets`` are those that X of the definition goes through, by default all. The proofs use it at the sets
    that a search met, and at a local optimum at this set only: ``sets=[result.support]`` gives a ratio for
    this very answer, which is often far better.

    See Also
    --------
    check_localizability : of constants that are given.
    Localizability : what is returned.
    restricted_constants : bounds that scale.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import CustomSetFunction, Linear
    >>> localizability(Linear([3.0, 1.0, 2.0]), s=2, t=2)
    Localizability(alpha=1.0, beta1=1.0, beta2=0.0, s=2, t=2, simplified=False)
    >>> square = CustomSetFunction(lambda chosen: len(chosen) ** 2, n=4)
    >>> localizability(square, s=2, t=2)
    Localizability(alpha=0.5, beta1=1.5, beta2=0.0, s=2, t=2, simplified=False)
    >>> localizability(square, s=2, t=2, sets=[[0, 1]]).ratio()
    1.0
    >>> localizability(square, s=2, t=2, simplified=True).ratio()
    1.0
    """
    stretch = _stretch(p, q)
    if simplified:
        _require_matroid(p)
        found = _base_pairs(f, s, t, sets)
        return Localizability(*found.best(), 0.0, s, t, simplified=True)
    pairs = _Pairs(f, s, t, sets)
    if (row := pairs.falling) is not None:
        X, fall = pairs.pairs[pairs.pair_of_row[row]][0], -pairs.gains[row] * pairs.scale
        raise ValueError(
            f"f must be monotone to be localizable, but falls by {fall:.6g} when {pairs.moves[row]} joins {X}"
        )
    if not pairs.f_star.any():
        return Localizability(1.0, 1.0, 0.0, pairs.s, pairs.t)  # zero is a linear function
    *_, ratio, _, _, unit = _optimum(pairs, stretch).tolist()
    if unit <= EQUAL:  # attained only in the limit of ever larger constants
        ratio *= 1 - SHORT_OF_LIMIT
    variables = _optimum(pairs, stretch, ratio)
    alpha, beta1, beta2 = _mended(pairs, variables[:-4], *variables[-3:-1])
    if not pairs.f_X.any():  # any β₂ will do
        beta2 = alpha
    return Localizability(alpha if ratio > EQUAL else 0.0, beta1, beta2, pairs.s, pairs.t)


def check_localizability(
    f: SetFunction,
    alpha: float,
    beta1: float,
    beta2: float,
    s: int,
    t: int,
    *,
    sets: Iterable[Iterable[int]] | None = None,
    simplified: bool = False,
) -> Counterexample | None:
    """Return None if f is (α, β₁, β₂)-localizable (up to 1e-9 of its values), or else a counterexample.

    The inequality is that of :func:`localizability`. A counterexample has X, X*, the subsets P and how often
    each is taken, k and ℓ, and both sides.

    ``sets`` are those that X goes through, by default all, and ``simplified`` stands for the simplified
    definition with ``β = β₁ + β₂``; see :func:`localizability`.

    See Also
    --------
    localizability : the best constants.
    Counterexample : what is returned if there is one.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Linear
    >>> check_localizability(Linear([3.0, 1.0]), 1.0, 1.0, 0.0, s=2, t=2)
    >>> check_localizability(Linear([3.0, 1.0]), 1.0, 0.5, 0.5, s=1, t=1)
    Counterexample(X=(0,), X_star=(), collection=[((0,), 4)], k=1, l=4, left=-12.0, right=-7.5)
    """
    triple = (as_real(alpha, "alpha"), as_real(beta1, "beta1"), as_real(beta2, "beta2"))
    tolerance = EQUAL * max(1.0, triple[0], triple[1] + triple[2])
    if simplified:
        return _bijection_against(_base_pairs(f, s, t, sets), triple, tolerance)
    pairs = _Pairs(f, s, t, sets)
    if (row := pairs.falling) is not None:
        return _from_ray(pairs, int(pairs.pair_of_row[row]), {pairs.moves[row]: 1}, triple)
    # As λ grows without end, Σ b must be no more than β₁ f(X).
    needed = pairs.drops @ solved((pairs.sign < 0) * 1.0, pairs.matrix, pairs.gains)
    allowed = triple[1] * pairs.f_X
    for pair in _below(allowed - needed, tolerance):
        if found := _from_ray(pairs, pair, _worst(pairs, pair, None)[0], triple):
            return found
    prices = np.maximum(allowed, needed)
    dual = solved(
        -pairs.sign, scipy.sparse.vstack([pairs.matrix, pairs.drops]), np.append(pairs.gains, prices)
    )
    slack = pairs.balance @ dual + allowed + triple[2] * pairs.f_X - triple[0] * pairs.f_star
    for pair in _below(slack, tolerance):
        found = _evaluated(pairs, pair, *_worst(pairs, pair, prices[pair] + tolerance), triple)
        if found.k >= 1 and found.right - found.left > tolerance / 2 * pairs.scale * found.k:
            return found
    return None


def _require_set_function(f: SetFunction) -> None:
    if not isinstance(f, SetFunction):
        raise TypeError(f"f must be a SetFunction (CustomSetFunction makes one of a callable), got {f!r}")


def _stretch(p: int, q: int) -> float:
    """Return ℓ/k of the proofs: how many times as often elements are dropped as others are added."""
    return max(1.0, as_size(p, "p") - 1 + 1 / as_size(q, "q"))


def _require_matroid(p: int) -> None:
    if p != 1:
        raise ValueError(f"the simplified definition is for a matroid, p = 1; got p = {p}")


def _base_pairs(f: SetFunction, s: int, t: int, sets: Iterable[Iterable[int]] | None) -> BasePairs:
    _require_set_function(f)
    s = as_size(s, "s")
    if as_size(t, "t") != 2:
        raise ValueError(f"the simplified definition is about swaps of two elements, t = 2; got t = {t}")
    met = None if sets is None else _read_sets(sets, f.n, s)
    if met is not None and len(smallest := min(met, key=len)) < s:
        raise ValueError(f"sets must have s = {s} elements each, got {list(smallest)}")
    return BasePairs(f, s, met)


def _bijection_against(pairs: BasePairs, triple: Triple, tolerance: float) -> Counterexample | None:
    alpha, beta = triple[0], triple[1] + triple[2]
    slack = pairs.slack(alpha, beta)
    worst = int(slack.argmin())
    if slack[worst] >= -tolerance:
        return None
    X, star = pairs.pairs[worst]
    swaps = pairs.worst_bijection(X, star)
    left, right = pairs.gain_of(X, swaps), alpha * pairs.values[star] - beta * pairs.values[X]
    return Counterexample(X, star, sorted((after((), swap), 1) for swap in swaps), 1, 1, left, right)


class _Pairs:
    """All pairs of sets, the gains of the moves of each, and the rows of the linear program.

    Values are divided by the largest. Columns are the dual variables: an element of X △ X* for each pair, of
    sign 1 (a, in X*) or −1 (b, in X). Rows are the moves: subsets P of X △ X* for each pair.
    """

    def __init__(self, f: SetFunction, s: int, t: int, given: Iterable[Iterable[int]] | None = None) -> None:
        _require_set_function(f)
        self.s, self.t = as_size(s, "s"), as_size(t, "t")
        met = None if given is None else _read_sets(given, f.n, self.s)
        sizes = range(min(self.s, f.n) + 1)
        count = {size: comb(f.n, size) for size in sizes} if met is None else Counter(map(len, met))
        n_rows = _count_rows(f.n, self.s, self.t, count)
        if n_rows > MOST_ROWS:
            raise ValueError(
                f"{f.n} elements, size {self.s} and exchange size {self.t} need a linear program of {n_rows} "
                f"rows, and at most {MOST_ROWS} are feasible; take fewer elements or smaller sizes"
            )
        sets = [chosen for size in sizes for chosen in combinations(range(f.n), size)]
        self.pairs = list(product(sets if met is None else met, sets))
        self._set_up_rows()
        self.values, rounding = values_of(f, sorted({*sets, *self.results}))
        self._set_up_gains(self.values, rounding)

    def _set_up_gains(self, values: dict[Elements, float], rounding: float) -> None:
        """Compute gains, free of rounding below zero, and note an addition with a true loss."""
        self.scale = max(values.values()) or 1.0
        of_pairs = np.array([[values[chosen] for chosen in pair] for pair in self.pairs])
        self.f_X, self.f_star = of_pairs.T / self.scale
        moved = np.array([values[chosen] for chosen in self.results])
        self.gains = moved / self.scale - self.f_X[self.pair_of_row]
        lost = np.where(self.matrix @ (self.sign < 0) == 0, np.minimum(self.gains, 0.0), 0.0)
        self.gains[(lost < 0) & (lost >= -rounding / self.scale)] = 0.0
        self.falling = int(lost.argmin()) if lost.min(initial=0.0) < -rounding / self.scale else None

    def _set_up_rows(self) -> None:
        rows, columns, pair_of_row, pair_of_column = [], [], [], []
        self.moves, self.results, sign = list[Elements](), list[Elements](), list[float]()
        for pair, (X, star) in enumerate(self.pairs):
            apart = sorted(set(X) ^ set(star))
            sizes = range(1, min(self.t, len(apart)) + 1)
            for move in (chosen for size in sizes for chosen in combinations(apart, size)):
                rows += [len(self.moves)] * len(move)
                columns += [len(sign) + apart.index(element) for element in move]
                self.moves.append(move)
                self.results.append(after(X, move))
                pair_of_row.append(pair)
            sign += [-1.0 if element in X else 1.0 for element in apart]
            pair_of_column += [pair] * len(apart)
        self.sign = np.array(sign)
        self.pair_of_row, self.pair_of_column = np.array(pair_of_row, int), np.array(pair_of_column, int)
        places = (np.array(rows, int), np.array(columns, int))
        self.matrix = scipy.sparse.csr_array(
            (self.sign[places[1]], places), shape=(len(self.moves), len(sign))
        )
        by_pair, shape = (self.pair_of_column, np.arange(len(sign))), (len(self.pairs), len(sign))
        #: by pair, Σ a − Σ b and Σ b
        self.balance = scipy.sparse.csr_array((self.sign, by_pair), shape=shape)
        self.drops = scipy.sparse.csr_array(((self.sign < 0) * 1.0, by_pair), shape=shape)


def _read_sets(given: Iterable[Iterable[int]], n: int, s: int) -> list[Elements]:
    met = {tuple(as_elements(chosen, n, "each of the sets").tolist()) for chosen in given}
    if not met:
        raise ValueError("sets must hold at least one set, got none")
    largest = max(met, key=len)
    if len(largest) > s:
        raise ValueError(f"sets must have at most s = {s} elements each, got {list(largest)}")
    return sorted(met)


def _count_rows(n: int, s: int, t: int, count: Mapping[int, int]) -> int:
    """Return the number of moves of all pairs, and two rows more per pair; ``count`` is of X by size."""
    rows = 0
    for x, star in product(count, range(min(s, n) + 1)):
        for common in range(max(0, x + star - n), min(x, star) + 1):
            apart = x + star - 2 * common
            pairs = count[x] * comb(x, common) * comb(n - x, star - common)
            rows += pairs * (2 + sum(comb(apart, size) for size in range(1, min(apart, t) + 1)))
    return rows


def _optimum(pairs: _Pairs, stretch: float, ratio: float | None = None) -> FloatArray:
    """Return the dual variables, α, β₁, β₂ and the unit of gains at the best ratio.

    As all variables may be divided by β₁ stretch + β₂ (Charnes and Cooper), that is set to 1, and the unit of
    gains is a variable: it is positive if α is, since without gains X = ∅ implies α = 0. If f is 0 at all
    given X, the ratio is at most 1. Once the ratio is known, the unit is 1 and β₁ + β₂ is minimised.
    """
    zero, moves = np.zeros(len(pairs.pairs)), np.zeros((len(pairs.gains), 3))
    of_moves = np.column_stack([moves, -pairs.gains])
    of_drops = np.column_stack([zero, -pairs.f_X, zero, zero])
    of_pairs = np.column_stack([pairs.f_star, -pairs.f_X, -pairs.f_X, zero])
    goal, row, limit, unit = (-1.0, 0, 0, 0), (0.0, stretch, 1.0, 0), 1.0, (0.0, np.inf)
    if ratio is not None:
        goal, row, limit, unit = (-1e-3, 1, 1, 0), (-1.0, ratio * stretch, ratio, 0), EQUAL, (1.0, 1.0)
    n = len(pairs.sign)
    first = scipy.sparse.vstack([pairs.matrix, pairs.drops, -pairs.balance, scipy.sparse.csr_array((1, n))])
    matrix = scipy.sparse.hstack(
        [first, scipy.sparse.csr_array(np.vstack([of_moves, of_drops, of_pairs, row]))]
    )
    limits = np.append(np.zeros(matrix.shape[0] - 1), limit)
    top = 1.0 if ratio is None else np.inf
    bounds = [*[(0.0, np.inf)] * n, (0.0, top), *[(0.0, np.inf)] * 2, unit]
    return solved(np.append(np.zeros(n), goal), matrix, limits, bounds)


def _mended(pairs: _Pairs, dual: FloatArray, beta1: float, beta2: float) -> Triple:
    """Return α, β₁ and β₂ for which the dual variables, corrected for rounding, are a proof."""
    is_drop = pairs.sign < 0
    worth = pairs.f_X[pairs.pair_of_column] > 0
    dual = np.where(is_drop & ~worth, 0.0, dual)
    excess = np.zeros(len(pairs.pairs))
    np.maximum.at(excess, pairs.pair_of_row, pairs.matrix @ dual - pairs.gains)
    excess = excess[pairs.pair_of_column]
    dual = np.where(is_drop, dual + worth * excess, np.maximum(dual - excess, 0.0))
    valued, wanted = pairs.f_X > 0, pairs.f_star > 0
    beta1 = float(max(beta1, ((pairs.drops @ dual)[valued] / pairs.f_X[valued]).max(initial=0.0)))
    reached = pairs.balance @ dual + (beta1 + beta2) * pairs.f_X
    alpha = float((reached[wanted] / pairs.f_star[wanted]).min(initial=inf))
    digits = "{:.12g}".format  # further digits are rounding, too
    return float(digits(max(alpha, 0.0))), float(digits(beta1)), float(digits(beta2))


def _below(slack: FloatArray, tolerance: float) -> list[int]:
    return sorted(np.flatnonzero(slack < -tolerance).tolist(), key=slack.item)


def _worst(pairs: _Pairs, pair: int, price: float | None) -> tuple[Collection, int]:
    """Return the worst collection for a pair at a price of λ, and the multiplier of its weights y.

    Without a price, λ = 1 and elements of X* need not appear: a collection to add to others without end.
    """
    rows = np.flatnonzero(pairs.pair_of_row == pair)
    columns = np.flatnonzero(pairs.pair_of_column == pair)
    if price is None:
        columns = columns[pairs.sign[columns] < 0]
    is_drop = pairs.sign[columns] < 0
    matrix = np.column_stack([-pairs.matrix[rows][:, columns].toarray().T, -1.0 * is_drop])
    cost = np.append(pairs.gains[rows], price or 0.0)
    bounds = [(0.0, np.inf)] * len(rows) + [(1.0, 1.0 if price is None else np.inf)]
    weights = solved(cost, matrix, np.where(is_drop, 0.0, -1.0), bounds)[:-1]
    # Corners have small denominators: determinants of small matrices of zeros and ones.
    shares = [Fraction(float(weight)).limit_denominator(10_000) for weight in weights]
    k = lcm(*(share.denominator for share in shares))
    return {pairs.moves[row]: int(share * k) for row, share in zip(rows, shares, strict=True) if share}, k


def _from_ray(pairs: _Pairs, pair: int, ray: Collection, triple: Triple) -> Counterexample | None:
    """Return a collection with enough copies of a ray to fail by the size of the values."""
    X, star = pairs.pairs[pair]
    for power in range(64):
        collection = Counter({move: times << power for move, times in ray.items()})
        collection.update((element,) for element in star if element not in X)
        found = _evaluated(pairs, pair, collection, 1, triple)
        if found.right - found.left >= pairs.scale:
            return found
    return None


def _evaluated(pairs: _Pairs, pair: int, chosen: Collection, k: int, triple: Triple) -> Counterexample:
    X, star = pairs.pairs[pair]
    appear = {v: sum(times for move, times in chosen.items() if v in move) for v in set(X) ^ set(star)}
    k = min([k, *(times for v, times in appear.items() if v in star)])
    most = max([k, *(times for v, times in appear.items() if v in X)])
    alpha, beta1, beta2 = triple
    left = sum(times * (pairs.values[after(X, move)] - pairs.values[X]) for move, times in chosen.items())
    right = alpha * k * pairs.values[star] - (beta1 * most + beta2 * k) * pairs.values[X]
    return Counterexample(X, star, sorted(chosen.items()), k, most, float(left), float(right))
