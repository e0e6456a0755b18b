"""Ising objectives on data in chunks: the same numbers as in memory, in few passes."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import BMatching, maximize
from swapwise.data import mapped
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ArrayChunks
from swapwise.data.reductions import Reduction
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.graphs.ising import counts, reductions
from swapwise.moves import MoveList


def dependent_spins(n_samples=120, n_vertices=6, seed=0):
    """Spins that lean on those before them, differently often +1."""
    rng = np.random.default_rng(seed)
    spins = np.empty((n_samples, n_vertices))
    for v in range(n_vertices):
        pull = 0.9 * spins[:, v - 1] + 0.5 * spins[:, v // 2] if v else 0.3
        spins[:, v] = np.where(rng.standard_normal(n_samples) + pull > 0, 1.0, -1.0)
    return spins


def in_chunks(spins, rows_at_once=50):
    return ChunkedMatrix(ArrayChunks(spins, rows_at_once))


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a function that stores an array and opens it, to be read some rows at a time."""
    monkeypatch.setattr(mapped, "CHUNK_BYTES", 1000)

    def store(array):
        np.save(tmp_path / "spins.npy", array)
        return np.load(tmp_path / "spins.npy", mmap_mode="r")

    return store


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_samples, n_vertices = draw(st.integers(3, 40)), draw(st.integers(2, 6))
    spins = np.sign(rng.standard_normal((n_samples, n_vertices)) + 0.7 * rng.standard_normal((n_samples, 1)))
    if draw(st.booleans()):
        spins[:, 0] = 1.0
    options = {"ridge": draw(st.sampled_from([0.01, 0.3])), "fields": draw(st.booleans())}
    if draw(st.booleans()):
        pairs = [(j, i) for i in range(n_vertices) for j in range(i + 1, n_vertices)]
        options["edges"] = draw(st.permutations(pairs))[: draw(st.integers(1, len(pairs)))]
    return spins, options, draw(st.integers(1, n_samples))


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans(), st.data())
def test_every_number_is_that_of_data_in_memory(problem, as_zeros, data):
    spins, options, rows_at_once = problem
    plain = IsingPseudoLikelihood(spins, **options)
    chunked = IsingPseudoLikelihood(
        in_chunks((spins + 1) / 2 if as_zeros else spins, rows_at_once), **options
    )
    assert chunked.edges == plain.edges
    masks = st.lists(st.booleans(), min_size=plain.n, max_size=plain.n)
    support = np.flatnonzero(data.draw(masks))
    assert chunked(support) == pytest.approx(plain(support), abs=1e-10)
    np.testing.assert_allclose(chunked.coef(support), plain.coef(support), atol=1e-8)
    varies = spins.std(axis=0) > 0  # the field of a vertex that never varies has no maximum
    np.testing.assert_allclose(chunked.biases(support)[varies], plain.biases(support)[varies], atol=1e-8)
    coef = np.where(data.draw(masks), np.linspace(-0.5, 0.7, plain.n), 0.0)
    assert chunked.value_at(coef) == pytest.approx(plain.value_at(coef), abs=1e-10)
    np.testing.assert_allclose(chunked.gradient_at(coef), plain.gradient_at(coef), atol=1e-8)
    columns = np.arange(min(3, plain.n))
    np.testing.assert_allclose(chunked.curvature(columns), plain.curvature(columns), atol=1e-10)
    np.testing.assert_allclose(chunked.hessian_at(coef, columns), plain.hessian_at(coef, columns), atol=1e-6)
    assert chunked.smoothness(3) == pytest.approx(plain.smoothness(3))


@settings(max_examples=30, deadline=None)
@given(problems(), st.data())
def test_states_score_moves_and_slope_as_in_memory(problem, data):
    spins, options, rows_at_once = problem
    plain = IsingPseudoLikelihood(spins, **options)
    chunked = IsingPseudoLikelihood(in_chunks(spins, rows_at_once), **options)
    support = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=plain.n, max_size=plain.n)))
    outside = np.setdiff1d(np.arange(plain.n), support)
    dropped = support[:1] if len(support) else np.array([-1])
    moves = MoveList(outside[:, None], np.full((len(outside), 1), dropped[0]))
    states = [objective.start(support) for objective in (plain, chunked)]
    np.testing.assert_allclose(states[1].gradient, states[0].gradient, atol=1e-8)
    np.testing.assert_allclose(states[1].gains(moves), states[0].gains(moves), atol=1e-9)
    np.testing.assert_allclose(states[1].move_smoothness(moves), states[0].move_smoothness(moves))


