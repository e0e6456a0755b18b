"""Nodes of the relaxation: what follows when elements are fixed."""

from contextlib import suppress

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import leaf
from swapwise.certify.branching import BranchAndBound
from swapwise.certify.nodes import SetNode
from swapwise.certify.root import relaxed_root
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from swapwise.theory.bounds import cancellation


def test_elements_without_a_shift_may_be_ruled_out(monkeypatch):
    """Steps are then of another kind, and begin anew."""
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 8)) + random.standard_normal((30, 1))
    X[:, 3] = X[:, 4]
    y = X[:, 0] - X[:, 1] + 2 * random.standard_normal(30)
    objective, constraint = sw.LeastSquares(X, y), sw.Uniform(8, 3)
    result = sw.exact(objective, constraint)
    assert result.status == "OPTIMAL"
    assert result.value == pytest.approx(sw.maximize(objective, constraint, "exhaustive").value)


def test_what_cancels_may_be_infinite():
    assert cancellation(np.array([1e200]), np.ones(1)) == np.inf


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [0, 98, 112, 146, 159])
def test_tangents_far_out_prove_nothing_that_is_false(seed):
    """There the intercept may not have converged, and differences of values are mere rounding."""
    random = np.random.default_rng(seed)
    n, samples = int(random.integers(3, 7)), int(random.integers(5, 12))
    X = random.standard_normal((samples, n))
    X[:, random.integers(n)] *= 10.0 ** random.uniform(1, 5)
    if random.random() < 0.3:
        X[:, random.integers(n)] *= 10.0 ** random.uniform(1, 5)
    eta, ridge = 2 * random.standard_normal(samples), 10.0 ** random.uniform(-8, -4)
    random.integers(0, 3)
    offset = 3 * random.standard_normal(samples)
    f = sw.Poisson(X, random.poisson(np.exp(eta)), ridge=ridge, offset=offset)
    some = sw.Uniform(n, int(random.integers(1, n)))
    best = sw.maximize(f, some, "exhaustive").value
    for target in (0.0, 0.99 * best):
        root = relaxed_root(f, Region.of(some))
        with suppress(OutOfTime):
            root.tighten(target, Clock(1.0))
        assert root.bound >= best * (1 - 1e-9)


def test_a_root_that_was_never_put_leaves_everything_open(monkeypatch):
    f, pairs = sw.LeastSquares(np.eye(4), [1.0, 2.0, 3.0, 4.0]), sw.Uniform(4, 2)
    tree = BranchAndBound(f, pairs, np.array([0, 1]), f([0, 1]))

    def interrupt(self, node):
        raise KeyboardInterrupt

    monkeypatch.setattr(BranchAndBound, "_put", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tree.set_root(SetNode(f, Region.of(pairs)))
    assert tree.upper_bound == np.inf
