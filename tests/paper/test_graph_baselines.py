"""Structure learners find graphs where samples are many, and solve the problems that they say they solve."""

from itertools import combinations, product

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

import swapwise as sw
from swapwise.paper.graph_baselines import (
    GRAPH_BASELINES,
    GraphBaseline,
    bresler,
    cut_to_degrees,
    edge_weights,
    l1_constrained_logistic,
    l1_logistic,
    log_rise,
    rise,
    sparsitron,
)
from swapwise.paper.graph_baselines.bresler import influences
from swapwise.paper.graph_baselines.interaction_screening import (
    LOG_SCREENING,
    SCREENING,
    screening_penalty,
)
from swapwise.paper.graph_baselines.newton import NewtonSteps, curvatures
from swapwise.paper.graph_baselines.nodes import (
    LOGISTIC,
    gradients_of,
    logistic_values,
    margins_of,
    soft_threshold,
    solve_nodes,
)
from swapwise.paper.graph_baselines.nodewise import ebic
from swapwise.paper.graph_baselines.procedure import true_width
from swapwise.paper.instances import pairs
from swapwise.paper.methods.clash import onto_l1_ball
from swapwise.paper.procedures import FIGURES
from swapwise.paper.settings import REGRESSION_200, IsingSetting

LEARNERS = {
    "l1-logistic": l1_logistic,
    "rise": rise,
    "logrise": log_rise,
    "sparsitron": lambda spins: sparsitron(spins, 1.0),
    "bresler": lambda spins: bresler(spins, 3),
    "l1-constrained-logistic": lambda spins: l1_constrained_logistic(spins, 1.0),
}
# How scikit-learn is asked for an L1 penalty.
L1 = {"l1_ratio": 1.0} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "l1"}

#: Losses, and what they are of one vertex, said plainly.
LOSSES = {
    LOGISTIC: lambda z: np.mean(np.log(1 + np.exp(-2 * z))),
    SCREENING: lambda z: np.mean(np.exp(-z)),
    LOG_SCREENING: lambda z: np.log(np.mean(np.exp(-z))),
}
learners = pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
losses = pytest.mark.parametrize("loss", LOSSES, ids=["logistic", "screening", "log screening"])


def exact_samples(n_vertices, edges, couplings, n_samples, seed=0):
    """Independent samples of an Ising model, drawn from the probabilities of all states."""
    states = np.array(list(product([-1.0, 1.0], repeat=n_vertices)))
    weights = np.ones(len(states))
    for (u, v), coupling in zip(edges, couplings, strict=True):
        weights *= np.exp(coupling * states[:, u] * states[:, v])
    return np.random.default_rng(seed).choice(states, n_samples, p=weights / weights.sum())


def random_spins(n_samples, n_vertices, seed=0):
    """Spins that depend on each other, along a chain."""
    edges = [(v, v + 1) for v in range(n_vertices - 1)]
    return exact_samples(n_vertices, edges, np.full(len(edges), 0.7), n_samples, seed)


CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
GRID = [(v, v + 1) for v in range(9) if v % 3 < 2] + [(v, v + 3) for v in range(6)]
small_spins = st.tuples(st.integers(1, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([-1.0, 1.0]))
)


class TestRecovery:
    @pytest.mark.parametrize("baseline", GRAPH_BASELINES)
    @pytest.mark.parametrize("edges", [CHAIN, GRID], ids=["chain", "grid"])
    def test_many_samples_give_the_true_graph(self, edges, baseline):
        n_vertices = 1 + max(max(edge) for edge in edges)
        couplings = 0.5 * np.random.default_rng(1).choice([-1, 1], len(edges))
        spins = exact_samples(n_vertices, edges, couplings, 1500)
        degrees = np.bincount(np.ravel(edges))
        constraint = sw.BMatching.complete(n_vertices, degrees.tolist())
        found = GRAPH_BASELINES[baseline].edges(spins, constraint, width=0.5 * degrees.max())
        assert sorted(constraint.edges[e] for e in found) == sorted(edges)

    @pytest.mark.parametrize("learn", [rise, log_rise, l1_logistic], ids=["rise", "logrise", "l1-logistic"])
    def test_couplings_are_those_of_the_model(self, learn):
        spins = exact_samples(4, [(0, 1), (1, 2), (2, 3)], [0.5, -0.5, 0.3], 10_000)
        theta = learn(spins)
        assert [theta[0, 1], theta[1, 2], theta[3, 2]] == pytest.approx([0.5, -0.5, 0.3], abs=0.05)


