"""What information criteria count: samples by their weights, parameters by the rank of their columns."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import comb
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_squared_error
from sklearn.preprocessing import OneHotEncoder

import swapwise as sw
from swapwise.estimators.criteria import SampleSize, information_criteria, n_parameters

REGRESSOR, CLASSIFIER, POISSON = sw.SparseRegressorCV, sw.SparseClassifierCV, sw.SparseGLMRegressorCV
ESTIMATORS = [REGRESSOR, CLASSIFIER, POISSON]
CRITERIA = ["aic", "bic", "ebic", "gic"]
N_ROWS = 120


def problem(kind, classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 8)) * np.arange(1, 9) + 3
    signal = (X[:, 1] - 3) / 2 - 0.7 * (X[:, 4] - 3) / 5
    if kind is CLASSIFIER:
        scores = 3 * signal + rng.logistic(size=N_ROWS)
        return X, np.digitize(scores, [0.0, 2.0][: classes - 1])
    if kind is POISSON:
        return X, rng.poisson(np.exp(signal))
    return X, signal + rng.standard_normal(N_ROWS)


def five_of_forty():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 40))
    return X, X[:, :5].sum(axis=1) + 1.5 * rng.standard_normal(200)


def two_of_thirty():
    """Two true features, and a class that 7 % of the samples have."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 30))
    return X, (1.5 * X[:, 0] - 1.5 * X[:, 1] - 4 + rng.logistic(size=400) > 0).astype(int)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("factor", [10.0, 0.1])
def test_a_common_weight_changes_nothing(criterion, factor):
    X, y = five_of_forty()
    plain = REGRESSOR(criterion=criterion).fit(X, y)
    weighted = REGRESSOR(criterion=criterion).fit(X, y, np.full(len(y), factor))
    assert weighted.size_ == plain.size_
    np.testing.assert_allclose(weighted.path_[CRITERIA], plain.path_[CRITERIA], rtol=1e-9)


def test_weights_of_ten_choose_what_no_weights_choose():
    X, y = five_of_forty()
    tens = np.full(len(y), 10)
    assert REGRESSOR(criterion="ebic").fit(X, y, tens).support_.tolist() == [0, 1, 2, 3, 4]
    assert REGRESSOR(criterion="ebic", weights_are="counts").fit(X, y, tens).size_ > 10


@pytest.mark.parametrize("criterion", ["bic", "ebic"])
def test_balanced_classes_choose_no_noise(criterion):
    X, y = two_of_thirty()
    model = CLASSIFIER(criterion=criterion, class_weight="balanced").fit(X, y)
    assert model.support_.tolist() == [0, 1]


def test_weights_that_differ_choose_no_noise():
    rng = np.random.default_rng(5)
    X, y = five_of_forty()
    weight = rng.exponential(size=len(y)) ** 2
    size = {
        meaning: REGRESSOR(criterion="ebic", weights_are=meaning).fit(X, y, weight).size_
        for meaning in ("importance", "precision")
    }
    assert size["importance"] <= 5 < size["precision"]  # which would be right if the noise were so uneven


def test_precisions_choose_what_is_true_of_uneven_noise():
    rng = np.random.default_rng(5)
    X, weight = rng.standard_normal((200, 40)), rng.exponential(size=200) ** 2
    y = 0.6 * X[:, :5].sum(axis=1) + 1.5 * rng.standard_normal(200) / np.sqrt(weight)
    model = REGRESSOR(criterion="ebic", weights_are="precision").fit(X, y, weight)
    assert model.support_.tolist() == [0, 1, 2, 3, 4]


