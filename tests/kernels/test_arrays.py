"""Which arrays kernels take: what is read may be of any kind that becomes the right one without a loss."""

import numpy as np
import pytest

from swapwise import kernels
from tests.kernels.least_squares import LEVELS

levels = pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)

X = np.random.default_rng(0).integers(-9, 9, (6, 4)).astype(float)
WEIGHT, ORIGIN = np.arange(1.0, 7.0), np.arange(4.0)
SUMS = (WEIGHT[:, None] * (X - ORIGIN)).sum(axis=0)


def sums_of(level, X=X, weight=WEIGHT, origin=ORIGIN, sums=None):
    """Call a kernel that reads a matrix and two vectors, and writes two vectors."""
    sums = np.full(4, np.nan) if sums is None else sums
    level.moments.by_rows(X, weight, origin, 0, 4, sums, np.empty(4))
    return sums.tolist()


def unaligned(array):
    raw = np.empty(array.nbytes + 1, dtype=np.uint8)[1:]
    view = raw.view(array.dtype).reshape(array.shape)
    view[...] = array
    assert not view.flags.aligned
    return view


def spread_out(array):
    """Return the same numbers, with gaps along each axis."""
    wide = np.full([2 * size for size in array.shape], np.nan)
    wide[(slice(None, None, 2),) * array.ndim] = array
    return wide[(slice(None, None, 2),) * array.ndim]


KINDS = {
    "float32": lambda array: array.astype(np.float32),
    "int32": lambda array: array.astype(np.int32),
    "int8": lambda array: array.astype(np.int8),
    "other byte order": lambda array: array.astype(array.dtype.newbyteorder()),
    "unaligned": unaligned,
    "gaps": spread_out,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "by columns": np.asfortranarray,
    "read-only": lambda array: np.frombuffer(array.tobytes()).reshape(array.shape),
    "part of a wider one": lambda array: np.pad(array, [(1, 1)] * array.ndim)[(slice(1, -1),) * array.ndim],
    "memory map": lambda array: array.view(np.memmap),
}


@levels
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_converted(level, kind):
    convert = KINDS[kind]
    before = convert(X)
    assert sums_of(level, X=before) == SUMS.tolist()
    assert sums_of(level, weight=convert(WEIGHT), origin=convert(ORIGIN)) == SUMS.tolist()
    assert sums_of(level, convert(X), convert(WEIGHT), convert(ORIGIN)) == SUMS.tolist()
    assert (before == X).all()


@levels
def test_rows_that_overlap_can_be_read(level):
    same = np.broadcast_to(X[0], (6, 4))
    assert sums_of(level, X=same) == sums_of(level, X=same.copy())
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(9.0), 4)
    assert sums_of(level, X=windows) == sums_of(level, X=windows.copy())


@levels
@pytest.mark.parametrize(
    "X",
    [X + 0j, X.astype(object), X.astype(str), X.tolist(), X[0], X[None], None],
    ids=["complex", "objects", "strings", "list", "vector", "cube", "None"],
)
def test_what_would_lose_something_is_refused(level, X):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        sums_of(level, X=X)


@levels
@pytest.mark.parametrize("index", [np.zeros(1), np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=object)])
def test_indices_are_integers(level, index):
    with pytest.raises(TypeError):
        level.ising.incidence(index, np.ones(1, dtype=int), 2)


@levels
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint32, np.longlong, bool, ">i8"])
def test_integers_of_any_size_are_indices(level, kind):
    begin, edges, others = level.ising.incidence(np.zeros(1, dtype=kind), np.ones(1, dtype=kind), 2)
    assert (begin.tolist(), edges.tolist(), others.tolist()) == ([0, 1, 2], [0, 0], [1, 0])


OUTPUTS = {
    "float32": np.empty(4, dtype=np.float32),
    "int64": np.empty(4, dtype=int),
    "other byte order": np.empty(4, dtype=np.dtype(float).newbyteorder()),
    "unaligned": unaligned(np.empty(4)),
    "gaps": spread_out(np.zeros(4)),
    "backwards": np.empty(4)[::-1],
    "read-only": np.frombuffer(bytes(32)),
    "matrix": np.empty((4, 1)),
}


@levels
@pytest.mark.parametrize("kind", OUTPUTS)
def test_what_is_written_must_be_right(level, kind):
    before = OUTPUTS[kind].tobytes()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        sums_of(level, sums=OUTPUTS[kind])
    assert OUTPUTS[kind].tobytes() == before


def sweep_out(level, coupling, inverse):
    level.swaps.remove_slot(0, 1, coupling, inverse, np.ones(2), np.zeros(3), np.zeros(3))


