"""Nodes of the relaxation: what follows when elements are fixed."""

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import leaf
from swapwise.certify.bounds import cancellation
from swapwise.certify.branching import BranchAndBound
from swapwise.certify.nodes import SetNode
from swapwise.certify.proximal import Proximal, WorkingPoint, WorkingSet
from swapwise.certify.region import Region


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
@pytest.mark.parametrize("seed", range(25))
def test_tangents_far_out_prove_nothing_that_is_false(seed):
    """Where the intercept has not converged, or values are so large that nothing is left of differences."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 5)) * 10.0 ** rng.integers(-1, 5, 5)
    f = sw.Poisson(X, rng.poisson(3.0, 9), ridge=1e-6, offset=rng.standard_normal(9))
    pairs = sw.Uniform(5, 2)
    best = sw.maximize(f, pairs, "exhaustive").value
    for far in (0.0, 1e-3, 1.0, 1e3):
        coef = far * rng.standard_normal(5)
        start = WorkingPoint(np.arange(5), np.full(5, 0.4), coef, np.ones(5, dtype=int))
        relaxation = Proximal(f, Region.of(pairs), np.full(5, 1e-6), WorkingSet(f), start)
        assert relaxation.dual.bound >= best - 1e-8 * max(best, f.scale)


def test_a_root_that_was_never_put_leaves_everything_open(monkeypatch):
    f, pairs = sw.LeastSquares(np.eye(4), [1.0, 2.0, 3.0, 4.0]), sw.Uniform(4, 2)
    tree = BranchAndBound(f, pairs, np.array([0, 1]), f([0, 1]))

    def interrupt(self, node):
        raise KeyboardInterrupt

    monkeypatch.setattr(BranchAndBound, "_put", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tree.set_root(SetNode(f, Region.of(pairs)))
    assert tree.upper_bound == np.inf
