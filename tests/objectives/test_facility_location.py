from __future__ import annotations

import numpy as np
import pytest

from swapwise import FacilityLocation
from swapwise.moves import Move, MoveList, SwapGrid
from swapwise.objectives import facility_location
from swapwise.objectives.base import State
from tests.contracts.objective_zoo import subsets

SIMILARITY = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 4.0]])


def test_value_is_the_sum_of_the_best() -> None:
    f = FacilityLocation(SIMILARITY)
    assert f.n == 3
    assert f.n_clients == 2
    for chosen in subsets(f.n):
        assert f(chosen) == sum(max((row[j] for j in chosen), default=0.0) for row in SIMILARITY)
    np.testing.assert_array_equal(f.similarity, SIMILARITY)
    assert f.scoring == "closed form"


def test_swaps_need_no_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    f = FacilityLocation(SIMILARITY)
    state = f.start([0])
    monkeypatch.setattr(f, "_value", lambda support: pytest.fail("a refit"))
    feasible = np.array([[0, 0], [1, 0], [1, 1]], dtype=bool)
    gains = state.gains(SwapGrid(np.array([0]), feasible))
    np.testing.assert_array_equal(gains, [[-np.inf, -np.inf], [0, -np.inf], [-np.inf, 4]])
    moves = MoveList(added=np.array([[1], [2], [-1]]), dropped=np.array([[0], [-1], [0]]))
    np.testing.assert_array_equal(state.gains(moves), [0, 4, -3])
    state.apply(Move(added=(1, 2), dropped=(0,)))
    assert state.value == 5


def test_only_clients_who_lost_someone_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = FacilityLocation([[5, 4, 1], [1, 4, 5], [5, 1, 4]]).start([0, 1, 2])
    asked = []
    offer = state._update_best
    monkeypatch.setattr(
        state,
        "_update_best",
        lambda elements, clients: asked.append(clients.tolist()) or offer(elements, clients),
    )
    state.apply(Move(dropped=(1,)))
    assert asked[0] == [0, 1]
    assert state.value == 15
    state.apply(Move(dropped=(0,)))
    assert state.value == 1 + 5 + 4


def test_results_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    f = FacilityLocation(rng.random((7, 11)))
    state = f.start([2, 5])
    feasible = np.ones((11, 3), dtype=bool)
    feasible[[2, 5]] = False
    feasible[:, -1] = rng.random(11) < 0.3
    feasible[[2, 5], -1] = False
    grid = SwapGrid(np.array([2, 5]), feasible)
    expected = State.gains(state, grid)
    for block in (1, 15, 7 * 11):
        monkeypatch.setattr(facility_location, "BLOCK", block)
        np.testing.assert_allclose(state.gains(grid), expected, atol=1e-12)


def test_later_changes_of_the_array_do_not_matter() -> None:
    for order in "CF":
        similarity = np.array(SIMILARITY, order=order)
        f = FacilityLocation(similarity)
        similarity[:] = 0
        assert f([0]) == 3


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_clients_or_no_elements(shape: tuple[int, int]) -> None:
    f = FacilityLocation(np.zeros(shape))
    assert f.n == shape[1]
    assert f(range(f.n)) == 0


def test_negative_similarities_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"similarity must be non-negative.*monotone.*got -1\.0 at position \(1, 0\)"
    ):
        FacilityLocation([[0, 2], [-1, 3]])


@pytest.mark.parametrize(
    ("similarity", "error", "message"),
    [
        ([[1.0, np.nan]], ValueError, r"similarity must be finite, got nan at position \(0, 1\)"),
        ([1.0, 2.0], ValueError, r"similarity must be two-dimensional.*got shape \(2,\)"),
        ([["near"]], TypeError, "similarity must hold real numbers"),
    ],
)
def test_other_bad_similarities(similarity: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FacilityLocation(similarity)
