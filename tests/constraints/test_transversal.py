import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from swapwise import Transversal
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from tests.contracts.constraint_zoo import swap_grid


def test_heaviest_sets_are_assignments():
    rng = np.random.default_rng(1)
    fits = rng.random((40, 15)) < 0.15
    weights = rng.random(40)
    matroid = Transversal(40, [np.flatnonzero(slot) for slot in fits.T])
    rows, columns = linear_sum_assignment(fits * weights[:, None], maximize=True)
    assert matroid.max_weight(weights).weight == pytest.approx((fits * weights[:, None])[rows, columns].sum())


@pytest.mark.parametrize("seed", range(20))
def test_larger_systems_agree_with_the_slow_defaults(seed):
    rng = np.random.default_rng(seed)
    fits = rng.random((12, 24)) < 0.12
    matroid = Transversal(24, [np.flatnonzero(slot) for slot in fits])
    order = rng.permutation(24)
    begin = matroid.extend(np.empty(0, dtype=np.intp), order[:10])
    assert begin.tolist() == IndependenceSystem.extend(matroid, begin[:0], order[:10]).tolist()
    support = matroid.extend(begin, order)
    assert support.tolist() == IndependenceSystem.extend(matroid, begin, order).tolist()
    expected = Matroid._swap_mask(matroid, support)
    expected[support] = False
    np.testing.assert_array_equal(swap_grid(matroid, support).feasible, expected)


def test_a_newcomer_can_push_along_a_whole_chain():
    # Element e fits slots e and e + 1 of 1 .. n - 1, so 1 .. n - 1 can be matched in one way only,
    # and element 0 in slot 1 pushes everybody on: any of them can be the one to go.
    n = 50
    chain = Transversal(n, [[slot - 1, slot] for slot in range(1, n)])
    assert swap_grid(chain, np.arange(1, n)).feasible[0].tolist() == [True] * (n - 1) + [False]
    # With one slot more at the end, nobody has to go.
    longer = Transversal(n, [*([slot - 1, slot] for slot in range(1, n)), [n - 1]])
    assert swap_grid(longer, np.arange(1, n)).feasible[0].all()
    assert longer.extend(np.empty(0, dtype=np.intp), [*range(1, n), 0]).tolist() == list(range(n))


def test_elements_without_a_slot_are_loops():
    assert Transversal(3, [[1]]).loops().tolist() == [0, 2]
    assert Transversal(2, []).loops().tolist() == [0, 1]


def test_refuses_bad_sets():
    with pytest.raises(ValueError, match=r"set number 1 must hold integers from 0 to 2 \(n = 3\), got 3"):
        Transversal(3, [[0], [3]])
    with pytest.raises(TypeError, match="set number 0 must be a flat collection of integers"):
        Transversal(3, [["a"]])
    with pytest.raises(ValueError, match="set number 0 must hold every element once"):
        Transversal(3, [[1, 1]])
    with pytest.raises(ValueError, match="n must be a non-negative integer, got -1"):
        Transversal(-1, [])


def test_shows_its_numbers():
    assert repr(Transversal(3, [[0, 1], [2]])) == "Transversal(n=3, 2 slots)"


def test_assigns_slots_to_allowed_sets_only():
    posts = Transversal(3, [[0, 1], [0, 2]])
    slots = posts.assign([0, 2])
    assert slots == {0: 0, 2: 1}
    with pytest.raises(ValueError, match=r"\[0, 1, 2\] cannot all find a slot"):
        posts.assign([0, 1, 2])
