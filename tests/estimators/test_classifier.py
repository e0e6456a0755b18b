import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from swapwise import SparseClassifier, SparseClassifierCV


def problem(n_classes=2, n_samples=300):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((n_samples, 6)) * [1, 5, 0.2, 1, 3, 1] + [0, 3, -2, 0, 1, 4]
    scores = X @ rng.standard_normal((6, n_classes)) + rng.gumbel(size=(n_samples, n_classes)) * 2
    names = np.array(["red", "blue", "green", "grey"])
    return X, names[scores.argmax(axis=1)], rng.integers(0, 4, n_samples).astype(float)


def refit_of(model, X, y, weight, ridge, fit_intercept=True):
    """scikit-learn's fit on the chosen columns, run to the end."""
    total = len(y) if weight is None else weight.sum()
    refit = LogisticRegression(
        C=1 / (ridge * total), fit_intercept=fit_intercept, solver="newton-cg", tol=1e-12, max_iter=2000
    )
    return refit.fit(X[:, model.support_], y, weight)


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_probabilities_are_those_of_a_plain_refit(n_classes, weighted, fit_intercept, by_group):
    X, y, weight = problem(n_classes)
    weight = weight if weighted else None
    model = SparseClassifier(
        2,
        ridge=0.05,
        standardize=False,
        fit_intercept=fit_intercept,
        groups=list("aabbcd") if by_group else None,
    ).fit(X, y, weight)
    refit = refit_of(model, X, y, weight, 0.05, fit_intercept)
    assert model.classes_.tolist() == refit.classes_.tolist()
    np.testing.assert_allclose(model.coef_[:, model.support_], refit.coef_, atol=2e-6)
    expected = refit.predict_proba(X[:, model.support_])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-6)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(expected), atol=1e-5)
    assert (model.predict(X) == refit.predict(X[:, model.support_])).mean() > 0.99
    assert not np.delete(model.coef_, model.support_, axis=1).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_ridge_units_do_not_matter(n_classes):
    X, y, weight = problem(n_classes)
    scaled = SparseClassifier(3, ridge=0.0).fit(X, y, weight)
    plain = SparseClassifier(3, ridge=0.0, standardize=False).fit(X, y, weight)
    assert scaled.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_the_ridge_is_on_standardised_columns():
    X, y, weight = problem()
    model = SparseClassifier(3, ridge=0.1).fit(X, y, weight)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    refit = refit_of(model, X / deviation, y, weight, 0.1)
    np.testing.assert_allclose((model.coef_ * deviation)[:, model.support_], refit.coef_, atol=2e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shapes_and_scores(n_classes):
    X, y, _ = problem(n_classes)
    model = SparseClassifier(2).fit(X, y)
    rows = 1 if n_classes == 2 else n_classes
    assert model.coef_.shape == (rows, 6)
    assert model.intercept_.shape == (rows,)
    scores = model.decision_function(X)
    assert scores.shape == ((300,) if n_classes == 2 else (300, n_classes))
    both = np.column_stack([np.zeros(300), scores]) if n_classes == 2 else scores
    np.testing.assert_allclose(model.predict_proba(X), softmax(both, axis=1))
    np.testing.assert_array_equal(model.predict(X), model.classes_[both.argmax(axis=1)])
    assert model.score(X, y) == (model.predict(X) == y).mean()


def test_probabilities_far_out_are_no_zeros():
    X, y, _ = problem()
    model = SparseClassifier(1).fit(X, y)
    far = np.where(model.coef_ > 0, 1e5, -1e5)
    assert np.isfinite(model.predict_log_proba(far)).all()


def test_no_intercept_is_zero():
    for n_classes in (2, 3):
        X, y, _ = problem(n_classes)
        assert not SparseClassifier(2, fit_intercept=False).fit(X, y).intercept_.any()


def test_separable_classes_are_kept_finite_by_the_default_ridge(recwarn):
    X = np.random.default_rng(0).standard_normal((60, 4))
    model = SparseClassifier(2).fit(X, X[:, 1] > 0)
    assert 1 in model.support_
    assert model.score(X, X[:, 1] > 0) == 1.0
    assert np.abs(model.coef_).max() < 100
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]


