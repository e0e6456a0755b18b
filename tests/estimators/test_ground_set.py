"""Constraints, groups and forced features, as users say them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import swapwise as sw
from swapwise.estimators.ground_set import GroundSet

NAMES = ["age_mean", "age_worst", "height_mean", "height_worst", "id", "weight_mean"]
MODELS = [sw.SparseRegressor, sw.SparseClassifier, sw.SparseGLMRegressor]


def problem(kind=sw.SparseRegressor):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 6))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]  # the two of an age predict nearly the same
    signal = X[:, 0] + 0.8 * X[:, 1] + 0.5 * X[:, 2] - 0.2 * X[:, 5]
    noisy = signal + 0.5 * rng.standard_normal(90)
    y = {"SparseRegressor": noisy, "SparseClassifier": noisy > 0}.get(
        kind.__name__, np.floor(3 * np.exp(noisy / 2))
    )
    return pd.DataFrame(X, columns=NAMES), y


def names_of(model):
    return model.feature_names_in_[model.support_].tolist()


@pytest.mark.parametrize("kind", MODELS)
def test_an_int_an_object_and_a_function_of_n_say_the_same(kind):
    X, y = problem(kind)
    chosen = [
        kind(constraint).fit(X, y).support_.tolist()
        for constraint in (3, np.int64(3), sw.Uniform(6, 3), lambda n: n // 2, lambda n: sw.Uniform(n, 3))
    ]
    assert chosen == [chosen[0]] * 5
    assert len(chosen[0]) == 3


def test_the_constraint_is_resolved_and_left_alone():
    X, y = problem()
    model = sw.SparseRegressor(2)
    assert repr(model.fit(X, y).constraint_) == "Uniform(n=6, k=2)"
    assert model.constraint == 2


WANTED = (
    r"constraint must be an integer \(the largest number of features\), a constraint such as sw.Partition, "
    "or a callable of n that returns either, got "
)


@pytest.mark.parametrize("wrong", [2.0, "3", True, None, [0, 1], sw.Uniform])
def test_what_is_no_constraint(wrong):
    with pytest.raises(TypeError, match=WANTED):
        sw.SparseRegressor(wrong).fit(*problem())
    if wrong is not None:
        with pytest.raises(TypeError, match=WANTED):
            sw.SparseRegressorCV(wrong).fit(*problem())


def test_a_negative_number_is_none():
    with pytest.raises(ValueError, match="constraint must be a non-negative integer, got -1"):
        sw.SparseRegressor(-1).fit(*problem())


def test_sizes_must_agree():
    X, y = problem()
    with pytest.raises(ValueError, match="the constraint is on n = 5 elements, but there are 6 features"):
        sw.SparseRegressor(sw.Uniform(5, 2)).fit(X, y)
    with pytest.raises(ValueError, match="the constraint is on n = 6 elements, but there are 3 groups"):
        sw.SparseRegressor(sw.Uniform(6, 2), groups=[0, 0, 1, 1, 2, 2]).fit(X, y)


@pytest.mark.parametrize("kind", MODELS)
def test_constraints_are_matched_by_name(kind):
    X, y = problem(kind)
    one_each = sw.Partition.from_columns(NAMES)
    model = kind(one_each).fit(X, y)
    turned = kind(one_each).fit(X[NAMES[::-1]], y)
    assert sorted(names_of(turned)) == sorted(names_of(model))
    assert len({name.split("_")[0] for name in names_of(model)}) == len(model.support_) == 4
    assert turned.constraint_.names == NAMES[::-1]


def test_names_that_do_not_match():
    X, y = problem()
    one_each = sw.Partition.from_columns(NAMES)
    with pytest.raises(ValueError, match="the constraint names 'id', which the data do not have"):
        sw.SparseRegressor(one_each).fit(X.drop(columns="id"), y)
    with pytest.raises(ValueError, match="the data have 'more', which the constraint does not name"):
        sw.SparseRegressor(one_each).fit(X.assign(more=1.0), y)
    with pytest.raises(ValueError, match="the constraint is on n = 6 elements, but there are 5 features"):
        sw.SparseRegressor(one_each).fit(X.to_numpy()[:, 1:], y)


def test_named_constraints_go_by_position_where_data_have_no_names():
    X, y = problem()
    one_each = sw.Partition.from_columns(NAMES)
    model = sw.SparseRegressor(one_each)
    with pytest.warns(UserWarning, match="the constraint names its features, but X has no names") as caught:
        model.fit(X.to_numpy(), y)
    assert [w.filename for w in caught] == [__file__]
    assert model.support_.tolist() == sw.SparseRegressor(one_each).fit(X, y).support_.tolist()


@pytest.mark.parametrize("kind", [sw.SparseRegressor, sw.SparseRegressorCV, sw.SparseSelector])
def test_names_that_a_transformer_has_dropped_are_missed_once(kind):
    X, y = problem()
    one_each = sw.Partition.from_columns(NAMES)
    with pytest.warns(UserWarning, match=r"\.set_output\(transform='pandas'\) keeps them") as caught:
        make_pipeline(StandardScaler(), kind(one_each)).fit(X, y)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(StandardScaler(), kind(one_each)).set_output(transform="pandas").fit(X, y)
        kind(sw.Partition(list("aabbcd"), 1)).fit(X.to_numpy(), y)


def test_groups_by_position():
    X, y = problem()
    by_position = {5: "w", 0: "age", 1: "age", 4: "id", 2: "h", 3: "h"}
    for groups in (by_position, pd.Series(by_position)):
        assert sw.SparseRegressor(2, groups=groups).fit(X, y).support_.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"groups must be by name .* or by position \(0 to 5 in any order"):
        sw.SparseRegressor(groups=pd.Series(list("aabbcd"), index=range(100, 106))).fit(X, y)
    with pytest.raises(TypeError, match="groups: expected feature → label, got label → features"):
        sw.SparseRegressor(groups={"age": NAMES[:2], "other": NAMES[2:]}).fit(X, y)


@pytest.mark.parametrize("kind", [*MODELS, sw.SparseRegressorCV])
@pytest.mark.parametrize("constraint", [0, sw.Partition(list("aabbcd"), 0)])
@pytest.mark.parametrize(("fit_intercept", "left"), [(True, "the intercept alone"), (False, "zero")])
def test_a_constraint_that_allows_nothing(kind, constraint, fit_intercept, left):
    X, y = problem(kind)
    model = kind(constraint, fit_intercept=fit_intercept)
    message = f"constraint allows no feature at all: the model is {left}"
    with pytest.warns(UserWarning, match=f"^{message}$") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert model.support_.tolist() == []
    assert not model.coef_.any()
    assert np.any(model.intercept_) == fit_intercept


GROUPS = {"age_mean": "age", "age_worst": "age", "height_mean": "h", "height_worst": "h", "id": "id"}
GROUPS["weight_mean"] = "w"


@pytest.mark.parametrize("kind", MODELS)
def test_groups_come_as_a_whole(kind):
    X, y = problem(kind)
    by_name, by_position = GROUPS, ["age", "age", "h", "h", "id", "w"]
    for groups in (by_name, pd.Series(by_name), by_position, np.array([5, 5, 1, 1, 7, 2])):
        model = kind(2, groups=groups).fit(X, y)
        assert model.support_.tolist() == [0, 1, 2, 3]
        assert model.result_.support.tolist() == [0, 1]
        assert model.constraint_.n == 4
        assert model.selection_frequency_.tolist() == [1, 1, 1, 1, 0, 0]
    turned = kind(2, groups=by_name).fit(X[NAMES[::-1]], y)
    assert sorted(names_of(turned)) == NAMES[:4]


def test_constraints_on_groups_are_matched_by_label():
    X, y = problem()
    no_age = sw.Partition(
        {"w": "light", "id": "light", "h": "light", "age": "heavy"}, {"light": 1, "heavy": 0}
    )
    model = sw.SparseRegressor(no_age, groups=GROUPS).fit(X, y)
    assert model.support_.tolist() == [2, 3]
    with pytest.raises(ValueError, match="the constraint names 'x', which the data do not have"):
        sw.SparseRegressor(sw.Partition({"x": 1}, 1), groups=GROUPS).fit(X, y)


@pytest.mark.parametrize("kind", [*MODELS, sw.SparseSelector])
def test_groups_by_a_function_of_names_or_positions(kind):
    X, y = problem(kind)
    labels = kind(2, groups=[name.split("_")[0] for name in NAMES]).fit(X, y)
    by_name = kind(2, groups=lambda name: name.split("_")[0]).fit(X, y)
    by_position = kind(2, groups=lambda j: NAMES[j].split("_")[0]).fit(X.to_numpy(), y)
    assert labels.support_.tolist() == by_name.support_.tolist() == by_position.support_.tolist()
    assert clone(by_name).fit(X, y).support_.tolist() == labels.support_.tolist()
    with pytest.raises(
        TypeError, match=r"does not take positions, but X has no names .* 'int' object has no"
    ):
        kind(2, groups=lambda name: name.split("_")[0]).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"groups, a function, failed for the feature .age_mean.*prefix"):
        kind(2, groups=lambda name: name.prefix).fit(X, y)


def test_names_of_no_feature_are_left_out():
    X, y = problem()
    model = sw.SparseRegressor(2, groups={"age_none": "age", **GROUPS, "size": "h"})
    message = "^groups names 'age_none', 'size', which the data do not have: left out$"
    with pytest.warns(UserWarning, match=message) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert model.support_.tolist() == sw.SparseRegressor(2, groups=GROUPS).fit(X, y).support_.tolist()


def one_hot(n=120):
    """A factor of which one level occurs in the fourth row only, another factor and a number."""
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Rome", "Paris"], n).astype(object)
    city[3] = "Lima"
    table = pd.DataFrame({"city": city, "kind": rng.choice(["s", "m"], n), "age": rng.standard_normal(n)})
    effect = table["city"].map({"Bonn": 0, "Rome": 1, "Paris": 2, "Lima": 1})
    return table, effect + table["age"] + 0.5 * rng.standard_normal(n)


BY_NAME = {f"city_{name}": "city" for name in ("Bonn", "Rome", "Paris", "Lima")}
BY_NAME |= {"kind_s": "kind", "kind_m": "kind", "age": "age"}


@pytest.mark.parametrize("groups", [lambda name: name.split("_")[0], BY_NAME])
@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("model", [sw.SparseRegressor, sw.SparseSelector])
def test_pipelines_survive_a_fold_that_lacks_a_level(groups, drop, model):
    table, y = one_hot()
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore", drop=drop), ["city", "kind"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    steps = [encoder, model(2, groups=groups)]
    if model is sw.SparseSelector:
        steps.append(LinearRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(make_pipeline(*steps), table, y, cv=KFold(5), error_score="raise")
    assert scores.min() > 0.6


def test_groups_must_fit_the_features():
    X, y = problem()
    with pytest.raises(ValueError, match="one label for each of the 6 features, got 2"):
        sw.SparseRegressor(groups=["a", "b"]).fit(X, y)
    with pytest.raises(ValueError, match="groups names 'size', which the data do not have"):
        sw.SparseRegressor(groups={**{k: v for k, v in GROUPS.items() if v != "w"}, "size": "h"}).fit(X, y)
    with pytest.raises(ValueError, match="the data have 'weight_mean', which groups does not name"):
        sw.SparseRegressor(groups={k: v for k, v in GROUPS.items() if v != "w"}).fit(X, y)
    with pytest.raises(ValueError, match="every element needs a label, got None at position 0"):
        sw.SparseRegressor(groups=[None, 1, 1, 1, 1, 1]).fit(X, y)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("forced", [["id"], [4], np.array([4])])
@pytest.mark.parametrize("n_restarts", [0, 3])
def test_forced_features_are_in_and_count(kind, forced, n_restarts):
    X, y = problem(kind)
    model = kind(2, forced=forced, n_restarts=n_restarts).fit(X, y)
    assert len(model.support_) == 2
    assert 4 in model.support_
    assert model.selection_frequency_[4] == 1.0
    assert model.constraint_.forced.tolist() == [4]
    free = {0, 1, 2, 3, 5}
    rivals = [kind(sw.Uniform(6, 2).restrict([j, 4]), start=[j, 4]).fit(X, y) for j in free]
    assert model.result_.value == pytest.approx(max(rival.result_.value for rival in rivals))


def test_forced_groups_go_by_label():
    X, y = problem()
    model = sw.SparseRegressor(1, groups=GROUPS, forced=["h"]).fit(X, y)
    assert model.support_.tolist() == [2, 3]
    numbered = sw.SparseRegressor(1, groups=[9, 9, 8, 8, 7, 6], forced=[7]).fit(X, y)
    assert numbered.support_.tolist() == [4]
    with pytest.raises(ValueError, match="forced must be among the groups, got 'age_mean'"):
        sw.SparseRegressor(1, groups=GROUPS, forced=["age_mean"]).fit(X, y)


def test_forced_features_in_an_intersection():
    X, y = problem()
    both = sw.Intersection(
        sw.Partition.from_columns(NAMES), sw.Partition([0, 1, 0, 1, 1, 0], 1), neighbourhood="matroid"
    )
    model = sw.SparseRegressor(both, forced=["height_worst"]).fit(X, y)
    assert model.constraint_.forced.tolist() == [3]
    assert model.constraint_.neighbourhood == "matroid"
    assert 3 in model.support_
    assert both.is_independent(model.support_)


def test_what_cannot_be_forced():
    X, y = problem()
    message = r"forced features must be independent, but \['id', 'age_mean'\] .* under Uniform\(n=6, k=1\)"
    with pytest.raises(ValueError, match=message):
        sw.SparseRegressor(1, forced=["id", "age_mean"]).fit(X, y)
    with pytest.raises(ValueError, match="forced must be among the features, got 'size'"):
        sw.SparseRegressor(2, forced=["size"]).fit(X, y)
    with pytest.raises(ValueError, match="among the features, which have no names here, got 'id'"):
        sw.SparseRegressor(2, forced=["id"]).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="forced must hold integers from 0 to 5"):
        sw.SparseRegressor(2, forced=[6]).fit(X, y)
    with pytest.raises(TypeError, match="forced must be a list of features, got 'id'"):
        sw.SparseRegressor(2, forced="id").fit(X, y)
    packing = sw.SetPacking([{j % 3} for j in range(6)])
    with pytest.raises(ValueError, match=r"must be independent, but \[0, 3\] is not independent under Set"):
        sw.SparseRegressor(packing, forced=[0, 3]).fit(X, y)
    assert 0 in sw.SparseRegressor(packing, forced=[0]).fit(X, y).support_


def test_other_systems_work():
    X, y = problem()
    model = sw.SparseRegressor(sw.SetPacking([{j % 3} for j in range(6)])).fit(X, y)
    assert sorted(model.support_ % 3) == [0, 1, 2]


def test_elements_know_their_features():
    kinds = GroundSet.of(["b", "a", "b"], 3)
    assert kinds.labels == ["b", "a"]
    assert kinds.features([0]).tolist() == [0, 2]
    assert kinds.features([]).tolist() == []
    assert GroundSet.of(None, 3).groups is None
