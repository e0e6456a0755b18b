"""Graphs of weighted samples: the same as of the samples as often as they were seen."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold

import swapwise as sw


def table(seed=0, n_samples=60, n_vertices=5):
    """Return spins of which each mostly repeats the one before, and how often each was seen."""
    rng = np.random.default_rng(seed)
    turns = np.where(rng.random((n_samples, n_vertices)) < 0.3, -1, 1)
    return np.cumprod(turns, axis=1), rng.integers(0, 4, n_samples)


def assert_same_fit(here, there):
    np.testing.assert_array_equal(here.support_, there.support_)
    np.testing.assert_allclose(here.coupling_, there.coupling_, atol=1e-10)
    np.testing.assert_allclose(here.field_, there.field_, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 0.1]))
def test_fit_score_and_certify(seed, fields, unit):
    spins, times = table(seed)
    expanded = np.repeat(spins, times, axis=0)
    here = sw.IsingGraph(2, fields=fields).fit(spins, sample_weight=unit * times)
    there = sw.IsingGraph(2, fields=fields).fit(expanded)
    assert_same_fit(here, there)
    assert here.result_.value == pytest.approx(there.result_.value, abs=1e-12)
    assert here.score(spins, sample_weight=times) == pytest.approx(there.score(expanded), abs=1e-12)
    proofs = here.certify(spins, unit * times), there.certify(expanded)
    assert proofs[0].upper_bound == pytest.approx(proofs[1].upper_bound, abs=1e-8)


@pytest.mark.parametrize("as_zeros", [False, True])
def test_data_in_chunks(as_zeros):
    spins, times = table(1)
    data = (spins + 1) // 2 if as_zeros else spins
    chunks = da.from_array(data, chunks=(13, 3))
    plain = sw.IsingGraph(2, start="empty").fit(np.repeat(data, times, axis=0))
    there = sw.IsingGraph(2, start="empty").fit(chunks, sample_weight=times)
    assert_same_fit(there, plain)
    unweighted = sw.IsingGraph(2, start="empty").fit(chunks)
    assert abs(there.result_.n_passes - unweighted.result_.n_passes) <= 2
    score = plain.score(np.repeat(data, times, axis=0))
    assert there.score(chunks, sample_weight=times) == pytest.approx(score, abs=1e-12)
    assert there.score(chunks) != pytest.approx(score, abs=1e-3)
    np.testing.assert_array_equal(there.sample(3), plain.sample(3))


def test_many_patterns_are_counted():
    spins, times = table(2, n_samples=2500)
    here = sw.IsingGraph(2).fit(spins, sample_weight=times)
    assert_same_fit(here, sw.IsingGraph(2).fit(np.repeat(spins, times, axis=0)))


def test_weights_go_with_their_rows_into_folds():
    spins, times = table(3)
    times += 1
    owner = np.repeat(np.arange(len(spins)), times)
    folds = list(KFold(3).split(spins))
    expanded = [tuple(np.flatnonzero(np.isin(owner, part)) for part in fold) for fold in folds]
    options = {"max_degree": 2, "criterion": "cv"}
    here = sw.IsingGraphCV(**options, cv=folds).fit(spins, sample_weight=times)
    there = sw.IsingGraphCV(**options, cv=expanded).fit(spins[owner])
    pd.testing.assert_frame_equal(here.path_, there.path_, rtol=1e-9)
    assert_same_fit(here, there)


def test_rows_may_be_in_a_fold_twice():
    spins, _ = table(4)
    twice = [(np.repeat(np.arange(40), 2), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    once = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    paths = [sw.IsingGraphCV(1, criterion="cv", cv=cv).fit(spins).path_ for cv in (twice, once)]
    pd.testing.assert_frame_equal(paths[0], paths[1])


def test_a_fold_without_weight_is_refused():
    spins, times = table(5)
    times[:20] = 0
    given = list(KFold(3).split(spins))
    with pytest.raises(ValueError, match=r"fold 0 has none to score; leave out the rows of weight 0"):
        sw.IsingGraphCV(1, criterion="cv", cv=given).fit(spins, sample_weight=times)


GRAPHS = {
    "ising": sw.IsingGraphCV(random_state=0),
    "gaussian": sw.GaussianGraphCV(),
    "mixed": sw.MixedGraphCV(families="gaussian", random_state=0),
}


def answers(kind, n=120, missing=0.0, seed=0):
    """Return a chain of five variables, of spins or of numbers, with entries missing at random."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((n, 5)), axis=1)
    X = np.where(X > 0, 1.0, -1.0) if kind == "ising" else X
    return np.where(rng.random(X.shape) < missing, np.nan, X)


