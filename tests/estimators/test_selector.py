import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import swapwise as sw

X = pd.DataFrame(np.random.default_rng(0).standard_normal((80, 6)), columns=list("abcdef"))
SIGNAL = (3 * X["b"] - 2 * X["e"]).to_numpy()


def test_selects_transforms_and_goes_back():
    selector = sw.SparseSelector(2).fit(X, SIGNAL)
    assert selector.support_.tolist() == selector.get_support(indices=True).tolist() == [1, 4]
    assert selector.get_support().tolist() == [False, True, False, False, True, False]
    assert selector.get_feature_names_out().tolist() == ["b", "e"]
    np.testing.assert_array_equal(selector.transform(X), X[["b", "e"]])
    back = selector.inverse_transform(X[["b", "e"]].to_numpy())
    np.testing.assert_array_equal(back, X * [0, 1, 0, 0, 1, 0])


def test_frames_in_frames_out():
    selector = sw.SparseSelector(2).set_output(transform="pandas")
    chosen = selector.fit_transform(X, SIGNAL)
    pd.testing.assert_frame_equal(chosen, X[["b", "e"]])


def test_sparse_in_sparse_out():
    matrix = csr_array(X.where(X > 0, 0.0).to_numpy())
    chosen = sw.SparseSelector(2).fit_transform(matrix, SIGNAL)
    assert issparse(chosen)
    assert chosen.shape == (80, 2)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (SIGNAL, sw.SparseRegressor),
        (np.round(SIGNAL), sw.SparseRegressor),
        (SIGNAL > 0, sw.SparseClassifier),
        ((SIGNAL > 0).astype(float), sw.SparseClassifier),
        (np.where(SIGNAL > 0, "up", "down"), sw.SparseClassifier),
        (pd.Series(np.where(SIGNAL > 0, "up", "down")), sw.SparseClassifier),
        (np.digitize(SIGNAL, [-1, 1]), sw.SparseClassifier),
    ],
    ids=["floats", "whole floats", "booleans", "two floats", "strings", "series", "classes"],
)
def test_the_target_says_which_loss(y, kind):
    selector = sw.SparseSelector(2).fit(X, y)
    assert type(selector.estimator_) is kind
    assert selector.support_.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ("squared", sw.SparseRegressor),
        ("logistic", sw.SparseClassifier),
        ("poisson", sw.SparseGLMRegressor),
    ],
)
def test_the_loss_that_was_asked_for(loss, kind):
    y = (SIGNAL > 0).astype(int)
    selector = sw.SparseSelector(2, loss=loss, forced=["a"], ridge=0.5, n_restarts=1).fit(X, y)
    alone = kind(2, forced=["a"], ridge=0.5, n_restarts=1).fit(X, y)
    assert type(selector.estimator_) is kind
    np.testing.assert_array_equal(selector.estimator_.coef_, alone.coef_)
    assert selector.result_ is selector.estimator_.result_
    assert selector.selection_frequency_.tolist() == alone.selection_frequency_.tolist()


def test_no_ridge_of_its_own_is_that_of_the_estimator():
    y = SIGNAL > 0
    chosen = sw.SparseSelector(2).fit(X, y).estimator_
    np.testing.assert_array_equal(chosen.coef_, sw.SparseClassifier(2).fit(X, y).coef_)


def test_many_whole_numbers_are_not_taken_for_classes():
    data, target = load_diabetes(return_X_y=True)
    assert type(sw.SparseSelector(3).fit(data, target).estimator_) is sw.SparseRegressor
    with pytest.raises(ValueError, match=r"y holds 21 different whole numbers, .* say which by loss="):
        sw.SparseSelector(3).fit(X, np.arange(80) % 21)
    with pytest.raises(
        ValueError,
        match="loss must be one of auto, squared, logistic, poisson, gamma, negative-binomial; got",
    ):
        sw.SparseSelector(3, loss="huber").fit(data, target)


def test_weights_and_certificates():
    weight = np.arange(80) % 2
    y = SIGNAL + np.where(weight == 0, 50 * X["a"], 0.0)
    selector = sw.SparseSelector(2).fit(X, y, weight)
    assert selector.support_.tolist() == [1, 4]
    assert selector.certify(X, y, weight).ratio == pytest.approx(1.0)


def test_in_a_pipeline_and_a_search():
    pipe = make_pipeline(sw.SparseSelector(), RandomForestRegressor(n_estimators=5, random_state=0))
    grid = GridSearchCV(pipe, {"sparseselector__constraint": [1, 2]}, cv=3).fit(X, SIGNAL)
    assert grid.best_estimator_[0].support_.tolist() == [1, 4]
    assert grid.best_params_ == {"sparseselector__constraint": 2}


def test_clones():
    selector = sw.SparseSelector(sw.Partition({name: name for name in X.columns}, 1), loss="squared", q=1)
    fresh = clone(selector.fit(X, SIGNAL))
    assert fresh.loss == "squared"
    assert not hasattr(fresh, "support_")
    assert fresh.fit(X, SIGNAL).support_.tolist() == selector.support_.tolist()
