"""Proximal steps to the best fractional set, and the problems that they are made on."""

import numpy as np
import pytest
from hypothesis import given, settings

import swapwise as sw
from swapwise.certify import problem as problem_module
from swapwise.certify import proximal
from swapwise.certify import working_set as working_sets
from swapwise.certify.frank_wolfe import FrankWolfeRelaxation
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.proximal import ProximalRelaxation
from swapwise.certify.relaxation import by_element
from swapwise.certify.working_set import WorkingSet
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.objectives.base import Groups, embed, rows_of, single_groups
from swapwise.objectives.quadratic import Quadratic
from swapwise.theory.diagonal import best_diagonal, is_valid_shift, proportional_diagonal, raised_diagonal
from tests.certify.problem_zoo import best_of, randoms, tall
from tests.certify.region_zoo import sets_of, some_region

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set", "ignore:.*linearly independent")

N = 8
NESTED = [
    sw.Uniform(N, 3),
    sw.Partition(list("aaabbbcc"), {"a": 1, "b": 2, "c": 1}),
    sw.Laminar(N, [([0, 1, 2], 1), ([0, 1, 2, 3, 4], 2), (range(8), 4)]),
]


def design(random, samples=40, n=N):
    return random.standard_normal((samples, n)) + 0.7 * random.standard_normal((samples, 1))


def logistic(random):
    X = design(random)
    return sw.Logistic(X, (X[:, 0] + random.standard_normal(40) > 0).astype(int), ridge=0.05)


def poisson(random):
    X = 0.5 * design(random)
    return sw.Poisson(X, random.poisson(np.exp(np.clip(X[:, 0] + X[:, 1], -3, 2))), ridge=0.05)


def grouped(random):
    X = design(random, n=12)
    y = X[:, :3].sum(axis=1) + random.standard_normal(40)
    return sw.LeastSquares(X, y, groups=[0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 7, 7], ridge=0.1)


def logistic_groups(random):
    X = design(random, n=12)
    y = (X[:, 0] + random.standard_normal(40) > 0).astype(int)
    return sw.Logistic(X, y, ridge=0.05, groups=[0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 7, 7])


def multinomial(random):
    X = design(random)
    return sw.Multinomial(X, np.argmax(X[:, :3] + random.standard_normal((40, 3)), axis=1), ridge=0.05)


def least_squares(random):
    X = design(random)
    return sw.LeastSquares(X, X[:, :3].sum(axis=1) + random.standard_normal(40), ridge=0.1)


def responses(random):
    """Several responses, as the model of one: their coefficients do not meet and curve alike."""
    X = design(random)
    X *= np.sqrt(0.9) / np.linalg.norm(X, axis=0)
    Y = 5 * X[:, :2] + random.standard_normal((40, 2))
    return Quadratic(X.T @ X + 0.1 * np.eye(N), X.T @ Y, groups=single_groups(N))


LIKELIHOODS = [logistic, poisson, logistic_groups, multinomial]
KINDS = [least_squares, grouped, responses, *LIKELIHOODS]
every_kind = pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)


def margin(objective):
    """Return a diagonal for which ``u(w) + wᵀDw/2`` is concave."""
    if not isinstance(objective, Quadratic):
        return RestrictedProblem(objective).diagonal
    return np.full(objective.n, 0.99 * np.linalg.eigvalsh(objective.H)[0])


def relax(objective, region, start=None, working_set=None):
    return ProximalRelaxation(
        objective, region, margin(objective), working_set or WorkingSet(objective), start
    )


def converged(relaxation, rounds=300):
    """Go on to the end, checking what has to hold at every point."""
    lowest = relaxation.dual.bound
    for _ in range(rounds):
        more = relaxation.improve(-1.0, 0.0)
        lowest = min(lowest, relaxation.dual.bound)
        assert relaxation.value <= lowest + 1e-9
        if not more:
            break
    else:
        pytest.fail(f"{relaxation.value} and {relaxation.dual.bound} do not meet")
    return relaxation