@pytest.mark.parametrize("criterion", ["ebic", "cv"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_rows_that_do_not_count_change_nothing(kind, criterion):
    """Rows of weight 0, and those of which everything is missing, wherever they are."""
    X, other = answers(kind, missing=0.2), answers(kind, 60, missing=0.2, seed=1)
    model = clone(GRAPHS[kind]).set_params(criterion=criterion)
    X = X[~np.isnan(X).all(axis=1)]
    plain = clone(model).fit(X)
    mixed = np.insert(X, 30, other, axis=0)
    weighted = clone(model).fit(mixed, sample_weight=np.insert(np.ones(len(X)), 30, np.zeros(60)))
    blank = clone(model).fit(np.insert(X, [30, 30, 80], np.nan, axis=0))
    for same in (weighted, blank):
        np.testing.assert_allclose(same.adjacency_, plain.adjacency_, atol=1e-10)
        pd.testing.assert_frame_equal(same.path_, plain.path_)
        np.testing.assert_array_equal(same.n_observed_, plain.n_observed_)
    assert blank.score(np.insert(X, 9, np.nan, axis=0)) == pytest.approx(plain.score(X))


def test_counts_are_cases_where_some_are_missing():
    X = answers("gaussian", 60, missing=0.2)
    times = np.random.default_rng(3).integers(0, 4, 60)
    here = sw.GaussianGraphCV().fit(X, sample_weight=times)
    there = sw.GaussianGraphCV().fit(np.repeat(X, times, axis=0))
    pd.testing.assert_frame_equal(here.path_, there.path_)
    np.testing.assert_array_equal(here.n_observed_, there.n_observed_)


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_chosen_by_folds_can_be_learnt_again(kind):
    model = clone(GRAPHS[kind]).set_params(criterion="cv", cv=3)
    first, second = answers(kind, 60), answers(kind, 60, seed=1)
    assert sw.graphs.compare_graphs(model, first, second, 3).n_permutations == 3
    assert sw.graphs.case_dropping(model, first[:24], n_boots=1).weights.shape[1] == 10
    assert sw.graphs.bootstrap_graph(model, first, 3).n_boots == 3


def test_counts_are_split_as_the_samples_that_they_stand_for():
    """A table that is sorted by frequency must not lose its most frequent pattern in one fold."""
    rng = np.random.default_rng(0)
    a, d, e = rng.choice([-1, 1], (3, 600))
    b = np.where(rng.random(600) < 0.8, a, -a)
    c = np.where(rng.random(600) < 0.8, b, -b)
    patterns, times = np.unique(np.column_stack([a, b, c, d, e]), axis=0, return_counts=True)
    order = np.argsort(-times)
    model = sw.IsingGraphCV(criterion="cv", cv=5).fit(patterns[order], sample_weight=times[order])
    chosen = {tuple(edge) for edge in model.support_.tolist()}
    assert {(0, 1), (1, 2)} <= chosen
    again = sw.IsingGraphCV(criterion="cv", cv=5).fit(patterns[order], sample_weight=times[order])
    np.testing.assert_array_equal(again.coupling_, model.coupling_)


def test_a_column_that_varies_only_without_weight_is_warned_of():
    spins, times = table(6)
    spins[times > 0, 2] = 1
    spins[np.flatnonzero(times == 0)[0], 2] = -1
    with pytest.warns(UserWarning, match="constant columns, from which nothing can be learnt: 2$"):
        sw.IsingGraph(1).fit(spins, sample_weight=times)


def test_other_weights_are_refused_by_certify():
    spins, times = table(7)
    model = sw.IsingGraph(2).fit(spins, sample_weight=times)
    with pytest.raises(
        ValueError, match=r"must be the training data \(with the weights and parameters given to fit"
    ):
        model.certify(spins)


@pytest.mark.parametrize("kind", [sw.IsingGraph, sw.IsingGraphCV])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(59), "sample_weight must have length 60, got length 59"),
        (-np.ones(60), "sample_weight must be non-negative, got -1.0 at position 0"),
        (np.full(60, np.nan), "sample_weight must be finite, got nan at position 0"),
        (np.zeros(60), "sample_weight must have a positive entry, got zeros only"),
    ],
)
def test_wrong_weights_are_refused(kind, weight, message):
    spins, _ = table()
    with pytest.raises(ValueError, match=message):
        kind().fit(spins, sample_weight=weight)
    model = sw.IsingGraph(1).fit(spins)
    for X in (spins, da.from_array(spins, chunks=(13, 5))):
        with pytest.raises(ValueError, match=message):
            model.score(X, sample_weight=weight)


def test_other_pairs_are_not_scored_in_chunks():
    spins, _ = table()
    model = sw.IsingGraph(1).fit(spins + 5)
    with pytest.raises(TypeError, match=r"data in chunks must hold 0 and 1.*but fit was given other values"):
        model.score(da.from_array(spins, chunks=(13, 5)))
