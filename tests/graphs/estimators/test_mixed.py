"""Graphs of binary, Gaussian and count columns: families, recovery, scores, missing values, few samples."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw

FAMILIES = {"visits": "counts"}
EDGES = {("ill", "fever"), ("ill", "visits"), ("fever", "pulse")}


def patients(n_samples=400, seed=0):
    """Illness raises fever and the number of visits, fever raises the pulse; age has to do with nothing."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_samples) < 0.4
    fever = 37 + 0.8 * ill + 0.5 * rng.normal(size=n_samples)
    return pd.DataFrame(
        {
            "ill": np.where(ill, "yes", "no"),
            "fever": fever,
            "visits": rng.poisson(np.where(ill, 3.0, 1.0)),
            "pulse": 70 + 12 * (fever - 37) + 8 * rng.normal(size=n_samples),
            "age": rng.normal(40, 12, n_samples),
        }
    )


def with_gaps(frame, share=0.15, seed=1):
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


@pytest.mark.parametrize("criterion", ["ebic", "bic", "cv"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_graph_is_found(criterion, gaps):
    X = with_gaps(patients(), 0.05) if gaps else patients()
    model = sw.MixedGraphCV(families=FAMILIES, criterion=criterion, one_standard_error=criterion == "cv").fit(
        X
    )
    assert set(map(frozenset, model.graph_.edges)) == set(map(frozenset, EDGES))
    assert model.families_ == ["binary", "gaussian", "counts", "gaussian", "gaussian"]
    assert model.graph_.nodes["visits"]["family"] == "counts"
    assert model.n_edges_ == 3
    np.testing.assert_array_equal(model.n_observed_, X.notna().T.astype(int) @ X.notna().astype(int))


def test_the_path_has_the_criteria_of_the_vertices():
    X = patients()
    model = sw.MixedGraphCV(families=FAMILIES, ridge=0.0).fit(X)
    row = model.path_.loc[model.path_["n_edges"] == 3].iloc[0]
    assert row["log_likelihood"] == pytest.approx(400 * model.score(X), rel=1e-9)
    assert row["bic"] == pytest.approx(-2 * row["log_likelihood"] + 6 * np.log(400))
    assert row["ebic"] == pytest.approx(row["bic"] + 6 * 2 * 0.25 * np.log(4))


def test_binary_columns_are_an_ising_graph():
    rng = np.random.default_rng(0)
    X = np.cumprod(np.where(rng.random((200, 5)) < 0.3, -1, 1), axis=1)
    mixed, ising = sw.MixedGraph(2).fit(X), sw.IsingGraph(2).fit(X)
    assert mixed.families_ == ["binary"] * 5
    np.testing.assert_allclose(mixed.coupling_, ising.coupling_, atol=1e-9)
    np.testing.assert_allclose(mixed.adjacency_, ising.adjacency_, atol=1e-9)
    assert mixed.score(X) == pytest.approx(ising.score(X), abs=1e-12)


def test_weights_among_gaussian_columns_are_partial_correlations():
    X = patients(2000)[["fever", "pulse", "age"]]
    model = sw.MixedGraph(None, ridge=0.0).fit(X)
    precision = np.linalg.inv(np.corrcoef(X.T))
    partial = -precision / np.sqrt(np.outer(np.diag(precision), np.diag(precision)))
    np.testing.assert_allclose(model.adjacency_, partial - np.diag(np.diag(partial)), atol=0.01)


def test_few_samples_take_turns():
    X = patients(30)[["fever", "pulse", "age", "ill"]]
    wide = X.assign(**{f"noise{k}": np.random.default_rng(k).normal(size=30) for k in range(3)})
    model = sw.MixedGraph(max_edges=2).fit(wide)
    assert ("fever", "pulse") in model.graph_.edges
    alone = model.variance_[wide.columns.get_loc("noise0")]
    assert 0.4 < model.variance_[0] < alone <= 1.0
    assert model.certify(wide, max_nodes=0).value == pytest.approx(model.result_.value)


@pytest.mark.parametrize("gaps", [False, True])
def test_certificates(gaps):
    X = with_gaps(patients()) if gaps else patients()
    model = sw.MixedGraph(1, families=FAMILIES).fit(X)
    assert model.certify(X, max_nodes=1).upper_bound >= model.result_.value - 1e-12
    smooth = sw.MixedGraph(1).fit(X.drop(columns="visits"))
    assert smooth.certify(X.drop(columns="visits")).optimal


def test_counts_as_weights_are_rows_repeated():
    X, counts = patients(60), np.random.default_rng(0).integers(0, 4, 60)
    weighted = sw.MixedGraph(2, families=FAMILIES).fit(X, sample_weight=counts)
    repeated = sw.MixedGraph(2, families=FAMILIES).fit(X.loc[np.repeat(X.index, counts)])
    np.testing.assert_allclose(weighted.coupling_, repeated.coupling_, atol=1e-6)
    assert weighted.score(X, sample_weight=counts) == pytest.approx(
        repeated.score(X.loc[np.repeat(X.index, counts)]), abs=1e-8
    )


def test_rows_without_any_value_are_not_among_the_samples():
    X = patients(100)
    blank = X.reindex(range(107))
    models = [sw.MixedGraphCV(families=FAMILIES).fit(data) for data in (X, blank)]
    pd.testing.assert_frame_equal(models[0].path_, models[1].path_)
    assert models[0].score(X) == models[1].score(blank)


def test_many_rows_with_gaps_do_not_make_false_edges():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 8))
    for column in range(1, 8):
        X[:, column] = 0.6 * X[:, column - 1] + 0.8 * X[:, column]
    X[:, 7] = rng.poisson(np.exp(0.5 * X[:, 6]))
    X[:, 0] = np.where(X[:, 1] + rng.logistic(size=3000) / 2 > 0, 1.0, -1.0)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = sw.MixedGraphCV(families={7: "counts"}).fit(X)  # with means for what is missing, 5 more
    assert model.support_.tolist() == [[v, v + 1] for v in range(7)]