def test_separable_classes_are_warned_about_without_a_ridge():
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="separable"):
        SparseClassifier(1, ridge=0.0).fit(X, X[:, 1] > 0)


def test_a_class_without_weight_is_none():
    X, y, _ = problem(3)
    weight = np.where(y == "red", 0.0, 1.0)
    model = SparseClassifier(2).fit(X, y, weight)
    assert model.classes_.tolist() == ["blue", "green"]
    np.testing.assert_allclose(model.coef_, SparseClassifier(2).fit(X[y != "red"], y[y != "red"]).coef_)


def test_one_class_is_too_few():
    X, _, _ = problem()
    with pytest.raises(ValueError, match="at least two classes, got one class only: 'red'"):
        SparseClassifier().fit(X, ["red"] * 300)


def test_a_certificate_wants_the_classes_of_fit():
    X, y, _ = problem()
    model = SparseClassifier(2).fit(X, y)
    with pytest.raises(
        ValueError, match=r"y must hold the classes of the training data, \['blue', 'red'\], got \['b', 'r'\]"
    ):
        model.certify(X, [label[0] for label in y])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", ["balanced", {"red": 5.0}, {"red": 3, "blue": 0.5}])
def test_class_weights_are_those_of_scikit_learn(class_weight, n_classes, weighted):
    X, y, weight = problem(n_classes)
    weight = weight if weighted else np.ones(len(y))
    if class_weight == "balanced":
        share = {name: weight[y == name].sum() for name in set(y)}
        factor = {name: weight.sum() / len(share) / total for name, total in share.items()}
    else:
        factor = class_weight
    expected = np.array([factor.get(name, 1.0) for name in y]) * weight
    model = SparseClassifier(2, class_weight=class_weight).fit(X, y, weight if weighted else None)
    np.testing.assert_allclose(model.coef_, SparseClassifier(2).fit(X, y, expected).coef_, atol=1e-8)
    assert not np.allclose(model.coef_, SparseClassifier(2).fit(X, y, weight).coef_, atol=1e-3)
    raw = SparseClassifier(2, ridge=0.05, standardize=False, class_weight=class_weight).fit(X, y, weight)
    refit = LogisticRegression(
        C=1 / (0.05 * expected.sum()), class_weight=factor, solver="newton-cg", tol=1e-12, max_iter=2000
    ).fit(X[:, raw.support_], y, weight)
    np.testing.assert_allclose(raw.coef_[:, raw.support_], refit.coef_, atol=2e-6)


def test_balanced_weights_keep_what_weights_mean():
    X, y, weight = problem(3)
    weight[y == "red"] = 0.0
    twice = np.repeat(np.arange(300), weight.astype(int))
    model = SparseClassifier(2, class_weight="balanced").fit(X, y, weight)
    same = SparseClassifier(2, class_weight="balanced").fit(X[twice], y[twice])
    assert model.classes_.tolist() == ["blue", "green"]
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)


def test_class_weights_in_certificates_and_paths():
    X, y, weight = problem()
    model = SparseClassifier(2, class_weight="balanced").fit(X, y, weight)
    assert model.certify(X, y, weight).value == pytest.approx(model.result_.value)
    path = SparseClassifierCV(sizes=[2], cv=3, class_weight="balanced").fit(X, y, weight)
    np.testing.assert_allclose(path.coef_, model.coef_, rtol=1e-6)
    assert clone(path).class_weight == "balanced"
    folds = list(StratifiedKFold(3).split(X, y))
    heavy = np.where(y == "red", 4.0, 1.0) * weight
    named = SparseClassifierCV(sizes=[1, 2], cv=folds, class_weight={"red": 4.0}).fit(X, y, weight)
    plain = SparseClassifierCV(sizes=[1, 2], cv=folds).fit(X, y, heavy)
    pd.testing.assert_frame_equal(named.path_, plain.path_)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ("heavy", TypeError, "class_weight must be None, 'balanced' or a dict .*, got 'heavy'"),
        ([1, 2], TypeError, r"class_weight must be None, 'balanced' or a dict .*, got \[1, 2\]"),
        ({"red": 0.0}, ValueError, "class_weight must be positive for every class, got {'red': 0.0}"),
        ({"red": -1.0}, ValueError, "class_weight must be positive for every class, got {'red': -1.0}"),
        ({"pink": 2.0}, ValueError, "are not in class_weight"),
    ],
)
def test_what_is_no_class_weight(wrong, error, message):
    X, y, _ = problem()
    with pytest.raises(error, match=message):
        SparseClassifier(class_weight=wrong).fit(X, y)


