"""The number of edges is the one with the best criterion, and the graph the best of that size."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold

import swapwise as sw
from swapwise.paper.instances import paper_ising


def spins(n_vertices=8, n_samples=150, seed=0):
    return paper_ising(n_vertices, 3, n_samples=n_samples, random_state=seed, burn_in=500, thin=50).spins


def chain(n_samples=300, n_vertices=7, seed=0):
    """Each variable mostly repeats the one before: six edges."""
    rng = np.random.default_rng(seed)
    return np.cumprod(np.where(rng.random((n_samples, n_vertices)) < 0.2, -1, 1), axis=1)


def plain_criterion(data, graph, gamma, ridge=0.01):
    """Return the sum of the vertices' EBICs of a graph, from the scores of a fit on just that graph."""
    n, n_vertices = data.shape
    model = sw.IsingGraph(None, edges=graph, ridge=ridge) if graph else sw.IsingGraph(0, ridge=ridge)
    log_likelihood = n * model.fit(data).score(data)
    return -2 * log_likelihood + 2 * len(graph) * (np.log(n) + 2 * gamma * np.log(n_vertices - 1))


class TestInformationCriteria:
    @pytest.mark.parametrize(("criterion", "gamma"), [("ebic", 0.25), ("ebic", 1.0), ("bic", 0.5)])
    def test_criteria_are_the_sums_of_those_of_the_vertices(self, criterion, gamma):
        data = spins()
        model = sw.IsingGraphCV(criterion=criterion, gamma=gamma).fit(data)
        graph = list(map(tuple, model.support_.tolist()))
        row = model.path_.set_index("n_edges").loc[model.n_edges_]
        assert row["bic"] == pytest.approx(plain_criterion(data, graph, 0.0))
        assert row["ebic"] == pytest.approx(plain_criterion(data, graph, gamma))
        assert model.n_edges_ == model.path_[criterion].idxmin() == len(graph)
        assert model.path_["n_edges"].tolist() == list(range(len(model.path_)))
        assert model.path_[criterion][0] == pytest.approx(plain_criterion(data, [], 0.0))

    def test_against_all_graphs(self):
        """Local search finds the graph with the best criterion of all in nearly every small instance."""
        pairs, found = list(itertools.combinations(range(5), 2)), 0
        for seed in range(6):
            data = spins(6, 60, seed)[:, :5]
            f = sw.graphs.IsingPseudoLikelihood(data, 0.01, True)
            price = 2 * (np.log(60) + 0.5 * np.log(4))
            losses = {}
            for graph in itertools.chain.from_iterable(
                itertools.combinations(range(10), k) for k in range(7)
            ):
                coef = f.coef(graph)
                losses[graph] = price * len(graph) - 120 * f.mean_log_likelihood(f(graph), coef)
            best = min(losses, key=losses.get)
            model = sw.IsingGraphCV().fit(data)
            chosen = tuple(pairs.index(tuple(edge)) for edge in model.support_.tolist())
            assert losses[chosen] >= losses[best] - 1e-6
            found += chosen == best
        assert found >= 5

    def test_a_chain_is_found_and_nothing_else(self):
        model = sw.IsingGraphCV().fit(chain())
        assert nx.utils.edges_equal(model.graph_.edges, nx.path_graph(7).edges)
        assert model.result_.status is sw.Status.LOCAL_OPTIMUM

    def test_a_larger_gamma_keeps_fewer_edges(self):
        sizes = [sw.IsingGraphCV(gamma=gamma).fit(spins(10, 120)).n_edges_ for gamma in (0.0, 0.5, 5.0)]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]

    def test_independent_variables_have_no_edge(self):
        data = np.random.default_rng(0).choice([-1, 1], (200, 6))
        model = sw.IsingGraphCV().fit(data)
        assert model.n_edges_ == 0
        assert model.adjacency_.shape == (6, 6)
        assert model.summary().endswith("; 6 variables without an edge")

    def test_limits_are_kept(self):
        data = chain()
        model = sw.IsingGraphCV(1, max_edges=2, forced_edges=[(0, 6)], edges=nx.complete_graph(7)).fit(data)
        assert model.graph_.has_edge(0, 6)
        assert model.n_edges_ == 2
        assert max(dict(model.graph_.degree).values()) == 1
        assert model.path_["n_edges"].tolist() == [1, 2]
        assert "at most 1 neighbour per variable and at most 2 edges" in model.summary()

    def test_counts_are_samples(self):
        patterns, times = np.unique(chain()[:, :5], axis=0, return_counts=True)
        here = sw.IsingGraphCV().fit(patterns, sample_weight=times)
        there = sw.IsingGraphCV().fit(chain()[:, :5])
        pd.testing.assert_frame_equal(here.path_, there.path_)
        np.testing.assert_allclose(here.coupling_, there.coupling_, atol=1e-8)

    def test_the_size_of_other_weights_does_not_matter(self):
        data, weight = chain(), np.random.default_rng(1).random(300)
        small, large = (sw.IsingGraphCV().fit(data, sample_weight=weight * size) for size in (1e-9, 1e9))
        np.testing.assert_array_equal(small.support_, large.support_)
        pd.testing.assert_frame_equal(small.path_, large.path_, rtol=1e-6)

    def test_every_rule_finds_the_chain(self):
        for method in ("semi-oblivious", "oblivious", "greedy", sw.NonOblivious()):
            model = sw.IsingGraphCV(method=method).fit(chain())
            assert nx.utils.edges_equal(model.graph_.edges, nx.path_graph(7).edges)

    def test_restarts_are_made_with_the_size_that_was_chosen(self):
        model = sw.IsingGraphCV(n_restarts=3, random_state=0).fit(chain())
        assert model.n_edges_ == 6 == len(model.support_)
        assert model.selection_frequency_[0, 1] == 1.0

    def test_the_path_has_the_graph_that_restarts_found(self):
        data = spins()
        model = sw.IsingGraphCV(n_restarts=5, random_state=0).fit(data)
        row = model.path_.set_index("n_edges").loc[model.n_edges_]
        assert row["ebic"] == pytest.approx(plain_criterion(data, list(map(tuple, model.support_)), 0.25))

    def test_proofs_are_about_graphs_of_that_size(self):
        data = chain()[:, :5]
        model = sw.IsingGraphCV().fit(data)
        f = sw.graphs.IsingPseudoLikelihood(data, 0.01, True)
        assert model.certify(data).optimal
        assert model.result_.value == pytest.approx(sw.exact(f, sw.Uniform(10, 4)).value)

    def test_time_is_limited(self):
        with pytest.warns(UserWarning, match="cut short by time_limit"):
            model = sw.IsingGraphCV(time_limit=0.0).fit(chain())
        assert model.n_edges_ == 0

    def test_one_variable_and_constant_ones(self):
        assert sw.IsingGraphCV().fit([[0], [1], [1]]).n_edges_ == 0
        data = chain()
        data[:, 3] = 1
        with pytest.warns(UserWarning, match="constant columns"):
            model = sw.IsingGraphCV().fit(data)
        assert model.graph_.degree(3) == 0


