"""The benchmark of small fits, smaller still."""

import numpy as np

from benchmarks import small


def test_every_program_is_timed_and_finds_the_truth(monkeypatch):
    monkeypatch.setattr(small, "SIZES", ((60, 8, 3),))
    (row,) = small.paces(rounds=2)
    assert list(row.milliseconds) == list(small.programs())
    assert all(time > 0 for time in row.milliseconds.values())
    X, y = small.draw(60, 8, 3)
    assert small.estimator(X, y, 3).support_.tolist() == [0, 1, 2]
    assert small.maximize(X, y, 3).support.tolist() == [0, 1, 2]
    assert np.flatnonzero(small.matching_pursuit(X, y, 3).coef_).tolist() == [0, 1, 2]