def check_fractional(relaxation, allows):
    """Check that the fractional set is within the limits of every subset, holds what is held, and no more."""
    region, z = relaxation.region, relaxation.point
    assert (z[region.inside] == 1).all()
    assert (z[region.outside] == 0).all()
    members = np.array([[e in s for e in range(len(z))] for s in sets_of(region, allows)])
    for subset in (np.arange(2 ** len(z))[:, None] >> np.arange(len(z))) % 2 == 1:
        assert z[subset].sum() <= (members & subset).sum(axis=1).max() + 1e-9


def has_met(relaxation, share=1e-5):
    """Return whether value and bound are one but for rounding: the last bound need not be the lowest."""
    return relaxation.dual.bound - relaxation.value <= share * max(1e-3, relaxation.dual.bound)


@every_kind
@pytest.mark.parametrize("constraint", NESTED, ids=lambda constraint: type(constraint).__name__)
def test_value_and_bound_meet_at_a_true_bound(make, constraint):
    for seed in range(2):
        random = np.random.default_rng(seed)
        objective, region = make(random), some_region(random, constraint)
        relaxation = converged(relax(objective, region))
        assert has_met(relaxation)
        assert relaxation.dual.bound >= best_of(objective, sets_of(region, constraint.is_independent)) - 1e-9
        check_fractional(relaxation, constraint.is_independent)


@pytest.mark.parametrize("make", [least_squares, logistic, poisson], ids=lambda make: make.__name__)
def test_it_is_what_combinations_of_sets_come_to(make):
    """Both maximise the same function, by other steps."""
    random = np.random.default_rng(1)
    objective = make(random)
    for constraint in NESTED:
        region = some_region(random, constraint)
        other = FrankWolfeRelaxation(objective, region, margin(objective))
        while other.improve(-1.0, 0.0):
            pass
        relaxation = converged(relax(objective, region))
        scale = max(1e-3, other.value)
        assert other.value <= relaxation.dual.bound + 1e-9
        assert relaxation.value <= other.dual.bound + 1e-9
        assert relaxation.value == pytest.approx(other.value, abs=2e-4 * scale)


@every_kind
def test_the_value_is_the_best_of_its_fractional_set(make):
    """No other coefficients are worth more with the fractional set that comes out."""
    random = np.random.default_rng(2)
    objective = make(random)
    relaxation = converged(relax(objective, Region.of(NESTED[2])))
    used = relaxation.point > 1e-9
    for _ in range(30):
        step = 10.0 ** random.uniform(-4, 0) * random.standard_normal(relaxation.coef.shape)
        step[rows_of(objective, np.flatnonzero(~used))] = 0.0
        coef = relaxation.coef + step
        squares = (relaxation.diagonal * by_element(objective, coef**2))[used]
        value = objective.value_at(coef) + 0.5 * squares @ (1 - 1 / relaxation.point[used])
        assert value <= relaxation.value + 1e-6 * max(1e-3, relaxation.value)


@pytest.mark.parametrize(
    "make", [least_squares, grouped, *LIKELIHOODS], ids=lambda make: make.__name__
)  # that of a quadratic function has all elements
@pytest.mark.parametrize("sizes", [(2, 2, 4), (3, 2, 5), (5, 4, 8)])
def test_a_small_working_set_ends_at_the_same_bound(make, sizes, monkeypatch):
    for seed, constraint in enumerate(NESTED):
        random = np.random.default_rng(seed)
        objective, region = make(random), Region.of(constraint)
        whole = converged(relax(objective, region))
        with monkeypatch.context() as patch:
            for name, size in zip(("ALL_UP_TO", "FIRST_ELEMENTS", "MOST_ELEMENTS"), sizes, strict=True):
                patch.setattr(working_sets if name == "MOST_ELEMENTS" else proximal, name, size)
            working_set = WorkingSet(objective)
            part = relax(objective, region, working_set=working_set)
            assert len(working_set.elements) < N
            converged(part)
        assert has_met(part)
        assert part.dual.bound == pytest.approx(whole.dual.bound, rel=1e-5)