class TestCrossValidation:
    def test_scores_are_those_of_samples_that_were_left_out(self):
        data, folds = chain(), KFold(3, shuffle=True, random_state=0)
        model = sw.IsingGraphCV(criterion="cv", cv=folds).fit(data)
        scores = []
        for train, test in folds.split(data):
            first = sw.IsingGraph(None, max_edges=1).fit(data[train])
            scores.append(first.score(data[test]))
        row = model.path_.iloc[1]
        assert row["score_mean"] == pytest.approx(np.mean(scores))
        assert row["score_se"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))
        assert model.n_edges_ == model.path_["score_mean"].idxmax()

    def test_one_standard_error_takes_the_smallest_near_the_best(self):
        data = spins(n_samples=60)
        best, near = (
            sw.IsingGraphCV(criterion="cv", one_standard_error=one).fit(data) for one in (False, True)
        )
        np.testing.assert_allclose(best.path_["score_mean"], near.path_["score_mean"])
        top = best.path_.iloc[best.n_edges_]
        enough = best.path_["score_mean"] >= top["score_mean"] - top["score_se"]
        assert near.n_edges_ == enough.idxmax() < best.n_edges_

    def test_one_fold_has_no_standard_error(self):
        cv = [(np.arange(200), np.arange(200, 300))]
        model = sw.IsingGraphCV(criterion="cv", cv=cv, one_standard_error=True).fit(chain())
        assert model.path_["score_se"].isna().all()
        assert model.n_edges_ == model.path_["score_mean"].idxmax()

    def test_folds_that_cannot_be_made_are_told(self):
        with pytest.raises(ValueError, match=r"cv must be able to split 300 rows, but GroupKFold"):
            sw.IsingGraphCV(criterion="cv", cv=GroupKFold(3)).fit(chain())

    def test_jobs_change_nothing(self):
        paths = [
            sw.IsingGraphCV(criterion="cv", cv=2, n_restarts=1, n_jobs=n_jobs, random_state=3)
            .fit(chain())
            .path_
            for n_jobs in (None, 2)
        ]
        pd.testing.assert_frame_equal(paths[0], paths[1])

    def test_progress_is_told_on_the_terminal(self, capsys):
        sw.IsingGraphCV(criterion="cv", cv=2, progress=True).fit(chain(40))
        assert "cross-validation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"criterion": "aicc"}, ValueError, "criterion must be one of ebic, bic, cv; got 'aicc'"),
        ({"gamma": -1}, ValueError, "gamma must be a non-negative number, got -1"),
        (
            {"one_standard_error": True},
            ValueError,
            "one_standard_error needs criterion='cv', got criterion='ebic'",
        ),
        ({"criterion": "cv", "cv": 1}, ValueError, "n_splits=1"),
        ({"criterion": "cv", "cv": 500}, ValueError, "n_splits=500"),
        ({"max_degree": -1}, ValueError, "max_degree must be a non-negative integer, got -1"),
        ({"max_edges": 1.5}, TypeError, "max_edges must be a non-negative integer, got 1.5"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        sw.IsingGraphCV(**options).fit(chain())


class TestMissingAnswers:
    def test_edges_are_learnt_from_pairs_and_no_row_is_left_out(self):
        data = chain(600).astype(float)
        data[np.random.default_rng(1).random(data.shape) < 0.2] = np.nan
        model = sw.IsingGraphCV().fit(data)
        assert nx.utils.edges_equal(model.graph_.edges, nx.path_graph(7).edges)
        seen = (~np.isnan(data)).astype(int)
        np.testing.assert_array_equal(model.n_observed_, seen.T @ seen)
        assert model.score(data) > sw.IsingGraph(0, max_edges=0).fit(data).score(data)

    @pytest.mark.parametrize("share", [0.1, 0.2])
    def test_many_rows_do_not_make_false_edges(self, share):
        # With means in place of what is missing there are 1 to 6 between neighbours of neighbours.
        data = chain(3000).astype(float)
        data[np.random.default_rng(1).random(data.shape) < share] = np.nan
        model = sw.IsingGraphCV().fit(data)
        assert nx.utils.edges_equal(model.graph_.edges, nx.path_graph(7).edges)
        complete = sw.IsingGraphCV().fit(chain(3000))
        np.testing.assert_allclose(model.coupling_, complete.coupling_, atol=0.1)

    def test_a_proof_is_of_what_was_searched(self):
        data = chain(200).astype(float)
        data[np.random.default_rng(3).random(data.shape) < 0.2] = np.nan
        model = sw.IsingGraphCV(max_degree=2).fit(data)
        assert model.certify(data).ratio == pytest.approx(1.0, abs=1e-6)
        data[0, :3] = np.nan
        with pytest.raises(ValueError, match="X must be the training data"):
            model.certify(data)

    def test_the_same_call_gives_the_same_answer(self):
        data = chain(200).astype(float)
        data[np.random.default_rng(3).random(data.shape) < 0.2] = np.nan
        first, second, other = (sw.IsingGraphCV(random_state=seed).fit(data) for seed in (None, None, 1))
        np.testing.assert_array_equal(first.coupling_, second.coupling_)
        assert (first.coupling_ != other.coupling_).any()

    def test_a_pattern_that_counts_often_is_better_repeated(self):
        data = chain(30).astype(float)
        data[0, 0] = np.nan
        with pytest.warns(UserWarning, match="one of them counts 50 times; repeat such rows instead"):
            sw.IsingGraphCV().fit(data, sample_weight=[50] + [1] * 29)

    def test_folds_have_missing_answers_too(self):
        data = chain(300).astype(float)
        data[np.random.default_rng(2).random(data.shape) < 0.1] = np.nan
        model = sw.IsingGraphCV(criterion="cv", one_standard_error=True).fit(data)
        assert set(nx.path_graph(7).edges) <= set(model.graph_.edges)

    def test_any_kind_of_missing_value_is_one(self):
        frame = pd.DataFrame(chain(200)[:, :4] > 0, columns=list("abcd")).astype(object)
        frame.iloc[::7, 1] = None
        numbers = frame.astype(float)
        nullable = frame.astype("boolean")
        models = [sw.IsingGraphCV().fit(X) for X in (frame, numbers, nullable)]
        for model in models:
            np.testing.assert_allclose(model.coupling_, models[0].coupling_)
