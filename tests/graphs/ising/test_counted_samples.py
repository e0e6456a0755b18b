"""Many samples of -1 and +1 are fitted from counts: the same as sample by sample."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.graphs.ising import counts, open
from swapwise.moves import MoveList


def dependent_spins(seed, samples=120, vertices=6):
    rng = np.random.default_rng(seed)
    spins = rng.choice([-1.0, 1.0], (samples, vertices))
    for v in range(1, vertices):
        spins[:, v] = np.where(rng.random(samples) < 0.7, spins[:, v // 2], spins[:, v])
    return spins


@pytest.fixture
def counting(monkeypatch):
    """Return a function that makes an objective of counts, and another of samples, of the same data."""

    def both(*arguments):
        made = []
        for fewest, kind in ((0, "CountedSamples"), (10**9, "Samples")):
            monkeypatch.setattr(open, "FEWEST_COUNTED", fewest)
            made.append(sw.graphs.IsingPseudoLikelihood(*arguments))
            assert type(made[-1].data).__name__ == kind
        return made

    return both


@given(seed=st.integers(0, 10_000), fields=st.booleans(), ridge=st.sampled_from([0.01, 0.5]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_coefficients_gradients_and_gains(counting, seed, fields, ridge):
    rng = np.random.default_rng(seed)
    counted, plain = counting(dependent_spins(seed), ridge, fields)
    support = np.sort(rng.permutation(counted.n)[: rng.integers(0, 8)])
    assert counted(support) == pytest.approx(plain(support), abs=1e-10)
    np.testing.assert_allclose(counted.coef(support), plain.coef(support), atol=1e-8)
    here, there = counted.start(support), plain.start(support)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-9)
    added = np.setdiff1d(np.arange(counted.n), support)[:5, None]
    moves = MoveList(added, np.full((len(added), 0), -1))
    np.testing.assert_allclose(here.gains(moves), there.gains(moves), atol=1e-10)
    coef = rng.normal(size=counted.n) * 0.2
    assert counted.value_at(coef) == pytest.approx(plain.value_at(coef), abs=1e-10)
    np.testing.assert_allclose(counted.gradient_at(coef), plain.gradient_at(coef), atol=1e-9)
    some = np.arange(3)
    np.testing.assert_allclose(counted.hessian_at(coef, some), plain.hessian_at(coef, some), atol=1e-6)


@pytest.mark.parametrize("most", [0, 1, 6])
@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious"])
def test_same_graph_whether_degrees_are_counted_or_not(method, most, counting, monkeypatch):
    monkeypatch.setattr(counts, "MOST_COUNTED", most)
    counted, plain = counting(dependent_spins(3), 0.01, True)
    constraint = sw.BMatching(plain.edges, 2)
    here, there = (sw.maximize(one, constraint, method) for one in (counted, plain))
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.coef, there.coef, atol=1e-8)
    assert here.n_passes is None


def test_estimators_and_certificates(monkeypatch):
    spins = dependent_spins(4, samples=2500)
    fitted = sw.IsingGraph(2).fit(spins)
    proven = fitted.certify(spins, time_limit=None)
    monkeypatch.setattr(open, "FEWEST_COUNTED", 10**9)
    plain = sw.IsingGraph(2).fit(spins)
    np.testing.assert_array_equal(fitted.support_, plain.support_)
    np.testing.assert_allclose(fitted.coupling_, plain.coupling_, atol=1e-8)
    assert proven.upper_bound == pytest.approx(plain.certify(spins, time_limit=None).upper_bound, abs=1e-8)


@pytest.mark.parametrize(
    ("spins", "kind"),
    [
        (np.ones((1999, 2)), "Samples"),
        (np.ones((2000, 2)), "CountedSamples"),
        (np.ones((2000, 2), dtype=int), "CountedSamples"),
        (np.full((2000, 2), 0.5), "Samples"),
    ],
)
def test_what_is_counted(spins, kind):
    spins[::2] *= -1
    f = sw.graphs.IsingPseudoLikelihood(spins)
    assert type(f) is sw.graphs.IsingPseudoLikelihood
    assert type(f.data).__name__ == kind


def test_a_pickled_objective_goes_on(counting):
    f, _ = counting(dependent_spins(5), 0.01, True)
    assert pickle.loads(pickle.dumps(f))([0, 3]) == f([0, 3])