def test_elements_of_no_use_stay_out_of_the_working_set(monkeypatch):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 30))
    objective = sw.LeastSquares(X, X[:, :3].sum(axis=1) + 0.1 * random.standard_normal(60), ridge=5.0)
    region = Region.of(sw.Uniform(30, 3))
    whole = converged(relax(objective, region))
    for name, size in {"ALL_UP_TO": 4, "FIRST_ELEMENTS": 4, "MOST_ELEMENTS": 40}.items():
        monkeypatch.setattr(working_sets if name == "MOST_ELEMENTS" else proximal, name, size)
    working_set = WorkingSet(objective)
    part = converged(relax(objective, region, working_set=working_set))
    assert len(working_set.elements) < 30
    assert part.dual.bound == pytest.approx(whole.dual.bound, rel=1e-6)


@every_kind
def test_from_the_point_of_another_part_it_comes_to_the_same(make):
    for seed, constraint in enumerate(NESTED):
        random = np.random.default_rng(seed)
        objective, region = make(random), Region.of(constraint)
        whole = relax(objective, region)
        for _ in range(int(random.integers(3))):
            whole.improve(-1.0, 0.0)
        part = some_region(random, constraint)
        anew = converged(relax(objective, part))
        shared = relax(objective, part, whole.start, whole._working_set)
        assert not shared.coef[rows_of(objective, np.flatnonzero(part.outside))].any()
        assert not shared.point[part.outside].any()
        converged(shared)
        assert has_met(shared)
        assert shared.dual.bound == pytest.approx(anew.dual.bound, rel=1e-5, abs=1e-8)
        check_fractional(shared, constraint.is_independent)


@pytest.mark.parametrize("make", [least_squares, grouped, multinomial], ids=lambda make: make.__name__)
def test_a_start_follows_the_elements_that_are_kept(make):
    objective, region = make(np.random.default_rng(0)), Region.of(NESTED[0]).with_inside(4)
    relaxation = converged(relax(objective, region))
    kept = np.array([1, 2, 4, 5, 7])
    start = relaxation.start.among(kept)
    restricted = objective.restricted(kept)
    assert kept[start.elements].tolist() == np.intersect1d(relaxation.start.elements, kept).tolist()
    assert start.point.tolist() == relaxation.point[kept[start.elements]].tolist()
    coef = embed(restricted, start.elements, start.coef)
    mine, theirs = rows_of(restricted, start.elements), rows_of(objective, kept[start.elements])
    assert len(mine)
    assert coef[mine].tolist() == relaxation.coef[theirs].tolist()


def test_another_diagonal_is_taken_from_where_the_last_one_ended():
    objective, region = least_squares(np.random.default_rng(0)), Region.of(NESTED[0])
    relaxation = converged(relax(objective, region))
    bound = relaxation.dual.bound
    relaxation.set_diagonal(0.5 * relaxation.diagonal)
    assert relaxation.dual.bound >= bound
    looser = converged(relaxation).dual.bound
    assert looser > bound
    relaxation.set_diagonal(margin(objective))
    assert converged(relaxation).dual.bound == pytest.approx(bound, rel=1e-6)


# A raised diagonal


