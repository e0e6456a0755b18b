"""Arguments that no array can hold end in a message that says what was expected and what was given."""

import numpy as np
import pytest

import swapwise as sw
from swapwise.checks import as_count

LARGEST = 2**63 - 1


def test_the_largest_count_is_that_of_arrays():
    assert as_count(LARGEST, "k") == as_count(np.int64(LARGEST), "k") == LARGEST
    assert sw.Uniform(3, LARGEST).is_independent([0, 1, 2])
    with pytest.raises(ValueError, match=r"^k must be a non-negative integer below 2\*\*63, got 9223372"):
        as_count(LARGEST + 1, "k")
    with pytest.raises(ValueError, match=r"got 18446744073709551615$"):
        as_count(np.uint64(2**64 - 1), "k")


GROUPS = [0, 0, 1]
PAIRS = [(0, 1), (1, 2), (0, 2)]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("k", lambda most: sw.Uniform(3, most)),
        ("capacity", lambda most: sw.Partition(GROUPS, most)),
        ("the capacity of 1", lambda most: sw.Partition(GROUPS, {0: 1, 1: most})),
        ("size", lambda most: sw.Partition(GROUPS, 1, size=most)),
        ("the capacity of set number 0", lambda most: sw.Laminar(3, [([0, 1], most)])),
        ("b", lambda most: sw.BMatching(PAIRS, most)),
        ("groups", lambda most: sw.FewGroups(GROUPS, most)),
        ("max_degree", lambda most: sw.GaussianGraph(max_degree=most).fit(np.eye(5)[:, :3])),
    ],
)
def test_larger_counts_are_refused_by_name(name, make):
    make(LARGEST)
    with pytest.raises(ValueError, match=f"^{name} must be a non-negative integer .*, got 1{'0' * 22}$"):
        make(10**22)
