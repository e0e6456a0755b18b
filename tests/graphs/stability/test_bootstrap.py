"""The bootstrap is what a plain loop over copies of rows would do, and says how sure edges are."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import swapwise as sw
from tests.graphs.stability.correlation_graph import (
    CorrelationGraph,
    InMemoryGraph,
    InterruptedGraph,
    RankGraph,
    UnweightedGraph,
    chain,
)


def plain_bootstrap(X, n_boots, counts=None):
    """Fit to copies of rows."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(len(X)), 1 if counts is None else counts)
    boots = []
    for _ in range(n_boots):
        again = X[rng.choice(rows, len(rows))]
        correlation = np.corrcoef(again.T)[np.triu_indices(X.shape[1], 1)]
        boots.append(np.where(np.abs(correlation) > 0.2, correlation, 0.0))
    return np.array(boots)


@pytest.mark.parametrize("counts", [None, np.arange(1, 61) % 5])
def test_intervals_are_those_of_a_plain_loop(counts):
    X = chain(60, 4)
    boot = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 1500, sample_weight=counts)
    plain = plain_bootstrap(X, 1500, counts)
    edges = boot.edges
    np.testing.assert_allclose(edges["mean"], plain.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(edges["lower"], np.quantile(plain, 0.025, axis=0), atol=0.05)
    np.testing.assert_allclose(edges["upper"], np.quantile(plain, 0.975, axis=0), atol=0.05)
    np.testing.assert_allclose(edges["inclusion"], (plain != 0).mean(axis=0), atol=0.04)
    np.testing.assert_allclose(edges["positive"] + edges["negative"], edges["inclusion"])
    whole = CorrelationGraph().fit(X, sample_weight=None if counts is None else counts)
    np.testing.assert_array_equal(edges["weight"], whole.adjacency_[np.triu_indices(4, 1)])


def test_centralities_are_those_of_the_boots():
    X = chain(60, 4)
    boot = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 50, level=0.5)
    strength = np.zeros((50, 4))
    for pair, (u, v) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        strength[:, [u, v]] += np.abs(boot.weights[:, [pair]])
    own = boot.centralities.query("measure == 'strength'")
    np.testing.assert_allclose(own["upper"], np.quantile(strength, 0.75, axis=0))
    np.testing.assert_allclose(own["mean"], strength.mean(axis=0))
    assert len(boot.centralities) == 5 * 4


def test_the_answer_depends_on_the_seed_and_not_on_the_number_of_jobs():
    X = chain(60, 4)
    first = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 30)
    parallel = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 30, n_jobs=2, random_state=0)
    other = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 30, random_state=1)
    np.testing.assert_array_equal(first.weights, parallel.weights)
    assert (first.weights != other.weights).any()


def test_one_bar_for_all_fits(capsys):
    sw.graphs.bootstrap_graph(
        sw.IsingGraph(max_degree=1, progress=True), np.sign(chain(50, 3)), 2, progress=True
    )
    shown = capsys.readouterr()
    assert "bootstrap" in shown.err
    assert "moves" not in shown.err
    assert not shown.out


def test_large_arrays_are_arrays_to_workers_too():
    """joblib hands them over in files, and estimators would read files in chunks."""
    X = chain(50_000, 3)
    assert sw.graphs.bootstrap_graph(InMemoryGraph(), X, 2, n_jobs=2).n_boots == 2
    mapped = sw.graphs.bootstrap_graph(sw.IsingGraph(max_degree=1), np.where(X > 0, 1, -1), 2, n_jobs=2)
    here = sw.graphs.bootstrap_graph(sw.IsingGraph(max_degree=1), np.where(X > 0, 1, -1), 2)
    np.testing.assert_array_equal(mapped.weights, here.weights)


