"""A weight of 2 is the same sample twice, a weight of 0 is none, wherever samples are kept."""

import dask.array as da
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.graphs.ising import counts, open, reductions
from swapwise.moves import MoveList

STORAGES = ("samples", "counted", "chunks", "chunks of 0 and 1")


@st.composite
def problems(draw, storages=STORAGES):
    """Few samples and vertices, of whole and broken weights: constant and equal vertices are frequent."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_samples, n_vertices = draw(st.integers(2, 25)), draw(st.integers(2, 5))
    spins = np.sign(rng.standard_normal((n_samples, n_vertices)) + 0.7 * rng.standard_normal((n_samples, 1)))
    if draw(st.booleans()):
        spins[:, 1] = spins[:, 0]
    times = rng.integers(draw(st.integers(0, 1)), 4, n_samples)
    times[0] += not times.any()
    storage = draw(st.sampled_from(storages))
    if storage == "samples" and np.count_nonzero(times) > 2 and draw(st.booleans()):
        spins = spins + 0.1 * rng.standard_normal(spins.shape)
    options = {"ridge": draw(st.sampled_from([0.01, 0.3])), "fields": draw(st.booleans())}
    return spins, times, draw(st.sampled_from([1.0, 1e-3, 7.5])), storage, options


def objective(spins, storage, monkeypatch, rows_at_once=4, **options):
    monkeypatch.setattr(open, "FEWEST_COUNTED", 0 if storage == "counted" else 10**9)
    monkeypatch.setattr(reductions, "ROWS_AT_ONCE", 3)
    if storage.startswith("chunks"):
        spins = (spins + 1) / 2 if storage.endswith("0 and 1") else spins
        spins = ChunkedMatrix(ArrayChunks(spins, rows_at_once))
    return sw.graphs.IsingPseudoLikelihood(spins, **options)


def both(problem, monkeypatch):
    """Return the objective of weighted samples, and that of the samples as often as they were seen."""
    spins, times, unit, storage, options = problem
    expanded = sw.graphs.IsingPseudoLikelihood(np.repeat(spins, times, axis=0), **options)
    return objective(spins, storage, monkeypatch, sample_weight=unit * times, **options), expanded


with_fixtures = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.filterwarnings("ignore:column . of spins never changes sign")
@with_fixtures
@given(problem=problems(), data=st.data())
def test_every_number_is_that_of_the_expanded_samples(monkeypatch, problem, data):
    weighted, expanded = both(problem, monkeypatch)
    masks = st.lists(st.booleans(), min_size=expanded.n, max_size=expanded.n)
    support = np.flatnonzero(data.draw(masks))
    assert weighted(support) == pytest.approx(expanded(support), abs=1e-12)
    np.testing.assert_allclose(weighted.coef(support), expanded.coef(support), atol=1e-9)
    coef = np.where(data.draw(masks), np.linspace(-0.5, 0.7, expanded.n), 0.0)
    assert weighted.value_at(coef) == pytest.approx(expanded.value_at(coef), abs=1e-12)
    np.testing.assert_allclose(weighted.gradient_at(coef), expanded.gradient_at(coef), atol=1e-9)
    columns = np.arange(min(3, expanded.n))
    np.testing.assert_allclose(weighted.curvature(columns), expanded.curvature(columns), atol=1e-12)
    np.testing.assert_allclose(
        weighted.hessian_at(coef, columns), expanded.hessian_at(coef, columns), atol=1e-6
    )
    assert weighted.smoothness(3) == pytest.approx(expanded.smoothness(3), rel=1e-12)
    assert weighted.upper_bound() == pytest.approx(expanded.upper_bound(), abs=1e-12)
    np.testing.assert_allclose(weighted.edge_curvature, expanded.edge_curvature, atol=1e-12)


@pytest.mark.filterwarnings("ignore:column . of spins never changes sign")
@with_fixtures
@given(problem=problems(), data=st.data())
def test_states_score_moves_as_of_the_expanded_samples(monkeypatch, problem, data):
    weighted, expanded = both(problem, monkeypatch)
    support = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=expanded.n, max_size=expanded.n)))
    outside = np.setdiff1d(np.arange(expanded.n), support)
    dropped = support[:1] if len(support) else np.array([-1])
    moves = MoveList(outside[:, None], np.full((len(outside), 1), dropped[0]))
    here, there = (f.start(support) for f in (weighted, expanded))
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-9)
    np.testing.assert_allclose(here.gains(moves), there.gains(moves), atol=1e-11)
    np.testing.assert_allclose(here.move_smoothness(moves), there.move_smoothness(moves), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:column . of spins never changes sign")
@with_fixtures
@given(problem=problems(("samples", "counted")), data=st.data())
def test_summands_are_those_of_the_expanded_samples(monkeypatch, problem, data):
    weighted, expanded = both(problem, monkeypatch)
    coef = expanded.coef(range(0, expanded.n, 2))
    for here, there in zip(weighted.summands(coef), expanded.summands(coef), strict=True):
        np.testing.assert_array_equal(here.elements, there.elements)
        size = data.draw(st.integers(0, len(here.elements)))
        subsets = np.arange(size)[None, :]
        np.testing.assert_allclose(here.bounds(subsets), there.bounds(subsets), atol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("method", ["oblivious", "non-oblivious", "modular"])
def test_searches_and_certificates(storage, method, monkeypatch):
    rng = np.random.default_rng(2)
    spins = np.sign(rng.standard_normal((60, 6)) + 0.8 * rng.standard_normal((60, 1)))
    times = rng.integers(0, 5, 60)
    weighted, expanded = both((spins, times, 1.0, storage, {"ridge": 0.05, "fields": True}), monkeypatch)
    # Models come first in memory only, and may lead to another local optimum.
    start = "empty" if storage.startswith("chunks") else "auto"
    here, there = (
        sw.maximize(f, sw.BMatching(f.edges, 2), method, start=start) for f in (weighted, expanded)
    )
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.coef, there.coef, atol=1e-9)
    assert str(here.guarantee) == str(there.guarantee)
    if not storage.startswith("chunks"):
        proofs = [
            sw.certify(f, sw.BMatching(f.edges, 2), one) for f, one in ((weighted, here), (expanded, there))
        ]
        assert proofs[0].upper_bound == pytest.approx(proofs[1].upper_bound, abs=1e-8)
        assert proofs[0].upper_bound >= here.value - 1e-9


def test_weights_take_no_passes_and_may_leave_out_whole_chunks():
    spins = np.sign(np.random.default_rng(3).standard_normal((40, 4)))
    weight = np.arange(40.0)
    weight[10:20] = 0.0
    spins[12], spins[15] = 9.0, 7.0  # which are not looked at
    chunks = da.from_array(spins, chunks=(10, 4))
    weighted = sw.graphs.IsingPseudoLikelihood(chunks, 0.1, True, sample_weight=weight)
    kept = np.flatnonzero(weight)
    expected = sw.graphs.IsingPseudoLikelihood(np.repeat(spins[kept], kept, axis=0), 0.1, True)
    assert weighted.n_passes == 1
    assert weighted([0, 3]) == pytest.approx(expected([0, 3]), abs=1e-12)
    assert weighted.n_passes == 2
    weight[15] = 1.0
    with pytest.raises(ValueError, match=r"got 7 at position \(15, 0\), in chunk 1"):
        sw.graphs.IsingPseudoLikelihood(chunks, sample_weight=weight)


def test_gradients_from_a_pass_of_their_own_are_weighted(monkeypatch):
    monkeypatch.setattr(counts, "MOST_SUMS", 0)
    monkeypatch.setattr(reductions, "MOST_IN_A_TABLE", 0)
    rng = np.random.default_rng(4)
    spins, times = np.sign(rng.standard_normal((30, 4))), rng.integers(0, 3, 30)
    options = {"ridge": 0.1, "fields": True}
    weighted, expanded = both((spins, times, 1.0, "chunks", options), monkeypatch)
    np.testing.assert_allclose(weighted.start([0]).gradient, expanded.start([0]).gradient, atol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
def test_equal_weights_change_nothing(storage, monkeypatch):
    spins = np.sign(np.random.default_rng(5).standard_normal((30, 4)))
    plain = objective(spins, storage, monkeypatch)
    weighted = objective(spins, storage, monkeypatch, sample_weight=np.full(30, 0.3))
    assert weighted([0, 2]) == plain([0, 2])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (np.ones(3), ValueError, "sample_weight must have length 4, got length 3"),
        ([1, 1, -2, 1], ValueError, "sample_weight must be non-negative, got -2.0 at position 2"),
        ([1, np.nan, 1, 1], ValueError, "sample_weight must be finite, got nan at position 1"),
        (np.zeros(4), ValueError, "sample_weight must have a positive entry, got zeros only"),
        (np.ones((4, 1)), ValueError, "sample_weight must be one-dimensional"),
        (list("abcd"), TypeError, "sample_weight must hold real numbers"),
    ],
)
def test_wrong_weights_are_refused(storage, weight, error, message, monkeypatch):
    spins = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    with pytest.raises(error, match=message):
        objective(spins, storage, monkeypatch, sample_weight=weight)
