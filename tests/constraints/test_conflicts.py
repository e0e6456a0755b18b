from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.constraints.conflicts import clique_cover


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0.1, 0.9))
def test_cliques_cover_all_edges_and_no_others(seed, n, density):
    random = np.random.default_rng(seed)
    pairs = [pair for pair in combinations(range(n), 2) if random.random() < density]
    cliques = clique_cover(n, pairs)
    covered = {pair for clique in cliques for pair in combinations(clique.tolist(), 2)}
    assert covered == set(pairs)


def test_disjoint_cliques_are_a_partition():
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4)]
    apart = sw.Conflicts(6, pairs)
    assert apart.p == 1
    assert [clique.tolist() for clique in apart.cliques] == [[0, 1, 2], [3, 4]]


def test_pairs_by_name_and_as_a_graph():
    drugs = ["aspirin", "warfarin", "zinc"]
    apart = sw.Conflicts(drugs, nx.Graph([("warfarin", "aspirin")]))
    assert apart.pairs == [(0, 1)]
    assert not apart.aligned_to(["zinc", "warfarin", "aspirin"]).is_independent([1, 2])
    assert sw.Conflicts(3, nx.path_graph(3)).pairs == [(0, 1), (1, 2)]


def test_correlated_columns_are_not_both_chosen():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((200, 3))
    X = pd.DataFrame(np.hstack([base, base + 0.1 * rng.standard_normal((200, 3))]), columns=list("abcxyz"))
    X["one"] = 1.0
    apart = sw.Conflicts.from_correlation(X, above=0.9)
    assert apart.names == [*"abcxyz", "one"]
    assert apart.pairs == [(0, 3), (1, 4), (2, 5)]
    y = base.sum(axis=1)
    chosen = sw.SparseRegressor(sw.Intersection(apart, sw.Uniform(7, 4))).fit(X, y).get_feature_names_out()
    assert sorted("abc".find(name) if name in "abc" else "xyz".find(name) for name in chosen) == [0, 1, 2]
    assert sw.Conflicts.from_correlation(-X, above=0.9).pairs == apart.pairs


def test_correlations_are_looked_at_in_blocks(monkeypatch):
    X = np.random.default_rng(1).standard_normal((20, 15))
    whole = sw.Conflicts.from_correlation(X, above=0.2).pairs
    monkeypatch.setattr("swapwise.constraints.conflicts.LARGEST_BLOCK", 30)
    assert sw.Conflicts.from_correlation(X, above=0.2).pairs == whole


def test_no_pair_is_a_warning():
    with pytest.warns(UserWarning, match="there is no pair, so that every set is allowed"):
        assert sw.Conflicts(3, []).is_independent([0, 1, 2])


@pytest.mark.parametrize(
    ("n", "pairs", "error", "message"),
    [
        (3, [(0, 3)], ValueError, "positions from 0 to 2, got 3 in number 0"),
        (3, [(1, 1)], ValueError, r"an element cannot exclude itself, got \(1, 1\) as number 0"),
        (3, [(0, 1, 2)], TypeError, "pairs must be pairs of elements, got"),
        (3, ["ab"], TypeError, "pairs must be pairs of elements, got 'ab' as number 0"),
        (3, [("a", "b")], ValueError, "names 'a', which is not an element; give the names in place of n"),
        (["a", "b"], [("a", "c")], ValueError, "pair number 0 names 'c', which is not an element"),
        (["a", "a"], [], ValueError, "names must differ, got 'a' twice"),
        ([1, 2], [], TypeError, "names must be strings, got 1 at position 0"),
        (3, 5, TypeError, "pairs must be pairs of elements that exclude each other, got 5"),
        (3, [(True, 1)], TypeError, "positions or names, got True"),
    ],
)
def test_refuses_what_are_no_pairs(n, pairs, error, message):
    with pytest.raises(error, match=message):
        sw.Conflicts(n, pairs)


def test_refuses_correlations_beyond_one_and_hubs_that_fill_the_memory(monkeypatch):
    with pytest.raises(ValueError, match="above must be at least 0 and below 1"):
        sw.Conflicts.from_correlation(np.ones((2, 2)), above=1.0)
    monkeypatch.setattr("swapwise.constraints.conflicts.LARGEST_TABLE", 10)
    with pytest.raises(ValueError, match="element 0 conflicts with 5 elements that do not conflict with"):
        sw.Conflicts(6, [(0, e) for e in range(1, 6)])
