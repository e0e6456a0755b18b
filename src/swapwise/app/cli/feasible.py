"""From limits to a constraint on the ground set, once it is certain that some choice meets them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from swapwise.app.cli.checking.columns import Dataset, names_among
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.ground import GroundSet
from swapwise.app.cli.grouping import by_pattern, by_prefix
from swapwise.app.cli.limit_files import read_costs, read_groups
from swapwise.app.cli.limits import DEFAULT_SIZE, Heredity, LimitOptions
from swapwise.app.cli.messages import quoted
from swapwise.app.cli.products import parents_of
from swapwise.checks import some_of, warn

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint
    from swapwise.constraints.hierarchy import Hierarchy
    from swapwise.constraints.knapsack import Knapsack

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class ResolvedLimits:
    """Limits with the default size, their constraint, and the groups that it is on."""

    limits: LimitOptions
    #: None without any limit, which only paths over sizes allow
    constraint: Constraint | None
    ground: GroundSet
    #: The group of every element, if limits are on groups
    group_of: dict[str, str] | None
    #: The elements that are chosen in any case, with all that they need
    forced: list[str]

    @property
    def n_needed(self) -> int:
        """The number of elements that meet all lower limits, with those forced in.

        >>> feasible_sets(LimitOptions(at_least=2), GroundSet.of(["a", "b", "c"])).n_needed
        2
        """
        if self.constraint is None:
            return len(self.forced)
        elements = self.ground.places(self.forced)
        held = self.constraint.contract(elements) if len(elements) else self.constraint
        return len(held.completed(elements, np.zeros(held.n)))


def feasible_sets(
    limits: LimitOptions, ground: GroundSet, dataset: Dataset | None = None, *, path: bool = False
) -> ResolvedLimits:
    """Return the constraint of the limits, or say why no choice meets all of them.

    Correlations are those in the ``dataset``. A ``path`` over sizes needs no size.

    >>> rooms = GroundSet.of(["roof_1", "roof_2", "hall_1"])
    >>> feasible_sets(LimitOptions(at_least=2, exactly=3), rooms).constraint
    Uniform(n=3, k=3, at_least=3)
    """
    group_of = _groups(limits, ground) if limits.has_groups else None
    if limits.needs_size and not path:
        n_groups = 1 if group_of is None else len(set(group_of.values()))
        size = min(max(DEFAULT_SIZE, n_groups * (limits.at_least or 0)), len(ground.elements))
        limits = replace(limits, size=size)
    _require_size(limits, ground)
    parts = [] if group_of is None else _limits_on_groups(limits, ground, group_of)
    if limits.and_groups is not None:
        parts.append(_other_groups(limits, ground))
    parts += _conflicts(limits, ground, dataset)
    if limits.costs is not None:
        parts.append(_budget(limits, ground, group_of))
    if limits.hierarchy is not None:
        parts.append(_hierarchy(limits, ground))
    constraint = _joined(parts, limits, ground)
    forced = ground.forced
    if constraint is not None and forced:
        forced = _forced_with_needed(constraint, limits, ground)
    return ResolvedLimits(limits, constraint, ground, group_of, forced)


def _require_size(limits: LimitOptions, ground: GroundSet) -> None:
    n, n_forced = len(ground.elements), len(ground.forced)
    least, most = limits.in_all
    if most is not None and most > n:
        raise BadInput(f"{limits.size_option} is {most}, but there are only {n} features to choose from")
    if least > n:
        raise BadInput(f"--at-least is {least}, but there are only {n} features to choose from")
    if most is not None and most < n_forced:
        raise BadInput(
            f"--force-in names {n_forced} features, but at most {most} in all are allowed; "
            f"{limits.size_option} {n_forced} allows them"
        )


# -- groups -----------------------------------------------------------------------------------------


def _groups(limits: LimitOptions, ground: GroundSet) -> dict[str, str]:
    if limits.groups is not None:
        group_of = read_groups(limits.groups, ground.features, ground.left_out)
    elif limits.groups_from_prefix is not None:
        group_of = by_prefix(ground.features, limits.groups_from_prefix)
    else:
        group_of = by_pattern(ground.features, limits.groups_from_pattern or "")
    return ground.by_element(group_of)


def _limits_on_groups(limits: LimitOptions, ground: GroundSet, group_of: dict[str, str]) -> list[Constraint]:
    from swapwise.constraints.few_groups import FewGroups
    from swapwise.constraints.partition import Partition

    most = limits.most_per_group
    if most is not None:
        _require_room(ground.forced, group_of, most, "--per-group")
        most = min(most, len(group_of))
    if limits.few_groups is not None:
        touched = {group_of[name] for name in ground.forced}
        if len(touched) > limits.few_groups:
            raise BadInput(
                f"--force-in names features of {len(touched)} groups, {quoted(sorted(touched))}, but they "
                f"may come from {limits.few_groups} at most; --few-groups {len(touched)} allows them"
            )
        return [FewGroups(group_of, min(limits.few_groups, len(group_of)), most)]
    if limits.at_least is None:
        return [Partition(group_of, len(group_of) if most is None else most)]
    _require_enough(limits, group_of)
    # With the size, it reserves room for groups that are below their lower limits.
    return [Partition(group_of, most or len(group_of), limits.at_least, limits.in_all[1])]


def _require_enough(limits: LimitOptions, group_of: dict[str, str]) -> None:
    """Refuse a lower limit above the size of a group, or above the limit on all groups together."""
    sizes, least = Counter(group_of.values()), limits.at_least or 0
    small = [f"{group!r} ({count})" for group, count in sizes.items() if count < least]
    if small:
        raise BadInput(
            f"--at-least asks for {least} of each group, but there are fewer in {some_of(small)}; --at-least "
            f"{min(sizes.values())} is possible"
        )
    needed, most = least * len(sizes), limits.in_all[1]
    if most is not None and needed > most:
        option = limits.size_option
        raise BadInput(
            f"--at-least {least} of each of {len(sizes)} groups is {needed} features, but {option} allows "
            f"{most} in all; {option} {needed} allows them"
        )


def _other_groups(limits: LimitOptions, ground: GroundSet) -> Constraint:
    from swapwise.constraints.partition import Partition

    assert limits.and_groups is not None
    group_of = ground.by_element(read_groups(limits.and_groups, ground.features, ground.left_out))
    most = limits.and_per_group or 1
    _require_room(ground.forced, group_of, most, "--and-per-group")
    return Partition(group_of, min(most, len(group_of)))


def _require_room(forced: Sequence[str], group_of: Mapping[str, str], most: int, option: str) -> None:
    """Refuse more forced features of a group than its limit."""
    for group, count in Counter(group_of[name] for name in forced).items():
        if count > most:
            raise BadInput(
                f"--force-in names {count} features of group {group!r}, but at most {most} of each "
                f"{'is' if most == 1 else 'are'} allowed; {option} {count} allows them"
            )


# -- pairs ------------------------------------------------------------------------------------------


def _conflicts(limits: LimitOptions, ground: GroundSet, dataset: Dataset | None) -> list[Constraint]:
    from swapwise.constraints.conflicts import Conflicts

    why: dict[Pair, str] = {}
    for text in limits.not_both or []:
        named = names_among([text], [*ground.features, *ground.left_out])
        for one, other in combinations([name for name in named if name in ground.element_of], 2):
            pair = ground.element_of[one], ground.element_of[other]
            if pair[0] == pair[1]:
                raise BadInput(
                    f"--not-both {text} names {one!r} and {other!r}, which --whole-groups puts into one group"
                )
            why[pair] = f"--not-both {text} allows one of them"
    if limits.not_both_above is not None and dataset is not None:
        pairs = _correlated(dataset, limits.not_both_above)
        why |= dict.fromkeys(pairs, f"--not-both-above {limits.not_both_above:g} allows one of them")
    for (one, other), rule in why.items():
        if one in ground.forced and other in ground.forced:
            raise BadInput(f"--force-in names {one!r} and {other!r}, but {rule}")
    return [Conflicts(ground.elements, why)] if why else []


def _correlated(dataset: Dataset, above: float) -> list[Pair]:
    """Return the elements with columns whose correlation is above a limit, and note how many there are."""
    from swapwise.constraints.conflicts import Conflicts

    elements = list(dataset.X.columns if dataset.variable_of is None else dataset.variable_of.values())
    found = Conflicts.from_correlation(dataset.X.to_numpy(), above).pairs
    pairs = dict.fromkeys((elements[one], elements[other]) for one, other in found)
    different = [(one, other) for one, other in pairs if one != other]
    if not different:
        warn(f"no two features are correlated above {above:g}")
    else:
        listed = some_of([f"{one} and {other}" for one, other in different])
        warn(f"{len(different)} pair{'s' * (len(different) > 1)} correlated above {above:g}: {listed}")
    return different


# -- costs ------------------------------------------------------------------------------------------


def _budget(limits: LimitOptions, ground: GroundSet, group_of: dict[str, str] | None) -> Knapsack:
    from swapwise.constraints.knapsack import Knapsack

    assert limits.costs is not None
    assert limits.budget is not None
    cost_of = dict.fromkeys(ground.elements, 0.0)
    for feature, cost in read_costs(limits.costs, ground.features, ground.left_out).items():
        cost_of[ground.element_of[feature]] += cost
    cheapest = min(cost_of, key=cost_of.__getitem__)
    if cost_of[cheapest] > limits.budget:
        raise BadInput(
            f"--budget {limits.budget:.12g} pays for no feature: the cheapest, {cheapest!r}, costs "
            f"{cost_of[cheapest]:.12g}"
        )
    paid = sum(cost_of[name] for name in ground.forced)
    _require_within_budget(f"--force-in names features that cost {paid:.12g}", paid, limits.budget)
    _require_affordable_lower_limits(limits, group_of, cost_of)
    return Knapsack(cost_of, limits.budget)


def _require_within_budget(what: str, cost: float, budget: float) -> None:
    if cost > budget * (1 + 1e-9):
        raise BadInput(f"{what}, but --budget is {budget:.12g}; --budget {cost:.12g} allows it")


def _require_affordable_lower_limits(
    limits: LimitOptions, group_of: dict[str, str] | None, cost_of: dict[str, float]
) -> None:
    """Refuse lower limits that even the cheapest features cannot meet within the budget."""
    assert limits.budget is not None
    least, _ = limits.in_all
    cheapest = sum(sorted(cost_of.values())[:least])
    option = "--at-least" if limits.exactly is None else "--exactly"
    _require_within_budget(f"{option} {least} costs at least {cheapest:.12g}", cheapest, limits.budget)
    if group_of is None or limits.at_least is None:
        return
    costs: dict[str, list[float]] = {}
    for element, group in group_of.items():
        costs.setdefault(group, []).append(cost_of[element])
    cheapest = sum(sum(sorted(some)[: limits.at_least]) for some in costs.values())
    what = f"--at-least {limits.at_least} of each of {len(costs)} groups costs at least {cheapest:.12g}"
    _require_within_budget(what, cheapest, limits.budget)


# -- products ---------------------------------------------------------------------------------------


def _hierarchy(limits: LimitOptions, ground: GroundSet) -> Hierarchy:
    from swapwise.constraints.hierarchy import Hierarchy

    assert limits.hierarchy is not None
    parents = parents_of(ground.features, limits.product_sign, ground.left_out)
    if limits.hierarchy is Heredity.WEAK:
        for name in ground.forced:
            if name in parents and not set(parents[name]) & set(ground.forced):
                raise BadInput(
                    f"--force-in names {name!r}, which needs one of {quoted(parents[name])}: name it, too"
                )
    return Hierarchy(ground.features, parents, limits.in_all[1], kind=limits.hierarchy.value)


# -- all of them ------------------------------------------------------------------------------------


def _joined(parts: list[Constraint], limits: LimitOptions, ground: GroundSet) -> Constraint | None:
    """Return one constraint for all limits, with that on the number in all."""
    from swapwise.constraints.intersection import Intersection
    from swapwise.constraints.uniform import Uniform

    (least, most), n = limits.in_all, len(ground.elements)
    has_size = limits.hierarchy is not None or (limits.has_groups and limits.at_least is not None)
    if least:
        parts = [*parts, Uniform(n, n if most is None else most, least)]
    elif most is not None and not has_size:
        if len(parts) == 1:
            return parts[0].truncate(most)
        # A constraint of its own: a truncated partition has far more moves.
        parts = [*parts, Uniform(n, most)]
    if len(parts) < 2:
        return parts[0] if parts else None
    try:
        return Intersection(*parts)
    except ValueError:  # lower limits that no set meets
        raise BadInput(f"no choice meets all limits: {limits.in_words()}") from None


def _forced_with_needed(constraint: Constraint, limits: LimitOptions, ground: GroundSet) -> list[str]:
    """Return the forced elements and those that they need, if some choice that meets all limits has them."""
    elements, named = ground.elements, quoted(ground.forced)
    needed = constraint.required(ground.places(ground.forced))
    others = [elements[place] for place in needed if elements[place] not in ground.forced]
    if not constraint.is_independent(needed):
        beside = f", with {quoted(others)} as factors," if others else ""
        raise BadInput(f"--force-in names {named}{beside} but what may be chosen is {limits.in_words()}")
    held = constraint.contract(needed)
    if not held.is_complete(held.completed(held.forced, np.zeros(held.n))):
        raise BadInput(f"no choice with {named} of --force-in meets all limits: {limits.in_words()}")
    if others:
        warn(f"{quoted(others)} {'is' if len(others) == 1 else 'are'} forced in, too, as factors")
    return [*ground.forced, *others]
