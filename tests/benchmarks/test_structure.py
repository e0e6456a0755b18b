"""The cases where structure matters run, and their standard errors are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.structure import weights
from benchmarks.structure.__main__ import CASES
from benchmarks.structure.case import WITH, WITHOUT, Case, markdown
from swapwise.paper.measure import one_core

REPEATS = dict.fromkeys(CASES, 2) | {"failure": 1}  # to choose pixels of ten digits takes a second


@pytest.fixture
def few_countries(monkeypatch):
    """Leave twenty of 188 countries, each of which is explained by the others in turn."""
    pytest.importorskip("statsmodels")
    rates = weights.birth_rates().iloc[:, :20]
    monkeypatch.setattr(weights, "birth_rates", lambda: rates)


@pytest.mark.usefixtures("few_countries")
@pytest.mark.parametrize(("name", "repeats"), REPEATS.items())
def test_a_case_has_errors_of_both_and_of_a_peer(name, repeats):
    with one_core():
        case = CASES[name](repeats)
    shapes = {errors.shape for errors in case.errors.values()}
    assert len(shapes) == 1
    assert {WITH, WITHOUT} < set(case.errors)
    assert all(0 < case.mean(program) < 100 for program in case.errors)
    assert markdown([case]).count("\n") == 2


def test_the_standard_error_is_the_larger_one():
    # Two splits, one of which does not test the last row; rows differ more than splits.
    without = np.array([[1.0, 5.0, np.nan], [1.0, 5.0, 3.0]])
    case = Case("", "", "", "", {WITHOUT: without, WITH: np.zeros((2, 3)), "peer": without + 1})
    gain, error = case.gain()
    assert gain == pytest.approx(np.nanmean(without))
    assert error == pytest.approx(np.std([1.0, 5.0, 3.0], ddof=1) / 3**0.5)
    assert case.peer() == "peer"


def test_rows_that_were_never_tested_do_not_count():
    without = np.array([[1.0, 3.0, np.nan]])
    case = Case("", "", "", "", {WITHOUT: without, WITH: np.zeros((1, 3))})
    assert case.gain() == (2.0, 1.0)
