"""Plots of stability show what the results hold, whatever is degenerate."""

import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import swapwise as sw

NAMES = ["sleep", "fatigue", "a very long question about the weather in November", "guilt"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def bootstrap(n_vertices=4, n_boots=30, density=0.6, names=None):
    rng = np.random.default_rng(0)
    n_pairs = n_vertices * (n_vertices - 1) // 2
    sample = rng.standard_normal(n_pairs) * (rng.random(n_pairs) < density)
    weights = (sample + 0.3 * rng.standard_normal((n_boots, n_pairs))) * (
        rng.random((n_boots, n_pairs)) < density
    )
    return sw.graphs.GraphBootstrap(names or list(range(n_vertices)), sample, weights)


def words(labels):
    return [label.get_text() for label in labels]


def drawn(axes):
    """Return the markers of each kind, by label."""
    return {line.get_label(): line for line in axes.lines}


def test_edges_are_sorted_by_weight_with_intervals_and_frequencies():
    boot = bootstrap(names=NAMES)
    axes = boot.plot(least=0.0)
    edges = boot.edges.sort_values(["weight", "mean"], ascending=False)
    np.testing.assert_allclose(drawn(axes)["sample"].get_xdata(), edges["weight"])
    np.testing.assert_allclose(drawn(axes)["bootstrap mean"].get_xdata(), edges["mean"])
    ends = np.array([segment[:, 0] for segment in axes.collections[0].get_segments()])
    np.testing.assert_allclose(ends, edges[["lower", "upper"]])
    (right,) = axes.child_axes
    assert words(right.get_yticklabels()) == [f"{100 * share:.0f}" for share in edges["inclusion"]]
    assert max(map(len, words(axes.get_yticklabels()))) <= 40


def test_pairs_that_are_rarely_edges_are_left_out():
    boot = sw.graphs.GraphBootstrap(list("abc"), np.zeros(3), np.array([[1.0, 0, 0]] + [[0.5, 0.2, 0]] * 30))
    assert words(boot.plot().get_yticklabels()) == ["a – b", "a – c"]
    assert words(boot.plot(least=0.99).get_yticklabels()) == ["a – b"]
    axes = boot.plot(top=1)
    assert words(axes.get_yticklabels()) == ["a – b"]
    assert "2 pairs" in axes.get_xlabel()


def test_centralities_are_sorted():
    boot = bootstrap()
    axes = boot.plot("expected_influence")
    values = boot.centralities.query("measure == 'expected_influence'")["value"]
    np.testing.assert_allclose(drawn(axes)["sample"].get_xdata(), sorted(values, reverse=True))
    assert axes.get_xlabel() == "expected influence"
    with pytest.raises(ValueError, match="of must be 'edges' or one of strength"):
        boot.plot("eigenvector")


def test_centralities_of_a_fitted_graph_have_no_intervals():
    model = sw.IsingGraph(2).fit(np.sign(np.random.default_rng(0).normal(size=(60, 4))))
    axes = sw.graphs.plot_centrality(model, "degree")
    expected = sw.graphs.centralities(model)["degree"].sort_values(ascending=False)
    np.testing.assert_array_equal(drawn(axes)["sample"].get_xdata(), expected)
    assert axes.get_xlabel() == "degree"
    with pytest.raises(ValueError, match="measure must be one of strength"):
        sw.graphs.plot_centrality(model, "eigenvector")
    with pytest.raises(TypeError, match="model must be a fitted graph estimator"):
        sw.graphs.plot_centrality("model")


@pytest.mark.parametrize("of", ["edges", "strength"])
def test_tiles_are_differences(of):
    boot = bootstrap(6)
    axes = boot.plot(of, differences=True)
    frame = boot.differences(of)
    shown = axes.images[0].get_array()
    off = ~np.eye(len(frame), dtype=bool)
    np.testing.assert_array_equal(shown[off], frame.to_numpy()[off])
    assert words(axes.get_yticklabels()) == [str(label) for label in frame]
    values = (
        boot.sample[boot.sample != 0] if of == "edges" else boot.centralities.query("measure == @of")["value"]
    )
    assert len(axes.patches if of == "edges" else axes.texts) == len(values)


def test_lines_of_case_dropping():
    rng = np.random.default_rng(0)
    sample = rng.standard_normal(6)
    weights = sample + 0.5 * rng.standard_normal((40, 6))
    cases = sw.graphs.CaseDropping(list("abcd"), sample, np.resize([0.75, 0.25], 40), weights)
    axes = cases.plot(measures=["edges", "degree"])
    line = drawn(axes)[f"edges (CS {cases.coefficients['edges']:.2f})"]
    np.testing.assert_allclose(line.get_xdata(), [25, 75])
    np.testing.assert_allclose(line.get_ydata(), cases.summary.query("measure == 'edges'")["mean"])
    legend = words(axes.get_legend().get_texts())
    assert legend[0] == f"edges (CS {cases.coefficients['edges']:.2f})"
    assert legend[1] == "degree (does not vary)"
    with pytest.raises(ValueError, match="measures must be one of edges, strength"):
        cases.plot(measures=["nodes"])


def test_the_comparison_shows_the_largest_differences_first():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 10))
    comparison = sw.graphs.GraphComparison(
        list("abcde"), first, second, 0.3 * rng.standard_normal((99, 2, 10))
    )
    axes = comparison.plot(top=4)
    order = np.argsort(-np.abs(first - second))[:4]
    np.testing.assert_allclose(drawn(axes)["first group"].get_xdata(), first[order])
    np.testing.assert_allclose(drawn(axes)["second group"].get_xdata(), second[order])
    assert "6 edges" in axes.get_xlabel()
    assert f"p = {comparison.tests['p_value'].iloc[1]:.3g}" in axes.get_title()


@pytest.mark.parametrize("n_vertices", [2, 4])
def test_graphs_without_edges(n_vertices):
    boot = bootstrap(n_vertices, density=0.0)
    cases = sw.graphs.CaseDropping(boot.names, boot.sample, np.full(30, 0.5), boot.weights)
    comparison = sw.graphs.GraphComparison(
        boot.names, boot.sample, boot.sample, np.zeros((9, 2, len(boot.sample)))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = [
            boot.plot(),
            boot.plot(differences=True),
            comparison.plot(),
        ]
        axes += [
            boot.plot("strength"),
            boot.plot("degree", differences=True),
            cases.plot(),
        ]
        for each in axes:
            each.figure.canvas.draw()
    assert all("no edges" in words(each.texts) for each in axes[:3])


def test_large_graphs_and_axes_of_others():
    boot = bootstrap(25, density=1.0)
    assert len(boot.plot().get_yticks()) == 200
    axes = boot.plot(differences=True)
    assert len(axes.get_yticks()) == 120
    assert "180 smallest left out" in axes.get_xlabel()
    _, own = plt.subplots()
    assert boot.plot("strength", ax=own) is own
