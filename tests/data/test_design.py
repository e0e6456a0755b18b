"""A design against the matrix that it stands for, spelled out in more digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from swapwise.data.design import Design
from swapwise.data.open import open_matrix

DENSE = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every second column of a view": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "single rows": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "single columns": lambda X: np.asfortranarray(X, dtype=np.float32),
    "lists": lambda X: X.tolist(),
}
SPARSE = {"csr": sparse.csr_array, "csc": sparse.csc_array, "coo": sparse.coo_matrix, "lil": sparse.lil_array}
STORAGES = DENSE | SPARSE


def tolerance_of(storage):
    return 1e-5 if storage.startswith("single") else 1e-9


def some_column(rng, samples, is_dense):
    """Entries are quarters of whole numbers, so that a column either varies by a quarter or not at all."""
    kinds = ["plain", "few", "zero"] + ["plain", "off centre", "constant", "far"] * is_dense
    quarters = rng.integers(-20, 21, samples) / 4
    match rng.choice(kinds):
        case "off centre":
            return quarters + 300.0
        case "few":
            return quarters * (rng.random(samples) < 0.3)
        case "constant":
            return np.full(samples, rng.choice([1.0, -0.1, 7e5]))
        case "zero":
            return np.zeros(samples)
        case "far":
            return quarters + rng.choice([-1, 1]) * 2.0**22
        case _:
            return quarters


@st.composite
def problems(draw, storages=tuple(STORAGES)):
    """Return a name of a storage, a matrix of double precision, weights, and the two switches."""
    storage = draw(st.sampled_from(storages))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    samples, n = int(rng.integers(1, 9)), int(rng.integers(1, 8))
    X = np.column_stack([some_column(rng, samples, storage in DENSE) for _ in range(n)])
    if n > 1 and rng.random() < 0.3:
        X[:, 0] = X[:, n - 1]
    if storage.startswith("single"):
        X = X.astype(np.float32).astype(np.float64)
    weight = draw(st.sampled_from([None, rng.uniform(0.1, 3, samples), 1e-9 * rng.uniform(0.1, 3, samples)]))
    return storage, X, weight, draw(st.booleans()), draw(st.booleans())


def explicit(X, weight, centre, standardize):
    """Return √w (X − mean) / deviation, mean and deviation, and how long columns are as far as rounding goes.

    Constant columns have a deviation of 1. A mean that is a million times the deviation costs six digits.
    """
    X, w = X.astype(np.longdouble), np.ones(len(X)) if weight is None else weight
    w = w.astype(np.longdouble)
    constant = np.ptp(X, axis=0) == 0
    mean = np.where(constant, X[0], w @ X / w.sum())
    deviation = np.where(constant, 1.0, np.sqrt(w @ (X - mean) ** 2 / w.sum()))
    shift = mean if centre else np.zeros_like(mean)
    scale = deviation if standardize else np.ones_like(mean)
    A = np.sqrt(w)[:, None] * ((X - shift) / scale)
    lengths = np.linalg.norm(A, axis=0) + 1e-6 * np.linalg.norm(np.sqrt(w)[:, None] * X / scale, axis=0)
    return tuple(part.astype(np.float64) for part in (A, shift, scale, lengths))


def made(problem):
    storage, X, weight, centre, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre, standardize)
    return design, *explicit(X, weight, centre, standardize)


def assert_close(found, expected, scale, tolerance):
    """Compare with the size that the numbers have before they cancel in sums."""
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= tolerance * scale + 1e-300).all()


@given(problems())
def test_shift_scale_and_columns_are_those_of_the_matrix(problem):
    design, A, shift, scale, lengths = made(problem)
    every = np.arange(A.shape[1])
    assert (design.n_samples, design.n_features) == A.shape
    np.testing.assert_allclose(design.shift, shift, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(design.scale, scale, rtol=1e-9)
    assert_close(design.columns(every), A.T, lengths[:, None], 1e-9)
    assert_close(design.columns(every[::-2]), A.T[::-2], lengths[::-2, None], 1e-9)
    assert design.columns(every[:0]).shape == (0, len(A))
    assert_close(design.squared_norms, (A**2).sum(axis=0), lengths**2, 1e-9)


@given(problems(), st.integers(0, 10**6))
def test_products_with_vectors_are_those_of_the_matrix(problem, seed):
    design, A, _, _, lengths = made(problem)
    tolerance = tolerance_of(problem[0])
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((3, len(A)))
    # Means are taken off products with X as it is, so that sums count by the size it has there.
    size = np.linalg.norm(V, axis=1)[:, None] * (lengths + 1e3 * (lengths > 0) * np.sqrt(len(A)))
    assert_close(design.dots(V), V @ A, size, tolerance)
    assert_close(design.correlate(V.T), A.T @ V.T, size.T, tolerance)
    assert_close(design.correlate(V[0]), A.T @ V[0], size[0], tolerance)
    coef = rng.standard_normal(A.shape[1]) * (rng.random(A.shape[1]) < rng.choice([0.2, 1.0]))
    largest = np.abs(coef) @ np.abs(problem[1] / design.scale).max(axis=0, initial=0) * len(A)
    assert_close(design.combine(coef), A @ coef, np.full(len(A), 10 * largest), tolerance)


@given(problems(), st.integers(0, 10**6))
def test_copies_of_some_columns_are_those_of_the_design(problem, seed):
    design = made(problem)[0]
    rng = np.random.default_rng(seed)
    some = rng.permutation(design.n_features)[: rng.integers(1, design.n_features + 1)]
    few, every = design.restricted(some), np.arange(len(some))
    assert few.precision == design.precision
    np.testing.assert_array_equal(few.columns(every), design.columns(some))
    np.testing.assert_array_equal(few.squared_norms, design.squared_norms[some])
    np.testing.assert_allclose(few.largest_entries, design.largest_entries[some], rtol=1e-12)
    vectors, sizes = rng.standard_normal((2, design.n_samples)), 1 + np.sqrt(design.squared_norms)
    size = 1e3 * sizes * np.linalg.norm(vectors) * np.sqrt(design.n_samples)
    close = tolerance_of(problem[0])
    assert_close(few.dots(vectors), design.dots(vectors)[:, some], size[some], close)
    coef, whole = rng.standard_normal(len(some)), np.zeros(design.n_features)
    whole[some] = coef
    assert_close(few.combine(coef), design.combine(whole), np.full(design.n_samples, size.sum()), close)
    sizes = np.outer(sizes, sizes)[np.ix_(some, some)]
    exact = design.gram(some, some, exact=True)
    assert_close(few.gram(every, every), exact, sizes, 1e-8)
    assert_close(design.gram(some[:1], some, exact=True), exact[:1], sizes[:1], 1e-9)


@given(problems(), st.integers(0, 10**6))
def test_inner_products_of_columns_are_those_of_the_matrix(problem, seed):
    design, A, _, _, lengths = made(problem)
    tolerance = tolerance_of(problem[0])
    rng = np.random.default_rng(seed)
    every, some = np.arange(A.shape[1]), rng.permutation(A.shape[1])[: rng.integers(0, A.shape[1] + 1)]
    sizes = np.outer(lengths, lengths)
    assert_close(design.gram(every, every), A.T @ A, sizes, 1e-9)
    assert_close(design.gram(some, some), A[:, some].T @ A[:, some], sizes[np.ix_(some, some)], 1e-9)
    assert_close(design.gram(some, every), A[:, some].T @ A, sizes[some], 1e-9)
    assert_close(design.gram(every, some), A.T @ A[:, some], sizes[:, some], 1e-9)
    off = sizes + np.outer(lengths, 1e3 * np.sqrt(len(A)) * (lengths > 0))
    for wanted in (some, every, some[::-1]):
        assert_close(design.products(wanted), A[:, wanted].T @ A, off[wanted], tolerance)


@given(problems())
def test_extreme_eigenvalues_are_bracketed_closely(problem):
    design, A, _, _, _ = made(problem)
    true = np.linalg.eigvalsh(A.T @ A)
    smallest, largest = design.extreme_eigenvalues()
    rounding = 1e-9 * true[-1]
    assert 0 <= smallest <= max(true[0], 0) + 1e-14 * true[-1]
    assert smallest >= true[0] - rounding if len(A) >= A.shape[1] else smallest == 0
    assert true[-1] * (1 - 1e-13) <= largest <= true[-1] + rounding


@given(problems())
def test_what_is_constant_is_exactly_zero_once_it_is_centred(problem):
    storage, X, weight, _, standardize = problem
    design = Design(open_matrix(STORAGES[storage](X)), weight, centre=True, standardize=standardize)
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    assert not design.columns(constant).any()
    assert not design.squared_norms[constant].any()
    assert not design.dots(np.ones((2, len(X))))[:, constant].any()
    assert not design.gram(constant, np.arange(X.shape[1])).any()


@given(problems([name for name in STORAGES if name != "lists"]))
def test_data_are_left_as_they_are(problem):
    storage, X, weight, centre, standardize = problem
    given_X = STORAGES[storage](X)
    before = given_X.copy()
    given_weight = None if weight is None else weight.copy()
    design = Design(open_matrix(given_X), given_weight, centre, standardize)
    every = np.arange(X.shape[1])
    for result in (design.columns(every), design.dots(np.ones((1, len(X)))), design.products(every)):
        result += 1.0
    design.gram(every, every)
    design.combine(np.ones(len(every)))
    design.extreme_eigenvalues()
    difference = given_X - before
    assert not (difference.toarray() if sparse.issparse(difference) else difference).any()
    assert weight is None or (given_weight == weight).all()
    A, _, _, lengths = explicit(X, weight, centre, standardize)
    assert_close(design.columns(every), A.T, lengths[:, None], 1e-9)


@pytest.mark.parametrize("kind", [int, np.int8, bool, np.float16])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_other_numbers_are_read_as_doubles(kind, storage):
    X = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]])
    if kind is np.float16 and storage is sparse.csr_array:
        pytest.skip("scipy has no such matrices")
    design = Design(open_matrix(storage(X.astype(kind))), centre=True)
    np.testing.assert_allclose(design.columns(np.arange(3)), (X - X.mean(axis=0)).T, atol=1e-15)
    assert not design.is_float32


def test_single_precision_is_told_of():
    X = np.eye(3, dtype=np.float32)
    assert Design(open_matrix(X)).is_float32
    assert not Design(open_matrix(X.astype(np.float64))).is_float32
    assert not Design(open_matrix(sparse.csr_array(X))).is_float32


def test_data_that_may_not_be_written_to_are_fine():
    X = np.random.default_rng(0).standard_normal((5, 3))
    for stored in (np.ascontiguousarray(X), np.asfortranarray(X), X.astype(np.float32)):
        stored.setflags(write=False)
        A = explicit(stored.astype(np.float64), None, True, True)[0]
        np.testing.assert_allclose(
            Design(open_matrix(stored), None, True, True).columns(np.arange(3)), A.T, rtol=1e-6, atol=1e-6
        )


def test_passes_over_the_data_are_counted():
    design = Design(open_matrix(np.random.default_rng(0).standard_normal((6, 4))))
    assert design.passes == 1
    steps = [
        (lambda: design.columns(np.array([1, 2])), 0.5),
        (lambda: design.dots(np.ones((3, 6))), 1),
        (lambda: design.correlate(np.ones(6)), 1),
        (lambda: design.combine(np.array([1.0, 0.0, 0.0, 2.0])), 0.5),
        (lambda: design.gram(np.array([0]), np.array([1, 2, 3])), 1),
        (lambda: design.products(np.array([0, 3])), 1),
        (lambda: design.products(np.array([3])), 0),
    ]
    for step, expected in steps:
        before = design.passes
        step()
        assert design.passes - before == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [name for name in STORAGES if name != "lil"])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (4, 2)])
def test_entries_that_are_not_finite_are_named(bad, storage, place):
    X = np.random.default_rng(0).standard_normal((5, 3))
    X[place] = bad
    at = rf" must be finite, got {bad} at position \({place[0]}, {place[1]}\)"
    for weight in (None, np.arange(5) != place[0]):
        with pytest.raises(ValueError, match="X" + at):
            Design(open_matrix(STORAGES[storage](X)), weight, centre=True)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("storage", [np.asarray, lambda X: X.astype(np.float32), sparse.csr_array])
def test_no_samples_or_no_features_are_refused(shape, storage):
    with pytest.raises(ValueError, match="at least one sample and one feature"):
        open_matrix(storage(np.empty(shape)))


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="X must hold real numbers"):
        open_matrix(sparse.csr_array(np.eye(2) * 1j))
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        Design(open_matrix(np.eye(2)), [0.0, 0.0])


@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csc_array])
def test_stored_constants_large_offsets_and_repeated_entries_of_sparse_data(storage):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(9, 0.1), rng.standard_normal(9) + 1e6, np.arange(9.0)])
    design = Design(open_matrix(storage(X)), centre=True, standardize=True)
    np.testing.assert_allclose(design.squared_norms, [0.0, 9.0, 9.0], rtol=1e-9)
    np.testing.assert_allclose(design.scale[1:], X[:, 1:].std(axis=0), rtol=1e-9)
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [0, 0, 1])), shape=(3, 2)).tocsr()
    repeated = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3, 3])))
    np.testing.assert_allclose(
        Design(open_matrix(repeated)).squared_norms, Design(open_matrix(twice.toarray())).squared_norms
    )
    assert len(repeated.data) == 3  # what the user has is left alone


def test_a_first_row_of_next_to_no_weight_does_not_spoil_the_spread():
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((50, 3)) + 1e6, np.ones(50)
    X[0], weight[0] = 0.0, 1e-14
    deviation = np.sqrt(np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight))
    design = Design(open_matrix(X), weight, centre=True, standardize=True)
    np.testing.assert_allclose(design.scale, deviation, rtol=1e-6)
