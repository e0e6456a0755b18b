"""Proofs of small problems, made in the ways that are meant for large ones."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import leaf, problem, prover, proximal, subsets, summands, working_set
from swapwise.graphs.gaussian import columns
from swapwise.graphs.ising import summands as vertices
from swapwise.objectives import block_columns
from swapwise.objectives.least_squares import objective as regressions
from swapwise.theory import constants, diagonal
from tests.fuzz.families import some_family

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*allows only the empty set",
    "ignore:.*did not converge",
    "ignore:.*linearly independent",
    "ignore:.*never changes sign",
    "ignore:.*no strong-concavity bound",
    "ignore:.*separable",
    "ignore:.*span all that could be added",
)

# What lies above these is done in other ways.
THRESHOLDS = [
    (summands, "MOST_SETS", 0),
    (summands, "NUMBERS_AT_ONCE", 1),
    (subsets, "FEW_SETS", 2),
    (subsets, "CHUNK", 3),
    (subsets, "MOST_LISTED", 3),
    (subsets, "WORK_PER_BOUND", 1),
    (vertices, "NUMBERS_AT_ONCE", 1),
    (leaf, "MOST_SETS", 3),
    (leaf, "QUICK", 1),
    (leaf, "FEW", 1),
    (leaf, "FEW_FITS", 2),
    (leaf, "MOST_FOUND", 1),
    (leaf, "LARGEST_WITH_PARTS", 1),
    (working_set, "MOST_ELEMENTS", 2),
    (working_set, "COLUMNS_UP_TO", 3),
    (proximal, "ALL_UP_TO", 1),
    (proximal, "FIRST_ELEMENTS", 2),
    (problem, "PRODUCTS_UP_TO", 2),
    (problem, "WIDE_PRODUCTS_UP_TO", 2),
    (prover, "FEW_ELEMENTS", 2),
    (columns, "KEPT_UP_TO", 2),
    (columns, "PRODUCTS_AT_ONCE", 3),
    (block_columns, "CHUNK_ENTRIES", 2),
    (regressions, "GRAM_UP_TO", 3),
    (regressions, "FEW_COLUMNS", 2),
    (constants, "WHOLE_UP_TO", 2),
    (diagonal, "EIGENVALUES_UP_TO", 2),
]


def some_graph(random):
    """Return the pseudo-likelihood of a graph of spins or of Gaussian columns, and its edges."""
    edges = [edge for edge in combinations(range(int(random.integers(4, 6))), 2) if random.random() < 0.9]
    data = random.standard_normal((random.integers(3, 20), 5)) + random.integers(3) * random.standard_normal()
    ridge = float(random.choice([0.0, 1e-3, 0.1]))
    if random.random() < 0.5:
        return sw.graphs.GaussianPseudoLikelihood(data, ridge, edges), edges
    return sw.graphs.IsingPseudoLikelihood(np.sign(data), ridge, bool(random.integers(2)), edges), edges


def some_regression(random):
    """Return least squares of columns that may be equal or more than the samples."""
    n = int(random.integers(5, 9))
    X = random.standard_normal((random.integers(3, 15), n))
    X[:, 1] = X[:, random.integers(n)]
    ridge = float(random.choice([0.0, 1e-3, 0.3]))
    return sw.LeastSquares(X, X[:, 0] + random.standard_normal(len(X)), ridge), random.integers(0, 5, (n, 2))


@pytest.mark.parametrize("make", [some_graph, some_regression])
@pytest.mark.parametrize("seed", [*range(40), 548, 655])
def test_no_set_is_above_a_bound_whatever_counts_as_large(make, seed, monkeypatch):
    random = np.random.default_rng(seed)
    objective, edges = make(random)
    family = some_family(random, objective.n, [(int(u), int(v)) for u, v in edges])
    sets = [sorted(chosen) for chosen in family.answers(objective.n)]
    if not sets or not family.honest:
        pytest.skip("there is nothing to choose")
    values = [objective(chosen) for chosen in sets]
    best, constraint = max(values), family.make()
    for module, name, value in THRESHOLDS:
        if random.random() < 0.5:
            monkeypatch.setattr(module, name, value)
    result = sw.exact(objective, constraint)
    certificates = [result.certificate, sw.certify(objective, constraint, sets[random.integers(len(sets))])]
    for certificate in certificates:
        assert min(certificate.bounds.values()) >= best - 1e-9 * max(1.0, best)
    assert result.value >= best - 1e-8 or result.status is not sw.Status.OPTIMAL


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_nothing_is_fixed_by_a_relaxation_that_bounds_nothing(monkeypatch):
    monkeypatch.setattr(leaf, "FEW_FITS", 2)
    random = np.random.default_rng(4)
    X = random.standard_normal((8, 6)) * [1, 1e5, 1, 1, 1, 1]
    y = (X[:, 0] > 0).astype(int)
    y[:2] = 0, 1  # the classes are separable by many pairs, far out
    objective = sw.Logistic(X, y, 1e-6, fit_intercept=False)
    best = max(objective(pair) for pair in combinations(range(6), 2))
    assert sw.certify(objective, sw.Uniform(6, 2, 2), [0, 1], max_nodes=40).upper_bound >= best - 1e-9
