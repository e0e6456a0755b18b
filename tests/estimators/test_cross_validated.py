import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import swapwise as sw
from swapwise.estimators.criteria import chosen_place

PLAIN = {
    sw.SparseRegressorCV: sw.SparseRegressor,
    sw.SparseClassifierCV: sw.SparseClassifier,
    sw.SparseGLMRegressorCV: sw.SparseGLMRegressor,
}
ESTIMATORS = list(PLAIN)
LOSSES = {
    sw.SparseRegressorCV: lambda model, X, y, w: mean_squared_error(y, model.predict(X), sample_weight=w),
    sw.SparseClassifierCV: lambda model, X, y, w: log_loss(
        y, model.predict_proba(X), sample_weight=w, labels=model.classes_
    ),
    sw.SparseGLMRegressorCV: lambda model, X, y, w: mean_poisson_deviance(
        y, model.predict(X), sample_weight=w
    ),
}
COLUMNS = [
    "size",
    "n_features",
    "n_parameters",
    "value",
    "deviance",
    "aic",
    "bic",
    "ebic",
    "gic",
    "status",
    "cv_mean",
    "cv_se",
]

# scikit-learn itself skips it unless SCIPY_ARRAY_API is set before SciPy is imported.
SKIPPED_BY_SKLEARN = {"check_array_api_input"}


def problem(kind, n_samples=120, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 8)) * np.arange(1, 9) + 3
    signal = (X[:, 1] - 3) / 2 - 0.7 * (X[:, 4] - 3) / 5
    if kind is sw.SparseClassifierCV:
        scores = 3 * signal + rng.logistic(size=n_samples)
        return X, np.array(["no", "yes", "so"])[np.digitize(scores, [0.0, 2.0][: classes - 1])]
    if kind is sw.SparseGLMRegressorCV:
        return X, rng.poisson(np.exp(signal))
    return X, signal + rng.standard_normal(n_samples)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_scikit_learns_checks(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks hand in constant targets and the like
        report = check_estimator(kind(sizes=[1, 2], cv=3), on_skip=None, on_fail=None)
    outcome = {status: [] for status in ("passed", "skipped", "failed", "xfail")}
    for entry in report:
        outcome[entry["status"]].append(entry["check_name"])
    assert outcome["failed"] == outcome["xfail"] == []
    assert set(outcome["skipped"]) <= SKIPPED_BY_SKLEARN
    assert len(outcome["passed"]) >= 50


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_what_a_plain_loop_over_folds_finds(kind, weighted):
    X, y = problem(kind)
    weight = np.tile([1.0, 0.5, 2.0, 0.0], 30) if weighted else None
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    model = kind(sizes=[1, 2, 4], cv=folds).fit(X, y, weight)
    losses = np.empty((4, 3))
    for f, (train, test) in enumerate(folds):
        for s, size in enumerate([1, 2, 4]):
            w_train, w_test = (None, None) if weight is None else (weight[train], weight[test])
            plain = PLAIN[kind](size).fit(X[train], y[train], w_train)
            losses[f, s] = LOSSES[kind](plain, X[test], y[test], w_test)
    np.testing.assert_allclose(model.path_["cv_mean"], losses.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(model.path_["cv_se"], losses.std(axis=0, ddof=1) / 2, rtol=1e-6)
    assert model.size_ == [1, 2, 4][losses.mean(axis=0).argmin()]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_chosen_size_is_a_plain_fit(kind):
    X, y = problem(kind)
    model = kind(criterion="ebic", n_features_original=1000, sizes=[4, 1, 2, 2]).fit(X, y)
    plain = PLAIN[kind](2).fit(X, y)
    assert model.size_ == 2
    assert model.support_.tolist() == plain.support_.tolist() == [1, 4]
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-7)
    outcome = "predict_proba" if kind is sw.SparseClassifierCV else "predict"
    np.testing.assert_allclose(getattr(model, outcome)(X), getattr(plain, outcome)(X), rtol=1e-6)
    assert repr(model.constraint_) == "Uniform(n=8, k=2)"
    assert np.flatnonzero(model.selection_frequency_).tolist() == [1, 4]
    assert model.result_.status == "LOCAL_OPTIMUM"
    assert model.n_iter_ == model.result_.n_iter == 2
    assert model.certify(X, y).value == pytest.approx(model.result_.value)
    assert list(model.path_.columns) == COLUMNS
    assert model.path_["status"].tolist() == ["LOCAL_OPTIMUM"] * 3
    assert model.path_["size"].tolist() == model.path_["n_features"].tolist() == [1, 2, 4]
    assert model.path_["value"][1] == pytest.approx(model.result_.value)
    assert model.path_[["cv_mean", "cv_se"]].isna().all(axis=None)
    assert [len(support) for support in model.path_supports_] == [1, 2, 4]
    assert model.path_coefs_.shape == (3, *model.coef_.shape)
    np.testing.assert_allclose(model.path_coefs_[1], model.coef_, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic", "gic"])
def test_each_criterion_chooses_its_least(criterion):
    X, y = problem(sw.SparseRegressorCV)
    model = sw.SparseRegressorCV(criterion=criterion).fit(X, y)
    assert model.size_ == model.path_["size"][model.path_[criterion].idxmin()]


def test_a_perfect_fit_needs_no_more_features():
    X = np.tile(np.eye(4), (5, 1))
    model = sw.SparseRegressorCV(criterion="aic", fit_intercept=False, standardize=False)
    model.fit(X, 4 * X[:, 1] - X[:, 2])
    assert model.size_ == 2
    np.testing.assert_array_equal(model.predict(X), 4 * X[:, 1] - X[:, 2])  # to the last digit
    assert np.isfinite(model.path_["aic"]).all()


def test_one_standard_error_rule():
    losses, errors = np.array([5.0, 3.05, 3.2, 2.9, 2.8, 2.8]), np.array([9, 9, 9, 9, 0.3, 0.0])
    assert chosen_place(losses, errors, one_standard_error=False) == 4
    assert chosen_place(losses, errors, one_standard_error=True) == 1
    assert chosen_place(losses, np.full(6, np.nan), one_standard_error=True) == 4
    assert chosen_place(losses, np.zeros(6), one_standard_error=True) == 4
    X, y = problem(sw.SparseRegressorCV, n_samples=60, seed=3)
    best, small = (sw.SparseRegressorCV(one_standard_error=rule).fit(X, y) for rule in (False, True))
    row = best.path_["cv_mean"].idxmin()
    near = best.path_["cv_mean"] <= best.path_["cv_mean"][row] + best.path_["cv_se"][row]
    assert best.size_ == best.path_["size"][row]
    assert small.size_ == best.path_["size"][near].min() < best.size_


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_same_answer_again_and_in_parallel(kind):
    X, y = problem(kind)
    model = kind(sizes=[1, 2, 4], cv=3, random_state=2, n_restarts=2)
    models = [clone(model).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (None, None, 2)]
    for other in models[1:]:
        pd.testing.assert_frame_equal(models[0].path_, other.path_, rtol=1e-9)
        np.testing.assert_allclose(models[0].coef_, other.coef_, rtol=1e-9)
        np.testing.assert_array_equal(models[0].selection_frequency_, other.selection_frequency_)


def test_a_generator_is_a_seed_for_all_folds():
    X, y = problem(sw.SparseRegressorCV)
    random = sw.SparseRegressorCV(sizes=[3], method="random")
    one, two = (
        clone(random).set_params(random_state=np.random.default_rng(4), n_jobs=n).fit(X, y) for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.path_, two.path_)
    assert one.result_.value == pytest.approx(one.path_["value"][0])


def hard_problem(seed):
    """Correlated features, on which a local search often ends in a poor optimum."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 30)) + 0.3 * rng.standard_normal((40, 30))
    return X, X @ rng.standard_normal(30) + rng.standard_normal(40)


def test_the_answer_is_that_of_the_path_where_a_plain_fit_is_worse():
    X, y = hard_problem(0)
    model = sw.SparseRegressorCV(sizes=range(1, 9), criterion="bic").fit(X, y)
    plain = sw.SparseRegressor(model.size_, method="oblivious").fit(X, y)
    assert model.result_.value > plain.result_.value + 1e-4
    assert model.support_.tolist() == model.path_supports_[model.size_ - 1].tolist()


def test_restarts_are_for_the_chosen_size():
    X, y = hard_problem(5)
    once, often = (sw.SparseRegressorCV(sizes=[4], criterion="bic", n_restarts=n).fit(X, y) for n in (0, 20))
    assert often.path_["value"].tolist() == once.path_["value"].tolist() == [once.result_.value]
    assert often.result_.value >= once.result_.value
    assert np.count_nonzero(often.selection_frequency_) > 4


class TestConstraints:
    def test_sizes_of_a_matroid(self):
        X, y = problem(sw.SparseRegressorCV)
        partition = sw.Partition([0, 1, 1, 1, 1, 2, 2, 2], 1)
        for constraint in (partition, lambda n: partition):
            model = sw.SparseRegressorCV(constraint, criterion="bic").fit(X, y)
            assert model.path_["size"].tolist() == [1, 2, 3]
            assert all(partition.is_independent(support) for support in model.path_supports_)
            assert model.constraint_.is_independent(model.support_)
        assert sw.SparseRegressorCV(2, criterion="bic").fit(X, y).path_["size"].tolist() == [1, 2]
        beyond = sw.SparseRegressorCV(2, sizes=[1, 5], criterion="bic").fit(X, y)
        assert beyond.path_["size"].tolist() == beyond.path_["n_features"].tolist() == [1, 2]

    def test_sizes_beyond_what_can_be_chosen_are_the_largest_that_can(self):
        X, y = problem(sw.SparseRegressorCV)
        y = X @ np.arange(1, 9)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = sw.SparseRegressorCV(sizes=[5, 20, 30]).fit(X, y)
        assert model.path_["size"].tolist() == [5, 8]
        assert model.size_ == 8
        partition = sw.Partition(list("aaabbbbb"), {"a": 1, "b": 2})
        by_size = sw.SparseRegressorCV(partition, sizes=[2, 3, 9], criterion="bic").fit(X, y)
        assert by_size.path_["size"].tolist() == [2, 3]
        by_capacity = sw.SparseRegressorCV(partition, along="capacity", sizes=[4, 7, 9], criterion="bic")
        # Of so few samples a capacity of 3 would be the largest to try by default.
        assert by_capacity.fit(X[:12], y[:12]).path_["size"].tolist() == [4, 5]

    def test_capacities(self):
        X, y = problem(sw.SparseRegressorCV)
        partition = sw.Partition(list("aaabbbbb"), 1)
        model = sw.SparseRegressorCV(partition, along="capacity", criterion="aic").fit(X, y)
        assert model.path_["size"].tolist() == [1, 2, 3, 4, 5]
        assert model.path_["n_features"].tolist() == [2, 4, 6, 7, 8]
        assert model.constraint_.capacity == {"a": model.size_, "b": model.size_}
        assert model.path_supports_[0].tolist() == [1, 4]

    @pytest.mark.parametrize("along", ["size", "capacity"])
    def test_names_are_matched(self, along):
        X, y = problem(sw.SparseRegressorCV)
        names = [f"{kind}_{number}" for number, kind in enumerate("aabbccdd")]
        shuffled = [names[i] for i in (7, 3, 1, 5, 0, 2, 6, 4)]
        constraint = sw.Partition.from_columns(shuffled)
        model = sw.SparseRegressorCV(constraint, along=along, sizes=[1, 2], criterion="bic")
        model.fit(pd.DataFrame(X, columns=names), y)
        positional = sw.SparseRegressorCV(sw.Partition(list("aabbccdd"), 1), along=along, sizes=[1, 2])
        positional.set_params(criterion="bic").fit(X, y)
        assert model.constraint_.names == names
        pd.testing.assert_frame_equal(model.path_, positional.path_)
        with pytest.raises(ValueError, match="the constraint names 'd_7', which the data do not have"):
            model.fit(pd.DataFrame(X[:, :7], columns=names[:7]), y)

    def test_groups(self):
        X, y = problem(sw.SparseRegressorCV)
        model = sw.SparseRegressorCV(groups=list("aabbccdd"), criterion="bic", sizes=[1, 2, 3]).fit(X, y)
        assert model.path_["n_features"].tolist() == [2, 4, 6]
        assert model.path_["n_parameters"].tolist() == [3, 5, 7]
        assert model.size_ == 2
        assert model.support_.tolist() == [0, 1, 4, 5]
        k = 4 + 1
        assert model.path_["bic"][1] == pytest.approx(model.path_["deviance"][1] + k * np.log(120))

    @pytest.mark.parametrize("kind", ESTIMATORS)
    @pytest.mark.parametrize("named", [True, False])
    def test_levels_that_a_fold_lacks_are_reported_once(self, kind, named):
        X, y = problem(kind)
        levels = np.zeros((120, 3))
        levels[np.arange(120), np.where(np.arange(120) == 3, 2, np.arange(120) % 2)] = 1
        levels[30:, 1] = levels[30:, 0] = 0.5  # of which the second is constant where the first fold trains
        names = ["city_a", "city_b", "city_c", *(f"x_{j}" for j in range(8))]
        frame = pd.DataFrame(np.hstack([levels, X]), columns=names)
        groups = [0, 0, 0, *range(1, 9)]
        model = kind(groups=groups, sizes=[1, 2, 9], cv=KFold(4))
        a, b, c = ("'city_a'", "'city_b'", "'city_c'") if named else "012"
        message = (
            f"of 0 there: {a} (fold 0), {b} (fold 0), {c} (fold 0); other folds, or levels that are merged,"
        )
        with pytest.warns(UserWarning, match=re.escape(message)) as caught:
            model.fit(frame if named else frame.to_numpy(), y)
        assert len(caught) == 1
        assert np.isfinite(model.path_["cv_mean"]).all()

    @pytest.mark.parametrize("kind", ESTIMATORS)
    def test_a_fold_may_lack_the_level_without_a_dummy(self, kind):
        X, y = problem(kind)
        level = np.where(np.arange(120) < 30, 0, 1 + np.arange(120) % 2)
        both = np.column_stack([level == 1, level == 2, X])
        model = kind(groups=["a", "a", *range(8)], cv=KFold(4)).fit(both, y)
        assert np.isfinite(model.path_["cv_mean"]).all()
        assert {3, 6} <= set(model.support_)

    def test_forced_features_count(self):
        X, y = problem(sw.SparseRegressorCV)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nobody asked for the sizes that are left out here
            model = sw.SparseRegressorCV(forced=[0, 7], criterion="bic").fit(X, y)
        assert model.path_["size"].tolist() == [2, 3, 4, 5, 6, 7, 8]
        assert all({0, 7} <= set(support) for support in model.path_supports_)
        assert model.support_.tolist() == [0, 1, 4, 7]
        with pytest.warns(UserWarning, match=r"the sizes \[0, 1\] are left out, as they leave no room"):
            model.set_params(sizes=[0, 1, 2, 4]).fit(X, y)
        assert model.path_["size"].tolist() == [2, 4]
        with pytest.raises(ValueError, match=r"the sizes \[1\] leave no room for what is forced in"):
            model.set_params(sizes=[1]).fit(X, y)

    def test_forced_features_under_capacities(self):
        X, y = problem(sw.SparseRegressorCV)
        model = sw.SparseRegressorCV(sw.Partition(list("aaaabbbb"), 1), along="capacity", forced=[2, 3])
        model.fit(X, y)
        assert model.path_["size"].tolist() == [2, 3, 4]

    def test_default_sizes(self):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((60, 50)), rng.standard_normal(60)
        largest = {60: 10, 21: 4, 6: 1}
        for n, size in largest.items():
            model = sw.SparseRegressorCV(criterion="bic").fit(X[:n], y[:n])
            assert model.path_["size"].tolist() == list(range(1, size + 1))
        few = X[:, :4]
        assert len(sw.SparseRegressorCV(criterion="bic").fit(few, y).path_) == 4
        forced = sw.SparseRegressorCV(criterion="bic", forced=[0, 1, 2, 3]).fit(X[:6], y[:6])
        assert forced.path_["size"].tolist() == [4]
        for weights_are, most in (("importance", 3), ("precision", 3), ("counts", 4)):
            weighted = sw.SparseRegressorCV(criterion="bic", weights_are=weights_are)
            assert weighted.fit(few[:6], y[:6], [1, 1, 1, 1, 1, 3]).path_["size"].max() == most
            by_folds = weighted.set_params(criterion="cv", cv=2)  # as for the eight rows that these stand for
            assert by_folds.fit(few[:6], y[:6], [1, 1, 1, 1, 1, 3]).path_["size"].max() == 4

    def test_a_criterion_that_does_not_stop_is_told(self):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((60, 200)), rng.standard_normal(60)
        with pytest.warns(UserWarning, match="bic chooses the largest size that was tried, 8"):
            sw.SparseRegressorCV(criterion="bic").fit(X, y)

    def test_nothing_may_be_the_answer(self):
        X, _ = problem(sw.SparseRegressorCV)
        noise = np.random.default_rng(1).standard_normal(120)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = sw.SparseRegressorCV(sizes=[0, 1, 2], criterion="ebic").fit(X, noise)
        assert model.size_ == 0
        np.testing.assert_allclose(model.predict(X), noise.mean())


def test_weights_of_zero_leave_given_folds_as_they_are():
    """Rows of the folds are rows of the data as given, whatever their weights."""
    X, y = problem(sw.SparseRegressorCV)
    wild = np.arange(120) % 5 == 2
    X_wild = np.where(wild[:, None], 1e9, X)
    folds = list(KFold(3).split(X))
    model = sw.SparseRegressorCV(cv=folds, sizes=[2]).fit(X_wild, y, np.where(wild, 0.0, 1.0))
    losses = []
    for train, test in folds:
        train, test = train[~wild[train]], test[~wild[test]]
        refit = LinearRegression().fit(X[train][:, [1, 4]], y[train])
        losses.append(mean_squared_error(y[test], refit.predict(X[test][:, [1, 4]])))
    assert model.path_["cv_mean"][0] == pytest.approx(np.mean(losses))
    with pytest.raises(ValueError, match="both parts of every fold of cv must hold a sample of positive"):
        sw.SparseRegressorCV(cv=3).fit(X, y, np.arange(120) >= 40)


@pytest.mark.parametrize("cv", [3, KFold(3), ShuffleSplit(2, random_state=0), [(range(80), range(80, 120))]])
def test_folds_of_all_kinds(cv):
    X, y = problem(sw.SparseRegressorCV)
    model = sw.SparseRegressorCV(cv=cv, sizes=[1, 2], one_standard_error=True).fit(X, y)
    assert model.support_.tolist() in ([1], [1, 4])
    assert np.isnan(model.path_["cv_se"]).all() == isinstance(cv, list)


def test_folds_of_a_classifier_are_stratified():
    X, y = problem(sw.SparseClassifierCV, classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    as_number = sw.SparseClassifierCV(cv=3, sizes=[1, 2]).fit(X, y)
    as_splitter = sw.SparseClassifierCV(cv=StratifiedKFold(3), sizes=[1, 2]).fit(X, y)
    pd.testing.assert_frame_equal(as_number.path_, as_splitter.path_)
    with pytest.raises(
        ValueError, match=r"training part .* all classes, but one has no sample of class 'no'; stratified"
    ):
        sw.SparseClassifierCV(cv=KFold(2)).fit(X, y)
    with pytest.raises(ValueError, match="no sample of class 0; stratified"):
        sw.SparseClassifierCV(cv=KFold(2)).fit(X, np.unique(y, return_inverse=True)[1])


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("limit", "status"), [({"max_iter": 0}, "ITERATION_LIMIT"), ({"time_limit": 0.0}, "TIME_LIMIT")]
)
def test_a_path_that_was_cut_short_is_warned_about_once(kind, limit, status):
    X, y = problem(kind)
    ((name, value),) = limit.items()
    with pytest.warns(ConvergenceWarning) as caught:
        model = kind(sizes=[1, 2], cv=3, start=[1], **limit).fit(X, y)
    assert [str(w.message) for w in caught] == [
        f"the search was cut short by {name}={value}: the answer is the best so far (see "
        "path_['status'] or result_.status)"
    ]
    assert caught[0].filename == __file__
    assert status in model.path_["status"].tolist()


def test_a_path_may_be_cut_short_elsewhere_than_at_the_chosen_size():
    X, y = problem(sw.SparseRegressorCV)
    strict = {"criterion": "ebic", "n_features_original": 1000}
    model = sw.SparseRegressorCV(sizes=[2, 6], start=[1, 4], max_iter=1, **strict)
    with pytest.warns(ConvergenceWarning, match="cut short by max_iter=1: "):
        model.fit(X, y)
    assert model.path_["status"].tolist() == ["LOCAL_OPTIMUM", "ITERATION_LIMIT"]
    assert model.size_ == 2
    assert model.result_.status == "LOCAL_OPTIMUM"


def test_counts_of_zero_only_cannot_be_trained_on():
    X, y = problem(sw.SparseGLMRegressorCV)
    y[:60] = 0
    with pytest.raises(ValueError, match="training part of every fold of cv must have a positive count"):
        sw.SparseGLMRegressorCV(cv=KFold(2)).fit(X, y)


def test_offsets_are_held_out_too():
    X, _ = problem(sw.SparseGLMRegressorCV)
    hours = np.random.default_rng(1).uniform(0.5, 9, 120)
    y = np.random.default_rng(2).poisson(hours * np.exp((X[:, 1] - 3) / 4))
    model = sw.SparseGLMRegressorCV(cv=4, sizes=[1]).fit(X, y, offset=np.log(hours))
    losses = []
    for train, test in KFold(4).split(X):
        plain = sw.SparseGLMRegressor(1).fit(X[train], y[train], offset=np.log(hours[train]))
        losses.append(mean_poisson_deviance(y[test], plain.predict(X[test], np.log(hours[test]))))
    assert model.path_["cv_mean"][0] == pytest.approx(np.mean(losses))
    assert model.certify(X, y, offset=np.log(hours)).value == pytest.approx(model.result_.value)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_in_pipelines_pickled_and_cloned(kind):
    X, y = problem(kind)
    pipeline = make_pipeline(StandardScaler(), kind(sizes=range(1, 4))).fit(X, y)
    back = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(back.predict(X), pipeline.predict(X))
    pd.testing.assert_frame_equal(back[-1].path_, pipeline[-1].path_)
    assert pipeline[-1].score(StandardScaler().fit_transform(X), y) > 0.3
    fresh = clone(pipeline[-1])
    assert not hasattr(fresh, "path_")
    assert fresh.get_params() == pipeline[-1].get_params()


def test_progress_goes_to_the_terminal(capsys):
    X, y = problem(sw.SparseRegressorCV)
    sw.SparseRegressorCV(sizes=[1, 2], progress=True).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "cross-validation" in err


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"criterion": "mdl"}, ValueError, "criterion must be one of cv, aic, bic, ebic, gic; got 'mdl'"),
        (
            {"criterion": "bic", "one_standard_error": True},
            ValueError,
            "one_standard_error is for criterion=",
        ),
        ({"gamma": -1}, ValueError, "gamma must be a non-negative number, got -1"),
        (
            {"weights_are": "frequencies"},
            ValueError,
            "weights_are must be one of importance, precision, counts",
        ),
        ({"n_features_original": 7}, ValueError, "n_features_original must be at least the 8 .* got 7"),
        ({"along": "width"}, ValueError, "along must be 'size' or 'capacity', got 'width'"),
        ({"along": "capacity"}, TypeError, r"along='capacity' needs a sw\.Partition, .* got Uniform"),
        ({"sizes": 5}, TypeError, r"sizes must be whole numbers such as range\(1, 11\), got 5"),
        ({"sizes": []}, ValueError, "sizes must hold at least one number, got none"),
        ({"sizes": [1, -2]}, ValueError, "a value of sizes must be a non-negative integer, got -2"),
        ({"method": "best"}, ValueError, "method must be a pivot rule or one of .* got 'best'"),
        ({"start": "middle"}, ValueError, "start must be an independent set or one of .* got 'middle'"),
        ({"start": [0, 1], "sizes": [1, 2]}, ValueError, r"start must be independent, but \[0, 1\] is not"),
        ({"q": 0}, ValueError, "q must be at least 1, got 0"),
        ({"tol": -1}, ValueError, "tol must be a non-negative number, got -1"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be a non-negative integer, got 1.5"),
        ({"time_limit": -1}, ValueError, "time_limit must be a non-negative number, got -1"),
        ({"random_state": "now"}, TypeError, "random_state must be a non-negative integer"),
        ({"method": "greedy", "n_restarts": 1}, ValueError, "n_restarts must be 0 for greedy"),
        ({"standardize": 1}, TypeError, "standardize must be True or False, got 1"),
    ],
)
def test_parameters_are_checked_before_any_search(parameters, error, message, monkeypatch):
    monkeypatch.setattr("swapwise.estimators.cross_validated.warm_path", None)
    with pytest.raises(error, match=message):
        sw.SparseRegressorCV(**parameters).fit(*problem(sw.SparseRegressorCV))


def test_leaving_one_out_is_exact_for_least_squares():
    """The held-out errors of a fixed set of features have a closed form: residual / (1 - leverage)."""
    X, y = problem(sw.SparseRegressorCV, n_samples=30)
    model = sw.SparseRegressorCV(forced=[1, 4], sizes=[2], cv=LeaveOneOut()).fit(X, y)
    design = np.column_stack([np.ones(30), X[:, [1, 4]]])
    hat = design @ np.linalg.pinv(design)
    residuals = (y - hat @ y) / (1 - np.diag(hat))
    assert model.path_["cv_mean"][0] == pytest.approx(np.mean(residuals**2))


def test_splitters_that_need_groups_of_rows_are_explained():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match=r"GroupKFold needs groups of rows.*cv=list\(GroupKFold\(5\)"):
        sw.SparseRegressorCV(cv=GroupKFold(2)).fit(X, X[:, 0])
