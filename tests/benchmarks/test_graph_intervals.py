"""The simulation of coverage counts what it says it counts."""

import numpy as np
from rich.console import Console

from benchmarks.graph_intervals import MODELS, coverage, coverage_table, random_couplings


def test_couplings_are_within_the_degree():
    for seed in range(20):
        couplings = random_couplings(np.random.default_rng(seed))
        np.testing.assert_array_equal(couplings, couplings.T)
        assert (couplings != 0).sum() == 28
        assert (couplings != 0).sum(axis=0).max() <= 3
        assert set(np.sign(couplings[couplings != 0])) == {-1, 1}


def test_the_true_graph_has_no_wrong_edges():
    first = next(iter(MODELS))
    row = coverage(first, 300, trial=0, n_boots=10)
    edges, found, absent, wrong = row.covered
    assert (absent, *row.inclusion) == (1, 1, 0)
    assert 0.4 < edges <= 1
    assert edges == found
    assert np.isnan(wrong)
    console = Console(width=120)
    with console.capture() as shown:
        console.print(coverage_table([row], "small"))
    assert "100.0" in shown.get()
