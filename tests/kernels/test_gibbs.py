"""Gibbs sweeps, against the same in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise import kernels
from swapwise.kernels import _baseline


def plain_sweep(spins, neighbours, couplings, uniforms):
    for row in uniforms:
        for v, uniform in enumerate(row):
            pull = sum(couplings[v] * spins[neighbours[v]])
            spins[v] = 1.0 if uniform < 1.0 / (1.0 + np.exp(-2.0 * pull)) else -1.0


@pytest.mark.parametrize("level", [kernels._compiled, _baseline])
@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(0, 4), st.integers(0, 9))
def test_sweeps_are_those_of_plain_python(level, seed, n_vertices, degree, turns):
    rng = np.random.default_rng(seed)
    spins = rng.choice([-1.0, 1.0], n_vertices)
    neighbours = rng.integers(0, max(n_vertices, 1), (n_vertices, degree))
    couplings = rng.standard_normal((n_vertices, degree)) * rng.choice([0.1, 1.0, 30.0])
    uniforms = rng.random((turns, n_vertices))
    expected = spins.copy()
    plain_sweep(expected, neighbours, couplings, uniforms)
    level.gibbs.sweep(spins, neighbours, couplings, uniforms)
    assert spins.tolist() == expected.tolist()


def test_strong_pulls_hold_spins():
    spins = np.array([1.0, 1.0])
    couplings = np.array([[1000.0], [-1000.0]])
    kernels.gibbs.sweep(spins, np.array([[0], [0]]), couplings, np.array([[0.999, 0.001]]))
    assert spins.tolist() == [1.0, -1.0]


def test_spins_are_changed_in_place_or_not_at_all():
    with pytest.raises(TypeError):
        kernels.gibbs.sweep(
            np.ones(2, dtype=int), np.zeros((2, 1), dtype=int), np.ones((2, 1)), np.ones((1, 2))
        )
