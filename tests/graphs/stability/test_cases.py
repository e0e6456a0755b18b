"""Cases are drawn as they should be, whether rows are cases or counts of them."""

import numpy as np
import pytest

from swapwise.graphs.stability.cases import CaseCounts


def test_counts_are_resampled_as_if_rows_were_repeated():
    counts = np.array([4, 0, 1, 5])
    drawn = np.array([CaseCounts.read(counts, 4).resampled(seed)[0] for seed in range(2000)])
    assert (drawn.sum(axis=1) == 10).all()
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(4), counts)
    plain = np.array([np.bincount(rng.choice(rows, 10), minlength=4) for _ in range(2000)])
    np.testing.assert_allclose(drawn.mean(axis=0), plain.mean(axis=0), atol=0.15)
    np.testing.assert_allclose(drawn.std(axis=0), plain.std(axis=0), atol=0.1)


def test_other_weights_stay_with_their_rows():
    weight = np.array([0.5, 0.0, 2.0, 1.5])
    cases = CaseCounts.read(weight, 4)
    assert cases.total == 3
    np.testing.assert_array_equal(cases.weight, weight)
    (drawn,) = cases.resampled(3)
    assert drawn.sum() == 3
    assert drawn[1] == 0


@pytest.mark.parametrize("weight", [None, [2, 0, 3, 1], [0.5, 0.0, 1.5, 2.0]])
def test_subsets_and_splits_keep_what_is_there(weight):
    cases = CaseCounts.read(weight, 4)
    for seed in range(20):
        (kept,) = cases.subset(seed, 2)
        assert (kept <= cases.counts).all()
        assert kept.sum() == 2
        one, other = cases.split(seed, 2)
        np.testing.assert_array_equal(one + other, cases.counts)
    assert len({tuple(cases.subset(seed, 2)[0]) for seed in range(20)}) > 1


@pytest.mark.parametrize("weight", [[1, 2], [1, -1, 1, 1], [0, 0, 0, 0], [1, np.nan, 1, 1]])
def test_wrong_weights_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight must"):
        CaseCounts.read(weight, 4)