KINDS = {
    "file": lambda spins, store: store(spins),
    "file of 0 and 1": lambda spins, store: store((spins > 0).astype(np.int8)),
    "file of booleans": lambda spins, store: store(spins > 0),
    "file by columns": lambda spins, store: store(np.asfortranarray(spins)),
    "name of a file": lambda spins, store: store(spins).filename,
    "array": lambda spins, store: da.from_array(spins, chunks=(37, 4)),
    "frame": lambda spins, store: dd.from_pandas(pd.DataFrame(spins > 0), npartitions=4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_searches_find_what_they_find_in_memory(kind, stored):
    spins = dependent_spins()
    plain = IsingPseudoLikelihood(spins, 0.01, True)
    chunked = IsingPseudoLikelihood(KINDS[kind](spins, stored), 0.01, True)
    assert type(chunked) is IsingPseudoLikelihood
    limits = BMatching(plain.edges, 2)
    for start in ("empty", "modular"):
        here, there = (maximize(f, limits, "non-oblivious", start=start) for f in (plain, chunked))
        np.testing.assert_array_equal(there.support, here.support)
        np.testing.assert_allclose(there.coef, here.coef, atol=1e-8)
        np.testing.assert_allclose(chunked.biases(there.support), plain.biases(here.support), atol=1e-8)


@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious", "greedy", "modular"])
@pytest.mark.parametrize(("ridge", "fields"), [(0.0, False), (0.0, True), (0.01, False), (0.01, True)])
def test_every_method_works(method, ridge, fields):
    spins = dependent_spins(seed=1)
    plain, chunked = (IsingPseudoLikelihood(X, ridge, fields) for X in (spins, in_chunks(spins)))
    here, there = (maximize(f, BMatching(f.edges, 2), method, start="empty") for f in (plain, chunked))
    np.testing.assert_array_equal(there.support, here.support)
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-8)
    assert there.n_iter == here.n_iter
    assert str(there.guarantee) == str(here.guarantee)


class CountedBlocks(ArrayChunks):
    """Blocks that count how often they are gone through."""

    n_folds = 0

    def reduce(self, work: Reduction, *rows):
        self.n_folds += 1
        return super().reduce(work, *rows)


def counted_objective(**options):
    blocks = CountedBlocks(dependent_spins(), 50)
    return blocks, IsingPseudoLikelihood(ChunkedMatrix(blocks), 0.01, True, **options)


def plain_objective():
    return IsingPseudoLikelihood(dependent_spins(), 0.01, True)


@pytest.mark.parametrize("begin", [0.0, 3.0, -3.0, 1e5])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_refits_come_home_from_anywhere(ridge, begin):
    spins = dependent_spins()
    plain, chunked = (IsingPseudoLikelihood(X, ridge, True) for X in (spins, in_chunks(spins)))
    support = np.arange(0, chunked.n, 2)
    parameters = np.full(len(support) + chunked.n_vertices, begin)
    here, there = (f.fit_from(support, parameters) for f in (plain, chunked))
    assert there[0] == pytest.approx(here[0], abs=1e-10)
    np.testing.assert_allclose(there[1], here[1], atol=1e-8)
    np.testing.assert_allclose(there[1], chunked.fit_from(support, there[1])[1], atol=1e-8)


def test_gradients_with_given_fields():
    coef, fields = np.linspace(-0.4, 0.5, 15), np.linspace(-1.0, 1.0, 6)
    gradients = [f.gradient_with(coef, fields) for f in (plain_objective(), counted_objective()[1])]
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-10)


def test_a_round_is_at_most_one_pass_and_the_first_has_none(monkeypatch):
    results = []
    for ahead in (0, 8):
        monkeypatch.setattr(counts, "READ_AHEAD", ahead)
        blocks, f = counted_objective()
        assert f.n_passes == blocks.n_folds == 1
        results.append(maximize(f, BMatching(f.edges, 2), "non-oblivious"))
        assert results[-1].n_passes == f.n_passes == blocks.n_folds
    alone, ahead = results
    assert alone.n_iter > 2
    assert alone.n_passes == 1 + alone.n_iter
    assert ahead.n_passes < alone.n_passes
    np.testing.assert_array_equal(ahead.support, alone.support)
    np.testing.assert_array_equal(ahead.coef, alone.coef)


def test_gains_of_many_moves_are_one_pass_and_what_was_counted_is_remembered():
    blocks, f = counted_objective()
    maximize(f, BMatching(f.edges, 2), "modular")
    assert f.n_passes == blocks.n_folds == 3  # the first look, single edges, what they lead to
    f.start([0])
    assert f.n_passes == blocks.n_folds == 3