def test_differences_are_those_of_plain_intervals():
    boot = sw.graphs.bootstrap_graph(CorrelationGraph(), chain(80, 5, noise=2.0), 200)
    for of in ("edges", "strength"):
        frame, p = boot.differences(of), boot.differences(of, p_values=True)
        if of == "edges":
            values = dict(
                zip(
                    [f"{u} – {v}" for u, v in zip(*np.triu_indices(5, 1), strict=True)],
                    boot.weights.T,
                    strict=True,
                )
            )
        else:
            values = dict(enumerate(boot._measured["strength"].T))
        for one in frame:
            for other in frame:
                difference = values[one] - values[other]
                lower, upper = np.quantile(difference, [0.025, 0.975])
                assert frame.loc[one, other] == (one != other and not lower <= 0 <= upper)
                if p.loc[one, other] < 0.03:
                    assert frame.loc[one, other]
        assert frame.to_numpy().any()
        assert (frame.to_numpy() == frame.to_numpy().T).all()
    with pytest.raises(ValueError, match="of must be 'edges' or one of strength"):
        boot.differences("eigenvector")


def test_rows_with_weights_that_are_no_counts_are_drawn_with_them():
    """A row that is drawn twice is there twice, so that an estimator can tell how many there are."""
    X, weight = chain(60, 3), np.where(np.arange(60) < 30, 0.5, 1.5)
    seen = []

    class Recording(CorrelationGraph):
        def fit(self, X, y=None, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, sample_weight=sample_weight)

    boot = sw.graphs.bootstrap_graph(Recording(), X, 400, sample_weight=weight)
    np.testing.assert_array_equal(seen[0], weight)
    assert all(len(each) == 60 and set(each) <= {0.5, 1.5} for each in seen[1:])
    rng = np.random.default_rng(0)
    plain = []
    for _ in range(400):
        rows = rng.integers(60, size=60)
        fitted = CorrelationGraph().fit(X[rows], sample_weight=weight[rows])
        plain.append(fitted.adjacency_[np.triu_indices(3, 1)])
    np.testing.assert_allclose(boot.edges["sd"], np.std(plain, axis=0), rtol=0.2)


def test_names_and_tables():
    X = pd.DataFrame(chain(60, 3), columns=["rain", "wet", "slip"])
    boot = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 10)
    assert boot.edges["source"].tolist() == ["rain", "rain", "wet"]
    assert set(boot.differences("degree")) == {"rain", "wet", "slip"}
    stored = json.loads(json.dumps(boot.to_dict(), allow_nan=False))
    assert stored["edges"][2]["target"] == "slip"
    assert boot.to_frame() is boot.edges


def test_models_without_weights_are_given_rows():
    X, counts = chain(40, 3), np.arange(40) % 3
    for table in (X, pd.DataFrame(X, columns=list("abc"))):
        boot = sw.graphs.bootstrap_graph(UnweightedGraph(), table, 20, sample_weight=counts)
        weighted = sw.graphs.bootstrap_graph(CorrelationGraph(), table, 20, sample_weight=counts)
        np.testing.assert_allclose(boot.weights, weighted.weights)
    piped = sw.graphs.bootstrap_graph(
        make_pipeline(StandardScaler(), CorrelationGraph()), pd.DataFrame(X, columns=list("abc")), 5
    )
    assert piped.names == ["a", "b", "c"]
    ranks = sw.graphs.bootstrap_graph(RankGraph(), X, 5, sample_weight=counts)
    assert ranks.sample.any()
    with pytest.raises(TypeError, match="sample_weight must be None or whole numbers"):
        sw.graphs.bootstrap_graph(UnweightedGraph(), X, 5, sample_weight=np.full(40, 0.5))


