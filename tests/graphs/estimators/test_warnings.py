"""What graph estimators say of few samples, weights, codes for missing answers and columns given twice."""

import warnings

import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.graphs.estimators.warnings import warn_of_twins


def numbers(n=200, n_columns=5):
    return np.cumsum(np.random.default_rng(0).standard_normal((n, n_columns)), axis=1)


def said(model, X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, **options)
    return [str(each.message) for each in caught]


class TestWeights:
    @pytest.mark.parametrize(
        ("model", "X"),
        [
            (sw.GaussianGraphCV(), numbers()),
            (sw.IsingGraphCV(), numbers() > 0),
            (sw.MixedGraphCV(families="gaussian"), numbers()),
        ],
    )
    def test_whole_numbers_may_be_survey_weights(self, model, X):
        weights = np.arange(len(X)) % 5 + 1
        assert [each for each in said(model, X, sample_weight=weights) if "survey weights" in each] == [
            "sample_weight has whole numbers, taken for how often each row was seen: 600 samples, although "
            "there are 200 rows. If they are survey weights, divide them by their mean, or too many edges "
            "are found; counts of patterns are right as they are"
        ]
        assert said(model, X, sample_weight=weights / weights.mean()) == []

    def test_counts_of_patterns_are_none(self):
        patterns, times = np.unique(numbers() > 0, axis=0, return_counts=True)
        assert said(sw.IsingGraphCV(), patterns, sample_weight=times) == []
        assert len(said(sw.IsingGraphCV(), patterns, sample_weight=np.full(len(patterns), 10))) == 1

    def test_zeros_and_ones_are_none(self):
        assert said(sw.GaussianGraphCV(), numbers(), sample_weight=np.arange(200) % 2) == []

    def test_resampled_tables_say_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sw.graphs.bootstrap_graph(sw.GaussianGraphCV(), numbers(), 3)


class TestFewSamples:
    def test_fewer_than_criteria_need(self):
        (message,) = said(sw.GaussianGraphCV(), numbers(20))
        assert "X has 20 samples of 5 variables" in message
        assert "30 at least" in message

    def test_two_per_variable(self):
        rng = np.random.default_rng(0)
        assert "40 at least" in said(sw.GaussianGraphCV(), rng.standard_normal((39, 20)))[0]
        assert said(sw.GaussianGraphCV(), rng.standard_normal((40, 20))) == []


class TestCodes:
    @pytest.mark.parametrize("correlation", ["pearson", "spearman", "polychoric"])
    @pytest.mark.parametrize("code", [-99, 9, 99])
    def test_missing_answers_that_are_numbers(self, correlation, code):
        rng = np.random.default_rng(0)
        answers = pd.DataFrame(rng.integers(1, 6, (100, 3)), columns=list("abc"))
        model = sw.GaussianGraphCV(correlation=correlation)
        assert said(model, answers) == []
        (message,) = said(model, answers.mask(rng.random((100, 3)) < 0.1, code))
        assert message.startswith(f"{code} in 'a', 'b', 'c' seems to stand for missing answers")
        assert f"X.replace({code}, np.nan)" in message


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (sw.GaussianGraph(2), numbers()),
        (sw.IsingGraph(2), np.where(numbers() > 0, 1, 0)),
        (sw.MixedGraph(2, families="gaussian"), numbers()),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_that_is_there_twice(model, X, sign):
    X = pd.DataFrame(X, columns=list("abcde")).astype(float)
    assert said(model, X) == []
    messages = said(model, X.assign(f=3 + sign * X["b"]))
    assert any("the same variable, as their correlation is ±1: 'b' and 'f'" in each for each in messages)


def test_empty_and_huge_columns_are_borne():
    X = np.column_stack([numbers(), np.full(200, np.nan), 1e200 * numbers()[:, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_twins(X[:, :6], range(6))
    with pytest.warns(UserWarning, match="1 and 6"):
        warn_of_twins(X, range(7))
