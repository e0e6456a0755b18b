"""Graphs of Gaussian distributions as scikit-learn sees them."""

import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.correlation import correlations
from swapwise.graphs.estimators.gaussian import first_diagonal

KINDS = [sw.GaussianGraph, sw.GaussianGraphCV]


def simulated(n_samples=400, n=12, degree=3, seed=0):
    """Samples of a Gaussian distribution on a regular graph, and the edges of it."""
    rng = np.random.default_rng(seed)
    graph = nx.random_regular_graph(degree, n, seed=seed)
    precision = np.zeros((n, n))
    for u, v in graph.edges:
        precision[u, v] = precision[v, u] = rng.choice([-1, 1]) * rng.uniform(0.2, 0.3)
    precision += np.eye(n) * max(1.0, 0.1 - np.linalg.eigvalsh(precision)[0])
    X = rng.multivariate_normal(np.zeros(n), np.linalg.inv(precision), n_samples)
    return X * rng.uniform(0.1, 10, n) + rng.uniform(-5, 5, n), {tuple(sorted(edge)) for edge in graph.edges}


def edges_of(model):
    return set(map(tuple, model.support_.tolist()))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learns_checks(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks hand in constants and few samples
        report = check_estimator(kind(), on_skip=None, on_fail=None)
    wrong = [entry["check_name"] for entry in report if entry["status"] in ("failed", "xfail")]
    assert wrong == []
    assert sum(entry["status"] == "passed" for entry in report) > 40


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_found(kind):
    X, edges = simulated(1000)
    model = kind().fit(X)
    assert edges_of(model) == edges
    assert {tuple(sorted(edge)) for edge in model.graph_.edges} == edges
    expected = -model.precision_ / np.sqrt(np.outer(np.diag(model.precision_), np.diag(model.precision_)))
    np.testing.assert_allclose(model.adjacency_ - np.eye(12), expected, atol=1e-12)
    assert model.graph_.edges[next(iter(edges))]["weight"] == model.adjacency_[next(iter(edges))]
    np.testing.assert_allclose(model.precision_ @ model.covariance_, np.eye(12), atol=1e-7)
    S = np.cov(X.T, bias=True)
    for pair in [*edges, (2, 2)]:
        assert model.covariance_[pair] == pytest.approx(S[pair], rel=1e-6)
    np.testing.assert_allclose(model.location_, X.mean(axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_likelihoods(kind):
    X, _ = simulated(80)
    model = kind().fit(X)
    normal = multivariate_normal(model.location_, model.covariance_)
    assert model.score(X) == pytest.approx(normal.logpdf(X).mean())
    assert model.log_likelihood_ == pytest.approx(model.score(X))
    weight = np.arange(80) % 3
    assert model.score(X, sample_weight=weight) == pytest.approx(np.average(normal.logpdf(X), weights=weight))
    missing = X[:2].copy()
    missing[0, 1:] = np.nan
    first = multivariate_normal(model.location_[0], model.covariance_[0, 0]).logpdf(X[0, 0])
    assert model.score(missing) == pytest.approx((first + normal.logpdf(X[1])) / 2)


def test_samples_are_of_the_distribution():
    X, _ = simulated(500, n=6)
    model = sw.GaussianGraph().fit(pd.DataFrame(X, columns=list("abcdef")))
    drawn = model.sample(40_000)
    assert drawn.columns.tolist() == list("abcdef")
    scale = np.sqrt(np.outer(np.diag(model.covariance_), np.diag(model.covariance_)))
    np.testing.assert_allclose(np.cov(drawn.T) / scale, model.covariance_ / scale, atol=0.03)
    assert drawn.equals(model.sample(40_000))
    assert not drawn.equals(model.sample(40_000, random_state=1))


def test_the_first_diagonal_is_that_of_ledoit_and_wolf():
    X, _ = simulated(40)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = np.diag(np.linalg.inv(ledoit_wolf(scaled, assume_centered=True)[0]))
    np.testing.assert_allclose(first_diagonal(GraphSample(X, None), correlations(X)), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_count_samples(kind):
    X, _ = simulated(60, n=8)
    weight = np.arange(60) % 4
    weighted = kind().fit(X, sample_weight=weight)
    repeated = kind().fit(np.repeat(X, weight, axis=0))
    assert edges_of(weighted) == edges_of(repeated)
    np.testing.assert_allclose(weighted.adjacency_, repeated.adjacency_, atol=1e-8)
    np.testing.assert_allclose(weighted.diagonal_, repeated.diagonal_)


def test_limits_and_forced_edges():
    X, edges = simulated()
    model = sw.GaussianGraph(max_degree={v: 1 + v % 2 for v in range(12)}).fit(X)
    assert all(len(list(model.graph_[v])) <= 1 + v % 2 for v in range(12))
    assert len(sw.GaussianGraph(max_edges=5).fit(X).support_) == 5
    absent = next((u, v) for u in range(12) for v in range(u) if (v, u) not in edges)
    assert tuple(sorted(absent)) in edges_of(sw.GaussianGraphCV(forced_edges=[absent]).fit(X))
    assert edges_of(sw.GaussianGraphCV(edges=sorted(edges)[:4]).fit(X)) <= set(sorted(edges)[:4])
    strong = sw.GaussianGraph(threshold=0.2).fit(X)
    assert (np.abs(strong.adjacency_[tuple(strong.support_.T)]) > 0.2).all()
    assert len(strong.support_) < len(strong.result_.support)
    with pytest.warns(UserWarning, match="allows only the empty set") as caught:
        assert sw.GaussianGraph(max_edges=0).fit(X).graph_.number_of_edges() == 0
    assert len(caught) == 1


def test_criteria_are_those_of_the_formula():
    X, _ = simulated(200)
    model = sw.GaussianGraphCV(gamma=0.3).fit(X)
    row = model.path_.loc[model.path_["n_edges"] == model.n_edges_].iloc[0]
    likelihood = multivariate_normal(model.location_, model.covariance_).logpdf(X).sum()
    assert row["log_likelihood"] == pytest.approx(likelihood)
    bic = -2 * likelihood + model.n_edges_ * np.log(200)
    assert row["bic"] == pytest.approx(bic)
    assert row["ebic"] == pytest.approx(bic + 4 * 0.3 * model.n_edges_ * np.log(12))
    assert row["ebic"] == model.path_["ebic"].min()
    fewer = sw.GaussianGraphCV(gamma=5.0).fit(X)
    assert fewer.n_edges_ < model.n_edges_ <= sw.GaussianGraphCV(criterion="bic").fit(X).n_edges_


def test_cross_validation():
    X, edges = simulated(300, n=8)
    model = sw.GaussianGraphCV(criterion="cv", cv=KFold(3)).fit(X)
    assert edges <= edges_of(model)
    again = sw.GaussianGraph(max_degree=None, max_edges=model.n_edges_)
    mean = model.path_["score_mean"][model.n_edges_]
    assert mean == pytest.approx(cross_val_score(again, X, cv=KFold(3)).mean(), abs=0.02)
    fewest = sw.GaussianGraphCV(criterion="cv", cv=3, one_standard_error=True).fit(X)
    assert fewest.n_edges_ <= model.n_edges_


def test_folds_are_of_rows_as_given():
    """Rows of weight 0 are in no fold, but have their numbers."""
    X, _ = simulated(90, n=6)
    weight = np.where(np.arange(90) % 3, 1.5, 0.0)
    folds = list(KFold(3).split(X[weight > 0]))
    places = np.flatnonzero(weight)
    model = sw.GaussianGraphCV(criterion="cv", cv=[(places[a], places[b]) for a, b in folds])
    expected = sw.GaussianGraphCV(criterion="cv", cv=folds).fit(X[weight > 0]).path_
    pd.testing.assert_frame_equal(model.fit(X, sample_weight=weight).path_, expected)


@pytest.mark.parametrize("correlation", ["spearman", "kendall"])
def test_ranks_do_not_mind_monotone_functions(correlation):
    X, edges = simulated(1000)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = sw.GaussianGraphCV(correlation=correlation).fit(np.exp(2 * X))
    assert edges_of(model) == edges
    plain = sw.GaussianGraphCV(correlation=correlation).fit(X)
    np.testing.assert_allclose(model.adjacency_, plain.adjacency_, atol=1e-12)


def test_answers_in_ordered_categories():
    X, edges = simulated(2000)
    X = np.digitize((X - X.mean(axis=0)) / X.std(axis=0), [-1, 0, 0.8])
    model = sw.GaussianGraphCV(correlation="polychoric").fit(X)
    assert len(edges_of(model) ^ edges) <= 1


def test_missing_entries():
    X, edges = simulated(3000)
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = sw.GaussianGraphCV().fit(missing)
    assert edges_of(model) == edges
    known = ~np.isnan(missing)
    assert model.n_observed_.tolist() == (known.T.astype(int) @ known).tolist()


@pytest.mark.filterwarnings("ignore:the correlations of pairs")
def test_missing_entries_make_no_edges():
    """Pairs that were seen in half of the samples count as half of the samples would."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    model = sw.GaussianGraphCV(gamma=0.25).fit(np.where(rng.random(X.shape) < 0.5, np.nan, X))
    share = model.n_observed_[np.triu_indices(30, 1)].mean() / 200
    assert model.path_["log_likelihood"][model.n_edges_] == pytest.approx(200 * share * model.log_likelihood_)
    assert model.n_edges_ <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_variables_are_told_and_borne(kind):
    X, _ = simulated(100, n=6)
    with pytest.warns(UserWarning, match=r"no maximum on this graph.* fitted with ridge=0\.01"):
        model = kind().fit(np.column_stack([X, X[:, 0]]))
    assert (0, 6) in edges_of(model)
    assert model.ridge_ == 0.01
    assert 0.9 < model.adjacency_[0, 6] < 1
    with pytest.warns(UserWarning, match="the same variable") as caught:
        kind(ridge=0.01).fit(np.column_stack([X, X[:, 0]]))
    assert len(caught) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_constants_have_no_edges(kind):
    X, _ = simulated(100, n=6)
    with pytest.warns(UserWarning, match="constant columns, from which nothing can be learnt: 6"):
        model = kind().fit(np.column_stack([X, np.full(100, 2.5)]))
    assert model.graph_.degree[6] == 0
    assert np.isfinite(model.score(np.column_stack([X, np.full(100, 2.5)])))


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_samples_than_variables(kind):
    X, _ = simulated(20, n=40)
    model = kind().fit(X)
    assert np.linalg.eigvalsh(model.covariance_)[0] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_for_the_data_of_fit(kind):
    X, _ = simulated(500)
    model = kind().fit(X)
    proof = model.certify(X)
    assert proof.value == pytest.approx(model.result_.value)
    assert proof.ratio > 0.99
    with pytest.raises(ValueError, match="X must be the training data"):
        model.certify(X + np.random.default_rng(0).standard_normal(X.shape))


@pytest.mark.parametrize("kind", KINDS)
def test_pickles_and_clones(kind):
    X, _ = simulated(100, n=6)
    model = kind(max_degree=2).fit(X)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.adjacency_, model.adjacency_)
    assert not hasattr(clone(model), "adjacency_")
    np.testing.assert_array_equal(clone(model).fit(X).adjacency_, model.adjacency_)


def test_a_search_that_was_cut_short_is_warned_about():
    X, _ = simulated()
    with pytest.warns(ConvergenceWarning, match="cut short by max_iter=2") as caught:
        model = sw.GaussianGraph(max_iter=2, start="empty").fit(X)
    assert len(caught) == 1
    assert len(model.support_) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1}, "ridge must be a non-negative number"),
        ({"correlation": "rank"}, "correlation must be one of pearson"),
        ({"threshold": -0.1}, "threshold must be a non-negative number"),
        ({"max_edges": -1}, "max_edges must be a non-negative integer"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_checked_in_fit(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit(simulated(30)[0])


@pytest.mark.parametrize("cuts", [[0.0], [0.8, 1.5]])
def test_few_categories_do_not_make_false_edges(cuts):
    false = 0
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(2000, 8))
        for column in range(1, 8):
            X[:, column] = 0.6 * X[:, column - 1] + 0.8 * X[:, column]
        answers = np.digitize(X, cuts).astype(float)
        found = edges_of(sw.GaussianGraphCV(correlation="polychoric").fit(answers))
        assert {(v, v + 1) for v in range(7)} <= found
        false += len(found) - 7
    assert false <= 2


def test_ordered_categories_are_taken_in_their_order():
    words = np.array(["low", "mid", "high"])
    codes = np.digitize(np.cumsum(np.random.default_rng(0).normal(size=(200, 3)), axis=1), [-0.5, 0.5])
    frame = pd.DataFrame(codes.astype(float), columns=list("abc"))
    ordered = frame.assign(b=pd.Categorical(words[codes[:, 1]], categories=words, ordered=True))
    for correlation in ("spearman", "polychoric"):
        models = [sw.GaussianGraphCV(correlation=correlation).fit(each) for each in (frame, ordered)]
        np.testing.assert_allclose(models[0].adjacency_, models[1].adjacency_)
    with pytest.raises(ValueError, match=r"X must hold numbers, got text in 'b' .*; ordered categories"):
        sw.GaussianGraph(1).fit(ordered)
    with pytest.raises(ValueError, match=r"X must hold numbers, got text in 'b' .*; ordered categories"):
        sw.GaussianGraph(1, correlation="spearman").fit(frame.assign(b=words[codes[:, 1]]))


def test_pairs_that_were_never_observed_together_have_no_edge():
    X = np.cumsum(np.random.default_rng(0).normal(size=(200, 3)), axis=1)
    X[:100, 0], X[100:, 1] = np.nan, np.nan
    with pytest.warns(UserWarning, match="and have no edge: 0 and 1"):
        model = sw.GaussianGraph(None, max_edges=3).fit(X)
    assert edges_of(model) == {(0, 2), (1, 2)}
    with pytest.warns(UserWarning, match="and have no edge"):
        assert len(sw.GaussianGraph(None, edges=[(0, 1)]).fit(X).support_) == 0
