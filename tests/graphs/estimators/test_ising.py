"""The estimators of graphs find what a search of the same likelihood finds, and speak scikit-learn."""

import itertools
import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw
from swapwise.graphs.estimators.spins import gibbs_samples
from swapwise.paper.instances import paper_ising

NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]


def spins(n_vertices=8, n_samples=150, seed=0):
    return paper_ising(n_vertices, 3, n_samples=n_samples, random_state=seed, burn_in=500, thin=50).spins


def zeros_and_ones(**options):
    return (spins(**options) > 0).astype(int)


def likelihood(data, ridge=0.01, fields=True, **options):
    return sw.graphs.IsingPseudoLikelihood(data, ridge=ridge, fields=fields, **options)


class TestFit:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"max_degree": 1, "ridge": 0.2},
            {"fields": False},
            {"method": "oblivious", "max_degree": 2},
            {"method": "greedy"},
            {"method": sw.NonOblivious(), "start": "arbitrary", "max_iter": 3},
        ],
    )
    def test_it_is_the_search_of_the_same_likelihood(self, options):
        data = spins()
        model = sw.IsingGraph(**options).fit(data)
        b = options.pop("max_degree", 3)
        f = likelihood(data, options.pop("ridge", 0.01), options.pop("fields", True))
        result = sw.maximize(f, sw.BMatching.complete(8, b), **options)
        assert model.result_.value == result.value
        np.testing.assert_array_equal(model.support_, [f.edges[e] for e in result.support])
        for (i, j), coupling in zip(f.edges, result.coef, strict=True):
            assert model.coupling_[i, j] == model.coupling_[j, i] == coupling
        assert not model.coupling_.diagonal().any()
        np.testing.assert_array_equal(model.field_, f.biases(result.support))

    def test_auto_refits_for_every_pair_only_while_these_are_few(self):
        few, many = spins(n_vertices=24, n_samples=30), spins(n_vertices=26, n_samples=30)
        for data, rule in ((few, "semi-oblivious"), (many, "non-oblivious")):
            assert sw.IsingGraph(max_iter=1, start="empty").fit(data).result_.method == rule
            assert sw.IsingGraph().fit(data).result_.method == f"model rounds, {rule}"
        assert sw.IsingGraph(max_iter=1, method="greedy").fit(many).result_.method == "greedy"

    def test_all_codings_give_the_same(self):
        coded = zeros_and_ones()
        models = [
            sw.IsingGraph(2).fit(data)
            for data in (coded, coded.astype(float), coded > 0, 2 * coded - 1, scipy.sparse.csr_array(coded))
        ]
        for other in models[1:]:
            np.testing.assert_array_equal(other.coupling_, models[0].coupling_)
            np.testing.assert_array_equal(other.field_, models[0].field_)
        assert np.abs(models[0].coupling_).max() > 0.1

    def test_names_become_nodes(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
        named, plain = sw.IsingGraph(2).fit(frame), sw.IsingGraph(2).fit(frame.to_numpy())
        assert list(named.graph_) == NAMES == named.feature_names_in_.tolist()
        assert list(plain.graph_) == list(range(8))
        assert named.graph_.number_of_edges() == len(named.support_) > 0
        for i, j in named.support_:
            assert (
                named.graph_[NAMES[i]][NAMES[j]]["weight"] == named.coupling_[i, j] == plain.coupling_[i, j]
            )
        assert [named.graph_.nodes[name]["field"] for name in NAMES] == named.field_.tolist()

    def test_degrees_by_number_name_and_position(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
        limits = [3, 0, 1, 2, 1, 1, 0, 2]
        by_name = dict(zip(NAMES, limits, strict=True))
        for max_degree in (limits, np.array(limits), by_name, pd.Series(by_name), dict(enumerate(limits))):
            model = sw.IsingGraph(max_degree).fit(frame)
            degree = np.bincount(model.support_.ravel(), minlength=8)
            assert (degree <= limits).all()
            assert list(model.constraint_.b.values()) == limits
            assert degree.sum() > 4

    def test_only_given_pairs_are_coupled(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
        pairs = [("hen", "ant"), (1, 2), ("cat", 3)]
        model = sw.IsingGraph(edges=pairs, max_degree=dict.fromkeys(NAMES, 2)).fit(frame)
        assert {tuple(edge) for edge in model.support_.tolist()} == {(0, 7), (1, 2), (2, 3)}
        assert sw.IsingGraph(edges=nx.Graph(pairs[:1])).fit(frame).support_.tolist() == [[0, 7]]
        assert len(sw.IsingGraph(edges=[]).fit(frame).support_) == 0

    def test_a_graph_to_begin_with(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
        first = sw.IsingGraph(2).fit(frame)
        for start in (first.support_, first.graph_, first.graph_.edges, [("bee", "ant"), (2, "dog")]):
            stopped = sw.IsingGraph(2, start=start, max_iter=0).fit(frame)
            wanted = {(0, 1), (2, 3)} if isinstance(start, list) else set(map(tuple, first.support_.tolist()))
            assert set(map(tuple, stopped.support_.tolist())) == wanted

    def test_elements_to_begin_with(self):
        data = spins()
        first = sw.IsingGraph(2).fit(data)
        for start in (first.result_, first.result_.support, first.result_.support.tolist()):
            stopped = sw.IsingGraph(2, start=start, max_iter=0).fit(data)
            np.testing.assert_array_equal(stopped.support_, first.support_)

    def test_one_variable_has_no_neighbours(self):
        model = sw.IsingGraph().fit([[0], [1], [1]])
        assert model.support_.shape == (0, 2)
        np.testing.assert_allclose(model.field_, np.log(2) / 2)

    def test_parameters_are_left_alone(self):
        options = {"max_degree": [1] * 8, "edges": [(0, 1)], "start": [(0, 1)]}
        model = sw.IsingGraph(**options)
        model.fit(spins())
        assert {name: model.get_params()[name] for name in options} == options


class TestRestarts:
    def test_the_best_is_kept_and_edges_are_counted(self):
        data = spins(n_vertices=10, n_samples=15, seed=5)
        options = {"method": "non-oblivious", "max_degree": 3, "start": "empty"}
        once, often = (sw.IsingGraph(**options, n_restarts=n).fit(data) for n in (0, 9))
        assert often.result_.value > once.result_.value
        np.testing.assert_array_equal(once.selection_frequency_ > 0, once.coupling_ != 0)
        counts = often.selection_frequency_ * 10
        np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
        np.testing.assert_array_equal(counts, counts.T)
        assert (counts[tuple(often.support_.T)] >= 1).all()
        assert len(np.unique(counts)) > 2

    def test_same_call_same_answer(self):
        data = spins(n_vertices=10, n_samples=25, seed=3)
        first, second, other = (
            sw.IsingGraph(n_restarts=3, random_state=seed, method="non-oblivious").fit(data)
            for seed in (None, 0, 1)
        )
        np.testing.assert_array_equal(first.selection_frequency_, second.selection_frequency_)
        assert (first.selection_frequency_ != other.selection_frequency_).any()


class TestScore:
    def test_it_is_the_formula(self):
        data, held_out = spins()[:100], spins()[100:]
        model = sw.IsingGraph(2).fit(data)
        total = 0.0
        for x in held_out:
            for v in range(8):
                h = model.field_[v] + sum(model.coupling_[u, v] * x[u] for u in range(8))
                total += np.log(1 / (1 + np.exp(-2 * x[v] * h)))
        assert model.score(held_out) == pytest.approx(total / 50, rel=1e-12)
        assert model.score(held_out) < 0

    def test_it_is_the_value_less_penalty_relative_to_no_coupling(self):
        data = spins()
        model = sw.IsingGraph(2, ridge=0.1, fields=False).fit(data)
        penalty = 0.1 * (model.coupling_**2).sum() / 4
        assert model.score(data) == pytest.approx(model.result_.value + penalty - 8 * np.log(2))

    def test_codings_of_fit_are_those_of_score(self):
        coded = zeros_and_ones()
        model = sw.IsingGraph(2).fit(coded)
        assert model.score(coded[:1]) == model.score(coded[:1] > 0)
        ones = np.ones((1, 8))
        assert model.score(ones) == sw.IsingGraph(2).fit(2 * coded - 1).score(ones)
        with pytest.raises(ValueError, match="X must hold 0 and 1, as the training data did; got -1"):
            model.score(2 * coded - 1)

    def test_in_cross_validation(self):
        data = spins()
        folds = KFold(3)
        scores = cross_val_score(sw.IsingGraph(2), data, cv=folds)
        for score, (train, test) in zip(scores, folds.split(data), strict=True):
            assert score == sw.IsingGraph(2).fit(data[train]).score(data[test])


class TestSample:
    def test_it_has_the_law_of_the_model(self):
        coupling = np.array([[0.0, 0.7, 0.0], [0.7, 0.0, -0.4], [0.0, -0.4, 0.0]])
        field = np.array([0.3, 0.0, -0.5])
        states = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
        weight = np.exp((states @ coupling * states).sum(axis=1) / 2 + states @ field)
        drawn = gibbs_samples(coupling, field, 4000, 30, np.random.default_rng(0))
        share = [(drawn == state).all(axis=1).mean() for state in states]
        # The largest standard deviation of a share is 0.5 / sqrt(4000), less than 0.008.
        np.testing.assert_allclose(share, weight / weight.sum(), atol=0.03)

    def test_vertices_without_neighbours_and_fields(self):
        drawn = gibbs_samples(np.zeros((2, 2)), np.zeros(2), 2000, 3, np.random.default_rng(0))
        np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=0.1)

    def test_long_chains_are_drawn_in_stretches(self):
        model = sw.IsingGraph(1).fit(spins())
        lengths = [model.sample(3, burn_in=burn_in) for burn_in in (1000, 2500)]
        assert (lengths[0] != lengths[1]).any()

    @pytest.mark.parametrize(
        ("data", "values"),
        [
            (zeros_and_ones(), {0, 1}),
            (zeros_and_ones() > 0, {False, True}),
            (spins(), {-1, 1}),
        ],
    )
    def test_it_is_coded_as_the_data(self, data, values):
        model = sw.IsingGraph(2).fit(data)
        drawn = model.sample(50, burn_in=20)
        assert drawn.shape == (50, 8)
        assert set(np.unique(drawn).tolist()) == values
        assert (drawn.dtype == bool) == (data.dtype == bool)
        assert model.score(drawn) < 0

    def test_seeds(self):
        model = sw.IsingGraph(2).fit(spins())
        first = model.sample(20, burn_in=20)
        np.testing.assert_array_equal(first, model.sample(20, random_state=0, burn_in=20))
        assert (first != model.sample(20, random_state=1, burn_in=20)).any()
        assert model.sample().shape == (1, 8)


class TestCertify:
    def test_it_is_the_certificate_of_the_result(self):
        data = spins()
        frame = pd.DataFrame(data > 0, columns=NAMES)
        model = sw.IsingGraph(2, ridge=0.1).fit(frame)
        assert model.certify(frame, max_nodes=0).n_nodes == 0
        proof = model.certify(frame)
        direct = sw.certify(likelihood(data, 0.1), sw.BMatching.complete(8, 2), model.result_)
        assert proof.value == model.result_.value
        assert proof.upper_bound == pytest.approx(direct.upper_bound)

    def test_other_data_are_refused(self):
        model = sw.IsingGraph(2).fit(spins())
        with pytest.raises(ValueError, match="must be the training data"):
            model.certify(spins(seed=1))


class TestLimits:
    def test_edges_in_all(self):
        data = spins()
        model = sw.IsingGraph(3, max_edges=4).fit(data)
        f = likelihood(data)
        result = sw.maximize(f, sw.BMatching.complete(8, 3).truncate(4))
        assert model.result_.value == pytest.approx(result.value)
        assert len(model.support_) == 4

    def test_without_a_limit_on_degrees_it_is_a_choice_of_pairs(self):
        data = spins()[:, :5]
        model = sw.IsingGraph(None, max_edges=3).fit(data)
        assert model.result_.value == pytest.approx(sw.exact(likelihood(data), sw.Uniform(10, 3)).value)
        assert model.limits_.tolist() == [4] * 5
        assert "at most 3 edges; " in model.summary()

    def test_forced_edges_are_there_and_count(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
        free = {frozenset(edge) for edge in sw.IsingGraph(1).fit(frame).graph_.edges}
        weak = next(pair for pair in itertools.combinations(NAMES, 2) if frozenset(pair) not in free)
        model = sw.IsingGraph(1, forced_edges=[weak[::-1]]).fit(frame)
        assert model.graph_.has_edge(*weak)
        assert max(dict(model.graph_.degree).values()) == 1
        assert model.certify(frame).optimal

    def test_what_was_asked_for_is_in_the_summary(self):
        some = [(0, 1), (1, 0), (1, 2), (2, 3)]  # one of them twice
        words = sw.IsingGraph(1, edges=some, forced_edges=[(0, 1)]).fit(spins()).summary()
        assert "the graphs among 3 pairs with the 1 forced edge and at most 1 neighbour per variable" in words

    def test_a_threshold_leaves_weak_edges_out_and_fits_the_others_again(self):
        data = spins()
        whole = sw.IsingGraph(3).fit(data)
        threshold = float(np.median(np.abs(whole.to_frame()["weight"])))
        model = sw.IsingGraph(3, threshold=threshold).fit(data)
        assert 0 < len(model.support_) < len(whole.support_)
        assert model.to_frame()["weight"].abs().min() > threshold
        f = likelihood(data)
        kept = [f.edges.index(tuple(edge)) for edge in model.support_.tolist()]
        np.testing.assert_allclose(model.adjacency_[f.tail, f.head], f.coef(kept), atol=1e-9)
        assert model.result_.value == whole.result_.value
        assert "weaker than" in model.summary()

    def test_forced_edges_stay_below_the_threshold(self):
        model = sw.IsingGraph(3, threshold=100.0, forced_edges=[(0, 1)]).fit(spins())
        assert model.support_.tolist() == [[0, 1]]

    def test_frame_and_graph_have_the_same_edges_the_strongest_first(self):
        model = sw.IsingGraph(2).fit(pd.DataFrame(zeros_and_ones(), columns=NAMES))
        frame = model.to_frame()
        assert (frame["weight"].abs().diff().dropna() <= 0).all()
        for source, target, weight in frame.itertuples(index=False):
            assert model.graph_[source][target]["weight"] == weight


class TestWarnings:
    def test_real_numbers_are_taken_as_they_are(self):
        data = np.random.default_rng(0).standard_normal((40, 4))
        with pytest.warns(UserWarning, match="numbers are taken as they are"):
            model = sw.IsingGraph(1).fit(data)
        f = likelihood(data)
        assert model.result_.value == sw.maximize(f, sw.BMatching.complete(4, 1)).value
        with pytest.raises(ValueError, match="fit was given real numbers"):
            model.sample()

    def test_constant_columns_are_named(self):
        frame = pd.DataFrame(zeros_and_ones(), columns=NAMES).assign(cat=1, fox=0)
        with pytest.warns(UserWarning, match="constant columns.*'cat', 'fox'$") as caught:
            model = sw.IsingGraph(2).fit(frame)
        assert len(caught) == 1
        assert np.isfinite(model.field_).all()
        with pytest.warns(UserWarning, match="constant columns") as caught:
            sw.IsingGraphCV(1, criterion="cv", cv=2).fit(frame)
        assert all("constant columns" in str(one.message) for one in caught)

    @pytest.mark.parametrize("model", [sw.IsingGraph(1), sw.GaussianGraph(1), sw.MixedGraph(1)])
    def test_names_that_are_no_strings_are_lost_and_told(self, model):
        frame = pd.DataFrame(zeros_and_ones()[:, :3], columns=[10, 20, 30])
        with pytest.warns(UserWarning, match="columns go by their positions, from 0 to 2, .* such as 10"):
            assert set(model.fit(frame).graph_) == {0, 1, 2}

    def test_folds_keep_silent(self):
        data = spins()
        data[:, 1] = data[:, 0]
        with pytest.warns(UserWarning, match="separable") as caught:
            sw.IsingGraphCV(1, criterion="cv", ridge=0.0, cv=3).fit(data)
        assert ["the same variable" in str(each.message) for each in caught] == [True, False]

    def test_nothing_to_say_of_good_data(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sw.IsingGraph(2).fit(zeros_and_ones())
            sw.IsingGraphCV(1, criterion="cv", cv=2).fit(zeros_and_ones())
        assert not said


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_degree": 1.5}, TypeError, "max_degree must be a non-negative integer, got 1.5"),
        ({"max_degree": "two"}, TypeError, "max_degree must be a non-negative integer, got 'two'"),
        ({"max_degree": [1, 2]}, ValueError, "max_degree must have a number for each of 8 columns, got 2"),
        ({"max_degree": {"ant": 1}}, ValueError, "max_degree must name every column.*no number for 'bee'"),
        ({"max_degree": dict.fromkeys([*NAMES, "yak"], 1)}, ValueError, "max_degree must name.*got 'yak'"),
        ({"ridge": -1}, ValueError, "ridge must be a non-negative number, got -1"),
        ({"fields": "yes"}, TypeError, "fields must be True or False, got 'yes'"),
        ({"edges": [("ant", "yak")]}, ValueError, "edges must name columns of X.*got 'yak'"),
        ({"edges": [(0, 8)]}, ValueError, "positions from 0 to 7; got 8"),
        ({"edges": [("bee", 1)]}, ValueError, "edges must join two different columns, got 'bee' and itself"),
        ({"edges": 5}, TypeError, "edges must be pairs of vertices.*got 5"),
        ({"start": "nowhere"}, ValueError, "got 'nowhere'"),
        (
            {"start": [(0, 1)], "edges": [(1, 2)]},
            ValueError,
            r"start must be made of edges.*\('ant', 'bee'\)",
        ),
        ({"start": [(0, 1), (0, 2)], "max_degree": 1}, ValueError, "start must be independent"),
        ({"start": [28]}, ValueError, r"start must hold integers from 0 to 27 \(n = 28\), got 28"),
        ({"start": [0, (0, 1)]}, TypeError, "start must be pairs of vertices, got 0 as number 0"),
        ({"n_restarts": -1}, ValueError, "n_restarts must be a non-negative integer, got -1"),
        ({"n_restarts": 1, "method": "greedy"}, ValueError, "n_restarts must be 0 for greedy"),
        ({"method": "best"}, ValueError, "got 'best'"),
        ({"random_state": "dice"}, TypeError, "random_state must be.*got 'dice'"),
        ({"max_edges": -1}, ValueError, "max_edges must be a non-negative integer, got -1"),
        (
            {"max_edges": 1, "forced_edges": [(0, 1), (1, 2)]},
            ValueError,
            "leave room for 2 forced_edges, got 1",
        ),
        ({"forced_edges": [("ant", "yak")]}, ValueError, "forced_edges must name columns of X.*got 'yak'"),
        ({"forced_edges": [(0, 1)], "edges": [(1, 2)]}, ValueError, r"\('ant', 'bee'\) is none of them"),
        (
            {"forced_edges": [(0, 1), (0, 2)], "max_degree": 1},
            ValueError,
            "within max_degree, but 'ant' has 2 of them and may have 1 neighbour$",
        ),
        ({"threshold": -0.1}, ValueError, "threshold must be a non-negative number, got -0.1"),
    ],
)
def test_what_is_refused(options, error, message):
    frame = pd.DataFrame(zeros_and_ones(), columns=NAMES)
    with pytest.raises(error, match=message):
        sw.IsingGraph(**options).fit(frame)


def test_answers_on_a_scale_are_refused_with_a_way_out():
    data = np.random.default_rng(0).integers(1, 6, size=(60, 4))
    with pytest.raises(
        ValueError, match=r"on a scale, 1, 2, 3, 4, 5 in 0; GaussianGraphCV\(correlation='poly"
    ):
        sw.IsingGraph(1).fit(data)


def test_real_numbers_beside_spins_are_one_warning():
    data = spins().astype(float)
    data[:, 2] *= np.linspace(0.5, 1.5, len(data))
    with pytest.warns(UserWarning, match="taken as they are") as caught:
        sw.IsingGraph(1).fit(data)
    assert len(caught) == 1


# What scikit-learn itself skips: it wants an environment variable for its checks of array libraries.
SKIPPED = {"check_array_api_input"}

# Their data are answers on a scale, or have a column of two values beside one of four: for users to decide.
REFUSED = dict.fromkeys(
    [
        "check_estimators_dtypes",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
    ],
    "its data have more than two values in a column",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        sw.IsingGraph(n_restarts=1),
        sw.IsingGraphCV(),
        sw.IsingGraphCV(3, criterion="cv", cv=2, n_restarts=1),
    ],
    ids=["IsingGraph", "EBIC", "cross-validation"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_is_satisfied(estimator):
    checks = check_estimator(estimator, on_skip=None, expected_failed_checks=REFUSED)
    assert {check["check_name"] for check in checks if check["status"] != "passed"} <= SKIPPED | set(REFUSED)
    assert len(checks) >= 40


@pytest.mark.parametrize("kind", [sw.IsingGraph, sw.IsingGraphCV])
def test_clones_and_pickles(kind):
    data = spins()[:, :4]
    model = kind().fit(data)
    again = pickle.loads(pickle.dumps(model))
    assert again.score(data) == model.score(data)
    assert (again.sample(2, burn_in=5) == model.sample(2, burn_in=5)).all()
    assert not hasattr(clone(model), "coupling_")
