"""The examples run, and show what they are said to show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, folder):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    answer = example.main(folder)
    picture = folder / f"{name.replace('_', '-')}.png"
    assert picture.stat().st_size > 10_000
    return example, answer


def test_at_most_one_of_three_costs_little(tmp_path):
    _, rows = run("breast_cancer", tmp_path)
    assert rows.loc["at most one of three", "cell features"] == 5
    assert rows.loc["any five", "cell features"] < 5
    assert rows.loc["L1", "cell features"] < 5
    loss = rows["log loss"]
    assert loss["at most one of three"] < loss["L1"]
    assert loss["at most one of three"] < loss["any five"] + 0.02


def test_at_most_two_squares(tmp_path):
    _, model = run("diabetes_products", tmp_path)
    chosen = model.feature_names_in_[model.support_]
    assert sum(name.endswith("^2") for name in chosen) <= 2
    assert {"bmi", "s5"} <= set(chosen)
    assert len(chosen) == model.size_ <= 15


@pytest.mark.filterwarnings("ignore:.*never var")
def test_the_graph_of_the_digits_is_all_but_the_grid(tmp_path):
    example, model = run("digits_graph", tmp_path)
    assert (model.coupling_ != 0).sum(axis=0).max() <= 4
    assert example.touching(model) > 0.8


def test_both_budgets_are_kept(tmp_path):
    example, model = run("two_budgets", tmp_path)
    _, _, sensors = example.readings()
    chosen = sensors.iloc[model.support_]
    assert (chosen["price"] == "dear").sum() <= example.DEAR
    assert chosen["site"].value_counts().max() <= 2
    assert model.certificate_.ratio > 0.9
    assert np.isclose(model.certificate_.ratio * model.certificate_.upper_bound, model.result_.value)


def test_there_are_no_other_examples():
    tested = {"breast_cancer", "diabetes_products", "digits_graph", "two_budgets"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested
