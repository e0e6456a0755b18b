"""Graphs of weighted samples: the same as of the samples as often as they were seen."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    model = sw.IsingGraphCV(1, criterion="cv", cv=KFold(3))
    with pytest.raises(
        ValueError, match=r"fold 0 has none to score; leave out the rows of weight 0, or shuf"
    ):
        model.fit(spins, sample_weight=times)
    model.set_params(cv=KFold(3, shuffle=True, random_state=0)).fit(spins, sample_weight=times)


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
    with pytest.warns(UserWarning, match="never vary, of which nothing can be learnt: 2$"):
        sw.IsingGraph(1).fit(spins, sample_weight=times)


def test_other_weights_are_refused_by_certify():
    spins, times = table(7)
    model = sw.IsingGraph(2).fit(spins, sample_weight=times)
    with pytest.raises(
        ValueError, match=r"must be the data of fit \(and weights and parameters those of fit"
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
