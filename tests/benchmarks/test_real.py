"""Real data beside the peers: what is read, how answers are judged, and what is shown of them."""

import doctest
import warnings
from io import StringIO

import numpy as np
import pytest
import statsmodels.api as sm
from rich.console import Console

from benchmarks import real

pytestmark = pytest.mark.race


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    return X, X[:, 1] - X[:, 4] + rng.standard_normal(80)


def test_examples_in_docstrings():
    assert doctest.testmod(real).failed == 0


def test_problems_are_standardised_and_need_a_choice():
    shapes = {}
    for problem in real.problems():
        assert problem.X.mean(axis=0) == pytest.approx(0, abs=1e-9)
        assert problem.X.std(axis=0) == pytest.approx(1)
        assert np.isfinite(problem.y).all()
        assert max(problem.sizes) < problem.X.shape[1]
        shapes[problem.name.split(",")[0]] = problem.X.shape
    assert shapes == {
        "diabetes": (442, 65),
        "star98": (303, 90),
        "macrodata": (194, 96),
        "breast cancer": (569, 30),
        "digits": (1797, 61),
    }


def test_lags_come_before_what_they_explain():
    X, y = real.macrodata()
    growth = X[:, 0]  # of the product, one quarter before
    assert growth[1:] == pytest.approx(y[:-1])
    assert X[3:, 12 * (4 - 1)] == pytest.approx(X[:-3, 0])  # the fourth lag is the first, three quarters on


def test_the_likelihood_is_that_of_statsmodels(small):
    X, y = small[0], (small[1] > 0).astype(float)
    support = np.array([1, 3])
    expected = sm.Logit(y, sm.add_constant(X[:, support])).fit(disp=0).llf
    assert real.log_likelihood(X, y, support) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("measure", ["R²", "log-likelihood"])
def test_every_program_finds_what_is_easy(measure, small):
    quick = {name: select for name, select in real.programs(measure).items() if name != "skscope"}
    X, y = small
    problem = real.Problem("small", X, y if measure == "R²" else (y > 0).astype(float), measure, (2,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = real.answers(problem, 2, quick, runs=2)
        console = Console(width=130, file=StringIO())
        console.print(real.table(problem, quick, runs=1))
    assert list(found) == list(quick)
    assert len({round(answer.value, 6) for answer in found.values()}) == 1
    assert all(answer.milliseconds > 0 and answer.note == "" for answer in found.values())
    assert console.file.getvalue().count("*") == 1 + len(quick)  # one in the title


def test_a_program_that_fails_is_told(small):
    def broken(X, y, size):
        raise RuntimeError("no such thing")

    def short(X, y, size):
        return [1]

    programs = {"broken": broken, "short": short}
    found = real.answers(real.Problem("small", *small, "R²", (2,)), 2, programs)
    assert found["broken"] == real.Answer(None, None, "RuntimeError: no such thing")
    assert found["short"].note == "1 too few"
