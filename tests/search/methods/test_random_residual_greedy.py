"""Random residual greedy: values of functions that are not monotone do not fall, either."""

import numpy as np
import pytest

import swapwise as sw


@pytest.mark.filterwarnings("ignore:the function is not monotone")
@pytest.mark.parametrize("seed", range(20))
def test_what_would_lower_the_value_is_not_added(seed):
    """Cuts of a graph: every element gains at first, and loses once its neighbours are chosen."""
    weights = np.triu(np.random.default_rng(seed).integers(0, 4, (6, 6)), 1)

    def cut(chosen):
        inside = np.isin(np.arange(6), list(chosen))
        return float(weights[np.not_equal.outer(inside, inside)].sum())

    f = sw.CustomSetFunction(cut, 6)
    result = sw.maximize(f, sw.Uniform(6, 5), "random-residual-greedy", random_state=seed)
    values = [0.0, *(event.value for event in result.history)]
    assert values == sorted(values)
    assert result.value == cut(result.support) == values[-1]
    assert len(result.support) <= 5
