"""Case dropping correlates parts with the whole, and the coefficient is the paper's."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import swapwise as sw
from swapwise.graphs.stability.case_dropping import CaseDropping
from tests.graphs.stability.correlation_graph import CorrelationGraph, InterruptedGraph, chain


def of_correlations(table):
    """Return case dropping whose edges have given correlations with the sample: a list per share."""
    sample, across = np.array([1.0, 0.0, -1.0]), np.array([1.0, -2.0, 1.0]) / np.sqrt(3)
    shares, weights = [], []
    for share, correlations in table.items():
        shares += [share] * len(correlations)
        weights += [r * sample + np.sqrt(1 - r**2) * across for r in correlations]
    return CaseDropping(["a", "b", "c"], sample, np.array(shares), np.array(weights))


@pytest.mark.parametrize(
    ("table", "coefficient"),
    [
        ({0.75: [0.9] * 20, 0.5: [0.9] * 19 + [0.6], 0.25: [0.9] * 18 + [0.6] * 2}, 0.5),
        ({0.75: [0.9] * 20, 0.5: [0.71] * 20, 0.25: [0.69] * 20}, 0.5),
        ({0.75: [0.6] * 20, 0.5: [0.5] * 20}, 0.0),
        ({0.95: [0.99], 0.1: [0.99]}, 0.9),
    ],
)
def test_the_coefficient_of_given_correlations(table, coefficient):
    cases = of_correlations(table)
    np.testing.assert_allclose(cases.correlations["edges"], np.concatenate(list(table.values())))
    assert cases.coefficients["edges"] == pytest.approx(coefficient)


def test_correlations_are_those_of_numpy():
    X = chain(100, 5)
    cases = sw.graphs.case_dropping(CorrelationGraph(), X, [0.8, 0.4], 6)
    assert cases.correlations["share"].tolist() == [0.8, 0.4] * 6
    whole = sw.graphs.centralities(CorrelationGraph().fit(X))
    for row, weights in enumerate(cases.weights):
        assert cases.correlations["edges"][row] == pytest.approx(np.corrcoef(weights, cases.sample)[0, 1])
        matrix = np.zeros((5, 5))
        matrix[np.triu_indices(5, 1)] = np.abs(weights)
        strength = (matrix + matrix.T).sum(axis=0)
        wanted = np.corrcoef(strength, whole["strength"])[0, 1]
        assert cases.correlations["strength"][row] == pytest.approx(wanted)
    summary = cases.summary.set_index(["measure", "share"])
    own = cases.correlations["edges"][cases.correlations["share"] == 0.4]
    assert summary.loc[("edges", 0.4), "lower"] == pytest.approx(np.quantile(own, 0.025))
    assert summary.loc[("edges", 0.4), "n_subsets"] == 6


def test_fewer_cases_are_less_like_the_whole():
    cases = sw.graphs.case_dropping(CorrelationGraph(0.0), chain(200, 6), n_boots=10, n_jobs=2)
    means = cases.summary.query("measure == 'edges'")["mean"].to_numpy()
    assert means[0] > means[-1]
    assert cases.coefficients["edges"] == 0.75
    again = sw.graphs.case_dropping(CorrelationGraph(0.0), chain(200, 6), n_boots=10)
    pd.testing.assert_frame_equal(cases.correlations, again.correlations)


def test_counts_are_cases():
    X = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1.0]])
    cases = sw.graphs.case_dropping(CorrelationGraph(), X, [0.5], 5, sample_weight=[30, 5, 5, 30])
    assert np.isfinite(cases.weights).all()
    assert (cases.weights != cases.sample).any()


@pytest.mark.parametrize("X", [chain(40, 2), np.ones((40, 3))])
def test_what_does_not_vary_has_no_coefficient(X):
    cases = sw.graphs.case_dropping(CorrelationGraph(), X, [0.5], 3)
    assert np.isnan(cases.coefficients["edges"])
    assert json.loads(json.dumps(cases.to_dict(), allow_nan=False))["coefficients"]["edges"] is None


def test_an_interrupt_keeps_what_was_done():
    X, counts = chain(60, 3), np.r_[3, np.ones(59)]
    with pytest.warns(ConvergenceWarning, match="case dropping was interrupted"):
        cases = sw.graphs.case_dropping(InterruptedGraph(), X, [0.3, 0.2], 100, sample_weight=counts)
    assert len(cases.shares) == len(cases.weights) < 200


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([0.5, 1.5], "a value of shares must be between 0 and 1"),
        ([], "at least one number"),
        ([0.01], "at least two of 30 cases"),
        ("half", "shares must be numbers"),
    ],
)
def test_wrong_shares_are_refused(shares, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sw.graphs.case_dropping(CorrelationGraph(), chain(30, 3), shares, 2)
