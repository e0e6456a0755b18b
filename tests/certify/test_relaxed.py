"""Nodes of the relaxation: what follows when elements are fixed."""

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import leaf
from swapwise.certify.bounds import cancellation


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
