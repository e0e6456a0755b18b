"""A fitted model writes its page and its table of coefficients, with or without the training data."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import swapwise as sw
from swapwise.app.report.graph_page import graph_report
from swapwise.app.report.selection import selection_report


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 4)) * [1.0, 100.0, 1.0, 0.01], columns=list("abcd"))
    return X, (X @ [2.0, 0.05, 0.0, 100.0]).to_numpy() + rng.standard_normal(80)


class TestFrame:
    def test_coefficients_per_standard_deviation(self, data):
        X, y = data
        model = sw.SparseRegressor(3).fit(X, y)
        frame = model.to_frame()
        assert list(frame) == ["feature", "coefficient", "per_std"]
        assert set(frame["feature"]) == {"a", "b", "d"}
        coef = pd.Series(model.coef_, index=list("abcd"))[frame["feature"]].to_numpy()
        np.testing.assert_array_equal(frame["coefficient"], coef)
        np.testing.assert_allclose(frame["per_std"], coef * X[frame["feature"]].std(ddof=0).to_numpy())
        assert frame["per_std"].abs().is_monotonic_decreasing

    @pytest.mark.parametrize("options", [{}, {"standardize": False}, {"fit_intercept": False}])
    def test_deviations_are_those_of_the_data(self, data, options):
        X, y = data
        weight = np.arange(80.0)
        model = sw.SparseRegressor(2, **options).fit(X + 5, y, weight)
        mean = np.average(X, axis=0, weights=weight)
        expected = np.sqrt(np.average((X.to_numpy() - mean) ** 2, axis=0, weights=weight))
        np.testing.assert_allclose(model.feature_std_, expected)
        assert model.n_samples_fit_ == 79

    def test_a_row_per_class(self, data):
        X, y = data
        model = sw.SparseClassifier(2).fit(X, np.digitize(y, [-1, 1]))
        frame = model.to_frame()
        assert frame["class"].tolist() == [0, 1, 2] * 2
        first = frame[frame["feature"] == frame["feature"][0]]
        np.testing.assert_array_equal(
            first["coefficient"], model.coef_[:, list(X).index(frame["feature"][0])]
        )

    def test_a_selector_has_that_of_its_estimator(self, data):
        selector = sw.SparseSelector(2).fit(*data)
        pd.testing.assert_frame_equal(selector.to_frame(), selector.estimator_.to_frame())

    def test_before_fit(self):
        with pytest.raises(NotFittedError):
            sw.SparseRegressor(2).to_frame()


class TestReport:
    def test_it_is_the_page(self, data, tmp_path):
        model = sw.SparseRegressorCV(sizes=[1, 2], cv=2).fit(*data)
        model.report(tmp_path / "answer.html", *data, seconds=2.0)
        written = (tmp_path / "answer.html").read_text(encoding="utf-8")
        assert written == selection_report(model, *data, seconds=2.0)
        assert os.listdir(tmp_path) == ["answer.html"]

    def test_names_are_those_of_fit(self, data, tmp_path):
        for X, name in ((data[0], "b"), (data[0].to_numpy(), "x1")):
            sw.SparseSelector(2).fit(X, data[1]).report(str(tmp_path / "answer.html"))
            assert f'<th scope="row">{name}</th>' in (tmp_path / "answer.html").read_text(encoding="utf-8")

    @pytest.mark.parametrize("kind", [sw.IsingGraph, sw.GaussianGraph, sw.MixedGraph])
    def test_graphs(self, data, tmp_path, kind):
        X = (data[0] > 0).astype(int) if kind is sw.IsingGraph else data[0]
        model = kind(2).fit(X)
        model.report(tmp_path / "graph.html", X)
        assert (tmp_path / "graph.html").read_text(encoding="utf-8") == graph_report(model, X)
        model.report(tmp_path / "graph.html")
        assert "on the training data" not in (tmp_path / "graph.html").read_text(encoding="utf-8")

    def test_what_goes_wrong_leaves_the_old_page(self, data, tmp_path):
        model = sw.SparseRegressor(2).fit(*data)
        (tmp_path / "answer.html").write_text("old")
        with pytest.raises(ValueError, match=r"X must have the 4 columns of the training data, got 3"):
            model.report(tmp_path / "answer.html", data[0][["a", "b", "c"]], data[1])
        assert (tmp_path / "answer.html").read_text() == "old"
        with pytest.raises(NotFittedError):
            sw.SparseRegressor(2).report(tmp_path / "answer.html")


def test_bars_are_per_standard_deviation_without_force_for(data):
    X, y = data
    model = sw.SparseRegressor(3).fit(X, y)
    lengths = [bar.get_width() for bar in sw.plot_support(model).patches]
    np.testing.assert_allclose(lengths, model.to_frame()["per_std"])
    axes = sw.plot_support(model, scale=1)
    assert axes.get_xlabel() == "coefficient"
    np.testing.assert_allclose(
        sorted(bar.get_width() for bar in axes.patches), sorted(model.coef_[model.support_])
    )


class TestWeights:
    @pytest.fixture
    def outliers(self, data):
        X, y = data
        weight = np.where(np.arange(80) < 8, 0.0, np.linspace(1.0, 3.0, 80))
        return X, np.where(weight > 0, y, y + 1000.0), weight

    def test_numbers_are_weighted(self, outliers):
        X, y, weight = outliers
        model = sw.SparseRegressor(3).fit(X, y, weight)
        page = selection_report(model, X, y, sample_weight=weight)
        assert f"R² on the training data</dt><dd>{model.score(X, y, weight):.4f}" in page
        kept = np.repeat(np.arange(80), (weight * 79).round().astype(int))
        residual = y[kept] - model.predict(X.iloc[kept])
        assert f"standard deviation of the residuals</dt><dd>{residual.std():.4g}" in page
        assert f"from {residual.min():.4g} to {residual.max():.4g}" in page
        correlation = X.iloc[kept].corr().loc["a", "d"]
        assert f"correlation {correlation:.3f}" in page

    def test_equal_weights_change_nothing(self, data):
        X, y = data
        for model, target in ((sw.SparseRegressor(3), y), (sw.SparseClassifier(2), np.digitize(y, [-1, 1]))):
            model.fit(X, target)
            plain = selection_report(model, X, target, seconds=1)
            assert selection_report(model, X, target, seconds=1, sample_weight=np.full(80, 2.0)) == plain

    def test_other_data_are_not_called_the_training_data(self, outliers):
        X, y, weight = outliers
        model = sw.SparseRegressor(3).fit(X, y, weight)
        for page in (
            selection_report(model, X, y),
            selection_report(model, X, y[::-1], sample_weight=weight),
        ):
            assert "R² on the data given" in page
            assert "On the data given, from" in page
            assert "the training data" not in page


def test_the_time_is_that_of_the_search_unless_given(data):
    model = sw.SparseRegressor(2).fit(*data)
    assert f"time of the search</dt><dd>{model.result_.seconds:.3g} seconds" in selection_report(model)
    assert "<dt>time</dt><dd>2 seconds" in selection_report(model, seconds=2)


@pytest.mark.parametrize("kind", [sw.SparseRegressor, sw.GaussianGraph])
def test_a_link_is_followed(data, tmp_path, kind):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    kind(2).fit(*data).report(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_an_unknown_option_is_refused_by_name(data, tmp_path):
    with pytest.raises(TypeError, match=r"report\(\) got an unexpected keyword argument 'weights'"):
        sw.SparseRegressor(2).fit(*data).report(tmp_path / "page.html", *data, weights=1)


def test_columns_of_groups_are_called_columns(data):
    page = selection_report(sw.SparseRegressor(1, groups=[0, 0, 1, 1]).fit(*data))
    assert "2 of 4 columns were chosen" in page
    assert "2 of 4 columns, chosen from 80 samples" in page


def test_a_group_of_one_is_not_counted(data):
    groups = {"a": "left", "b": "b", "c": "left", "d": "d"}
    page = selection_report(sw.SparseRegressor(3).fit(*data), groups=groups)
    assert "3 of 4 features were chosen: 1 of 2 of left." in page
