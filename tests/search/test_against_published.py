"""What the paper's own program reached on one instance of each experiment, from the empty set."""

from pathlib import Path

import numpy as np
import pytest

from swapwise import BMatching, IsingPseudoLikelihood, LeastSquares, NonOblivious, Partition, maximize

DATA = Path(__file__).parent.parent / "data"
REGRESSION = np.load(DATA / "published_regression.npz")
ISING = np.load(DATA / "published_ising.npz")


@pytest.mark.parametrize("row", range(len(REGRESSION["method"])))
def test_regression_reaches_the_same_sets(row):
    objective = LeastSquares(REGRESSION["X"], REGRESSION["y"])
    labels, capacity = np.arange(objective.n) // 40, int(REGRESSION["capacity"][row])
    method = str(REGRESSION["method"][row])
    if method == "non-oblivious":
        method = NonOblivious(smoothness=4.0)  # M = 2 for ½‖y − Xw‖², in units of R² = ‖·‖² with ‖y‖ = 1
    result = maximize(objective, Partition(labels, capacity), method)
    assert result.value == pytest.approx(REGRESSION["objective"][row], abs=1e-10)
    assert result.support.tolist() == [int(j) for j in str(REGRESSION["support"][row]).split()]


@pytest.mark.parametrize("row", range(len(ISING["method"])))
def test_graphs_are_as_good_or_better(row):
    objective = IsingPseudoLikelihood(ISING["spins"])
    method, reached = str(ISING["method"][row]), ISING["objective"][row]
    edges = [tuple(int(v) for v in edge.split("-")) for edge in str(ISING["edges"][row]).split()]
    assert objective([objective.edges.index(edge) for edge in edges]) == pytest.approx(reached, abs=1e-5)
    constraint = BMatching(objective.edges, int(ISING["b"][row]))
    if method == "modular":
        assert maximize(objective, constraint, start="modular").value >= reached - 1e-5
    elif method != "non-oblivious":  # that program's gradient of an edge counts one end twice
        assert maximize(objective, constraint, method).value >= reached - 1e-5
