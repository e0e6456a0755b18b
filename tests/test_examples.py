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
    """A function that runs an example, sees that its axes are all drawn into, and returns its names."""
    monkeypatch.setattr(plt, "show", lambda: None)

    def run_example(name):
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        names["figure"].canvas.draw()
        assert names["figure"].axes
        assert all(axes.has_data() for axes in names["figure"].axes)
        return names

    yield run_example
    plt.close("all")


def test_at_most_one_of_three_costs_little(run):
    rows = run("breast_cancer")["comparison"]
    assert rows.loc["at most one of three", "cell features"] == 5
    assert rows.loc["any five", "cell features"] < 5
    assert rows.loc["L1", "cell features"] < 5
    loss = rows["log loss"]
    assert loss["at most one of three"] < loss["L1"]
    assert loss["at most one of three"] < loss["any five"] + 0.02


def test_at_most_two_squares(run):
    model = run("diabetes_products")["model"]
    chosen = model.feature_names_in_[model.support_]
    assert sum(name.endswith("^2") for name in chosen) <= 2
    assert {"bmi", "s5"} <= set(chosen)
    assert len(chosen) == model.size_ <= 15


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
    assert comparison.loc["products with both factors", "R², left out"] > 0.48


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
    names = run("few_measurements")
    comparison = names["comparison"]
    for name, rule in names["rules"].items():
        assert rule.is_independent(names["models"][name].support_)
    assert comparison.loc["any six", "largest correlation"] > 0.95
    assert (
        comparison.loc[["no two correlated", "both rules"], "largest correlation"] <= names["ABOVE"]
    ).all()
    assert (comparison.loc[["three cell features", "both rules"], "cell features"] <= names["FEATURES"]).all()
    assert (comparison["proven"] > 0.95).all()
    assert comparison.loc["no two correlated", "log loss"] < comparison.loc["any six", "log loss"]


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
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested
