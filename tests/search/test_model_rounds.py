"""Likelihoods and graphs leave local optima: what damped models suggest, the exact refit decides."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import (
    BMatching,
    Gamma,
    Graphic,
    Laminar,
    Logistic,
    Multinomial,
    Partition,
    Poisson,
    SparseClassifier,
    Status,
    Uniform,
    maximize,
)
from swapwise.clock import Budget, Clock
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.graphs.ising.spin_data import sigmoid
from swapwise.search import model_rounds
from swapwise.search.loop import Trace, run
from swapwise.search.model_rounds import ModelRounds, PerturbedSearch
from swapwise.search.plan import resolve

LEAVING = ("perturbation", "restart")


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def correlated(rng, samples, n, rho=0.8):
    return np.sqrt(1 - rho) * rng.standard_normal((samples, n)) + np.sqrt(rho) * rng.standard_normal(
        (samples, 1)
    )


def some_family(rng, kind, n, samples=60):
    X = correlated(rng, samples, n)
    eta = X[:, : n // 2] @ rng.choice([-1.0, 1.0], n // 2)
    ridge = float(rng.choice([0.0, 0.01]))
    if kind == "logistic":
        return Logistic(X, rng.random(samples) < sigmoid(3 * eta), ridge)
    if kind == "poisson":
        return Poisson(X, rng.poisson(np.exp(np.clip(0.5 * eta, -3, 3))), ridge)
    if kind == "gamma":
        return Gamma(X, rng.gamma(2.0, np.exp(np.clip(0.5 * eta, -3, 3)) / 2.0), ridge)
    if kind == "multinomial":
        y = np.digitize(eta + rng.standard_normal(samples), [-1.0, 1.0])
        y[:3] = 0, 1, 2
        return Multinomial(X, y, ridge)
    return Logistic(X, rng.random(samples) < sigmoid(2 * eta), ridge, groups=np.arange(n) // 2)


FAMILIES = ["logistic", "poisson", "gamma", "multinomial", "groups"]

CONSTRAINTS = {
    "uniform": lambda n: Uniform(n, 3),
    "forced": lambda n: Uniform(n, 4).contract([1]),
    "partition": lambda n: Partition(np.arange(n) % 3, 1),
    "laminar": lambda n: Laminar(n, [(range(n // 2), 1), (range(n), 3)]),
    "graphic": lambda n: Graphic([(v % 4, 4 + v % 5) for v in range(n)]).truncate(3),
    "matching": lambda n: BMatching([(v % 4, 4 + v % 5) for v in range(n)], b=2),
}


def some_graph(rng, fields=False):
    vertices = int(rng.integers(4, 8))
    spins = rng.choice([-1.0, 1.0], (40, vertices))
    for v in range(1, vertices):
        spins[:, v] = np.where(rng.random(40) < 0.6, spins[:, v // 2], spins[:, v])
    return quiet(IsingPseudoLikelihood, spins, float(rng.choice([0.0, 0.02])), fields)


def run_from(objective, constraint, start, *, perturbs):
    """Search from a set as the default does, with or without perturbations; return state and record."""
    plan = resolve(objective, constraint)
    rounds, main = (
        ModelRounds(constraint, plan.tol, perturbs=perturbs),
        plan.main(objective, constraint, None),
    )
    state, trace = objective.start(start), Trace(np.asarray(start, dtype=np.intp))
    # From a local optimum of the rule, which is what a search without perturbations ends with
    status = run([PerturbedSearch(main, rounds) if perturbs else main], state, trace, Budget(Clock()))
    return state, trace, status


def assert_rising(history, before=0.0):
    for event in history:
        assert event.value > before or event.strategy in LEAVING
        before = event.value


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(FAMILIES), st.sampled_from(list(CONSTRAINTS)))
def test_perturbations_only_raise_what_the_local_search_ends_with(seed, kind, limits):
    rng = np.random.default_rng(seed)
    objective = quiet(some_family, rng, kind, 12)
    constraint = CONSTRAINTS[limits](objective.n)
    begin = constraint.random_set(constraint.forced, rng)
    plain, _, _ = quiet(run_from, objective, constraint, begin, perturbs=False)
    state, trace, status = quiet(run_from, objective, constraint, begin, perturbs=True)
    assert state.value >= plain.value - 1e-12
    assert state.value == pytest.approx(objective(state.support), abs=1e-9)
    assert constraint.is_independent(state.support)
    assert np.isin(constraint.forced, state.support).all()
    assert status is Status.LOCAL_OPTIMUM
    assert_rising(trace.history, before=quiet(objective, begin))
    again, _, _ = quiet(run_from, objective, constraint, begin, perturbs=True)
    assert again.support.tolist() == state.support.tolist()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 3))
def test_graphs_are_perturbed_likewise(seed, fields, b):
    rng = np.random.default_rng(seed)
    objective = some_graph(rng, fields)
    constraint = BMatching(objective.edges, b)
    begin = constraint.random_set(constraint.forced, rng)
    plain, _, _ = quiet(run_from, objective, constraint, begin, perturbs=False)
    state, trace, status = quiet(run_from, objective, constraint, begin, perturbs=True)
    assert state.value >= plain.value - 1e-12
    assert constraint.is_independent(state.support)
    assert status is Status.LOCAL_OPTIMUM
    assert_rising(trace.history, before=quiet(objective, begin))
    result = quiet(maximize, objective, constraint)
    assert result.value == pytest.approx(quiet(objective, result.support), abs=1e-9)
    assert_rising(result.history)


def hard_logistic(seed=0, samples=200, n=300):
    rng = np.random.default_rng(seed)
    X = correlated(rng, samples, n)
    eta = X[:, :8] @ rng.choice([-1.0, 1.0], 8)
    return Logistic(X, rng.random(samples) < sigmoid(4 * eta / eta.std()))


def test_hard_instances_end_higher_than_one_local_search():
    gains = []
    for seed in range(4):
        objective, constraint = hard_logistic(seed), Uniform(300, 8)
        result = maximize(objective, constraint)
        plan = resolve(objective, constraint)
        models = plan.models(objective, constraint, perturbs=False)
        plain = plan.search(objective, constraint, None, Clock(), models=models)
        assert result.status is Status.LOCAL_OPTIMUM
        assert_rising(result.history)
        gains.append(result.value - plain.value)
    assert min(gains) >= -1e-9
    assert max(gains) > 0.005


def test_what_a_local_search_ends_with_is_left_for_something_better():
    objective, constraint = hard_logistic(), Uniform(300, 8)
    begin = np.arange(50, 58)
    plain, _, _ = run_from(objective, constraint, begin, perturbs=False)
    state, trace, status = run_from(objective, constraint, begin, perturbs=True)
    assert state.value > plain.value + 0.001
    assert "perturbation" in [event.strategy for event in trace.history]
    assert status is Status.LOCAL_OPTIMUM


def test_perturbations_are_on_the_record_and_count_as_moves():
    objective, constraint = hard_logistic(), Uniform(300, 8)
    result = maximize(objective, constraint)
    assert "perturbation" in [event.strategy for event in result.history]
    assert sum(run.n_moves for run in result.strategies) == result.n_iter
    for most in range(result.n_iter):
        short = maximize(objective, constraint, max_iter=most)
        assert short.status is Status.ITERATION_LIMIT
        assert [e.support.tolist() for e in short.history] == [
            e.support.tolist() for e in result.history[:most]
        ]


def test_a_limit_on_time_keeps_what_was_found():
    objective, constraint = hard_logistic(), Uniform(300, 8)
    for limit in (0.0, 1e-3, 5e-3, 2e-2):
        result = maximize(objective, constraint, time_limit=limit)
        assert result.value == pytest.approx(objective(result.support), abs=1e-9)
        assert constraint.is_independent(result.support)


def test_restarts_and_data_in_passes_are_not_perturbed(monkeypatch):
    da = pytest.importorskip("dask.array")
    perturbed = []
    monkeypatch.setattr(ModelRounds, "_perturb", lambda self, state, budget: perturbed.append(self) or [])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 20))
    y = rng.random(80) < sigmoid(X[:, 0] - X[:, 1])
    maximize(Logistic(da.from_array(X, chunks=(40, 20)), y), Uniform(20, 3))
    assert not perturbed
    SparseClassifier(3, n_restarts=5, random_state=0).fit(X, y)
    assert len({id(rounds) for rounds in perturbed}) == 1


@pytest.mark.parametrize("family", [Logistic, Poisson])
@pytest.mark.parametrize("case", ["no room", "loops only", "constant", "twins", "separable"])
def test_degenerate_data_do_no_harm(family, case):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 12))
    y = (rng.random(40) < 0.5).astype(float)
    if case == "constant":
        X[:, ::2] = 1.0
    if case == "twins":
        X[:, 6:] = X[:, :6]
    if case == "separable":
        y = (X[:, 0] + X[:, 1] > 0).astype(float)
    constraint = {"no room": Uniform(12, 0), "loops only": Uniform(12, 3).restrict([])}.get(
        case, Uniform(12, 3)
    )
    result = quiet(maximize, quiet(family, X, y), constraint)
    assert constraint.is_independent(result.support)
    assert np.isfinite(result.value)
    if case == "separable" and family is Logistic:
        assert {0, 1} <= set(result.support.tolist())


def test_graphs_without_pairs_do_no_harm():
    spins = np.random.default_rng(0).choice([-1.0, 1.0], (10, 3))
    objective = IsingPseudoLikelihood(spins, edges=[])
    result = quiet(maximize, objective, quiet(BMatching, [], 1))
    assert result.value == 0.0


def test_trials_do_not_warn():
    # Sets on the way are separable; what is chosen is not.
    rng = np.random.default_rng(8)
    X = correlated(rng, 60, 30)
    y = rng.random(60) < sigmoid(2 * X[:, 0] - 2 * X[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = maximize(Logistic(X, y, 1e-3), Uniform(30, 4))
    assert result.status is Status.LOCAL_OPTIMUM


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.floats(0.0, 1.0),
    st.sampled_from(["logistic", "poisson", "gamma", "multinomial"]),
)
def test_damped_models_keep_the_slope(seed, damping, kind):
    # Whatever the curvature, a model predicts no gain where the slope is zero, and one where it is not.
    rng = np.random.default_rng(seed)
    objective = quiet(some_family, rng, kind, 8)
    state = quiet(objective.start, [0, 3])
    model = state.model(np.arange(8), damping)
    fitted = model.start(np.array([0, 3]))
    scores = state.screening_scores()
    for element in (1, 2, 5):
        gained = model(np.array([0, 3, element])) - fitted.value
        assert gained >= -1e-9
        assert (gained > 1e-10) == (scores[element] > 1e-7) or scores[element] < 1e-5


def test_the_model_of_a_graph_is_its_second_order_expansion():
    rng = np.random.default_rng(5)
    for fields in (False, True):
        objective = some_graph(rng, fields)
        state = objective.start([0, 2])
        elements = np.arange(objective.n)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("swapwise.graphs.ising.state.LEAST_MODEL_RIDGE", 0.0)
            model = state.model(elements)
        # At the fit, the model's best coefficients are the fit itself, and its curvature is the Hessian.
        np.testing.assert_allclose(model.coef([0, 2]), state.coef, atol=1e-6)
        gram = model.design.gram(elements, elements) + model.ridge * np.eye(objective.n)
        hessian = objective.hessian_at(state.coef, elements)
        np.testing.assert_allclose(gram / gram[0, 0], hessian / hessian[0, 0], atol=1e-4)


def test_the_limit_on_models_holds(monkeypatch):
    monkeypatch.setattr(model_rounds, "MOST_MODELS", 2)
    objective, constraint = hard_logistic(), Uniform(300, 8)
    rounds, state = ModelRounds(constraint, 1e-10), objective.start()
    made = 0
    while rounds.advance(state, Budget(Clock())):
        made += 1
    assert made <= 2
