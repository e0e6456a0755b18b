"""Graphs of columns of any two values: the same as of -1 and +1, with samples of the values given."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

import swapwise as sw
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.spins import mean_likelihood, pseudo_log_likelihood
from swapwise.graphs.estimators.two_values import coding_of, read_values
from swapwise.graphs.estimators.vertices import Vertices, warn_of_constants

NAMES = ["ant", "bee", "cat", "dog"]


def spins(seed=0, n_samples=80):
    """Spins of which each mostly repeats the one before."""
    turns = np.where(np.random.default_rng(seed).random((n_samples, len(NAMES))) < 0.3, -1, 1)
    return np.cumprod(turns, axis=1)


def coded(pairs, as_frame=True):
    """Return the spins with a pair of values for each column."""
    pairs = pairs if isinstance(pairs, list) else [pairs] * len(NAMES)
    columns = [
        [pair[int(spin > 0)] for spin in column] for pair, column in zip(pairs, spins().T, strict=True)
    ]
    frame = pd.DataFrame(dict(zip(NAMES, columns, strict=True)))
    return frame if as_frame else frame.to_numpy()


PAIRS = {
    "text": ("no", "yes"),
    "one and two": (1, 2),
    "booleans": (False, True),
    "broken numbers": (3.5, 7.0),
    "negative numbers": (-4, -2),
    "two and minus two": (-2, 2),
    "each its own": [("no", "yes"), ("f", "m"), (0, 1), (False, True)],
    "numbers, each its own": [(0, 1), (-1, 1), (1, 2), (0.5, 0.75)],
}


@pytest.mark.parametrize("as_frame", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_fit_score_sample_and_certify(pair, as_frame):
    data, plain = coded(PAIRS[pair], as_frame), sw.IsingGraph(2).fit(spins())
    model = sw.IsingGraph(2).fit(data)
    np.testing.assert_array_equal(model.coupling_, plain.coupling_)
    np.testing.assert_array_equal(model.field_, plain.field_)
    assert model.score(data[:9]) == plain.score(spins()[:9])
    assert model.certify(data).upper_bound == plain.certify(spins()).upper_bound
    drawn = model.sample(30, burn_in=20)
    pairs = PAIRS[pair] if isinstance(PAIRS[pair], list) else [PAIRS[pair]] * 4
    for place, (low, high) in enumerate(pairs):
        column = drawn.iloc[:, place] if as_frame else drawn[:, place]
        expected = [high if spin > 0 else low for spin in plain.sample(30, burn_in=20)[:, place]]
        assert column.tolist() == expected
    assert model.score(drawn) == plain.score(plain.sample(30, burn_in=20))


def test_frames_of_samples_have_the_names_and_types_of_the_data():
    data = coded(PAIRS["each its own"]).astype({"ant": "category", "bee": "string", "cat": np.int8})
    drawn = sw.IsingGraph(2).fit(data).sample(5)
    assert drawn.columns.tolist() == NAMES
    assert drawn.dtypes.tolist() == data.dtypes.tolist()
    assert isinstance(sw.IsingGraph(2).fit(data.to_numpy()).sample(5), np.ndarray)


def test_cross_validation():
    options = {"max_degree": 2, "criterion": "cv", "cv": 3}
    model, plain = (sw.IsingGraphCV(**options).fit(X) for X in (coded(("no", "yes")), spins()))
    pd.testing.assert_frame_equal(model.path_, plain.path_)
    assert set(np.unique(model.sample(20))) == {"no", "yes"}


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.text(max_size=3), st.text(max_size=3)),
            st.tuples(st.integers(-5, 5), st.integers(-5, 5)),
            st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
            st.just((False, True)),
        ).filter(lambda pair: pair[0] != pair[1]),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 1000),
)
def test_there_and_back(pairs, seed):
    signs = np.random.default_rng(seed).random((12, len(pairs))) < 0.5
    signs[0], signs[1] = True, False
    values = np.empty(signs.shape, dtype=object)
    for column, (low, high) in enumerate(map(sorted, pairs)):
        values[:, column] = [high if sign else low for sign in signs[:, column]]
    names = range(len(pairs))
    coding = coding_of(values, names)
    np.testing.assert_array_equal(coding.to_spins(values, names), np.where(signs, 1.0, -1.0))
    assert coding.from_spins(np.where(signs, 1.0, -1.0)).tolist() == values.tolist()


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (np.ones((2, 2)), [0, 0], [1, 1]),
        (np.zeros((2, 2)), [0, 0], [1, 1]),
        (-np.ones((2, 2)), [-1, -1], [1, 1]),
        (np.array([[1, 1], [1, -1]]), [-1, -1], [1, 1]),
        (np.array([[2, 2], [2, 1]]), [1, 1], [2, 2]),
        (np.array([[5, 1], [5, 0]]), [5, 0], [5, 1]),
        (np.array([["no", "no"], ["no", "yes"]]), ["no", "no"], ["yes", "yes"]),
        (np.array([["a", "no"], ["a", "yes"]]), ["a", "no"], ["a", "yes"]),
    ],
)
def test_a_column_of_one_value_takes_it_as_others_do(values, low, high):
    coding = coding_of(values, range(values.shape[1]))
    assert (coding.low.tolist(), coding.high.tolist()) == (low, high)


def test_the_order_of_categories_decides():
    data = coded(("low", "high"))
    plain = sw.IsingGraph(2).fit(spins())
    by_name = sw.IsingGraph(2).fit(data.astype("category"))
    np.testing.assert_allclose(by_name.field_, -plain.field_, atol=1e-8)
    for categories in (["low", "high"], ["low", "middle", "high"]):
        kind = pd.CategoricalDtype(categories, ordered=True)
        ordered = sw.IsingGraph(2).fit(data.astype(kind))
        np.testing.assert_array_equal(ordered.field_, plain.field_)
        assert (ordered.sample(3).dtypes == kind).all()


def test_a_category_that_was_not_seen_is_a_value():
    data = coded(("no", "yes")).assign(bee="no").astype(pd.CategoricalDtype(["no", "yes"]))
    with pytest.warns(UserWarning, match="constant columns.*'bee'"):
        model = sw.IsingGraph(1).fit(data)
    assert model.field_[1] < 0
    assert model.score(data.assign(bee="yes").astype(pd.CategoricalDtype(["no", "yes"]))) < model.score(data)


def test_other_types_of_the_same_values_are_scored():
    zeros = coded((0, 1), as_frame=False)
    model = sw.IsingGraph(2).fit(zeros)
    scores = [model.score(X) for X in (zeros, zeros > 0, zeros.astype(object), scipy.sparse.csr_array(zeros))]
    assert scores == [scores[0]] * 4


def test_a_third_value_later_on_is_named():
    model = sw.IsingGraph(2).fit(coded(PAIRS["each its own"]))
    other = coded(PAIRS["each its own"])
    other.loc[3, "bee"] = "x"
    with pytest.raises(ValueError, match="'f' and 'm', as the training data did; got 'x' in 'bee'"):
        model.score(other)
    with pytest.raises(ValueError, match=r"0 and 1, as the training data did; got '(no|yes)' in 0"):
        sw.IsingGraph(2).fit(coded((0, 1), as_frame=False)).score(coded(("no", "yes"), as_frame=False))


def third(name, *values, **columns):
    """Return data in which a column cycles through some values."""
    return coded(("no", "yes")).assign(**{name: np.resize(np.array(values, dtype=object), 80)}, **columns)


@pytest.mark.parametrize("kind", [sw.IsingGraph, sw.IsingGraphCV])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            third("bee", "no", "perhaps", "yes"),
            r"got 'no', 'perhaps', 'yes' in 'bee'; make two of them, as in \(X\['bee'\] == 'yes'\)"
            r"\.where\(X\['bee'\]\.notna\(\)\), or leave the column out",
        ),
        (third("bee", "Yes", "no ", "no", "yes"), r"as in X\['bee'\].str.strip\(\).str.lower\(\), or leave"),
        (third("cat", *range(9)), "got 0, 1, 2, 3, 4 and 4 more in 'cat'; make two"),
        (third("cat", 0, 1, "x"), "got 0, 1, 'x' in 'cat'"),
        (third("cat", 1, 2, 3, dog=["u", "v", "w", "x"] * 20), "got 'u', 'v', 'w', 'x' in 'dog'; make"),
        (pd.DataFrame({"a": [0, 1, 2], "b": [0, 1, 1]}), "got 0, 1, 2 in 'a'"),
        (pd.DataFrame({"a": [0, 1, 2], "b": [True, False, True]}), "got 0, 1, 2 in 'a'"),
        (np.array([[0, 0.5], [1, 0.75], [1, 0.25]]), r"got 0.25, 0.5, 0.75 in 1; .*X\[:, 1\] == 0.75"),
    ],
)
def test_what_is_not_two_values_is_refused(kind, data, message):
    with pytest.raises(ValueError, match=message):
        kind().fit(data)


def test_what_cannot_be_compared_is_refused():
    data = coded(("no", "yes"), as_frame=False)
    data[0, 0] = {"no": "yes"}
    with pytest.raises((TypeError, ValueError)):
        sw.IsingGraph().fit(data)


def gaps(seed=0):
    """Where an answer is missing: nowhere in the first row."""
    gone = np.random.default_rng(seed).random((80, len(NAMES))) < 0.2
    gone[0] = False
    return gone


def with_gaps(kind):
    """Return spins with missing answers, in one of the ways in which data have them."""
    up, gone = spins() > 0, gaps()
    if kind == "floats":
        return np.where(gone, np.nan, up.astype(float))
    words = np.where(gone, None, np.where(up, "yes", "no"))
    if kind == "objects":
        return words
    frame = pd.DataFrame(words, columns=NAMES)
    if kind in ("category", "string"):
        return frame.astype(kind)
    if kind == "frame":
        return frame
    if kind == "each its own":
        whole = pd.DataFrame(np.where(gone, None, up), columns=NAMES)
        types = {"ant": "boolean", "bee": "Int64", "dog": "float"}
        return whole.astype(types).assign(cat=frame["cat"].astype("category"))
    return pd.DataFrame(np.where(gone, None, up), columns=NAMES).astype(kind)


KINDS = ["floats", "objects", "frame", "category", "string", "boolean", "Int64", "float", "each its own"]


@pytest.mark.parametrize("kind", KINDS)
def test_missing_answers_stay_missing(kind):
    data, estimator = with_gaps(kind), BaseEstimator()
    values = read_values(estimator, data, reset=True)
    coding = coding_of(values, NAMES, data)
    np.testing.assert_array_equal(coding.to_spins(values, NAMES), np.where(gaps(), np.nan, spins()))
    again = read_values(estimator, data[:1], reset=False)
    np.testing.assert_array_equal(coding.to_spins(again, NAMES), spins()[:1])


@pytest.mark.parametrize("gone", [None, np.nan, pd.NA])
def test_columns_without_any_answer_are_refused(gone):
    data = pd.DataFrame({"ant": ["no", "yes"], "bee": [gone, gone]}).astype(object)
    values = read_values(BaseEstimator(), data, reset=True)
    with pytest.raises(ValueError, match="nothing but missing values in 'bee'; leave the column out"):
        coding_of(values, ["ant", "bee"], data)


def test_other_values_are_told_beside_missing_ones():
    values = np.array([[0.0, np.nan], [1.0, 1.5], [np.nan, 2.0], [0.0, 3.0]])
    with pytest.raises(ValueError, match=r"got 1\.5, 2, 3 in 'b'"):
        coding_of(values, ["a", "b"])
    with pytest.warns(UserWarning, match=r"^X has columns \('a', 'b'; 1.5, 2, 3, ... in the first\) of more"):
        assert coding_of(values[:, [1, 1]], ["a", "b"]) is None


class TestLikelihoodWithMissingAnswers:
    coupling = np.array([[0.0, 0.7, -0.2], [0.7, 0.0, 0.0], [-0.2, 0.0, 0.0]])
    field, imputed = np.array([0.3, -0.1, 0.2]), np.array([0.5, 0.25, -0.5])

    def test_terms_of_observed_answers(self):
        data = np.array([[1.0, np.nan, -1.0], [np.nan, np.nan, np.nan], [-1.0, 1.0, 1.0]])
        margins = [0.3 + 0.7 * 0.25 + 0.2, -(0.2 - 0.2)]
        first = -np.log1p(np.exp(-2.0 * np.array(margins))).sum()
        last = pseudo_log_likelihood(data[2:], self.coupling, self.field)[0]
        sample = GraphSample.read(data, np.array([1.0, 7.0, 3.0]))
        score = mean_likelihood(sample.values, sample.weight, self.coupling, self.field, self.imputed)
        assert score == pytest.approx((first + 3 * last) / 4, abs=1e-14)

    def test_it_is_the_value_of_the_objective(self):
        data = np.where(gaps(), np.nan, spins())
        objective = sw.graphs.IsingPseudoLikelihood(data, fields=True)
        coef = objective.coef([0, 1])
        coupling, bias = objective.data.model.coupling_matrix(coef), objective.biases([0, 1])
        here = mean_likelihood(data, None, coupling, bias, objective.imputed)
        nothing = mean_likelihood(data, None, 0 * coupling, objective.biases([]), objective.imputed)
        assert here - nothing == pytest.approx(objective([0, 1]), abs=1e-10)

    def test_nothing_to_score(self):
        with pytest.raises(ValueError, match="a value in a row of positive weight"):
            sw.IsingGraph(1).fit(coded((0, 1))).score(np.full((2, 4), np.nan))


def test_a_column_is_constant_by_what_was_observed():
    data = np.array([[1.0, 1.0], [np.nan, -1.0], [1.0, np.nan]])
    with pytest.warns(UserWarning, match="constant columns, from which nothing can be learnt: 0$"):
        warn_of_constants(data, Vertices(2))


def test_codes_of_missing_answers_are_told():
    frame = coded((0, 1)).assign(cat=[0, 1, 9, 1] * 20)
    with pytest.raises(ValueError, match=r"if 9 stands for missing, .*X.replace\(9, np.nan\)"):
        sw.IsingGraph(1).fit(frame)
    assert sw.IsingGraph(1).fit(frame.replace(9, np.nan)).n_observed_[2, 2] == 60
    everywhere = coded((0, 1)).mask(gaps(), 99)
    with pytest.raises(ValueError, match="if 99 stands for missing"):
        sw.IsingGraph(1).fit(everywhere)


@pytest.mark.parametrize("as_frame", [True, False])
def test_advice_keeps_missing_answers(as_frame):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 3)) < 0.1, np.nan, rng.integers(1, 4, (60, 3)).astype(float))
    X = pd.DataFrame(X, columns=list("abc")) if as_frame else X
    with pytest.raises(ValueError, match="as in") as refused:
        sw.IsingGraph(1).fit(X)
    made = eval(str(refused.value).split("as in ")[1], {"np": np, "X": X})
    column = X["a"] if as_frame else X[:, 0]
    np.testing.assert_array_equal(pd.isna(made), pd.isna(column))
    assert sw.IsingGraph(1).fit(pd.DataFrame({"a": made, "b": column > 2})).n_observed_[0, 0] < 60
