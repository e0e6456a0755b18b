"""Graphs learnt from data in chunks: files, Dask arrays and frames, against data in memory."""

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.data import mapped

N_VERTICES = 7


def dependent_spins(seed=0, n_samples=150):
    """Spins that lean on those before them."""
    rng = np.random.default_rng(seed)
    spins = np.empty((n_samples, N_VERTICES), dtype=int)
    for v in range(N_VERTICES):
        pull = 0.9 * spins[:, v - 1] + 0.5 * spins[:, v // 2] if v else 0.3
        spins[:, v] = np.where(rng.standard_normal(n_samples) + pull > 0, 1, -1)
    return spins


NAMES = [f"v{v}" for v in range(N_VERTICES)]
CODINGS = {
    "spins": lambda spins: spins.astype(np.float64),
    "0 and 1": lambda spins: (spins + 1) // 2,
    "booleans": lambda spins: spins > 0,
}
KINDS = {
    "file": lambda data, store: store(data),
    "name of a file": lambda data, store: store(data).filename,
    "array": lambda data, store: da.from_array(data, chunks=(41, 3)),
    "frame": lambda data, store: dd.from_pandas(pd.DataFrame(data, columns=NAMES), npartitions=3),
}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a function that stores an array and opens it, to be read some rows at a time."""
    monkeypatch.setattr(mapped, "CHUNK_BYTES", 500)

    def store(array):
        np.save(tmp_path / "data.npy", array)
        return np.load(tmp_path / "data.npy", mmap_mode="r")

    return store


def assert_same_fit(there, here):
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.coupling_, here.coupling_, atol=1e-8)
    np.testing.assert_allclose(there.field_, here.field_, atol=1e-8)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_that_of_data_in_memory(kind, coding, stored):
    data = CODINGS[coding](dependent_spins())
    blocks = KINDS[kind](data, stored)
    here = sw.IsingGraph(2, start="empty").fit(data)
    there = sw.IsingGraph(2, start="empty").fit(blocks)
    assert_same_fit(there, here)
    assert there.result_.n_passes > 1
    assert there.result_.n_passes <= 2 + there.result_.n_iter
    assert there.score(blocks) == pytest.approx(here.score(data), abs=1e-10)
    assert there.score(blocks) == pytest.approx(there.score(_as_given(data, there)), abs=1e-10)
    np.testing.assert_array_equal(there.sample(3), here.sample(3))
    assert np.asarray(there.sample(1)).dtype == here.sample(1).dtype
    assert isinstance(there.sample(1), pd.DataFrame) == (kind == "frame")


def _as_given(data, fitted):
    named = hasattr(fitted, "feature_names_in_")
    return pd.DataFrame(data, columns=fitted.feature_names_in_) if named else data


@pytest.mark.parametrize("method", ["auto", "non-oblivious"])
@pytest.mark.parametrize(("ridge", "fields"), [(0.0, False), (0.0, True), (0.01, False), (0.01, True)])
def test_options_mean_the_same(ridge, fields, method, stored):
    data = dependent_spins(1)
    edges = [(i, j) for i in range(N_VERTICES) for j in range(i) if (i + j) % 3]
    options = {"ridge": ridge, "fields": fields, "method": method, "edges": edges, "start": "modular"}
    assert_same_fit(sw.IsingGraph(2, **options).fit(stored(data)), sw.IsingGraph(2, **options).fit(data))


def test_restarts_and_names(stored):
    data = dependent_spins(2)
    frame = pd.DataFrame(data, columns=NAMES)
    options = {"max_degree": dict.fromkeys(NAMES, 2), "n_restarts": 2, "start": [("v0", "v1")]}
    here = sw.IsingGraph(**options).fit(frame)
    there = sw.IsingGraph(**options).fit(dd.from_pandas(frame, npartitions=3))
    assert_same_fit(there, here)
    assert list(there.graph_) == NAMES
    np.testing.assert_array_equal(there.selection_frequency_, here.selection_frequency_)


def test_a_constant_column_is_warned_of(stored):
    data = dependent_spins()
    data[:, 4] = -1
    with pytest.warns(UserWarning, match="constant columns, from which nothing can be learnt: 4$"):
        sw.IsingGraph(1).fit(stored(data))


def test_other_data_are_scored_in_the_coding_of_fit(stored):
    data = (dependent_spins() + 1) // 2
    model = sw.IsingGraph(2).fit(data)
    others = (dependent_spins(5) + 1) // 2
    assert model.score(stored(others)) == pytest.approx(model.score(others), abs=1e-10)
    ones = np.ones_like(others)
    assert model.score(stored(ones)) == pytest.approx(model.score(ones), abs=1e-10)
    chunked = da.from_array(dependent_spins(5), chunks=(41, N_VERTICES))
    with pytest.raises(
        ValueError, match=r"X must hold 0 and 1, as the training data did, got -1 at .* in chunk 0"
    ):
        model.score(chunked)


class TestRefusals:
    @pytest.mark.parametrize(("value", "problem"), [(np.nan, "must be finite"), (3.0, "must hold 0 and 1")])
    def test_a_wrong_entry_is_named_with_its_chunk(self, value, problem):
        data = dependent_spins().astype(float)
        data[90, 5] = value
        with pytest.raises(
            ValueError, match=rf"{problem}.*got {value:g} at position \(90, 5\), in chunk 2 \("
        ):
            sw.IsingGraph(2).fit(da.from_array(data, chunks=(41, N_VERTICES)))

    def test_cross_validation_needs_memory_or_a_file(self, stored):
        with pytest.raises(TypeError, match="IsingGraphCV needs data in memory, got data in chunks"):
            sw.IsingGraphCV(1).fit(da.from_array(dependent_spins()))
        here = sw.IsingGraphCV(1).fit(dependent_spins())
        assert_same_fit(sw.IsingGraphCV(1).fit(stored(dependent_spins())), here)

    def test_certificates_need_memory_or_a_file(self, stored):
        data = dependent_spins()
        model = sw.IsingGraph(1).fit(stored(data))
        with pytest.raises(TypeError, match="certify needs data in memory, got data in chunks"):
            model.certify(da.from_array(data))
        proven = model.certify(data, time_limit=None)
        assert model.certify(stored(data), time_limit=None).upper_bound == pytest.approx(proven.upper_bound)

    def test_a_model_of_real_numbers_does_not_score_spins_in_blocks(self, stored):
        numbers = np.random.default_rng(0).standard_normal((60, N_VERTICES))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = sw.IsingGraph(1).fit(numbers)
        with pytest.raises(TypeError, match="must be of two values, but fit was given real numbers"):
            model.score(stored(dependent_spins()))

    def test_features_are_those_of_fit(self, stored):
        model = sw.IsingGraph(1).fit(stored(dependent_spins()))
        with pytest.raises(ValueError, match="expecting 7 features"):
            model.score(da.from_array(dependent_spins()[:, :5]))


def test_a_small_file_may_as_well_be_in_memory(tmp_path):
    data = dependent_spins()
    np.save(tmp_path / "data.npy", data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    options = {"max_degree": 1, "criterion": "cv", "cv": 2}
    here, there = (sw.IsingGraphCV(**options).fit(X) for X in (data, mapped))
    assert_same_fit(there, here)
    assert there.certify(mapped, time_limit=None).value == pytest.approx(here.result_.value)
