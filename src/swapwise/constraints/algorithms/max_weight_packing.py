"""The max-weight set of elements when groups, which may overlap, have limited room: an exact answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.algorithms.programs import OBJECTIVE_SIZE, STOPPED, power_of_two, solve_within
from swapwise.constraints.base import Prices
from swapwise.numerics import ROUNDING

# The linear program starts with twice as many elements of each group as fit in it, and this many more.
EXTRA_COLUMNS = 6
MOST_NEWCOMERS = 20_000  # elements that join the linear program in one round of pricing
LEAST_PROGRESS = 1e-9  # of the bound, for which the search for inequalities goes on
PERTURBATION = 2.0**-15  # breaks ties, and stands well above the tolerances of the linear program
# The first guess at the gap between the relaxation and the best packing, relative to the largest
# weight, and how fast it grows. A wrong guess costs time, never the answer.
FIRST_GUESS, GUESS_GROWTH = 1e-3, 8.0
# Nodes of the search tree (not seconds: answers must not depend on the machine) for a good packing; the
# last program, which has to find the best one, has no limit.
NODES_FOR_A_GUESS = 10
LEAST_VIOLATION = 1e-6  # of an inequality that is worth adding


def max_weight_packing(
    weights: FloatArray, groups: IndexArray, capacity: IndexArray
) -> tuple[IndexArray, float]:
    """Return the max-weight packing and a weight that no packing exceeds.

    A packing takes at most ``capacity[g]`` elements of every group g:

        max Σ_j w_j x_j   subject to   Σ_{j in g} x_j ≤ capacity[g] for all g,   x_j ∈ {0, 1}.

    With the edges of a graph as elements and its vertices as groups this is the b-matching of largest
    weight. It is solved in four steps, so that the half a million edges of the complete graph on 1000
    vertices never meet in one program:

    1. The linear relaxation by column generation. For any prices y ≥ 0 of the groups, with the reduced
       weights r_j = w_j − Σ_{g ∋ j} y_g, no packing weighs more than (Lagrange)

           L(y) = Σ_g y_g capacity[g] + Σ_j max(0, r_j).

       The program starts with the elements of largest weight in every group; others can help only if r_j > 0.
    2. Blossom inequalities (Edmonds 1965; see below), each like one more group. Those that the relaxation
       violates on its fractional parts are added, as long as there are any.
    3. Reduced-cost fixing. A packing that weighs at least L − δ has x_j = 1 for r_j > δ, x_j = 0 for
       r_j < −δ, and fills every group with y_g > δ. Here δ is the gap to the best packing known.
    4. An integer program (HiGHS) decides on the few elements that step 3 leaves open.

    Measured on complete graphs (``python -m benchmarks --full``): the blossom algorithm of networkx takes
    10 times as long at 50 vertices and 90 times at 200, HiGHS on all edges 6 times at 100 and 26 at 400.

    ``groups`` has shape (n, p), padded with -1, no group twice for one element; elements without positive
    weight are never chosen. The support is sorted, of largest weight up to rounding (1e-12 of the total), and
    the same for the same input; the bound equals its weight up to rounding.
    """
    found = packing_within(weights, groups, capacity, Clock())
    return found.support, found.bound


class Packing(NamedTuple):
    """A packing, a proven bound on all, and whether it was shown in time that none is heavier.

    The prices are those of the relaxation, zero out of time: they prove a bound nearly as good.
    """

    support: IndexArray
    bound: float
    finished: bool
    prices: Prices


def packing_within(weights: FloatArray, groups: IndexArray, capacity: IndexArray, clock: Clock) -> Packing:
    """Return the max-weight packing; out of time, the best one so far, with its bound."""
    problem, unlimited, elements, limiting = _reduce(weights, groups, np.asarray(capacity, dtype=np.intp))
    support, bound, finished = unlimited, 0.0, True
    prices = Prices(np.zeros(len(capacity)), 0.0, weights)
    if len(elements):
        scale = power_of_two(problem.weights.max())
        problem.weights *= scale
        found = _Incumbent(clock, np.empty(0, dtype=np.intp), float(problem.weights.sum()))
        finished = _solve(problem, found)
        support, bound = np.sort(np.append(unlimited, elements[found.packing])), found.bound / scale
        if found.relaxed is not None:
            prices.groups[limiting] = found.relaxed.price[: len(limiting)] / scale
            reduced = weights - np.append(prices.groups, 0.0)[groups].sum(axis=1)
            reduced[elements] = found.relaxed.reduced / scale  # these may be in inequalities, too
            base = float(found.relaxed.price @ problem.capacity) / scale
            prices = Prices(prices.groups, base, reduced)
    bound = max(float(weights[support].sum()), float(weights[unlimited].sum()) + bound)
    return Packing(support, bound, finished, prices)


@dataclass
class _Problem:
    """Positive weights, and the limits that can bind: ``incidence`` @ x ≤ ``capacity``."""

    weights: FloatArray
    incidence: scipy.sparse.csc_array  # rows are groups, then the inequalities found on the way
    capacity: IndexArray
    n_groups: int

    def weight(self, elements: IndexArray) -> float:
        return float(self.weights[elements].sum())

    def loads(self, elements: IndexArray) -> FloatArray:
        return self.incidence[:, elements].sum(axis=1)

    def require(self, members: BoolArray, capacity: int) -> None:
        self.incidence = scipy.sparse.vstack(
            [self.incidence, scipy.sparse.csr_array(members[None, :], dtype=np.float64)], format="csc"
        )
        self.capacity = np.append(self.capacity, capacity)

    def fill(self, order: IndexArray) -> IndexArray:
        room = self.capacity.tolist()
        chosen = []
        for element in order.tolist():
            begin, end = self.incidence.indptr[element : element + 2]
            own = self.incidence.indices[begin:end]
            if all(room[group] > 0 for group in own):
                chosen.append(element)
                for group in own:
                    room[group] -= 1
        return np.sort(np.array(chosen, dtype=np.intp))


@dataclass(frozen=True)
class _Relaxation:
    columns: IndexArray  # the elements that took part; all others are 0
    values: FloatArray  # of all elements, between 0 and 1
    price: FloatArray  # of all rows
    reduced: FloatArray  # weight less prices, of all elements
    bound: float  # no packing weighs more


def _reduce(
    weights: FloatArray, groups: IndexArray, capacity: IndexArray
) -> tuple[_Problem, IndexArray, IndexArray, IndexArray]:
    """Return the problem proper, the elements chosen in any case, and the elements and groups it is about."""
    closed = np.append(capacity <= 0, False)[groups].any(axis=1)
    worthy = np.flatnonzero((weights > 0) & ~closed)
    sizes = np.bincount(groups[worthy][groups[worthy] >= 0], minlength=len(capacity))
    limiting = np.flatnonzero(sizes > capacity)
    number = np.full(len(capacity) + 1, -1)  # one more for the padding to find
    number[limiting] = np.arange(len(limiting))
    limited = (number[groups[worthy]] >= 0).any(axis=1)
    elements = worthy[limited]
    column, place = np.nonzero(number[groups[elements]] >= 0)
    row = number[groups[elements[column], place]]
    incidence = scipy.sparse.coo_array(
        (np.ones(len(row)), (row, column)), shape=(len(limiting), len(elements))
    ).tocsc()
    problem = _Problem(weights[elements], incidence, capacity[limiting], len(limiting))
    return problem, worthy[~limited], elements, limiting


@dataclass
class _Incumbent:
    """The best packing and the lowest bound so far, and the time limit."""

    clock: Clock
    packing: IndexArray
    bound: float  # no packing weighs more
    relaxed: _Relaxation | None = None

    def keep(self, problem: _Problem, packing: IndexArray | None) -> None:
        if packing is not None and problem.weight(packing) > problem.weight(self.packing):
            self.packing = packing


def _solve(problem: _Problem, found: _Incumbent) -> bool:
    """Find the max-weight packing and an upper bound on its weight; return whether there was time for it."""
    try:
        found.relaxed = relaxed = _tighten(problem, found)
        rounding = ROUNDING * relaxed.bound
        for packing in _good_packings(problem, relaxed, found):
            found.keep(problem, packing)
            if relaxed.bound - problem.weight(found.packing) <= rounding:
                found.bound = relaxed.bound
                return True
        return _decide(problem, relaxed, found)
    except OutOfTime:
        return False


def _decide(problem: _Problem, relaxed: _Relaxation, found: _Incumbent) -> bool:
    """Search the gap that is left for a packing; return whether there was time to search all of it."""
    best = problem.weight(found.packing)
    gap, rounding = relaxed.bound - best, ROUNDING * relaxed.bound
    last = _best_within(problem, relaxed, gap + rounding, np.arange(len(problem.weights)), found.clock)
    if not last.finished:
        found.keep(problem, last.packing)
        found.bound = min(found.bound, max(best, last.bound))
        return False
    if last.packing is None or problem.weight(last.packing) < last.bound - rounding - 1e-6 * gap:
        raise RuntimeError(
            f"the integer program of a max-weight packing stopped short of its proof: it found "
            f"{'nothing' if last.packing is None else problem.weight(last.packing)} where {last.bound} "
            "is not ruled out"
        )
    found.packing, found.bound = last.packing, last.bound
    return True


def _good_packings(problem: _Problem, relaxed: _Relaxation, found: _Incumbent) -> Iterator[IndexArray]:
    """Yield packings, each harder to find than the one before.

    They make the gap small, so that the last program has few elements to decide on, or none.
    """
    best = _rounded(problem, relaxed)
    yield best
    # With equal weights the relaxation has many optima, and its vertex may be fractional. Perturbed weights
    # have one optimum, which is seldom fractional.
    lots = np.random.default_rng(1).random(len(problem.weights))
    perturbed = replace(problem, weights=problem.weights + PERTURBATION * lots)
    best = max(best, _rounded(perturbed, _tighten(perturbed, found)), key=problem.weight)
    yield best
    guess = FIRST_GUESS
    while guess < relaxed.bound - problem.weight(best):
        packing = _best_within(
            problem, relaxed, guess, relaxed.columns, found.clock, NODES_FOR_A_GUESS
        ).packing
        if packing is not None:
            best = max(best, packing, key=problem.weight)
            yield best
        guess *= GUESS_GROWTH


def _tighten(problem: _Problem, found: _Incumbent) -> _Relaxation:
    """Solve the relaxation, adding violated inequalities for as long as there are any and they help."""
    active = _largest_of_each_group(problem)
    relaxed, before = _relax(problem, active, found), np.inf
    while relaxed.bound < before - LEAST_PROGRESS:
        n_groups = problem.n_groups
        cuts = []
        for cut in _violated_blossoms(
            problem.incidence[:n_groups], problem.capacity[:n_groups], relaxed.values
        ):
            found.clock.check()
            cuts.append(cut)
        if not cuts:
            break
        for members, capacity in cuts:
            problem.require(members, capacity)
        before = relaxed.bound
        relaxed = _relax(problem, active, found)
    return relaxed


def _relax(problem: _Problem, active: BoolArray, found: _Incumbent) -> _Relaxation:
    """Solve the linear relaxation, and let all elements take part whose reduced weights are positive."""
    while True:
        columns = np.flatnonzero(active)
        values, price = _linear_program(problem, columns, found.clock)
        reduced = problem.weights - price @ problem.incidence
        bound = float(price @ problem.capacity + np.maximum(reduced, 0.0).sum())
        found.bound = min(found.bound, bound)
        newcomers = np.flatnonzero((reduced > ROUNDING) & ~active)
        if not len(newcomers):
            return _Relaxation(columns, values, price, reduced, bound)
        active[newcomers[np.argsort(-reduced[newcomers], kind="stable")[:MOST_NEWCOMERS]]] = True


def _linear_program(problem: _Problem, columns: IndexArray, clock: Clock) -> tuple[FloatArray, FloatArray]:
    """Return the values of all elements when only some columns take part, and the prices of the rows."""
    clock.check()
    answer = solve_within(
        clock,
        lambda seconds: scipy.optimize.linprog(
            -OBJECTIVE_SIZE * problem.weights[columns],
            A_ub=problem.incidence[:, columns],
            b_ub=problem.capacity,
            bounds=(0.0, 1.0),
            method="highs-ds",  # the simplex method: a vertex, with few fractions
            options={"time_limit": seconds},
        ),
    )
    if answer.status == STOPPED and clock.is_over:
        raise OutOfTime
    if answer.status != 0:
        raise RuntimeError(f"the linear program of a max-weight packing was not solved: {answer.message}")
    values = np.zeros(len(problem.weights))
    values[columns] = answer.x
    return values, np.maximum(-answer.ineqlin.marginals / OBJECTIVE_SIZE, 0.0)


def _largest_of_each_group(problem: _Problem) -> BoolArray:
    """Return the elements that the linear program starts with: of each group more than fit in it."""
    n = len(problem.weights)
    # Ties are broken by lot, always the same: by index, equal weights would crowd on the first groups.
    rank = np.empty(n)
    rank[np.lexsort((np.random.default_rng(0).random(n), -problem.weights))] = np.arange(n)
    entries = problem.incidence.tocoo()
    by_group = np.lexsort((rank[entries.col], entries.row))
    sizes = np.bincount(entries.row, minlength=problem.n_groups)
    place = np.arange(len(by_group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.repeat(2 * problem.capacity + EXTRA_COLUMNS, sizes)
    active = np.zeros(n, dtype=bool)
    active[entries.col[by_group[place < wanted]]] = True
    return active


def _rounded(problem: _Problem, relaxed: _Relaxation) -> IndexArray:
    """Return a packing near the relaxation: its largest values first, then the largest weights that fit."""
    columns = relaxed.columns
    order = np.lexsort((-problem.weights[columns], -relaxed.values[columns].round(6)))
    return problem.fill(columns[order])


def _violated_blossoms(
    groups: scipy.sparse.csc_array, capacity: IndexArray, values: FloatArray
) -> Iterator[tuple[BoolArray, int]]:
    """Yield inequalities that the values violate, as members and how many of them a packing holds.

    Every packing meets them, and fractions of packings do not (Edmonds 1965). For a set U of groups, let E
    hold the elements with two groups in U or more, and F some with one. Half the sum of the limits of U and
    of x_j ≤ 1 on F, rounded down, gives Σ_{E ∪ F} x_j ≤ ⌊(capacity(U) + |F|) / 2⌋.

    ``groups`` has a row for each group and a column for each element, as ``capacity`` and ``values`` do.

    The sets U tried are those that hang together by fractional elements, by elements with a value above
    0, and by any elements at all. In the first relaxation of a matching the fractional elements are odd
    cycles, each of which is cut off; the last set is for an odd total capacity.
    """
    fractional = np.abs(values - 0.5) < 0.5 - LEAST_VIOLATION
    mixed = groups[:, fractional].sum(axis=1) > 0
    tried = set()
    for linking in (fractional, values > LEAST_VIOLATION, np.ones(len(values), dtype=bool)):
        for inside in _components(groups[:, linking]):
            # Whole values are a packing, which violates nothing.
            if (inside & mixed).any() and inside.tobytes() not in tried:
                tried.add(inside.tobytes())
                members, most = _blossom(groups, capacity, inside, values)
                if values[members].sum() > most + LEAST_VIOLATION:
                    yield members, most


def _components(incidence: scipy.sparse.csc_array) -> list[BoolArray]:
    """Return the sets of two groups or more that the columns link, as masks."""
    _, label = scipy.sparse.csgraph.connected_components(incidence @ incidence.T, directed=False)
    return [label == c for c in np.flatnonzero(np.bincount(label) > 1)]


def _blossom(
    groups: scipy.sparse.csc_array, capacity: IndexArray, inside: BoolArray, values: FloatArray
) -> tuple[BoolArray, int]:
    """Return the inequality for the groups ``inside``, with the F that violates it most."""
    count = inside.astype(np.float64) @ groups
    border = np.flatnonzero(count == 1)
    special = values[border] > 0.5
    total = int(capacity[inside].sum())
    if (total + special.sum()) % 2 == 0 and len(border):  # only an odd sum loses a half by rounding
        nearest = np.abs(values[border] - 0.5).argmin()
        special[nearest] = not special[nearest]
    members = count >= 2
    members[border[special]] = True
    return members, (total + int(special.sum())) // 2


class _ProgramAnswer(NamedTuple):
    packing: IndexArray | None
    bound: float
    finished: bool = True


def _best_within(
    problem: _Problem,
    relaxed: _Relaxation,
    delta: float,
    candidates: IndexArray,
    clock: Clock,
    node_limit: int | None = None,
) -> _ProgramAnswer:
    """Return the max-weight packing of candidates that loses at most ``delta`` at one place, and a bound.

    A place is an element or a group: step 3 fixes the others. The packing is None if there is none. With a
    limit on nodes, or out of time, it is the best one found so far, if any.
    """
    clock.check()
    reduced = relaxed.reduced[candidates]
    taken, undecided = candidates[reduced > delta], candidates[np.abs(reduced) <= delta]
    room = problem.capacity - problem.loads(taken)
    if (room < 0).any():
        return _ProgramAnswer(None, -np.inf)
    # Less the prices of the groups that must be full, all coefficients are of the size of delta, well above
    # the tolerances of the solver.
    full = relaxed.price > delta
    price = np.where(full, relaxed.price, 0.0)
    excess = problem.weights - price @ problem.incidence
    if not len(undecided):
        possible = not room[full].any()
        weight = problem.weight(taken)
        return _ProgramAnswer(taken, weight) if possible else _ProgramAnswer(None, -np.inf)
    scale = OBJECTIVE_SIZE * power_of_two(np.abs(excess[undecided]).max())
    limits = scipy.optimize.LinearConstraint(
        problem.incidence[:, undecided], np.where(full, room, -np.inf), room
    )
    answer = _integer_program(-scale * excess[undecided], limits, clock, node_limit)
    late = answer.status == STOPPED
    if answer.status == 2 or (answer.x is None and not late):  # 2: there is none
        return _ProgramAnswer(None, -np.inf)
    fixed = float(price @ problem.capacity + excess[taken].sum())
    bound = np.inf if answer.mip_dual_bound is None else fixed - answer.mip_dual_bound / scale
    if answer.x is None:
        return _ProgramAnswer(None, bound, finished=False)
    chosen = np.sort(np.append(taken, undecided[answer.x > 0.5]))
    if (problem.loads(chosen) > problem.capacity).any():
        raise RuntimeError("the integer program of a max-weight packing returned a set that is none")
    return _ProgramAnswer(chosen, bound, finished=not late)


def _integer_program(
    costs: FloatArray, limits: scipy.optimize.LinearConstraint, clock: Clock, node_limit: int | None
) -> Any:
    """Minimise the costs over zeros and ones; SciPy has status 4, "other", for a limit on nodes."""
    options = {"mip_rel_gap": 0.0} | ({} if node_limit is None else {"node_limit": node_limit})
    answer = solve_within(
        clock,
        lambda seconds: scipy.optimize.milp(
            costs,
            constraints=limits,
            integrality=np.ones(len(costs)),
            bounds=(0.0, 1.0),
            options=options | {"time_limit": seconds},
        ),
    )
    expected = {0, 2} | ({STOPPED} if clock.is_over else set()) | (set() if node_limit is None else {4})
    if answer.status not in expected:
        raise RuntimeError(f"the integer program of a max-weight packing was not solved: {answer.message}")
    return answer