def deviance_by_hand(kind, model, X, y, weight, n):
    """Twice the log-likelihood that a perfect fit has more; for least squares, up to a constant."""
    if kind is REGRESSOR:
        return n * np.log(mean_squared_error(y, model.predict(X), sample_weight=weight))
    if kind is CLASSIFIER:
        return 2 * n * log_loss(y, model.predict_proba(X), sample_weight=weight)
    return n * mean_poisson_deviance(y, model.predict(X), sample_weight=weight)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_count_of_two_is_the_same_sample_twice(kind):
    X, y = problem(kind)
    times = np.tile([1, 2, 0, 3], len(y) // 4)
    weighted = kind(sizes=[1, 2], criterion="bic", weights_are="counts").fit(X, y, times)
    repeated = kind(sizes=[1, 2], criterion="bic").fit(X.repeat(times, axis=0), y.repeat(times))
    names = ["value", "deviance", *CRITERIA]
    np.testing.assert_allclose(weighted.path_[names], repeated.path_[names], rtol=1e-6)


def test_counts_and_class_weights_are_the_rows_repeated():
    X, y = problem(CLASSIFIER)
    times = np.tile([1, 2, 0, 3], len(y) // 4)
    options = {"sizes": [1, 2], "criterion": "bic", "class_weight": "balanced"}
    weighted = CLASSIFIER(weights_are="counts", **options).fit(X, y, times)
    repeated = CLASSIFIER(**options).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.path_[CRITERIA], repeated.path_[CRITERIA], rtol=1e-6)


@pytest.mark.parametrize(("kind", "classes"), [*((kind, 2) for kind in ESTIMATORS), (CLASSIFIER, 3)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("weights", "meaning"),
    [
        ([1, 1, 1, 1], "importance"),
        ([3, 0.5, 1, 0], "importance"),
        ([3, 0.5, 1, 0], "precision"),
        ([3, 2, 1, 0], "importance"),
        ([3, 2, 1, 0], "counts"),
    ],
)
def test_criteria_against_their_formulas(kind, classes, fit_intercept, weights, meaning):
    X, y = problem(kind, classes=classes)
    weight, p, gamma = np.tile(weights, N_ROWS // 4), 5000, 0.8
    n, effect = np.count_nonzero(weight), 1.0
    if meaning == "counts":
        n = weight.sum()
    elif meaning == "importance":
        effect = n * (weight**2).sum() / weight.sum() ** 2
    fitted = kind(
        sizes=[3],
        criterion="aic",
        fit_intercept=fit_intercept,
        n_features_original=p,
        gamma=gamma,
        weights_are=meaning,
    ).fit(X, y, weight)
    (row,) = fitted.path_.to_dict("records")
    levels = classes - 1
    k = 3 * levels + fit_intercept * levels
    deviance = deviance_by_hand(kind, fitted, X, y, weight, n)
    assert row["n_parameters"] == k
    assert row["deviance"] == pytest.approx(deviance, rel=1e-9)
    assert row["aic"] == pytest.approx(deviance + effect * 2 * k)
    assert row["bic"] == pytest.approx(deviance + effect * k * np.log(n))
    choices = 2 * gamma * np.log(comb(p, 3, exact=True))
    assert row["ebic"] == pytest.approx(deviance + effect * (k * np.log(n) + choices))
    assert row["gic"] == pytest.approx(deviance + effect * k * np.log(p) * np.log(np.log(n)))


def test_counts_are_whole_numbers():
    X, y = problem(REGRESSOR)
    with pytest.raises(ValueError, match=r"sample_weight must hold whole numbers, .* got 0\.5 at position 3"):
        REGRESSOR(weights_are="counts").fit(X, y, np.where(np.arange(N_ROWS) == 3, 0.5, 1.0))


@given(st.lists(st.floats(1e-200, 1e200), min_size=1, max_size=20), st.floats(1e-60, 1e60))
def test_the_design_effect_is_that_of_ratios(weights, factor):
    weight = np.array(weights)
    size = SampleSize.of(len(weight), weight, weight)
    assert 1 <= size.design_effect <= len(weight) * (1 + 1e-12)
    scaled = np.array(weights) * factor
    if np.isfinite(scaled).all() and scaled.all():
        assert SampleSize.of(len(weight), scaled, scaled).design_effect == pytest.approx(size.design_effect)


def test_penalties_never_reward():
    for n_samples in (1, 2, 3):
        table = information_criteria(1.0, 2, 1, n_samples=n_samples, n_features=10)
        assert min(table.values()) >= 1.0


def exact_rank(matrix):
    """Gaussian elimination on fractions."""
    rows, rank = [[Fraction(int(entry)) for entry in row] for row in matrix], 0
    for column in range(matrix.shape[1]):
        pivot = next((row for row in rows[rank:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(rank, pivot)
        rank += 1
        for row in rows[rank:]:
            factor = row[column] / pivot[column]
            row[:] = [entry - factor * above for entry, above in zip(row, pivot, strict=True)]
    return rank


small_matrices = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-2, 2).map(float))
)


class TestParameters:
    def test_constant_and_repeated_columns_are_free(self):
        column = np.arange(5.0)
        assert n_parameters(np.column_stack([column, 2 * column - 7]), fit_intercept=True) == 1
        assert n_parameters(np.column_stack([column, 2 * column - 7]), fit_intercept=False) == 2
        assert n_parameters(np.full((5, 2), 0.1), fit_intercept=True) == 0
        assert n_parameters(np.full((5, 2), 0.1), fit_intercept=False) == 1
        assert n_parameters(np.zeros((5, 2)), fit_intercept=False) == 0

    def test_never_more_than_samples_allow(self):
        columns = np.random.default_rng(0).standard_normal((4, 9))
        assert n_parameters(columns, fit_intercept=False) == 4
        assert n_parameters(columns, fit_intercept=True) == 3

    @pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
    def test_units_do_not_matter(self, scale):
        columns = np.random.default_rng(0).standard_normal((50, 3)) * [scale, 1.0, 1 / scale]
        assert n_parameters(columns, fit_intercept=True) == 3

    @given(small_matrices)
    def test_ranks_are_those_of_exact_arithmetic(self, columns):
        """Duplicates, constant columns and more columns than samples among them."""
        with_ones = np.column_stack([np.ones(len(columns)), columns])
        assert n_parameters(columns, fit_intercept=False) == exact_rank(columns)
        assert n_parameters(columns, fit_intercept=True) == exact_rank(with_ones) - 1

    def test_dates_are_not_constant(self):
        days = 1.7e18 + 8.64e13 * np.arange(365.0)[:, None]
        assert n_parameters(days, fit_intercept=True) == 1


def factors():
    """A factor of four levels that matters, one of three that does not, two numbers."""
    rng = np.random.default_rng(2)
    city, size = rng.integers(0, 4, N_ROWS), rng.integers(0, 3, N_ROWS)
    numbers = rng.standard_normal((N_ROWS, 2))
    y = np.array([0.0, 1.0, -1.0, 2.0])[city] + numbers[:, 0] + 0.7 * rng.standard_normal(N_ROWS)
    return np.column_stack([city, size]), numbers, y


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_dummies_cost_the_same_with_and_without_the_first_level(kind):
    table, numbers, y = factors()
    target = {REGRESSOR: y, CLASSIFIER: y > 0, POISSON: np.round(np.exp(y / 2))}[kind]
    paths, chosen = [], []
    for drop, groups in ((None, "ccccsssuv"), ("first", "cccssuv")):
        dummies = OneHotEncoder(drop=drop, sparse_output=False).fit_transform(table)
        X = np.hstack([dummies, numbers])
        model = kind(criterion="bic", groups=list(groups), ridge=0.0).fit(X, target)
        paths.append(model.path_)
        chosen.append({groups[feature] for feature in model.support_})
    assert chosen[0] == chosen[1] >= {"c", "u"}
    assert paths[0]["n_parameters"].tolist() == paths[1]["n_parameters"].tolist()
    assert paths[0]["n_parameters"].tolist()[1] == 1 + 3 + 1
    np.testing.assert_allclose(paths[0][CRITERIA], paths[1][CRITERIA], rtol=1e-5)


def test_ebic_counts_the_groups_to_choose_from():
    table, numbers, y = factors()
    X = np.hstack([OneHotEncoder(sparse_output=False).fit_transform(table), numbers])
    options = {"criterion": "ebic", "groups": list("ccccsssuv"), "sizes": [2]}
    (row,) = CLASSIFIER(**options).fit(X, y > 0).path_.to_dict("records")
    assert row["ebic"] - row["bic"] == pytest.approx(np.log(comb(4, 2)))
    (row,) = CLASSIFIER(n_features_original=6, **options).fit(X, y > 0).path_.to_dict("records")
    assert row["ebic"] - row["bic"] == pytest.approx(np.log(comb(6, 2)))
    with pytest.raises(ValueError, match=r"n_features_original must be at least the 4 groups .* got 3"):
        CLASSIFIER(n_features_original=3, **options).fit(X, y > 0)
