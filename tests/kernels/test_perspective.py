"""The perspective relaxation of quadratic models, against slow and plain versions of the same mathematics."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

import swapwise as sw
from swapwise.constraints.region import Region
from swapwise.kernels import perspective
from tests.certify.region_zoo import sets_of, some_region
from tests.contracts.constraint_zoo import (
    between,
    contracted,
    laminar,
    partition,
    randoms,
    subsets,
    truncated,
    uniform,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set")

FOREVER = 20_000


@dataclass
class Model:
    """A quadratic model ``⟨b, w⟩ − ⟨w, Hw⟩/2`` whose elements have some rows each, and where sets may lie."""

    H: np.ndarray
    b: np.ndarray
    d: np.ndarray
    element: np.ndarray
    region: Region
    sets: list
    #: Lower and upper bounds of all coefficients, in their shape; without rows if there are none
    bounds: tuple = (np.empty((0, 0)), np.empty((0, 0)))

    def solve(self, start=None, curvature=1.0, target=-1.0, share=0.0, finest=1e-12, most=FOREVER):
        """Call the kernel."""
        start = np.zeros_like(self.b) if start is None else start
        inside, allowed = self.region.inside, ~self.region.outside
        limits = tuple(self.region.constraint.laminar_tree())
        arguments = (self.H, self.b, self.d, self.element, inside, allowed, limits, self.bounds, start)
        return perspective.by_products(*arguments, curvature, target, share, finest, most)

    @property
    def members(self):
        """Which elements each set has."""
        return np.array([[e in s for e in range(len(self.d))] for s in self.sets])

    def by_element(self, values):
        """Sum over the coefficients of each element."""
        return np.bincount(self.element, values.sum(axis=1), minlength=len(self.d))

    def f(self, chosen):
        """Return the largest value of the model on a set."""
        rows = np.isin(self.element, sorted(chosen))
        b = self.b[rows]
        return 0.5 * float((b * np.linalg.solve(self.H[np.ix_(rows, rows)], b)).sum())

    def coef(self, z):
        """Return the best coefficients of a fractional set; w = √z r keeps away from dividing by zero."""
        root, d = np.sqrt(z)[self.element], self.d[self.element]
        curve = root[:, None] * (self.H - np.diag(d)) * root + np.diag(d)
        return root[:, None] * np.linalg.solve(curve, root[:, None] * self.b)

    def phi(self, z):
        """Return the value of a fractional set."""
        return 0.5 * float((self.b * self.coef(z)).sum())

    def weights(self, coef):
        """Return what each element adds to the bound at some coefficients."""
        slope = self.b - self.H @ coef + self.d[self.element, None] * coef
        return self.by_element(slope**2) / (2 * self.d)

    def bound(self, coef):
        """Return the bound at some coefficients, over all sets."""
        d = self.d[self.element, None]
        slope = self.b - self.H @ coef + d * coef
        base = (self.b * coef - coef * (self.H @ coef) / 2 + d * coef**2 / 2 - slope * coef).sum()
        return float(base + (self.members @ self.weights(coef)).max())


ONLY_CAPACITIES = uniform, partition, laminar, laminar


def some_matroid(random, builders):
    """Return a matroid of limits on nested sets, shortened and with elements forced in at random."""
    while True:
        specimen = builders[random.integers(len(builders))](random)
        for step in random.integers(2, size=random.integers(0, 3)):
            specimen = [truncated, contracted][step](random, specimen)
        if specimen.matroid.n:
            return specimen


def with_unit_diagonal(H):
    """Return the same curvature in the units that the kernel expects."""
    lengths = np.sqrt(np.diag(H))
    return H / np.outer(lengths, lengths)


def some_model(random, builders=(*ONLY_CAPACITIES, between, between)):
    """Return a model of which some elements may be held and others ruled out."""
    specimen = some_matroid(random, builders)
    region, n = some_region(random, specimen.matroid), specimen.matroid.n
    element = np.repeat(np.arange(n), random.integers(1, 3, n) if random.random() < 0.5 else 1)
    element = random.permutation(element)
    A = random.standard_normal((len(element) + 2, len(element))) + random.standard_normal()
    H, d = with_unit_diagonal(A.T @ A), random.uniform(0.1, 1.0, n)
    d *= random.uniform(0.2, 0.95) * np.linalg.eigvalsh(H / np.sqrt(np.outer(d[element], d[element])))[0]
    b = random.standard_normal((len(element), random.integers(1, 4)))
    b *= random.choice([0.0, 1.0, 1.0, 3.0], (len(b), 1))
    return Model(H, b, d, element, region, sets_of(region, specimen.allows))


def is_close(model, a, b, share=1e-7):
    return abs(a - b) <= share * (1e-3 + model.phi(np.ones(len(model.d))))


# Allocation: without curvature beyond the shift, one step from zero is one allocation


def allocated(model, step):
    """Return where the first step from zero leads: how elements share the places, and how long each is."""
    flat = replace(model, H=np.diag(model.d[model.element]))
    lengths = np.sqrt(model.by_element((model.b / step) ** 2)) * ~model.region.outside
    return flat.solve(curvature=step, most=1)[1], lengths


@settings(max_examples=200)
@given(randoms)
def test_places_go_where_they_are_worth_most(random):
    check_places(some_model(random), float(random.choice([0.3, 1.0, 20.0])))


@settings(max_examples=40)
@given(randoms)
def test_places_that_lower_limits_keep_go_to_elements_of_little_worth(random):
    """Nested groups of four, of which some have to be touched, and others are worth ten times as much."""
    n, thirds = 12, [range(0, 4), range(4, 8), range(8, 12)]
    tree = sw.Laminar(n, [(range(8), 6), *((third, 4) for third in thirds)]).laminar_tree()
    least = random.integers(0, [1, 4, 3, 3, 2])  # of all, of the first two groups together, and of each
    whole = sw.Laminar.of_tree(tree._replace(capacity=np.append(6, tree.capacity[1:]), at_least=least))
    d, b = random.uniform(0.1, 1.0, n), random.standard_normal((n, 1))
    b *= np.repeat(random.choice([0.1, 1.0], 3), 4)[:, None]
    sets = [s for s in map(frozenset, subsets(range(n))) if whole._is_independent(np.array(sorted(s), int))]
    model = Model(np.diag(d), b, d, np.arange(n), Region.of(whole), sets)
    check_places(model, float(random.choice([0.3, 1.0, 20.0])))


def check_places(model, step):
    """The slope at the z of least cost is nowhere steeper than at z itself, over all sets one by one."""
    z, lengths = allocated(model, step)
    worth = model.d * step**2 * lengths**2 / (2 * (step * z + model.d) ** 2)
    held, outside = model.region.inside, model.region.outside
    assert (z[held] == 1).all()
    assert (z[outside] == 0).all()
    assert ((z >= 0) & (z <= 1)).all()
    open_worth = np.where(held, 0.0, worth)
    heaviest = (model.members @ open_worth).max()
    assert open_worth @ z == pytest.approx(heaviest, rel=1e-9, abs=1e-12)


@settings(max_examples=100)
@given(randoms)
def test_places_are_within_all_limits(random):
    model = some_model(random)
    z, _ = allocated(model, 1.0)
    for subset in np.array(np.meshgrid(*[[False, True]] * len(z))).reshape(len(z), -1).T:
        assert z[subset].sum() <= (model.members & subset).sum(axis=1).max() + 1e-9


@settings(max_examples=60)
@given(randoms)
def test_places_of_a_uniform_matroid_are_those_of_a_bisection(random):
    n, step = 7, float(random.choice([0.3, 1.0, 20.0]))
    k, held = int(random.integers(1, 7)), random.permutation(n)[: random.integers(2)]
    region = Region.of(sw.Uniform(n, k)).with_inside(held)
    d, b = random.uniform(0.1, 1.0, n), random.standard_normal((n, 1)) * random.integers(0, 3, (n, 1))
    model = Model(np.diag(d), b, d, np.arange(n), region, [])
    z, lengths = allocated(model, step)

    def shares(t):
        found = np.clip(t * lengths * np.sqrt(d) - d / step, 0.0, 1.0)
        found[region.outside] = 0.0
        found[held] = 1.0
        return found

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle).sum() <= k else (low, middle)
    expected = shares(low)
    expected[(lengths == 0) & ~region.inside] = 0.0
    np.testing.assert_allclose(z, expected, atol=1e-8)


# Value and bound


@settings(max_examples=100)
@given(randoms)
def test_value_and_bound_meet_and_are_what_they_say(random):
    model = some_model(random)
    coef, z, value, bound, curvature, steps = model.solve(finest=1e-11)
    assert is_close(model, value, bound)
    assert is_close(model, bound, model.bound(coef), 1e-12)
    assert is_close(model, bound, model.phi(z))
    assert steps < FOREVER
    assert curvature >= 1.0
    assert (coef[model.region.outside[model.element]] == 0).all()


@settings(max_examples=40)
@given(randoms)
def test_the_best_fractional_set_is_that_of_a_general_solver(random):
    model = some_model(random)
    value, bound = model.solve(finest=1e-11)[2:4]
    open_ = np.flatnonzero(~(model.region.inside | model.region.outside))
    z = model.region.inside.astype(float)

    def at(shares):
        z[open_] = np.clip(shares, 0.0, 1.0)
        return z

    # Convex combinations of all sets: the simplest description of where z may be.
    members = model.members[:, open_].astype(float)
    found = minimize(
        lambda share: -model.phi(at(share @ members)),
        np.full(len(members), 1 / len(members)),
        jac=lambda share: -members @ model.weights(model.coef(at(share @ members)))[open_],
        bounds=[(0, 1)] * len(members),
        constraints=[{"type": "eq", "fun": lambda share: share.sum() - 1}],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    share = np.clip(found.x, 0.0, None)
    reached = model.phi(at(share @ members / share.sum()))
    assert reached <= bound + 1e-9 * (1 + bound)
    assert is_close(model, reached, value, 2e-4)


@settings(max_examples=60)
@given(randoms)
def test_the_bound_is_true_and_no_fractional_set_above_it_after_any_number_of_steps(random):
    model = some_model(random)
    best = max(map(model.f, model.sets))
    optimum = model.solve(finest=1e-11)[2]
    start = random.standard_normal(model.b.shape) * random.choice([0.0, 1.0, 10.0])
    start[model.region.outside[model.element]] = 0.0
    for most in (1, 2, 3, 5, 8, 21):
        coef, z, value, bound, _, steps = model.solve(start, curvature=1e3, most=most)
        slack = 1e-9 * (1 + abs(bound) + abs(optimum))
        assert steps <= most
        assert bound >= max(best, optimum) - slack
        assert value <= optimum + slack
        assert model.phi(z) <= optimum + slack
        assert abs(bound - model.bound(coef)) <= slack


@settings(max_examples=30)
@given(randoms)
def test_another_start_and_curvature_lead_to_the_same_optimum(random):
    model = some_model(random)
    bound = model.solve(finest=1e-11)[3]
    start = 3 * random.standard_normal(model.b.shape)
    start[model.region.outside[model.element]] = 0.0
    again = model.solve(start, curvature=float(random.choice([1e-3, 1e3])), finest=1e-11)[3]
    assert is_close(model, bound, again)


def test_it_ends_at_the_target_or_near_enough():
    random = np.random.default_rng(0)
    A = random.standard_normal((20, 12)) + random.standard_normal((20, 1))
    A /= np.linalg.norm(A, axis=0)
    H, b, region = A.T @ A, A.T @ random.standard_normal((20, 1)), Region.of(sw.Uniform(12, 3))
    d = np.full(12, 0.9 * np.linalg.eigvalsh(H)[0])
    model = Model(H, b, d, np.arange(12), region, [])
    _, _, best, bound, _, steps = model.solve()
    assert bound == pytest.approx(best)
    *_, nearly, _, fewer = model.solve(target=1.2 * best)
    assert bound < nearly <= 1.2 * best
    assert fewer < steps
    *_, value, nearly, _, fewer = model.solve(target=0.0, share=0.1)
    assert nearly - value <= 0.1 * nearly
    assert fewer < steps
    assert np.isinf(model.solve(most=0)[3])


# Curvature as columns, and limits that may overlap


@settings(max_examples=40)
@given(randoms)
def test_columns_lead_where_their_products_do(random):
    """Up to single precision; the bound is that of the coefficients that come out all the same."""
    model = some_model(random)
    size, centred = len(model.element), bool(random.integers(2))
    penalty, weight = random.uniform(0.1, 0.5, size), random.uniform(0.0, 2.0, size + 20)
    columns = (random.standard_normal((size, len(weight))) + random.standard_normal()).astype(np.float32)
    columns *= 10.0 ** random.integers(-2, 3, (size, 1)).astype(np.float32)
    whole = columns.astype(float)
    whole -= np.average(whole, axis=1, weights=weight)[:, None] if centred else 0.0
    H = (whole * weight) @ whole.T
    scale = np.sqrt(np.diag(H) / (1 - penalty))
    H = H / np.outer(scale, scale) + np.diag(penalty)
    d = np.full(len(model.d), 0.5 * np.linalg.eigvalsh(H)[0])
    model = replace(model, H=H, b=np.ascontiguousarray(model.b[:, :1]), d=d)
    inside, allowed = model.region.inside, ~model.region.outside
    rest = (model.b, d, model.element, inside, allowed, tuple(model.region.constraint.laminar_tree()))
    samples, start = (columns, scale, weight, centred, penalty), np.zeros_like(model.b)
    found = perspective.by_columns(samples, *rest, model.bounds, start, 1.0, -1.0, 0.0, 1e-6, 2000)
    expected = model.solve()
    assert is_close(model, found[2], expected[2], 1e-4)
    assert is_close(model, found[3], expected[3], 1e-4)
    assert is_close(model, model.bound(found[0]), found[3], 1e-4)


@settings(max_examples=60)
@given(randoms)
def test_limits_that_may_overlap_may_as_well_be_nested(random):
    model = some_model(random, ONLY_CAPACITIES)
    tree, region = model.region.constraint.laminar_tree(), model.region
    is_open = ~(region.inside | region.outside)
    sets, rooms = [], []
    for number, (end, capacity) in enumerate(zip(tree.end, tree.capacity, strict=True)):
        within = (tree.leaf >= number) & (tree.leaf < end)
        sets.append(np.flatnonzero(within & is_open))
        rooms.append(float(capacity - np.count_nonzero(within & region.inside)))
    units = random.choice([0.1, 1.0, 3.0], len(sets))  # in which places of each set are counted
    shares = np.repeat(units, [len(s) for s in sets])
    limits = np.append(0, np.cumsum([len(s) for s in sets])), np.concatenate(sets), shares, rooms * units
    start, prices = np.zeros_like(model.b), np.zeros(len(sets))
    arguments = (
        model.H,
        model.b,
        model.d,
        model.element,
        region.inside,
        ~region.outside,
        limits,
        prices,
        model.bounds,
        start,
    )
    steps = (1.0, -1.0, 0.0, 1e-10, FOREVER)
    (coef, z, value, bound, _, _), prices = perspective.overlapping_by_products(*arguments, *steps)
    expected = model.solve(finest=1e-11)
    assert is_close(model, value, expected[2], 1e-6)
    assert bound >= expected[2] - 1e-7 * (1 + abs(bound))
    assert is_close(model, bound, expected[3], 1e-6)
    assert (prices >= 0).all()
    assert bound >= model.bound(coef) - 1e-7 * (1 + abs(bound))
    for members, room in zip(sets, rooms, strict=True):
        assert z[members].sum() <= room + 1e-6


# Bounds on coefficients


def with_bounds(random, model):
    """Return the model with bounds of all kinds on its coefficients, one number per element."""
    n = len(model.d)
    H, b = np.ascontiguousarray(model.H[:n, :n]), np.ascontiguousarray(model.b[:n, :1])
    d = np.full(n, 0.9 * np.linalg.eigvalsh(H)[0])
    ends = random.choice([0.0, 1e-120, 0.01, 0.3, 1.0, 50.0, np.inf], (2, n, 1))
    return replace(model, H=H, b=b, d=d, element=np.arange(n), bounds=(-ends[0], ends[1]))


@settings(max_examples=150)
@given(randoms)
def test_value_and_bound_meet_within_bounds(random):
    """The value is that of a fractional set whose coefficients are within its share of the bounds."""
    model = with_bounds(random, some_model(random))
    w, z, value, bound, _, _ = model.solve()
    lower, upper = model.bounds
    slope = model.b - model.H @ w + model.d[:, None] * w
    top = np.clip(slope / model.d[:, None], lower, upper)
    worth = (top * (slope - model.d[:, None] * top / 2))[:, 0]
    base = float((model.b * w - w * (model.H @ w) / 2 + model.d[:, None] * w**2 / 2 - slope * w).sum())
    assert is_close(model, bound, base + (model.members @ worth).max())
    assert is_close(model, value, bound, 1e-6)
    share = np.where(z > 0, z, 0.0)[:, None]
    with np.errstate(invalid="ignore"):
        assert (w <= np.where(share > 0, upper * share, 0.0) + 1e-12).all()
        assert (w >= np.where(share > 0, lower * share, 0.0) - 1e-12).all()


@settings(max_examples=60)
@given(randoms)
def test_limits_that_overlap_allocate_within_bounds_as_nested_ones_do(random):
    n, k = 8, int(random.integers(1, 5))
    whole = Model(
        np.eye(n + 2),
        random.standard_normal((n + 2, 1)),
        np.ones(n),
        np.arange(n),
        Region.of(sw.Uniform(n, k)),
        [],
    )
    A = random.standard_normal((n + 2, n + 2))
    model = with_bounds(random, replace(whole, H=with_unit_diagonal(A.T @ A)))
    limits = np.array([0, n]), np.arange(n), np.ones(n), np.array([float(k)])
    flags = model.region.inside, ~model.region.outside
    arguments = (model.H, model.b, model.d, model.element, *flags, limits, np.zeros(1), model.bounds)
    steps = (np.zeros_like(model.b), 1.0, -1.0, 0.0, 1e-11, FOREVER)
    (_, _, value, bound, _, _), _ = perspective.overlapping_by_products(*arguments, *steps)
    expected = model.solve(finest=1e-11)
    assert is_close(model, value, expected[2], 1e-6)
    assert is_close(model, bound, expected[3], 1e-6)


@pytest.mark.parametrize("most", [0, 50])
def test_without_a_finite_bound_there_are_no_coefficients(most):
    n = 40
    model = Model(
        np.eye(n), np.ones((n, 1)), np.zeros(n), np.arange(n), Region.of(sw.Uniform(n, 3)), []
    )  # no penalty, and so no bound
    for _ in range(20):
        garbage = [np.full((n, 1), np.nan) for _ in range(50)]  # what memory of this size holds next
        del garbage
        coef, z, *_ = model.solve(most=most)
        assert not coef.any()
        assert not z.any()