class TestNodes:
    @losses
    def test_slopes_are_derivatives(self, loss):
        margins = np.random.default_rng(0).normal(size=(5, 1))
        slopes = approx_fprime(margins.ravel(), LOSSES[loss], 1e-7)
        assert loss.slopes(margins).ravel() == pytest.approx(slopes, abs=1e-6)

    def test_curvatures_are_second_derivatives(self):
        loss, z, h = LOGISTIC, np.array([[-1.5], [0.0], [0.4]]), 1e-5
        change = (loss.slopes(z + h) - loss.slopes(z - h)) / (2 * h)
        assert curvatures(z) == pytest.approx(change, rel=1e-6)

    @losses
    def test_extreme_margins_are_finite(self, loss):
        margins = np.array([[400.0], [-300.0]])
        assert np.isfinite(loss.slopes(margins)).all()

    def test_logistic_values(self):
        margins = np.random.default_rng(0).normal(size=(5, 1))
        assert logistic_values(margins) == pytest.approx(np.mean(np.log(1 + np.exp(-2 * margins))))
        assert logistic_values(np.array([[400.0], [-300.0]])) == [300.0]

    @losses
    @settings(max_examples=40, deadline=None)
    @given(spins=small_spins, penalty=st.floats(0.2, 0.9))
    def test_solutions_satisfy_the_optimality_conditions(self, loss, spins, penalty):
        n_vertices, strongest = spins.shape[1], 6.0
        start = np.zeros((n_vertices, n_vertices))
        prox = soft_threshold(np.full(n_vertices, penalty), strongest)
        theta = solve_nodes(spins, loss, prox, start)
        gradient, tol = gradients_of(spins, loss, theta), 1e-5
        push = gradient + penalty * np.sign(theta)
        inside, outer = (theta != 0) & (np.abs(theta) < strongest), np.abs(theta) == strongest
        assert np.abs(push[inside]).max(initial=0) <= tol
        assert (push[outer] * np.sign(theta[outer])).max(initial=0) <= tol
        assert np.abs(gradient[theta == 0]).max(initial=0) <= penalty + tol
        assert not theta.diagonal().any()

    @pytest.mark.parametrize("penalty", [0.3, 0.05, 0.002])
    @pytest.mark.parametrize("descend", [False, True], ids=["proximal", "newton"])
    def test_same_as_scikit_learn(self, penalty, descend):
        spins = random_spins(60, 6)
        theta, penalties = np.zeros((6, 6)), np.full(6, penalty)
        if descend:
            theta = NewtonSteps(spins).descend(penalties, theta)
        else:
            theta = solve_nodes(spins, LOGISTIC, soft_threshold(penalties), theta)
        for u in range(6):
            others = np.delete(np.arange(6), u)
            model = LogisticRegression(
                C=2 / (60 * penalty), solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=10_000, **L1
            )
            model.fit(spins[:, others], spins[:, u])
            assert theta[u, others] == pytest.approx(model.coef_[0] / 2, abs=2e-4)

    def test_newton_steps_come_back_to_zero(self):
        spins = random_spins(60, 6)
        newton, penalties = NewtonSteps(spins), np.full(6, 0.3)
        dense = newton.descend(np.full(6, 1e-3), np.zeros((6, 6)))
        theta = newton.descend(penalties, dense)
        expected = solve_nodes(spins, LOGISTIC, soft_threshold(penalties), np.zeros((6, 6)))
        assert np.count_nonzero(dense) > 25
        assert np.count_nonzero(theta) < 15
        assert ((theta == 0) == (expected == 0)).all()
        assert theta == pytest.approx(expected, abs=1e-6)

    def test_newton_steps_never_make_anything_worse(self):
        spins = random_spins(12, 8)  # separable
        theta = np.zeros((8, 8))
        for penalty in np.geomspace(0.3, 1e-3, 20):
            new = NewtonSteps(spins).descend(np.full(8, penalty), theta)
            before, after = (
                logistic_values(margins_of(spins, t)) + penalty * np.abs(t).sum(axis=1) for t in (theta, new)
            )
            assert (after <= before).all()
            theta = new

    @settings(max_examples=100, deadline=None)
    @given(arrays(float, (2, 4), elements=st.floats(-3, 3)), st.floats(0, 4))
    def test_projection_onto_the_ball(self, points, radius):
        projected = onto_l1_ball(points, radius, axis=1)
        assert (np.abs(projected).sum(axis=1) <= radius + 1e-12).all()
        for corner in [*radius * np.eye(4), *-radius * np.eye(4)]:  # of the ball: no one is nearer
            assert (((points - projected) * (corner - projected)).sum(axis=1) <= 1e-9).all()

    @pytest.mark.parametrize("width", [0.0, 0.4, 1.5])
    def test_no_corner_of_the_ball_is_downhill(self, width):
        spins = random_spins(80, 6)
        theta = l1_constrained_logistic(spins, width)
        gradient = gradients_of(spins, LOGISTIC, theta)
        gap = (gradient * theta).sum(axis=1) + width * np.abs(gradient).max(axis=1)
        assert (np.abs(theta).sum(axis=1) <= width + 1e-12).all()
        assert gap.max() <= 1e-6


