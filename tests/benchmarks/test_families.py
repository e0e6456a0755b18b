"""The comparisons of likelihoods and graphs, on tiny ones: what is measured and what is said of it."""

import doctest

import pytest
from rich.console import Console

from benchmarks import glm, ising

pytestmark = pytest.mark.race


def test_examples_in_docstrings():
    pytest.importorskip("abess")
    assert doctest.testmod(glm).failed == 0


def test_hard_classifications_beside_abess():
    pytest.importorskip("abess")
    rows = glm.hard_classifications(sizes=((60, 40, 3),), seeds=1, runs=1)
    assert [row.design for row in rows] == list(glm.HARD_DESIGNS)
    assert all(0 < row.value <= 0.7 and row.seconds > 0 and row.abess_seconds > 0 for row in rows)
    console = Console(width=120, record=True)
    console.print(glm.hard_table(rows))
    assert "60 x 40, 3" in console.export_text()
    assert "of 2" in glm.hard_verdict(rows)


def test_nearly_separable_classes_are_correlated():
    for design in glm.HARD_DESIGNS:
        X, y = glm.hard_classification(design, 4000, 5, 2, 0)
        assert set(y) == {0.0, 1.0}
        assert abs((X[:, 1] @ X[:, 2]) / len(X) - 0.8) < 0.1


def test_shares_of_the_best_known_value():
    rows = ising.shares_of_best(graphs=2, degrees=(1, 2), restarts=1, n_vertices=8)
    assert [row.b for row in rows] == [1, 2]
    for row in rows:
        assert max(row.shares + row.plain_shares) <= 1.0
        assert min(row.shares + row.plain_shares) > 0.5
    console = Console(width=120, record=True)
    console.print(ising.best_known_table(rows))
    assert "of 2" in console.export_text()