class TestOffsets:
    def shifted(self):
        """Log-odds that are known but for two features."""
        rng = np.random.default_rng(5)
        X, offset = rng.standard_normal((500, 6)), rng.normal(0, 2, 500)
        odds = 0.5 + X[:, 1] - 0.8 * X[:, 4] + offset
        return X, np.where(odds + rng.logistic(size=500) > 0, "yes", "no"), offset

    @pytest.mark.parametrize("weighted", [False, True])
    def test_coefficients_are_those_of_statsmodels(self, weighted):
        api = pytest.importorskip("statsmodels.api")
        X, y, offset = self.shifted()
        weight = np.random.default_rng(1).integers(1, 4, 500).astype(float) if weighted else np.ones(500)
        model = SparseClassifier(2, ridge=0.0).fit(X, y, weight, offset)
        design = api.add_constant(X[:, model.support_])
        peer = api.GLM(y == "yes", design, api.families.Binomial(), offset=offset, freq_weights=weight).fit()
        np.testing.assert_allclose(model.coef_[0, model.support_], peer.params[1:], rtol=1e-6)
        assert model.intercept_[0] == pytest.approx(peer.params[0], rel=1e-6)
        np.testing.assert_allclose(model.predict_proba(X, offset)[:, 1], peer.fittedvalues, rtol=1e-6)

    def test_the_true_features_are_found_with_it_only(self):
        X, y, offset = self.shifted()
        model = SparseClassifierCV(criterion="bic").fit(X, y, offset=offset)
        assert model.support_.tolist() == [1, 4]
        assert model.score(X, y, offset=offset) > model.score(X, y, offset=0) + 0.1
        assert model.certify(X, y, offset=offset).value == pytest.approx(model.result_.value)

    def test_held_out_losses_have_their_offset(self):
        X, y, offset = self.shifted()
        folds = list(StratifiedKFold(3).split(X, y))
        path = SparseClassifierCV(sizes=[2], cv=folds).fit(X, y, offset=offset).path_
        losses = []
        for train, test in folds:
            plain = SparseClassifier(2).fit(X[train], y[train], offset=offset[train])
            right = np.where(y[test] == "yes", *plain.predict_proba(X[test], offset[test]).T[::-1])
            losses.append(-np.log(right).mean())
        assert path["cv_mean"][0] == pytest.approx(np.mean(losses), rel=1e-6)

    def test_one_that_is_missing_is_warned_about(self):
        X, y, offset = self.shifted()
        model = SparseClassifier(2).fit(X, y, offset=offset)
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.warns(UserWarning, match="fitted with an offset; predictions are for offset 0"):
                getattr(model, method)(X)
        difference = model.decision_function(X, offset) - model.decision_function(X, offset=0)
        np.testing.assert_allclose(difference, offset)

    def test_more_than_two_classes_have_none(self):
        X, y, _ = problem(3)
        with pytest.raises(
            ValueError, match="leave offset at None: multinomial logistic regression takes none"
        ):
            SparseClassifier(2).fit(X, y, offset=1.0)
        with pytest.raises(
            ValueError, match="leave offset at None: multinomial logistic regression takes none"
        ):
            SparseClassifier(2).fit(X, y).predict(X, offset=1.0)


@pytest.mark.parametrize("ridge", [1e305, 1e308])
def test_a_ridge_beyond_all_curvature_leaves_no_coefficient(ridge):
    X = np.random.default_rng(0).standard_normal((60, 5))
    assert not SparseClassifier(2, ridge=ridge).fit(X, X[:, 0] > 0).coef_.any()