def test_clones_and_pickles():
    X = with_gaps(patients())
    model = sw.MixedGraphCV(families=FAMILIES).fit(X)
    back = pickle.loads(pickle.dumps(model))
    assert back.score(X) == model.score(X)
    assert clone(model).get_params() == model.get_params()
    assert len(pickle.dumps(model)) < 100_000  # the data are not in it


@pytest.mark.parametrize("options", [{"max_edges": 0}, {"max_degree": 0}])
def test_no_edges_at_all(options):
    X = patients()
    model = sw.MixedGraph(families=FAMILIES, **options).fit(X)
    assert not model.adjacency_.any()
    numbers = X["fever"]
    density = -0.5 * np.log(2 * np.pi * numbers.var(ddof=0)) - 0.5
    alone = sw.MixedGraph(families="gaussian", **options).fit(X[["fever"]])
    assert alone.score(X[["fever"]]) == pytest.approx(density)


@pytest.mark.parametrize(
    ("families", "found"),
    [
        ({"visits": "gaussian"}, ["binary", "gaussian", "gaussian", "gaussian", "gaussian"]),
        ({2: "counts"}, ["binary", "gaussian", "counts", "gaussian", "gaussian"]),
        ([None, None, "counts", None, None], ["binary", "gaussian", "counts", "gaussian", "gaussian"]),
    ],
)
def test_families_by_name_position_or_order(families, found):
    assert sw.MixedGraph(1, families=families).fit(patients(50)).families_ == found


@pytest.mark.parametrize(
    ("change", "families", "message"),
    [
        (
            {},
            None,
            r"families must say what 'visits' is, .*families=\{'visits': 'counts'\}",
        ),
        (
            {"ill": list("abcde") * 10},
            FAMILIES,
            "two values where a column is binary, got .* in 'ill'",
        ),
        ({}, FAMILIES | {"fever": "counts"}, "'fever' of X must hold whole numbers from 0"),
        (
            {},
            FAMILIES | {"ill": "gaussian"},
            "numbers where a column is gaussian, got others in 'ill'",
        ),
        ({}, FAMILIES | {"fever": "binary"}, "two values where a column is binary, got .* in 'fever'"),
        (
            {},
            {"visits": "count"},
            "among binary, gaussian, counts; got 'count' for 'visits'",
        ),
        ({}, {"weight": "counts"}, "families must name columns of X"),
        ({}, ["counts"], "families must have a name for each of 5 columns, got 1"),
    ],
)
def test_refusals(change, families, message):
    with pytest.raises(ValueError, match=message):
        sw.MixedGraph(1, families=families).fit(patients(50).assign(**change))


def gaussian_chain(n, p, r, seed=0):
    """Each column is correlated with the one before by r."""
    noise = np.random.default_rng(seed).normal(size=(n, p))
    X = noise.copy()
    for column in range(1, p):
        X[:, column] = r * X[:, column - 1] + np.sqrt(1 - r**2) * noise[:, column]
    return X


def test_what_is_missing_at_random_does_not_bias_weights():
    X = gaussian_chain(20_000, 4, 0.9)
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)
    model = sw.MixedGraph(2, max_edges=3, families="gaussian", ridge=0.0)
    whole, part = clone(model).fit(X), clone(model).fit(gaps)
    np.testing.assert_allclose(part.adjacency_, whole.adjacency_, atol=0.03)
    np.testing.assert_allclose(part.variance_, whole.variance_, rtol=0.08)


def test_a_ridge_leaves_strong_edges_strong():
    for r in (0.5, 0.9, 0.99):
        X = gaussian_chain(2000, 2, r)
        weight = sw.MixedGraph(1, families="gaussian").fit(X).adjacency_[0, 1]
        assert weight == pytest.approx(np.corrcoef(X.T)[0, 1], abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_proofs_are_about_the_last_search_however_variances_went(seed):
    X = np.cumsum(np.random.default_rng(seed).normal(size=(25, 12)), axis=1)
    model = sw.MixedGraph(3, families="gaussian").fit(X)
    assert model.certify(X, max_nodes=1).upper_bound >= model.result_.value


def test_a_column_without_any_value_is_refused():
    X = np.column_stack([gaussian_chain(30, 2, 0.5), np.full(30, np.nan)])
    with pytest.raises(ValueError, match="a value in each column, got nothing but missing values in 2"):
        sw.MixedGraph(1, families="gaussian").fit(X)


@pytest.mark.slow
def test_scikit_learns_checks():
    report = check_estimator(sw.MixedGraph(families="gaussian"), on_skip=None, on_fail=None)
    failed = [entry["check_name"] for entry in report if entry["status"] == "failed"]
    assert failed == []
