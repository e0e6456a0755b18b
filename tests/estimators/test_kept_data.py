"""Fitted models do not keep large data in memory, nor files open; small ones serve the guarantee."""

import gc
import pickle
import weakref
from types import FunctionType, ModuleType

import numpy as np
import pytest
from scipy import sparse

import swapwise as sw

LARGE = 3_000_000


def signal(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(n)


def bytes_kept(model):
    """Return how large the arrays are that a model leads to, by the collector of garbage."""
    total, seen, left = 0, set(), [model.__dict__]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | FunctionType):
            continue
        seen.add(id(each))
        total += each.nbytes if isinstance(each, np.ndarray) and each.base is None else 0
        left.extend(gc.get_referents(each))
    return total


MODELS = {
    "regressor": (lambda: sw.SparseRegressor(3), lambda y: y),
    "regressor, restarts": (lambda: sw.SparseRegressor(3, n_restarts=2), lambda y: y),
    "regressor, CV": (lambda: sw.SparseRegressorCV(sizes=range(1, 4), cv=2), lambda y: y),
    "classifier": (lambda: sw.SparseClassifier(3), lambda y: y > 0),
    "classifier, CV": (lambda: sw.SparseClassifierCV(sizes=range(1, 4), cv=2), lambda y: y > 0),
    "Poisson": (lambda: sw.SparseGLMRegressor(3), lambda y: (y > 0).astype(float)),
    "family": (lambda: sw.SparseGLMRegressor(3, family="gamma"), lambda y: np.exp(y / 10)),
    "selector": (lambda: sw.SparseSelector(3), lambda y: y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_large_data_are_left_behind(name):
    make, target = MODELS[name]
    X, y = signal(1500, LARGE // 8 // 1500)
    model, alive = make().fit(X, target(y)), weakref.ref(X)
    del X
    assert alive() is None
    assert bytes_kept(model) < 200_000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [sw.IsingGraph, sw.IsingGraphCV, sw.GaussianGraph], ids=lambda m: m.__name__)
def test_large_data_of_graphs_are_left_behind(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((LARGE // 64, 8))
    X = np.sign(X) if make is not sw.GaussianGraph else X
    model, alive = make(1).fit(X), weakref.ref(X)
    del X
    assert alive() is None
    assert bytes_kept(model) < 200_000


def test_what_is_large_and_sparse_is_left_behind():
    X, y = signal(400, 3000)
    X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    assert bytes_kept(sw.SparseRegressor(3).fit(X, y)) < 200_000


def test_no_file_stays_open(tmp_path):
    X, y = signal(50, 6)  # however small it is
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model, alive = sw.SparseRegressor(3).fit(mapped, y), weakref.ref(mapped._mmap)
    del mapped
    assert alive() is None
    assert model.support_.tolist() == [0, 1, 2]


def test_that_data_were_left_is_said():
    X, y = signal(1500, LARGE // 8 // 1500)
    model = sw.SparseRegressor(3).fit(X, y)
    with pytest.warns(UserWarning, match=r"certify\(X, y\) proves how good the answer is"):
        assert model.result_.guarantee is None
    assert pickle.loads(pickle.dumps(model)).result_.guarantee is None
    assert model.certify(X, y).optimal


def test_small_data_serve_the_guarantee():
    X, y = signal(100, 10)
    model = sw.SparseRegressor(3).fit(X, y)
    del X
    assert model.result_.guarantee.ratio == 1.0
    assert bytes_kept(model) < 1 << 20
