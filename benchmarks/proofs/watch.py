"""Look over the shoulder of a proof: every bound and every fixed element, against all independent sets.

The proof is not asked to cooperate: while it is watched, methods of ``swapwise.certify`` are wrapped. Nodes
of every kind are found as subclasses of :class:`~swapwise.certify.nodes.Node`, whatever they are called.

- A node's bound is checked whenever it changes, against the best set of its region.
- A dual point is checked set by set: ``base`` and the weights of a set bound its value, not only ``bound``.
- Where a region gets smaller, every element that was fixed is checked by itself: no set of the region before
  that holds it (if it is out now) or lacks it (if it is in) has a value above the target of that time.
- After every step of the tree, its bound is checked, and what enumeration of a leaf came back with.

A node or dual point that only bounds sets better than some value says so by an attribute ``above``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import numpy as np

from swapwise.certify import branching
from swapwise.certify.nodes import Node
from swapwise.certify.region import Region
from swapwise.certify.relaxation import Dual
from swapwise.checks import BoolArray, IndexArray

#: How many calls above a dual point its region may be found
CALLS_ABOVE = 6


class AllSets:
    """All independent sets of an instance, with their values."""

    def __init__(self, n: int, sets: Sequence[tuple[int, ...]], values: Sequence[float]) -> None:
        self.n = n
        self.sets = list(sets)
        self.values = np.array(values, dtype=float)
        self.members = np.zeros((len(self.sets), n), dtype=bool)
        for row, chosen in zip(self.members, self.sets, strict=True):
            row[list(chosen)] = True

    @property
    def best(self) -> float:
        """The optimum."""
        return float(self.values.max())

    def within(self, region: Region) -> BoolArray:
        """Return which sets are in a region."""
        away = (region.inside & ~self.members) | (region.outside & self.members)
        return np.asarray(~away.any(axis=1))

    def best_of(self, which: BoolArray) -> tuple[float, tuple[int, ...]]:
        """Return the largest value of some sets, and the set; minus infinity if there are none."""
        if not which.any():
            return -np.inf, ()
        at = int(np.argmax(np.where(which, self.values, -np.inf)))
        return float(self.values[at]), self.sets[at]


class Watch:
    """What was seen of the proofs of one instance: how often each claim was checked, and what was wrong."""

    def __init__(self, sets: AllSets, tolerance: float) -> None:
        self.sets = sets
        self.tolerance = tolerance
        self.claims: Counter[str] = Counter()
        self.violations: dict[str, list[str]] = {}
        self._targets: list[float] = []
        self._tree: branching.BranchAndBound | None = None

    def claim(self, name: str, holds: Any, words: Callable[[], str]) -> None:
        """Count a claim; take it down if it does not hold."""
        self.claims[name] += 1
        if not holds:
            self.violations.setdefault(name, []).append(words())

    # -- what is claimed ---------------------------------------------------------------------------------

    def bound(self, name: str, bound: float, region: Region, where: str, above: float = -np.inf) -> None:
        """Check a bound on sets with a value above some number, against the best set of a region."""
        if not self._is_known(region):
            return
        value, chosen = self.sets.best_of(self.sets.within(region))
        self.claim(
            name,
            bound >= value - self.tolerance or above >= value - self.tolerance,
            lambda: f"{where}: {bound:.12g} in {_told(region)}, but f{chosen} = {value:.12g}{self._so_far()}",
        )

    def dual(self, dual: Any, region: Region | None) -> None:
        """Check a dual point set by set, in the region that it was made for."""
        if region is None or not self._is_known(region):
            if region is None:
                self.claims["dual points of unknown regions (not checked)"] += 1
            return
        above = _above(dual)
        self.bound("dual bounds", dual.bound, region, type(dual).__name__, above)
        if not (hasattr(dual, "base") and len(dual.weights) == self.sets.n):
            return
        within = self.sets.within(region) & (self.sets.values > above)
        # Not by a product: weights may be infinite.
        bounds = dual.base + np.where(self.sets.members[within], dual.weights, 0.0).sum(axis=1)
        over = self.sets.values[within] - bounds
        at = int(np.argmax(over)) if len(over) else -1
        self.claim(
            "dual points, set by set",
            not len(over) or over[at] <= self.tolerance,  # false of what is not a number
            lambda: (
                f"{bounds[at]:.12g} for {self.sets.sets[np.flatnonzero(within)[at]]} of {_told(region)}, "
                f"which is above by {over[at]:.3g}{self._so_far()}"
            ),
        )

    def shrunk(self, before: Region, after: Region, where: str) -> None:
        """Check one by one the elements that a smaller region fixes."""
        if before is after or not (self._is_known(before) and self._is_known(after)):
            return
        level, within = self._level(), self.sets.within(before)
        for fixed, had, way in (
            (after.outside & ~before.outside, True, "out"),
            (after.inside & ~before.inside, False, "in"),
        ):
            for element in np.flatnonzero(fixed):
                lost = within & (self.sets.members[:, element] == had)
                self._lost(f"elements fixed {way}", lost, level, f"{where}: element {element} fixed {way}")
        self._lost("sets lost", within & ~self.sets.within(after), level, where)

    def _lost(self, name: str, lost: BoolArray, level: float, where: str) -> None:
        value, chosen = self.sets.best_of(lost)
        self.claim(
            name,
            value <= level + self.tolerance,
            lambda: f"{where} at target {level:.12g}, which loses f{chosen} = {value:.12g}",
        )

    def leaf(self, region: Region, target: float, found: Sequence[IndexArray] | None) -> None:
        """Check that the sets of a leaf that may exceed the target have the best among them."""
        if found is None or not self._is_known(region):
            return
        value, chosen = self.sets.best_of(self.sets.within(region))
        listed = {tuple(support.tolist()) for support in found}
        among = self.sets.best_of(np.array([one in listed for one in self.sets.sets], dtype=bool))[0]
        self.claim(
            "leaves",
            max(among, target) >= value - self.tolerance,
            lambda: f"{sorted(listed)} above {target:.12g} in {_told(region)}, but f{chosen} = {value:.12g}",
        )

    def tree(self, tree: branching.BranchAndBound) -> None:
        """Check the bound of the tree."""
        self.claim(
            "bounds of the tree",
            tree.upper_bound >= self.sets.best - self.tolerance,
            lambda: (
                f"{tree.upper_bound:.12g} after {tree.n_nodes} nodes, but the best is {self.sets.best:.12g}"
            ),
        )

    def _level(self) -> float:
        """Return below which value sets may be lost: the target of the node, or that of the tree."""
        known = self._targets[-1:] + ([] if self._tree is None else [self._tree.cutoff])
        return max(known, default=-np.inf)

    def _is_known(self, region: Region) -> bool:
        """Tell whether a region is one of the instance, and not of a smaller problem made of it."""
        if len(region.inside) == self.sets.n:
            return True
        self.claims["regions of other ground sets (not checked)"] += 1
        return False

    def _so_far(self) -> str:
        return "" if self._tree is None else f" (best known {self._tree.value:.12g})"

    # -- where it is watched -----------------------------------------------------------------------------

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Wrap what proves bounds, for as long as the context lasts."""
        with ExitStack() as stack:

            def replace(owner: Any, name: str, new: Any) -> None:
                stack.enter_context(replaced(owner, name, new))

            replace(Node, "__setattr__", self._setattr())
            for kind in _kinds(Node):
                for name, wrapped in (("tighten", self._tighten), ("part", self._part)):
                    if name in vars(kind):
                        replace(kind, name, wrapped(vars(kind)[name]))
            replace(Dual, "__init__", self._new_dual(Dual.__init__))
            replace(Dual, "bound_on", self._bound_on(Dual.bound_on))
            tree = branching.BranchAndBound
            replace(tree, "__init__", self._new_tree(tree.__init__))
            replace(tree, "set_root", self._set_root(tree.set_root))
            replace(tree, "step", self._step(tree.step))
            replace(branching, "enumerate_leaf", self._enumerate_leaf(branching.enumerate_leaf))
            yield

    def _setattr(self) -> Callable[..., None]:
        def __setattr__(node: Node, name: str, value: Any) -> None:
            if name == "region" and "region" in vars(node):
                self.shrunk(node.region, value, type(node).__name__)
            object.__setattr__(node, name, value)
            if name == "bound" and "region" in vars(node):
                self.bound("bounds of nodes", node.bound, node.region, type(node).__name__, _above(node))

        return __setattr__

    def _tighten(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def tighten(node: Node, target: float, *arguments: Any, **options: Any) -> Any:
            before = node.region
            self._targets.append(target)
            try:
                return original(node, target, *arguments, **options)
            finally:  # out of time, too
                where = f"{type(node).__name__}.tighten"
                self.shrunk(before, node.region, where)
                self.bound("bounds after tightening", node.bound, node.region, where, _above(node))
                self._targets.pop()

        return tighten

    def _part(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def part(node: Node, *arguments: Any, **options: Any) -> Any:
            made = original(node, *arguments, **options)
            self.bound("bounds of parts", made.bound, made.region, type(made).__name__, _above(made))
            return made

        return part

    def _new_dual(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def __init__(dual: Dual, *arguments: Any, **options: Any) -> None:
            original(dual, *arguments, **options)
            self.dual(dual, getattr(dual, "region", None) or _region_above())

        return __init__

    def _bound_on(self, original: Callable[..., float]) -> Callable[..., float]:
        @wraps(original)
        def bound_on(dual: Dual, region: Region, *arguments: Any, **options: Any) -> float:
            bound = original(dual, region, *arguments, **options)
            self.bound("dual bounds on parts", bound, region, "bound_on", _above(dual))
            return bound

        return bound_on

    def _new_tree(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def __init__(tree: branching.BranchAndBound, *arguments: Any, **options: Any) -> None:
            original(tree, *arguments, **options)
            self._tree = tree

        return __init__

    def _set_root(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def set_root(tree: branching.BranchAndBound, root: Node, *arguments: Any, **options: Any) -> None:
            original(tree, root, *arguments, **options)
            if self._is_known(root.region):
                lost = ~self.sets.within(root.region)
                self._lost("sets that the root lacks", lost, tree.cutoff, "the root")
            self.tree(tree)

        return set_root

    def _step(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def step(tree: branching.BranchAndBound, *arguments: Any, **options: Any) -> None:
            try:
                original(tree, *arguments, **options)
            finally:
                self.tree(tree)

        return step

    def _enumerate_leaf(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def enumerate_leaf(objective: Any, region: Region, target: float, **options: Any) -> Any:
            found = original(objective, region, target, **options)
            self.leaf(region, target, found)
            return found

        return enumerate_leaf


@contextmanager
def replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    """Replace an attribute of a class or a module for a while."""
    own, old = name in vars(owner), vars(owner).get(name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, old)
        else:
            delattr(owner, name)


def _kinds(kind: type) -> list[type]:
    """Return all subclasses of a class, and theirs."""
    direct: list[type] = type.__subclasses__(kind)
    return [*direct, *(each for one in direct for each in _kinds(one))]


def _region_above() -> Region | None:
    """Return the region that the makers of a dual point are about: theirs by name, or that of their self."""
    frame = sys._getframe(2)
    for _ in range(CALLS_ABOVE):
        region = frame.f_locals.get("region", getattr(frame.f_locals.get("self"), "region", None))
        if isinstance(region, Region):
            return region
        if frame.f_back is None:
            break
        frame = frame.f_back
    return None


def _above(bounded: Any) -> float:
    """Return the value above which a node or dual point bounds sets; most bound all of them."""
    return float(getattr(bounded, "above", -np.inf))


def _told(region: Region) -> str:
    return f"the region with {region.held.tolist()} without {np.flatnonzero(region.outside).tolist()}"