class TestScreening:
    @pytest.mark.parametrize(
        ("learn", "value", "constant"),
        [(rise, lambda z: np.mean(np.exp(-z)), 0.4), (log_rise, lambda z: np.log(np.mean(np.exp(-z))), 0.8)],
    )
    def test_same_as_a_general_minimiser(self, learn, value, constant):
        spins, u = random_spins(150, 5), 2
        others, penalty = [0, 1, 3, 4], screening_penalty(150, 5, constant)

        def objective(parts):  # the positive and the negative parts of the coefficients
            theta = parts[:4] - parts[4:]
            return value(spins[:, u] * (spins[:, others] @ theta)) + penalty * parts.sum()

        best = minimize(objective, np.zeros(8), bounds=[(0, None)] * 8, options={"ftol": 1e-14, "gtol": 1e-9})
        theta = learn(spins)[u, others]
        assert theta == pytest.approx(best.x[:4] - best.x[4:], abs=1e-4)

    def test_without_a_minimum_couplings_are_held(self):
        first = np.where(np.arange(40) % 2, 1.0, -1.0)
        equal = np.column_stack([first, first])
        assert log_rise(equal)[0, 1] == 6.0
        assert 0 < rise(equal)[0, 1] < 6.0


class TestPath:
    @pytest.mark.parametrize(("n_samples", "n_vertices"), [(60, 5), (6, 8)])
    def test_the_penalty_is_the_best_of_the_path(self, n_samples, n_vertices):
        spins = random_spins(n_samples, n_vertices)
        chosen = ebic(spins, l1_logistic(spins), 0.25)
        start, loss = np.zeros((n_vertices, n_vertices)), LOGISTIC
        largest = np.abs(gradients_of(spins, loss, start)).max(axis=1)
        shares = np.geomspace(1, 1e-4 if n_samples >= n_vertices else 1e-2, 100)
        alone = [ebic(spins, start, 0.25)]
        for share in shares[1::9]:  # any of the path, from nothing
            alone.append(ebic(spins, solve_nodes(spins, loss, soft_threshold(share * largest), start), 0.25))
        assert (chosen <= np.min(alone, axis=0) + 1e-6).all()

    def test_ebic_by_hand(self):
        spins = np.array([[1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
        theta = np.array([[0.0, 0.3, -0.2], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
        for u in range(3):
            likelihood = sum(-np.log1p(np.exp(-2 * x[u] * (theta[u] @ x))) for x in spins)
            n_neighbours = np.count_nonzero(theta[u])
            expected = -2 * likelihood + n_neighbours * (np.log(4) + 2 * 0.25 * np.log(2))
            assert ebic(spins, theta, 0.25)[u] == pytest.approx(expected)

    def test_more_gamma_fewer_neighbours(self):
        spins = random_spins(50, 8)
        sizes = [np.count_nonzero(l1_logistic(spins, gamma), axis=1) for gamma in (0.0, 0.5, 50.0)]
        assert (sizes[0] >= sizes[1]).all()
        assert (sizes[1] >= sizes[2]).all()
        assert not sizes[2].any()


def plain_sparsitron(spins, u, width):
    """As in the paper: experts with weights, risks of all predictors, the best one."""
    n_samples, n_vertices = spins.shape
    others = [v for v in range(n_vertices) if v != u]
    experts = np.hstack([spins[:, others], -spins[:, others], np.zeros((n_samples, 1))])
    labels = (spins[:, u] + 1) / 2
    base = max(0.5, 1 - np.sqrt(np.log(experts.shape[1]) / n_samples))
    weights, predictors = np.ones(experts.shape[1]), []
    for x, label in zip(experts, labels, strict=True):
        p = weights / weights.sum()
        predictors.append(p)
        loss = (1 + (1 / (1 + np.exp(-2 * width * p @ x)) - label) * x) / 2
        weights = weights * base**loss
    risks = [((1 / (1 + np.exp(-2 * width * experts @ p)) - labels) ** 2).mean() for p in predictors]
    best, k = predictors[int(np.argmin(risks))], len(others)
    theta = np.zeros(n_vertices)
    theta[others] = width * (best[:k] - best[k : 2 * k])
    return theta


@pytest.mark.parametrize(("n_samples", "n_vertices"), [(40, 4), (2, 5), (25, 2)])
def test_sparsitron_is_hedge_over_signed_spins(n_samples, n_vertices):
    spins = random_spins(n_samples, n_vertices)
    plain = [plain_sparsitron(spins, u, 0.9) for u in range(n_vertices)]
    assert sparsitron(spins, 0.9) == pytest.approx(np.array(plain), abs=1e-12)


def plain_influence(spins, u, v, given):
    """The definition, with conditional probabilities."""
    total = 0.0
    for cell in {tuple(row) for row in spins[:, given]}:
        rows = spins[(spins[:, given] == cell).all(axis=1)]
        up = rows[:, v] == 1
        if up.any() and not up.all():
            difference = (rows[up, u] == 1).mean() - (rows[~up, u] == 1).mean()
            total += len(rows) / len(spins) * 2 * up.mean() * (1 - up.mean()) * abs(difference)
    return total


class TestBresler:
    @pytest.mark.parametrize("given", [[], [2], [2, 3], [4, 1, 3]])
    def test_influence_is_its_definition(self, given):
        spins = random_spins(60, 6)
        others = [v for v in range(6) if v != 0 and v not in given]
        plain = [plain_influence(spins, 0, v, given) for v in others]
        assert influences(spins, 0, given)[others] == pytest.approx(plain, abs=1e-12)

    def test_a_common_neighbour_is_found_first_and_pruned(self):
        # The neighbours 1, 2 and 3 of vertex 0 all drive vertex 4, which tells more of 0 than each of them.
        edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
        spins = exact_samples(5, edges, [0.5, 0.5, 0.5, 1.0, 1.0, 1.0], 4000)
        assert influences(spins, 0, []).argsort()[-2:].tolist() == [4, 0]
        assert np.flatnonzero(bresler(spins, max_neighbours=1, threshold=0.02)[0]).tolist() == [4]
        assert np.flatnonzero(bresler(spins, max_neighbours=4, threshold=0.02)[0]).tolist() == [1, 2, 3]

    def test_limits(self):
        spins = random_spins(100, 5)
        assert not bresler(spins, 0).any()
        assert not bresler(spins, 4, threshold=0.6).any()  # no influence is above 1/2
        assert (np.count_nonzero(bresler(spins, 2, threshold=0.0), axis=1) <= 2).all()


class TestOneGraph:
    @settings(max_examples=50, deadline=None)
    @given(arrays(float, (4, 4), elements=st.integers(-3, 3)))
    def test_rules(self, weights):
        for e, (u, v) in enumerate(zip(*pairs(4), strict=True)):
            a, b = weights[u, v], weights[v, u]
            assert abs(edge_weights(weights, "and")[e]) == min(abs(a), abs(b))
            assert abs(edge_weights(weights, "or")[e]) == max(abs(a), abs(b))
            assert edge_weights(weights, "mean")[e] == (a + b) / 2
            assert {edge_weights(weights, rule)[e] for rule in ("and", "or")} <= {a, b}

    @settings(max_examples=50, deadline=None)
    @given(arrays(float, 6, elements=st.integers(-4, 4)), st.lists(st.integers(0, 3), min_size=4, max_size=4))
    def test_cut_is_the_heaviest_within_the_degrees(self, weights, degrees):
        constraint = sw.BMatching.complete(4, degrees)
        found = cut_to_degrees(weights, constraint)
        assert constraint.is_independent(found)
        assert (weights[found] != 0).all()
        heaviest = max(
            np.abs(weights[list(edges)]).sum()
            for size in range(7)
            for edges in combinations(range(6), size)
            if constraint.is_independent(edges)
        )
        assert np.abs(weights[found]).sum() == pytest.approx(heaviest)


class TestEveryLearner:
    @learners
    def test_vertices_may_come_in_any_order(self, learn):
        spins = random_spins(200, 6)
        order = np.array([3, 0, 5, 1, 4, 2])
        assert learn(spins[:, order]) == pytest.approx(learn(spins)[np.ix_(order, order)], abs=1e-5)

    @learners
    def test_a_spin_may_be_turned_round(self, learn):
        spins, turned = random_spins(200, 5), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
        assert np.abs(learn(spins * turned)) == pytest.approx(np.abs(learn(spins)), abs=1e-5)

    @learners
    @settings(max_examples=20, deadline=None)
    @given(small_spins)
    def test_degenerate_samples(self, learn, spins):
        weights = learn(spins)
        assert weights.shape == (spins.shape[1], spins.shape[1])
        assert np.isfinite(weights).all()
        assert not weights.diagonal().any()
        assert (weights == learn(spins)).all()

    @learners
    def test_constant_and_equal_columns(self, learn):
        first = random_spins(30, 1)[:, 0]
        weights = learn(np.column_stack([first, np.ones(30), first, -first]))
        assert np.isfinite(weights).all()
        assert np.abs(weights[0, [2, 3]]).max() >= np.abs(weights[0, 1])

    @learners
    @pytest.mark.parametrize(
        ("spins", "message"),
        [
            ([[1, 0], [1, 1]], "must be -1 and \\+1, got 0"),
            ([1, -1], "two-dimensional"),
            (np.empty((0, 3)), "at least one sample"),
            ([[1, np.nan]], "finite|NaN|missing"),
        ],
    )
    def test_other_samples(self, learn, spins, message):
        with pytest.raises(ValueError, match=message):
            learn(spins)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: rise(x, 0.0), "regularizer must be a positive number"),
        (lambda x: l1_logistic(x, -1.0), "gamma must be a non-negative number"),
        (lambda x: sparsitron(x, -1.0), "width must be a non-negative number"),
        (lambda x: l1_constrained_logistic(x, np.inf), "width must be a non-negative number"),
        (lambda x: bresler(x, -1), "max_neighbours must be a non-negative integer"),
        (lambda x: bresler(x, 1, -0.1), "threshold must be a non-negative number"),
        (lambda x: edge_weights(x, "mean"), "as many columns as rows"),
        (lambda x: edge_weights(x.T @ x, "most"), "rule must be one of 'and', 'or', 'mean', got 'most'"),
        (lambda x: GraphBaseline("lasso"), "baseline must be one of 'l1-logistic-and', .*got 'lasso'"),
    ],
)
def test_what_else_is_given_is_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call(random_spins(5, 3))


class TestProcedure:
    SETTING = IsingSetting("ising-6", (1, 2, 3), False, n_vertices=6, degree=3)

    @pytest.mark.parametrize("baseline", GRAPH_BASELINES)
    def test_value_is_that_of_the_graph_refitted(self, baseline):
        instance = self.SETTING.instance(np.random.SeedSequence(1))
        procedure = GraphBaseline(baseline)
        figures = procedure.run(self.SETTING, instance, 2, "default", seed=0)
        objective, constraint = self.SETTING.problem(instance, 2)
        edges = GRAPH_BASELINES[baseline].edges(instance.spins, constraint, true_width(instance))
        assert constraint.is_independent(edges)
        assert figures == {"value": objective(edges), "status": "COMPLETE"}
        assert set(figures) <= set(FIGURES)
        assert (procedure.name, procedure.part) == (baseline, "neighbours")

    def test_graphs_only(self):
        instance = REGRESSION_200.instance(np.random.SeedSequence(0))
        with pytest.raises(TypeError, match="rise learns graphs from Ising samples, got RegressionInstance"):
            GraphBaseline("rise").run(REGRESSION_200, instance, 2, "default", seed=0)