def test_many_moves_are_scored_some_at_a_time(monkeypatch):
    spins = dependent_spins()
    expected = maximize(IsingPseudoLikelihood(spins), BMatching.complete(6, 2), "modular")
    monkeypatch.setattr(counts, "MOVES_PER_PASS", 4)
    monkeypatch.setattr(counts, "MOST_REMEMBERED", 10)
    chunked = IsingPseudoLikelihood(in_chunks(spins))
    found = maximize(chunked, BMatching.complete(6, 2), "modular")
    np.testing.assert_array_equal(found.support, expected.support)
    assert found.n_passes == 6  # the first look, 15 edges by fours, what they lead to
    assert len(chunked.data._counted) <= 10 + 6


def test_sums_that_are_too_many_to_keep_take_passes_of_their_own(monkeypatch):
    _, kept = counted_objective()
    monkeypatch.setattr(counts, "MOST_SUMS", 0)
    monkeypatch.setattr(reductions, "MOST_IN_A_TABLE", 0)
    monkeypatch.setattr(reductions, "ROWS_AT_ONCE", 7)
    blocks, f = counted_objective()
    there, here = (maximize(one, BMatching(one.edges, 2), "non-oblivious") for one in (f, kept))
    np.testing.assert_array_equal(there.support, here.support)
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-8)
    assert there.n_passes == blocks.n_folds == 1 + 2 * there.n_iter
    coef = np.linspace(-0.4, 0.5, f.n)
    np.testing.assert_allclose(f.gradient_at(coef), plain_objective().gradient_at(coef), atol=1e-8)


def test_a_pickled_objective_goes_on():
    f = IsingPseudoLikelihood(in_chunks(dependent_spins()), 0.01, True)
    again = pickle.loads(pickle.dumps(f))
    assert again([0, 3]) == f([0, 3])
    assert again.n_passes == 2


def test_separable_data_are_warned_of_as_in_memory():
    spins = np.repeat(dependent_spins(n_vertices=1), 2, axis=1)
    with pytest.warns(UserWarning, match=r"separable: the best coupling of \(0, 1\)"):
        IsingPseudoLikelihood(in_chunks(spins)).coef([0])


def test_vertices_have_so_many_neighbours_at_the_most():
    star = [(0, v) for v in range(1, 71)]
    spins = np.where(np.random.default_rng(0).random((9, 71)) < 0.5, -1.0, 1.0)
    f = IsingPseudoLikelihood(in_chunks(spins, 4), 0.1, edges=star)
    many = np.arange(62)
    assert f(many) == pytest.approx(IsingPseudoLikelihood(spins, 0.1, edges=star)(many), abs=1e-10)
    with pytest.raises(ValueError, match="at most 62 neighbours per vertex, got 63 at vertex 0"):
        f(range(63))


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            (np.nan, "X must be finite, got nan"),
            (np.inf, "X must be finite, got inf"),
            (7.0, "X must hold 0 and 1, booleans, or -1 and \\+1, the same for all columns, got 7"),
            (0.0, "X must hold 0 and 1, booleans, or -1 and \\+1, the same for all columns, got 0"),
        ],
    )
    def test_a_wrong_entry_is_named_with_its_chunk(self, value, problem):
        spins = dependent_spins()
        spins[80, 2] = value
        with pytest.raises(
            ValueError, match=rf"{problem} at position \(80, 2\), in chunk 2 \(rows 74 to 110\)"
        ):
            IsingPseudoLikelihood(da.from_array(spins, chunks=(37, 6)))

    def test_a_wrong_entry_of_a_file(self, stored):
        spins = dependent_spins()
        spins[80, 2] = np.nan
        with pytest.raises(
            ValueError, match=r"must be finite, got nan at .*; missing values need data in mem"
        ):
            IsingPseudoLikelihood(stored(spins))

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"ridge": -1}, "ridge must be a non-negative number, got -1"),
            ({"fields": 1}, "fields must be True or False, got 1"),
            ({"edges": [(0, 0)]}, "an edge must join two different vertices"),
        ],
    )
    def test_options_are_checked_before_the_data_are_read(self, options, problem):
        blocks = CountedBlocks(dependent_spins(), 50)
        with pytest.raises((TypeError, ValueError), match=problem):
            IsingPseudoLikelihood(ChunkedMatrix(blocks), **options)
        assert blocks.n_folds == 0

    def test_a_small_file_of_real_numbers_is_taken_as_in_memory(self, tmp_path):
        numbers = np.random.default_rng(0).standard_normal((30, 3))
        np.save(tmp_path / "numbers.npy", numbers)
        mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r")
        f = IsingPseudoLikelihood(mapped, 0.1)
        assert f([0]) == IsingPseudoLikelihood(numbers, 0.1)([0])
        assert f.n_passes is None
