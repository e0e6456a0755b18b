"""The benchmark of data larger than memory, small."""

import numpy as np
import pytest

from benchmarks.outgrown.data import labels, truth, write
from benchmarks.outgrown.fits import from_file, read_rows

SAMPLES, FEATURES, SIZE = 3000, 250, 6


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "y.npy", write(tmp_path / "X.npy", SAMPLES, FEATURES, SIZE))
    return tmp_path


def test_the_truth_is_allowed_and_found(folder):
    support = truth(FEATURES, SIZE).support
    assert np.bincount(labels(FEATURES, SIZE // 2)[support]).tolist() == [2, 2, 2]
    found = from_file(folder, SIZE)
    assert found["support"] == support.tolist()
    assert found["passes"] >= 3
    assert found["r2"] == pytest.approx(0.5, abs=0.1)


def test_rows_are_read_as_they_were_written(folder):
    X = np.load(folder / "X.npy")
    np.testing.assert_array_equal(read_rows(str(folder / "X.npy"), 10, 20), X[10:20])
    assert X.std() == pytest.approx(1.0, abs=0.01)
    assert np.corrcoef(X[:, 0], X[:, 1])[0, 1] == pytest.approx(0.36, abs=0.1)  # one family