@pytest.mark.parametrize("X", [chain(30, 2), np.ones((20, 3)), np.random.default_rng(0).random((500, 4))])
def test_two_vertices_constant_columns_and_no_edges(X):
    boot = sw.graphs.bootstrap_graph(CorrelationGraph(0.5), X, 4)
    assert np.isfinite(boot.edges.drop(columns=["source", "target"]).to_numpy()).all()
    assert np.isfinite(boot.centralities.drop(columns=["measure", "vertex"]).to_numpy()).all()
    assert len(boot.differences()) == np.count_nonzero(boot.sample)
    json.dumps(boot.to_dict(), allow_nan=False)
    one = sw.graphs.bootstrap_graph(CorrelationGraph(0.5), X, 1)
    assert one.edges["sd"].isna().all()


def test_of_ising_graphs():
    rng = np.random.default_rng(0)
    X = np.where(np.cumprod(np.where(rng.random((200, 4)) < 0.2, -1, 1), axis=1) > 0, "yes", "no")
    X = pd.DataFrame(X, columns=list("abcd")).assign(e="no")
    model = sw.IsingGraph(max_degree=2)
    with pytest.warns(UserWarning, match="constant columns") as heard:
        boot = sw.graphs.bootstrap_graph(model, X, 8)
    assert len(heard) == 1  # of the sample, and not of each bootstrap sample
    assert boot.edges.query("source == 'a' and target == 'b'")["inclusion"].item() == 1
    assert boot.edges.query("target == 'e'")["mean"].abs().max() == 0


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
def test_of_gaussian_graphs(correlation):
    X = pd.DataFrame(chain(100, 4), columns=list("abcd"))
    boot = sw.graphs.bootstrap_graph(sw.GaussianGraphCV(correlation=correlation), X, 4)
    assert boot.edges.query("source == 'a' and target == 'b'")["inclusion"].item() == 1
    assert (np.abs(boot.weights) < 1).all()


@pytest.mark.parametrize("raises", [False, True])
def test_an_interrupt_keeps_what_was_done(raises):
    """A search that is interrupted ends with what it has, which is not the graph of its sample."""
    X = chain(60, 3)
    with pytest.warns(ConvergenceWarning, match=r"bootstrap was interrupted after (\d+) of 400 draws"):
        boot = sw.graphs.bootstrap_graph(InterruptedGraph(raises=raises), X, 400)
    assert boot.interrupted
    assert 0 < boot.n_boots < 400
    whole = sw.graphs.bootstrap_graph(CorrelationGraph(), X, 400)
    np.testing.assert_array_equal(boot.weights, whole.weights[: boot.n_boots])
    always = np.r_[1000, np.ones(59)]
    with pytest.raises(KeyboardInterrupt):  # nothing was done
        sw.graphs.bootstrap_graph(InterruptedGraph(raises=raises), X, 400, sample_weight=always)


def test_what_is_wrong_is_said_before_work_begins():
    X, model = chain(30, 3), CorrelationGraph()
    with pytest.raises(ValueError, match="n_boots must be at least 1, got 0"):
        sw.graphs.bootstrap_graph(model, X, 0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        sw.graphs.bootstrap_graph(model, X, 5, level=95)
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        sw.graphs.bootstrap_graph(model, X[0], 5)
    with pytest.raises(ValueError, match="sample_weight must have length 30, got length 2"):
        sw.graphs.bootstrap_graph(model, X, 5, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="at least two columns"):
        sw.graphs.bootstrap_graph(model, X[:, :1], 5)
    for wrong in (3, LinearRegression(), StandardScaler()):
        with pytest.raises(TypeError, match="model must be a graph estimator"):
            sw.graphs.bootstrap_graph(wrong, X, 5)
    with pytest.raises(TypeError, match=r"got a class; try CorrelationGraph\(\)"):
        sw.graphs.bootstrap_graph(CorrelationGraph, X, 5)


def test_a_model_of_other_data_is_told():
    X = chain(30, 3)
    with pytest.warns(UserWarning, match="fitted to other data than X and sample_weight, or draws at random"):
        sw.graphs.bootstrap_graph(CorrelationGraph().fit(X), chain(30, 3, seed=1), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.graphs.bootstrap_graph(CorrelationGraph().fit(X), X, 5)
