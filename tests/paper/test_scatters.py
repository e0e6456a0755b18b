"""Panels of value against time hold every method once, with figures as computed by hand."""

import numpy as np
import pytest

from swapwise.paper.grid import GRID
from swapwise.paper.panels import (
    SCATTERS,
    TICKS,
    methods_of,
    nines,
    scatter_note,
    shares_and_seconds,
    start_of,
    starts_of,
)
from swapwise.paper.settings import ISING_10, REGRESSION_200
from tests.paper.test_panels import fake, row, table

pytestmark = pytest.mark.experiments


def rows_by_hand():
    """Two instances that all methods have, and one that only the paper's have."""
    values = {"oblivious": (0.8, 1.0, 0.5), "modular": (0.4, 0.8, 0.5)}
    seconds = (1.0, 3.0, 99.0)
    paper = [
        row(method=name, trial=t, value=values[name][t], seconds=seconds[t])
        for name in values
        for t in range(3)
    ]
    htp = [
        row(method="htp", part="neighbours", trial=t, value=v, seconds=0.1) for t, v in enumerate((0.6, 0.9))
    ]
    best = [row(method="auto", part="starts", trial=t, value=1.0, seconds=2.0) for t in range(2)]
    proof = [row(method="certificate", part="certificates", value=9.0, seconds=1.0)]
    return table(*paper, *htp, *best, *proof)


def test_only_instances_that_all_have_count():
    found = shares_and_seconds(rows_by_hand(), REGRESSION_200, methods_of(REGRESSION_200))
    assert found.share.to_dict() == pytest.approx({"auto": 1, "oblivious": 0.9, "modular": 0.6, "htp": 0.75})
    assert found.seconds.to_dict() == pytest.approx({"auto": 2, "oblivious": 2, "modular": 2, "htp": 0.1})
    assert set(found.instances) == {2}


def test_points_are_these_figures_family_by_family():
    means = SCATTERS[0].means(rows_by_hand())
    assert means.index.tolist() == ["auto", "oblivious", "htp", "modular"]
    assert means["share"].tolist() == pytest.approx([1, 0.9, 0.75, 0.6])
    points = SCATTERS[0].chart(rows_by_hand()).series
    assert [(point.name, point.x, point.y) for point in points] == [
        (name, [one.seconds], [nines(one.share)]) for name, one in means.iterrows()
    ]
    assert scatter_note(rows_by_hand()).startswith("(j) to (m): mean share and median seconds of 2 runs")


def test_without_neighbours_there_are_no_points():
    rows = fake(without=["neighbours"])
    assert [scatter.chart(rows).series for scatter in SCATTERS] == [(), (), (), ()]
    assert scatter_note(rows) == ""


def test_every_method_of_the_grid_has_looks_of_its_own():
    rows = fake(trials=1)
    for scatter in SCATTERS:
        points = scatter.chart(rows).series
        assert {point.name for point in points} == set(methods_of(scatter.setting))
        looks = [(point.colour, point.marker) for point in points]
        assert len(set(looks)) == len(looks)


def test_starts():
    names = starts_of(ISING_10)
    assert len(set(names)) == len(names)
    assert {start_of(name) for name in names} >= {"auto", "empty", "greedy", "modular", "random", "htp"}
    declared = {block.procedure.name for block in GRID if block.setting == ISING_10}
    assert set(names) <= declared


def test_each_tick_is_higher_than_the_one_below():
    assert (np.diff([nines(tick) for tick in TICKS]) > 0).all()
    assert nines(1.0) == nines(max(TICKS)) == nines(0.99999)
