"""A slice of ``python -m benchmarks.proofs.small``, and that it sees what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.proofs import small
from benchmarks.proofs.small_instances import KINDS, independent_sets, instance_of
from swapwise.certify import root
from swapwise.certify.nodes import Node
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.proximal import ProximalRelaxation
from swapwise.certify.relaxed import RelaxedNode
from swapwise.constraints.region import Region
from swapwise.objectives.quadratic import Quadratic
from swapwise.theory import diagonal


def kinds(parent: type) -> list[type]:
    return [kind for direct in parent.__subclasses__() for kind in (direct, *kinds(direct))]


def quick_check(seed: int, max_nodes: int, seconds: float = 2.0) -> small.Report:
    instance = instance_of(seed, largest=7)
    little = replace(instance.way, max_nodes=max_nodes, seconds=seconds)
    return small.check_instance(replace(instance, way=little))


def are_seen(claims: set[str]) -> bool:
    """Return whether all of these are found to be wrong, in one of a few instances each."""
    missing = set(claims)
    for seed in range(25):
        missing -= {claim for claim, _ in quick_check(seed, max_nodes=3).violations}
        if not missing:
            return True
    return False


@settings(max_examples=150)
@given(st.integers(0, 10**7 - 1), st.sampled_from([0, 1, 3, 8]))
def test_all_that_is_proven_is_true(seed, max_nodes):
    report = quick_check(seed, max_nodes, seconds=0.05)
    assert not report.violations, f"{report.instance}: {report.violations}"


def test_a_seed_is_always_the_same_instance():
    first, again = instance_of(7), instance_of(7)
    assert str(first) == str(again)
    sets = independent_sets(first)
    assert sets == independent_sets(again)
    assert [first.objective.make()(s) for s in sets] == [again.objective.make()(s) for s in sets]


def test_all_objectives_and_constraints_are_drawn():
    totals = small.Totals()
    for seed in range(600):
        totals.add(small.Report(instance_of(seed)))
    assert len({objective for objective, _ in totals.cells}) >= len(KINDS) - 3  # some are drawn in two ways
    assert len({constraint for _, constraint in totals.cells}) == 18


@pytest.mark.slow
def test_everything_is_watched():
    """If classes of proofs are renamed or rewritten, the watch must follow: it checks what it can find."""
    totals = small.Totals()
    for seed in range(25):
        totals.add(quick_check(seed, max_nodes=3))
    for claim in (
        "dual points, set by set",
        "dual bounds on parts",
        "bounds of nodes",
        "bounds of nodes by themselves",
        "elements fixed in",
        "elements fixed out",
        "elements that nodes stand for",
        "sets lost by dropping elements",
        "leaves",
    ):
        assert totals.claims[claim] > 0, claim
    assert not {"regions are of known ground sets", "dual points are of known regions"} & set(totals.broken)


@pytest.mark.slow
def test_bounds_that_are_too_low_are_seen(monkeypatch):
    true = Region.max_weight

    def low(region, weights):
        support, weight = true(region, weights)
        return support, 0.99 * weight

    monkeypatch.setattr(Region, "max_weight", low)
    assert are_seen({"dual bounds", "dual bounds on parts", "bounds of nodes", "bounds after tightening"})


@pytest.mark.slow
def test_elements_fixed_wrongly_are_seen(monkeypatch):
    def spoiled(tighten):
        def wrong(node, target, clock):
            tighten(node, target, clock)
            if node.bound > target and len(node.region.open):
                node.region = node.region.with_outside(int(node.region.open[0]))

        return wrong

    for kind in kinds(Node):
        if "tighten" in vars(kind):
            monkeypatch.setattr(kind, "tighten", spoiled(vars(kind)["tighten"]))
    assert are_seen({"elements fixed out", "sets lost"})


@pytest.mark.slow
def test_wrong_numbers_of_elements_are_seen(monkeypatch):
    true = RestrictedProblem.among

    def turned(*arguments, **options):
        part = true(*arguments, **options)
        part.elements = part.elements[::-1]
        return part

    monkeypatch.setattr(RestrictedProblem, "among", turned)
    assert are_seen({"elements that nodes stand for"})


@pytest.mark.slow
def test_elements_dropped_wrongly_are_seen(monkeypatch):
    def lossy(objective, region):
        kept = np.flatnonzero(~region.outside)[1:]
        problem = RestrictedProblem(objective).among(kept, region.clock)
        return RelaxedNode(problem, region.among(kept)) if problem.diagonal.any() else None

    monkeypatch.setattr(root, "relaxed_root", lossy)
    assert are_seen({"sets lost by dropping elements", "sets that the root lacks"})


@pytest.mark.slow
def test_small_instances_go_the_ways_of_large_ones(monkeypatch):
    ways = Counter()

    def counted(owner, name, way_of):
        true = getattr(owner, name)

        def called(*arguments, **options):
            found = true(*arguments, **options)
            ways[way_of(found, *arguments)] += 1
            return found

        monkeypatch.setattr(owner, name, called)

    def storage(part, problem, *_):
        return " after ".join(
            "products" if isinstance(each, Quadratic) else "data"
            for each in (part.objective, problem.objective)
        )

    def working_set(found, relaxation):
        return "part" if len(found) < np.count_nonzero(~relaxation.region.outside) else "all"

    counted(RestrictedProblem, "among", storage)
    counted(ProximalRelaxation, "_first_elements", working_set)
    counted(diagonal, "_shift_by_inverse", lambda shift, *_: "inverse")
    for seed in range(30):
        instance = instance_of(seed, largest=7)
        way = replace(instance.way, max_nodes=1, as_if_large=True, closed_form=False, stubborn=True)
        small.check_instance(replace(instance, way=way))
    for way in ("data after data", "products after data", "products after products", "part", "inverse"):
        assert ways[way] > 0, ways


def test_sets_are_those_of_the_definition():
    for seed in range(40):
        instance = instance_of(seed)
        sets = independent_sets(instance)
        constraint = instance.family.make()
        assert len(set(sets)) == len(sets)
        for chosen in np.random.default_rng(seed).permutation(len(sets))[:20]:
            assert constraint.is_independent(sets[chosen])
