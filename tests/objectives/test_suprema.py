"""Bounds on the values of sets on which classes are separable, against fits that run as far as they can."""

import numpy as np
import pytest

import swapwise as sw
from swapwise.clock import Clock
from swapwise.objectives import suprema
from swapwise.objectives.suprema import Margins, supremum

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*separable", "ignore:.*did not converge", "ignore:.*never changes sign", "ignore:y is explained"
)


def some_graph(random, n_samples, weight):
    spins = random.choice([-1.0, 1.0], (n_samples, int(random.integers(3, 7))))
    if random.random() < 0.3:
        spins = np.where(random.random(spins.shape) < 0.15, np.nan, spins)
    return sw.graphs.IsingPseudoLikelihood(spins, fields=bool(random.integers(2)), sample_weight=weight)


def some_regression(random, n_samples, weight):
    n = int(random.integers(3, 7))
    X = (
        random.standard_normal((n_samples, n))
        if random.random() < 0.3
        else random.integers(-1, 2, (n_samples, n))
    )
    options = {
        "sample_weight": weight,
        "fit_intercept": bool(random.integers(2)),
        "groups": np.arange(n) // 2 if random.random() < 0.3 else None,
    }
    if random.random() < 0.5:
        return sw.Multinomial(X, np.append([0, 1, 2], random.integers(0, 3, n_samples - 3)), **options)
    offset = random.standard_normal(n_samples) if random.random() < 0.3 else None
    return sw.Logistic(X, random.integers(0, 2, n_samples), offset=offset, **options)


@pytest.mark.parametrize("make", [some_graph, some_regression])
def test_every_set_has_a_bound_just_above_its_value(make):
    """A fit that runs away ends where nothing more can be gained, so that its value is about the supremum."""
    random, n_separable = np.random.default_rng(0), 0
    for _ in range(60):
        n_samples = int(random.integers(4, 14))
        weight = random.integers(0, 3, n_samples) + (np.arange(n_samples) == 0)
        objective = make(random, n_samples, weight if random.random() < 0.4 else None)
        support = random.permutation(objective.n)[: int(random.integers(1, objective.n + 1))]
        support.sort()
        value, bound = objective(support), objective.upper_bound(support)
        assert value - 1e-13 <= bound <= value + 1e-8
        n_separable += np.abs(objective.coef(support)).max() > 10 and bound < objective.upper_bound() - 1e-6
    assert n_separable > 5


def test_margins_too_many_for_a_linear_program_are_bounded_by_a_perfect_prediction(monkeypatch):
    X, y = np.array([[1.0], [0.0], [0.0], [0.0]]), [1, 1, 0, 0]
    for objective in (
        sw.Logistic(X, y),
        sw.graphs.IsingPseudoLikelihood(np.array([[1, 1], [1, -1], [1, 1]])),
    ):
        monkeypatch.setattr(suprema, "MOST_NUMBERS", 10**9)
        assert objective.margins(np.array([0])) is not None
        for module in ("objectives.glm.likelihood", "graphs.ising.objective"):
            monkeypatch.setattr(f"swapwise.{module}.MOST_NUMBERS", 0)
        assert objective.margins(np.array([0])) is None
        monkeypatch.undo()


def test_columns_that_are_nearly_collinear_have_no_bound():
    """Rounding might be all that makes them differ."""
    x, other = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.0, 0.0, 1e-7, -1e-7])
    for columns, known in (([x], True), ([x, x], True), ([x, x + other], False)):
        rows = np.column_stack(columns)
        assert (
            np.isfinite(supremum(Margins(rows, np.zeros(4), np.arange(4), np.ones(4), 0.0), Clock())) == known
        )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [sw.Logistic, sw.Multinomial])
def test_regressions_are_proven_although_columns_separate_some_samples(kind, seed):
    random, last = np.random.default_rng(seed), 2 if kind is sw.Multinomial else 1
    X, y = random.integers(0, 2, (14, 5)), np.append([0, 1, last], random.integers(0, last + 1, 11))
    assert sw.exact(kind(X, y), sw.Uniform(5, 2)).certificate.optimal