def some_curvature(random, n):
    """Return a matrix that may be singular or nearly so, or have duplicates and ties."""
    A = random.standard_normal((random.choice([n // 2 + 1, n, n + 3]), n)) + random.standard_normal()
    kind = random.integers(4)
    if kind == 1:
        A[:, 0] = A[:, -1]
    elif kind == 2:
        A[:, 0] = A[:, -1] + 10.0 ** random.uniform(-9, -3) * random.standard_normal(len(A))
    elif kind == 3:
        A = random.integers(-1, 2, A.shape).astype(float)
    H = A.T @ A
    H[np.diag_indices(n)] += random.choice([0.0, 1e-8, 1e-2, 1.0])
    lengths = 10.0 ** random.integers(-3, 4, n) if random.random() < 0.3 else np.ones(n)
    return H * np.outer(lengths, lengths)


def least_eigenvalue(H, D):
    """Return that of H − D in units in which H has a unit diagonal."""
    lengths = np.sqrt(np.diag(H))
    lengths[lengths == 0] = 1.0
    return np.linalg.eigvalsh((H - np.diag(D)) / np.outer(lengths, lengths))[0]


@settings(max_examples=120)
@given(randoms)
def test_a_raised_diagonal_is_a_valid_shift(random):
    n = int(random.integers(2, 8))
    H = some_curvature(random, n)
    D = proportional_diagonal(H, lambda least: 1)
    slope = random.choice([0.0, 1.0, -1.0, random.standard_normal()], n) * np.sqrt(np.diag(H))
    z = random.choice([0.0, 1.0, 0.5, random.random()], n)
    weights = np.divide(slope**2, 2 * D, out=np.zeros(n), where=D > 0)
    prices = np.full(n, np.sort(weights)[-n // 2]) * random.choice([0.0, 1.0, 1.0, 2.0])
    for _ in range(3):
        raised = raised_diagonal(H, D, slope, z, prices, float(random.choice([1.0, 0.3])), Clock())
        if raised is None:
            break
        assert (raised >= 0).all()
        assert (raised[D == 0] == 0).all()
        assert least_eigenvalue(H, raised) >= -1e-12
        D = raised


@settings(max_examples=40)
@given(randoms)
def test_a_raised_diagonal_is_worth_more_at_the_fractional_set(random):
    n = 6
    A = random.standard_normal((n + 3, n))
    H = A.T @ A
    D, slope, z = proportional_diagonal(H), random.standard_normal(n), random.uniform(0.1, 0.9, n)
    raised = raised_diagonal(H, D, slope, z, np.full(n, 0.1), 1.0, Clock())
    worth = (slope / D) ** 2 * z * (1 - z)
    assert worth @ raised >= (1 - 0.15) * worth @ best_diagonal(H, worth + 1e-9, D, 1e-3)
    assert is_valid_shift(H, raised)


# What is left of a problem


def duplicates(random):
    X = random.standard_normal((30, N)) * 10.0 ** random.integers(-2, 3, N)
    X[:, 5] = -2 * X[:, 2]
    return sw.LeastSquares(X, random.standard_normal(30))


@settings(max_examples=30)
@given(randoms)
def test_what_is_left_of_a_problem_keeps_its_values(random):
    objective = [tall, lambda random, n: grouped(random), lambda random, n: duplicates(random)][
        random.integers(3)
    ](random, N)
    first = np.sort(random.permutation(N)[: random.integers(2, N + 1)])
    second = np.sort(random.permutation(len(first))[: random.integers(1, len(first) + 1)])
    problem = RestrictedProblem(objective).among(first, Clock())
    fewer = problem.among(second, Clock())
    assert isinstance(problem.objective, Quadratic)
    for part in (problem, fewer):
        assert part.n_whole == N
        for _ in range(5):
            support = np.flatnonzero(random.random(part.objective.n) < 0.5)
            assert part.objective(support) == pytest.approx(objective(part.whole(support)), abs=1e-9)
        by_row = part.diagonal if objective.groups is None else shift_by_row(part)
        assert least_eigenvalue(part.objective.H, by_row) >= -1e-12
    assert fewer.elements.tolist() == first[second].tolist()
    assert problem.spread(np.ones(len(first))).tolist() == np.isin(np.arange(N), first).tolist()


def shift_by_row(problem):
    groups = problem.objective.groups
    rows = np.empty(groups.n_rows)
    rows[groups.rows] = np.repeat(problem.diagonal, np.diff(groups.begin))
    return rows


def test_copies_and_groups_are_kept():
    random = np.random.default_rng(0)
    part = RestrictedProblem(duplicates(random)).among(np.array([1, 2, 5, 6]), Clock())
    first, second, third, fourth = part.objective.copies
    assert second == third
    assert len({first, second, fourth}) == 3
    assert part.among(np.array([0, 2]), Clock()).objective.copies.tolist() == [first, third]
    objective = grouped(random)
    part = RestrictedProblem(objective).among(np.array([0, 3, 7]), Clock())
    assert np.diff(part.objective.groups.begin).tolist() == [2, 1, 3]
    assert np.diff(part.among(np.array([0, 2]), Clock()).objective.groups.begin).tolist() == [2, 3]


def test_a_problem_of_very_many_elements_is_not_multiplied_out(monkeypatch):
    monkeypatch.setattr(problem_module, "PRODUCTS_UP_TO", 5)
    objective = least_squares(np.random.default_rng(0))
    many = RestrictedProblem(objective).among(np.arange(6), Clock())
    assert isinstance(many.objective, sw.LeastSquares)
    few = many.among(np.array([1, 3, 5]), Clock())
    assert isinstance(few.objective, Quadratic)
    assert few.objective([0, 2]) == pytest.approx(objective([1, 5]))
    assert is_valid_shift(few.objective.H, few.diagonal)


def test_likelihoods_stay_as_they_are():
    objective = logistic(np.random.default_rng(0))
    part = RestrictedProblem(objective).among(np.array([0, 2, 3]), Clock())
    assert part.objective([0, 2]) == pytest.approx(objective([0, 3]))
    assert part.diagonal.tolist() == [objective.strong_concavity(N)] * 3


def test_a_working_set_that_grew_too_large_begins_with_what_is_used(monkeypatch):
    monkeypatch.setattr(working_sets, "MOST_ELEMENTS", 4)
    objective = least_squares(np.random.default_rng(0))
    working_set = WorkingSet(objective)
    working_set.grow(np.array([0, 2, 4, 6]), np.zeros(N))
    coef = np.zeros(N)
    coef[4] = 1.0
    working_set.grow(np.array([1, 7]), coef)
    assert working_set.elements.tolist() == [1, 4, 7]
    other = np.random.default_rng(1).standard_normal((N, 1))
    H, rows = objective.hessian_at(coef, working_set.elements), working_set.rows
    bent = working_set.bent(working_set.scaled(other, 1)) * working_set.scale
    np.testing.assert_allclose(bent, H @ other[rows], rtol=1e-5)


def test_steepness_is_that_of_the_coefficients_in_their_own_units():
    random = np.random.default_rng(0)
    for objective in (least_squares(random), grouped(random), multinomial(random)):
        working_set, coef = WorkingSet(objective), np.zeros_like(objective.coef([]))
        coef[[1, 3, 4]] = random.standard_normal(coef[[1, 3, 4]].shape)
        working_set.grow(np.arange(N), coef)
        curvature = np.diag(objective.hessian_at(coef, np.arange(N)))
        rows = rows_of(objective, np.arange(N))
        everywhere = np.zeros_like(coef)
        everywhere[rows] = np.sqrt(curvature).reshape(everywhere[rows].shape)
        np.testing.assert_allclose(working_set.steepness(coef), everywhere[coef != 0])


def test_groups_in_any_order_are_relaxed_by_their_own_rows():
    """The same problem with rows in another order has the same optimum."""
    random = np.random.default_rng(0)
    X, y = design(random, n=6), random.standard_normal(40)
    H, slope = X.T @ X + np.eye(6), X.T @ y
    H /= np.diag(H).max()
    order = np.array([3, 0, 5, 1, 4, 2])
    plain = Quadratic(H, slope, groups=Groups(np.array([0, 2, 4, 6]), np.arange(6)))
    mixed = Quadratic(
        H[np.ix_(order, order)], slope[order], groups=Groups(np.array([0, 2, 4, 6]), np.argsort(order))
    )
    region = Region.of(sw.Uniform(3, 1))
    bounds = [converged(relax(objective, region)).dual.bound for objective in (plain, mixed)]
    assert bounds[0] == pytest.approx(bounds[1])
    assert plain([1]) == pytest.approx(mixed([1]))


@pytest.mark.filterwarnings("error")
def test_steps_from_where_single_precision_ends():
    """Counts of e^400 and more are expected there: no step is of any use, and none does harm."""
    X = np.abs(np.random.default_rng(0).standard_normal((3, 5)))
    objective = sw.Poisson(X, [1.0, 2.0, 0.0], ridge=1e-3, fit_intercept=False)
    relaxation = ProximalRelaxation(
        objective, Region.of(sw.Uniform(5, 2)), np.full(5, 1e-3), WorkingSet(objective)
    )
    relaxation.coef = np.full(5, 100.0)
    relaxation._settle()
    relaxation.improve(0.0, 0.1)
    assert relaxation.dual.bound >= objective([0, 1])
