"""The examples run, and show what they are said to show."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
import scipy

import swapwise as sw

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def run(monkeypatch):
    """A function that runs an example, sees that all its axes are drawn into, and returns its names."""
    monkeypatch.setattr(plt, "show", lambda: None)

    def run_example(name):
        (path,) = EXAMPLES.glob(f"*/{name}.py")
        names = runpy.run_path(str(path))
        for figure in map(plt.figure, plt.get_fignums()):
            figure.canvas.draw()
            assert figure.axes
            assert all(axes.has_data() for axes in figure.axes)
        return names

    yield run_example
    plt.close("all")


def test_few_measurements_are_better_where_they_are_asked_for(run):
    comparison = run("three_measurements")["comparison"]
    assert comparison.loc[3, "gain"] > 0  # over sixty splits it is one and a half standard errors
    assert abs(comparison.loc[6, "gain"]) < 2 * comparison.loc[6, "standard error"]


def test_one_lag_per_signal_forecasts_better(run):
    comparison = run("one_lag_per_signal")["comparison"]
    gains = comparison["error"] - comparison.loc["one lag per signal", "error"]
    assert (gains[1:] > 2 * comparison["standard error of the difference"][1:]).all()
    assert (comparison["error"] > 1).all()


def test_two_sensors_per_row_outlive_a_failure(run):
    names = run("failing_site")
    comparison, chosen = names["comparison"], names["chosen"]
    assert np.bincount(names["row"][chosen["at most two per row"]]).max() == 2
    assert np.bincount(names["row"][chosen["any eight"]]).max() > 2
    assert comparison.loc["gain", "worst row fails"] > 2 * comparison.loc["standard error", "worst row fails"]
    assert abs(comparison.loc["gain", "all work"]) < 0.02


def test_mixtures_without_negative_weights_forecast_better(run):
    names = run("birth_rates")
    assert names["rates"].shape[1] == 188
    assert names["gain"].mean() > 2 * names["gain"].sem()


def test_few_neighbours_make_fewer_mistakes(run):
    names = run("few_neighbours")
    comparison = names["comparison"]
    gains = comparison["wrong or missed"] - comparison.loc["at most three neighbours", "wrong or missed"]
    assert gains["separate, L1"] > 2 * comparison.loc["separate, L1", "standard error of the difference"]
    assert gains["any number"] > 0


def test_at_most_one_of_three_costs_little(run):
    rows = run("one_of_three")["comparison"]
    assert rows.loc["at most one of three", "cell features"] == 5
    assert rows.loc["any five", "cell features"] < 5
    assert rows.loc["L1", "cell features"] < 5
    more = rows.loc["at most one of three", "log loss"] - rows["log loss"]
    assert (more[1:] < 2 * rows["standard error of the difference"][1:]).all()


def test_the_number_of_terms_is_chosen_within_the_hierarchy(run):
    names = run("how_many_terms")
    model, kinds = names["model"], names["kinds"]
    assert names["hierarchy"].is_independent(model.support_)
    assert 1 < model.size_ < 15
    assert {kinds[term] for term in model.support_} == {"fact", "product or square"}


def test_the_graph_of_the_digits_is_all_but_the_grid(run):
    names = run("digits_graph")
    assert (names["model"].coupling_ != 0).sum(axis=0).max() <= 4
    assert names["touching"] > 0.8


def test_both_budgets_are_kept(run):
    names = run("two_budgets")
    model, certificate = names["model"], names["certificate"]
    chosen = names["sensors"].iloc[model.support_]
    assert (chosen["price"] == "expensive").sum() <= names["EXPENSIVE"]
    assert chosen["site"].value_counts().max() <= 2
    assert certificate.ratio > 0.9
    assert np.isclose(certificate.ratio * certificate.upper_bound, model.result_.value)
    moves = names["moves"]
    kept = moves["added"].explode().tolist()
    for element in moves["dropped"].explode().dropna():
        kept.remove(element)
    assert sorted(kept) == model.support_.tolist()
    assert (moves["value"].diff().dropna() > 0).all()


def test_each_digit_has_two_exemplars(run):
    names = run("digits_exemplars")
    labels = names["digits"].target[names["exemplars"]]
    assert labels.tolist() == sorted([*range(10), *range(10)])
    assert names["certificate"].ratio > 0.9
    assert np.ptp(np.bincount(names["digits"].target[names["any_twenty"].support])) > 0


def test_the_tree_is_the_heaviest(run):
    names = run("cell_feature_tree")
    weights = dict(zip(names["edges"], names["information"].weights, strict=True))
    candidates = nx.Graph()
    candidates.add_weighted_edges_from((*edge, weight) for edge, weight in weights.items())
    tree = nx.maximum_spanning_tree(candidates)
    assert {frozenset(names["edges"][e]) for e in names["results"]["tree"].support} == {
        frozenset(edge) for edge in tree.edges
    }
    assert len(names["results"]["forest of five edges"].support) == 5


def test_a_dictionary_of_few_atoms(run):
    names = run("dictionary_selection")
    dictionary, states, averaged = names["dictionary"], names["states"], names["averaged_states"]
    assert len(set(dictionary)) == names["SIZE"]
    assert all(len(state.support) <= names["SPARSITY"] for state in states)
    assert all(set(state.support) <= set(dictionary) for state in states)
    assert sum(len(state.support) for state in averaged) <= names["SPARSITY"] * len(averaged)
    assert all(set(state.support) <= set(names["averaged"]) for state in averaged)
    worth = names["worth"]
    assert worth["sets with a limit on the average"] > worth["sets of Replacement Greedy"]
    assert worth["same dictionary, unseen images"] > worth["random dictionaries, unseen images"] + 0.1


def test_products_come_with_their_factors(run):
    names = run("diabetes_hierarchy")
    strong, models, comparison = names["strong"], names["models"], names["comparison"]
    chosen = models["products with both factors"].support_
    assert strong.is_independent(chosen)
    assert not strong.is_independent(models["any eight terms"].support_)
    assert names["proof"].optimal
    assert comparison["R²"].is_monotonic_increasing
    gains = comparison["R², left out"].iloc[0] - comparison["R², left out"].iloc[1:]
    assert (gains > -comparison["standard error"].iloc[1:]).all()


def test_sensors_keep_the_rules_and_beat_pivoted_qr(run):
    names = run("sensor_placement")
    modes, table = names["modes"], names["table"]
    pivots = scipy.linalg.qr(modes.T, mode="r", pivoting=True)[1][: names["SENSORS"]]
    assert sorted(pivots) == names["greedy"]["anywhere"].tolist()
    for name, rule in names["rules"].items():
        for chosen in (names["greedy"][name], names["best"][name].support):
            assert rule.is_independent(chosen), name
    assert (table["best found"] > table["pivoted QR"] * 1.05).all()
    assert (table["best found"] >= table["local search"] - 1e-9).all()
    assert (table["proven"] > 0.85).all()


def test_no_two_that_say_the_same(run):
    names = run("no_two_alike")
    comparison = names["comparison"]
    for name, rule in names["rules"].items():
        assert rule.is_independent(names["models"][name].support_)
    assert comparison.loc["any six", "largest correlation"] > 0.95
    assert (
        comparison.loc[["no two correlated", "both rules"], "largest correlation"] <= names["ABOVE"]
    ).all()
    assert (comparison.loc[["three cell features", "both rules"], "cell features"] <= names["FEATURES"]).all()
    assert (comparison["proven"] > 0.95).all()
    more = comparison["log loss"] - comparison.loc["any six", "log loss"]
    assert (more[1:].abs() < 2 * comparison["standard error"][1:]).all()


def test_the_vote_hangs_on_politics(run):
    names = run("election_survey")
    model, answers = names["model"], names["answers"]
    assert set(model.graph_["votes for Dole"]) >= {"Republican", "conservative", "finds Clinton liberal"}
    apart = {"income above $45,000", "college degree", "older than 45"}
    assert not apart & set(model.graph_["votes for Dole"])
    assert len(model.support_) < names["clear"].sum()
    income = answers["votes for Dole"].corr(answers["income above $45,000"])
    assert income > 2 / len(answers) ** 0.5
    assert len(names["figure"].axes[0].texts) == answers.shape[1]


def test_every_constraint_is_drawn_with_its_best_set(run):
    names = run("every_constraint")
    drawn = {type(part) for constraint, _ in names["answers"].values() for part in _parts(constraint)}
    families = {sw.Uniform, sw.Partition, sw.Laminar, sw.FewGroups, sw.Conflicts, sw.Hierarchy, sw.Knapsack}
    assert families | {sw.BMatching, sw.Graphic, sw.Transversal, sw.LinearMatroid} <= drawn
    assert len(names["answers"]) == 16
    for constraint, best in names["answers"].values():
        assert best.status.name == "OPTIMAL"
        assert constraint.is_independent(best.support)


def _parts(constraint):
    return constraint.parts if isinstance(constraint, sw.Intersection) else (constraint,)


def test_there_are_no_other_examples():
    tested = set(re.findall(r'run\("(\w+)"\)', Path(__file__).read_text()))
    assert {path.stem for path in EXAMPLES.glob("*/*.py")} == tested
