"""Objectives on some of their elements, wherever the data are, and Hessians of sets that grow."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

import swapwise as sw
from swapwise.objectives.base import embed
from swapwise.objectives.least_squares import objective as least_squares


def on_disk(X, folder, order="C"):
    np.save(folder / f"{order}.npy", np.asarray(X, order=order))
    return np.load(folder / f"{order}.npy", mmap_mode="r")


STORAGES = {
    "rows": lambda X, folder: np.ascontiguousarray(X),
    "columns": lambda X, folder: np.asfortranarray(X),
    "single": lambda X, folder: X.astype(np.float32),
    "csc": lambda X, folder: scipy.sparse.csc_array(X * (X > 0)),
    "csr": lambda X, folder: scipy.sparse.csr_array(X * (X > 0)),
    "file": on_disk,
    "file by columns": lambda X, folder: on_disk(X, folder, "F"),
    "dask": lambda X, folder: da.from_array(X, chunks=(17, 5)),
}
every_storage = pytest.mark.parametrize("storage", STORAGES)


def data(storage, folder):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    y = X[:, 2] - X[:, 5] + rng.standard_normal(60)
    far_from_zero = rng.choice([0.0, 3.0, 5e4], 12) if storage in ("rows", "file") else 0.0
    return STORAGES[storage](X + far_from_zero, folder), y


@every_storage
@pytest.mark.parametrize("kind", [sw.LeastSquares, sw.Logistic, sw.Poisson])
def test_all_that_is_asked_of_some_elements(kind, storage, tmp_path):
    X, y = data(storage, tmp_path)
    y = {sw.LeastSquares: y, sw.Logistic: y > y.mean(), sw.Poisson: np.clip(np.floor(y), 0, 5)}[kind]
    f = kind(X, y, 0.1, sample_weight=np.linspace(0.5, 1.5, 60))
    elements, some = np.array([1, 2, 5, 7, 11]), np.array([0, 2, 3])
    few, inner = (
        f.restricted(elements),
        np.array([0.0, 0.3, -0.2, 0.0, 0.1]) / np.sqrt(f.design.sizes[elements]),
    )
    coef = embed(f, elements, inner)
    close = {"rtol": 1e-5 if storage == "single" else 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(few.value_at(inner), f.value_at(coef), **close)
    np.testing.assert_allclose(few.gradient_at(inner), f.gradient_at(coef)[elements], **close)
    np.testing.assert_allclose(few.hessian_at(inner, some), f.hessian_at(coef, elements[some]), **close)
    assert few(some) == pytest.approx(f(elements[some]), abs=1e-9)
    np.testing.assert_allclose(few.coef(some), f.coef(elements[some])[elements], rtol=1e-6, atol=1e-8)
    again = few.restricted(some)
    np.testing.assert_allclose(
        again.gradient_at(np.zeros(3)), f.gradient_at(np.zeros(12))[elements[some]], **close
    )


@every_storage
@pytest.mark.parametrize("kind", [sw.LeastSquares, sw.Logistic])
def test_proofs_find_the_best_set_wherever_the_data_are(kind, storage, tmp_path):
    X, y = data(storage, tmp_path)
    f = kind(X, y if kind is sw.LeastSquares else y > y.mean(), 0.1)
    result = sw.exact(f, sw.Uniform(12, 2))
    assert result.certificate.optimal
    best = sw.maximize(f, sw.Uniform(12, 2), "exhaustive")
    assert result.support.tolist() == best.support.tolist()


@pytest.mark.parametrize("kind", [sw.LeastSquares, sw.Logistic])
def test_a_restriction_to_a_file_is_read_once(kind, tmp_path):
    X, y = data("file", tmp_path)
    f = kind(X, y if kind is sw.LeastSquares else y > y.mean(), 0.1)
    f.restricted(np.arange(3)).value_and_gradient_at(np.ones(3))
    few = f.restricted(np.arange(4))
    few.value_and_gradient_at(np.ones(4))
    before = f.n_passes
    for step in range(9):
        few.value_and_gradient_at(np.full(4, 0.1 * step))
        few.hessian_at(np.full(4, 0.1 * step), np.arange(4))
    assert f.n_passes - before <= 9 * 4 / 12 + 1


@pytest.mark.parametrize("storage", ["rows", "csc", "file"])
def test_growing_working_sets_are_multiplied_with_what_is_new(storage, tmp_path, monkeypatch):
    monkeypatch.setattr(least_squares, "WHOLE_HESSIAN_UP_TO", 5)
    X, y = data(storage, tmp_path)
    f = sw.LeastSquares(X, y, 0.1)
    expected = sw.LeastSquares(X, y, 0.1).curvature(np.arange(12))
    asked = []
    gram = f.design.gram
    monkeypatch.setattr(
        f.design, "gram", lambda first, *rest, **how: asked.append(len(first)) or gram(first, *rest, **how)
    )
    for elements in ([1, 4, 7, 9], [1, 7, 9], [0, 1, 4, 7, 9, 11], [4, 11], [0, 1, 2]):
        found = f.hessian_at(np.zeros(12), np.array(elements))
        np.testing.assert_allclose(found, expected[np.ix_(elements, elements)], rtol=1e-9, atol=1e-12)
    assert asked == [4, 2, 1]


def test_very_many_elements_are_copied_without_their_inner_products(monkeypatch):
    monkeypatch.setattr(least_squares, "GRAM_UP_TO", 3)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 8)), rng.standard_normal(30)
    f, elements = sw.LeastSquares(X, y, 0.1), np.array([0, 2, 3, 6, 7])
    few = f.restricted(elements)
    assert few._known.elements.size == f._known.elements.size == 0
    assert few([1, 3]) == pytest.approx(f([2, 6]), abs=1e-12)
    assert sw.maximize(few, sw.Uniform(5, 2)).value <= sw.maximize(f, sw.Uniform(8, 2)).value