@levels
def test_matrices_that_are_written_may_have_rows_apart(level):
    wide = np.full((3, 9), 7.0)
    wide[:, 2:4] = [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]
    whole = wide[:, 2:4].copy()
    sweep_out(level, whole, np.ones((2, 2)))
    sweep_out(level, wide[:, 2:4], np.ones((2, 2)))
    assert whole[:, 0].tolist() == [0, 0, 0]
    assert (wide[:, 2:4] == whole).all()
    assert (np.delete(wide, [2, 3], axis=1) == 7).all()


@levels
@pytest.mark.parametrize("kind", ["by columns", "backwards", "overlap", "read-only"])
def test_others_are_refused(level, kind):
    coupling = np.ones((3, 2))
    if kind == "by columns":
        coupling = np.asfortranarray(coupling)
    elif kind == "backwards":
        coupling = coupling[::-1]
    elif kind == "overlap":
        coupling = np.lib.stride_tricks.sliding_window_view(np.ones(4), 2, writeable=True)
    else:
        coupling.flags.writeable = False
    with pytest.raises(TypeError):
        sweep_out(level, coupling, np.ones((2, 2)))
    assert (coupling == 1).all()


@levels
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_matrices_of_both_precisions_are_read_without_a_copy(level, kind):
    """There is no memory for a copy of this one."""
    huge = np.broadcast_to(np.ones(4, dtype=kind), (10**14, 4))
    level.moments.by_rows(huge, np.empty(0), np.empty(0), 0, 0, np.empty(0), np.empty(0))  # no column of it


@levels
def test_empty_arrays_are_arrays(level):
    nothing = np.empty(0)
    level.moments.by_rows(np.empty((3, 0)), np.ones(3), nothing, 0, 0, nothing, nothing)
    level.moments.by_rows(np.empty((0, 3))[::-1], nothing, np.zeros(3), 0, 3, sums := np.ones(3), np.ones(3))
    assert sums.tolist() == [0, 0, 0]
    assert level.swaps.grid_gains(
        np.empty((0, 1), dtype=bool), np.empty(0, dtype=int), np.empty((0, 0)), *[nothing] * 5
    ).shape == (0, 1)
    solution, missed = level.glm.definite_solution(np.empty((0, 0)), nothing)
    assert (solution.shape, missed) == ((0,), 0.0)
    begin, edges, others = level.ising.incidence(np.empty(0, dtype=int), np.empty(0, dtype=int), 0)
    assert (begin.tolist(), edges.size, others.size) == ([0], 0, 0)


@levels
def test_results_are_arrays_like_any_other(level):
    gains = level.swaps.best_of_rows(
        np.ones((2, 1), dtype=bool), np.empty(0, dtype=int), np.empty((2, 0)), np.empty(0), np.empty(0),
        np.array([3.0, 4.0]), np.ones(2), np.zeros(2),
    )  # fmt: skip
    part = gains[1:]
    del gains
    part += 1.0  # it can be written, and lives for as long as a view of it
    assert part.tolist() == [17.0]
    assert part.dtype == np.float64
    assert part.flags.aligned


@levels
def test_masks_are_booleans(level):
    mask = np.array([[1], [0]])
    args = np.empty(0, dtype=int), np.empty((2, 0)), np.empty(0), np.empty(0), np.ones(2), np.ones(2)
    with pytest.raises(TypeError):
        level.swaps.grid_gains(mask, *args, np.zeros(2))
    gains = level.swaps.grid_gains(mask.astype(bool), *args, np.zeros(2))
    assert gains.tolist() == [[1.0], [-np.inf]]


@pytest.mark.skipif(not kernels.CHECKED, reason="indices are checked in a build of its own: make checked")
@levels
def test_an_index_out_of_bounds_is_an_error(level):
    arrays = np.ones((3, 1)), np.zeros(1), np.zeros(1), np.ones(3), np.ones(3), np.zeros(3)
    for added, slot in ((3, -1), (-1, 0), (0, 1)):
        with pytest.raises(IndexError, match="of an array of"):
            level.swaps.pair_gains(np.array([added]), np.array([slot]), *arrays)
    one, none = np.ones((1, 1)), np.empty(0)
    with pytest.raises(IndexError, match="part 2 to 1 of an array of 3"):
        level.ising.evaluate(
            (one, one, none, np.empty(0, dtype=int), none),
            (np.array([2, 1]), np.zeros(3, dtype=int), np.zeros(3, dtype=int)),
            np.zeros(1), 1, 0.0, np.zeros(1), np.zeros((1, 1)),
        )  # fmt: skip
