"""Look over the shoulder of a proof: every bound and every fixed element, against all independent sets.

The proof is not asked to cooperate: while it is watched, methods of ``swapwise.certify`` are wrapped. Nodes
of every kind are found as subclasses of :class:`~swapwise.certify.nodes.Node`, whatever they are called.

- A node's bound is checked whenever it changes, against the best set of its region.
- A dual point is checked set by set: ``base`` and the weights of a set bound its value, not only ``bound``.
- Where a region gets smaller, every element that was fixed is checked by itself: no set of the region before
  that holds it (if it is out now) or lacks it (if it is in) has a value above the target of that time.
- Elements that are said to be needless, as others explain as much, may be fixed although sets that hold them
  are above the target: then a set as good as these has to remain.
- What a node has proven so far of its kind is checked against all sets that it began with.
- After every step of the tree, its bound is checked, and what enumeration of a leaf came back with.

Proofs drop elements and give new numbers to the rest. Regions on one ground set share its constraint, so what
the elements of a constraint stand for is noted where it is made, in ``Region.among``; everything is checked
in the numbers of the whole instance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from swapwise.certify import branching
from swapwise.certify.nodes import Node
from swapwise.certify.prover import Prover
from swapwise.certify.relaxation import DualBound, Relaxation
from swapwise.certify.ties import SetAside
from swapwise.checks import BoolArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.constraints.region import Region


@dataclass(frozen=True)
class Part:
    """A region in the numbers of the whole instance."""

    inside: BoolArray
    outside: BoolArray

    def __str__(self) -> str:
        held, without = np.flatnonzero(self.inside).tolist(), np.flatnonzero(self.outside).tolist()
        return f"the region with {held} without {without}"


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

    def within(self, part: Part) -> BoolArray:
        """Return which sets are in a region."""
        away = (part.inside & ~self.members) | (part.outside & self.members)
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
        # Of each node that is being tightened, and of what is not in one
        self._needless: list[BoolArray] = [np.zeros(sets.n, dtype=bool)]
        self._tree: branching.BranchAndBound | None = None
        # By the constraint's id; that it is kept here as well means that no other can have the same.
        self._elements: dict[int, tuple[Constraint, IndexArray]] = {}
        self._relaxations: list[Relaxation] = []

    def claim(self, name: str, holds: Any, words: Callable[[], str]) -> None:
        """Count a claim; take it down if it does not hold."""
        self.claims[name] += 1
        if not holds:
            self.violations.setdefault(name, []).append(words())

    # -- numbers of elements -----------------------------------------------------------------------------

    def know(self, constraint: Constraint, elements: IndexArray) -> None:
        """Note what the elements of a constraint stand for."""
        _, known = self._elements.setdefault(id(constraint), (constraint, elements))
        self.claim(
            "constraints stand for the same elements",
            np.array_equal(known, elements),
            lambda: f"{constraint!r} for {known.tolist()}, and then for {elements.tolist()}",
        )

    def elements_of(self, region: Region) -> IndexArray | None:
        """Return what the elements of a region stand for, if that is known."""
        known = self._elements.get(id(region.constraint))
        found = None if known is None or len(known[1]) != len(region.inside) else known[1]
        self.claim(
            "regions are of known ground sets",
            found is not None,
            lambda: f"{region.constraint!r} on {len(region.inside)} elements, which could not be checked",
        )
        return found

    def part(self, region: Region) -> Part | None:
        """Return a region in the numbers of the whole instance; elements that were dropped are outside."""
        elements = self.elements_of(region)
        if elements is None:
            return None
        inside, outside = np.zeros(self.sets.n, dtype=bool), np.ones(self.sets.n, dtype=bool)
        inside[elements], outside[elements] = region.inside, region.outside
        return Part(inside, outside)

    # -- what is claimed ---------------------------------------------------------------------------------

    def bound(self, name: str, bound: float, part: Part | None, where: str) -> None:
        """Check a bound against the best set of a region."""
        if part is None:
            return
        value, chosen = self.sets.best_of(self.sets.within(part))
        self.claim(
            name,
            bound >= value - self.tolerance,
            lambda: f"{where}: {bound:.12g} in {part}, but f{chosen} = {value:.12g}{self._so_far()}",
        )

    def dual(self, dual: DualBound, region: Region) -> None:
        """Check a dual point set by set, in the region that it was made for."""
        part, elements = self.part(region), self.elements_of(region)
        if part is None or elements is None:
            return
        self.bound("dual bounds", dual.bound, part, "Dual")
        within = self.sets.within(part)
        members = self.sets.members[np.ix_(within, elements)]
        # Not by a product: weights may be infinite.
        bounds = dual.base + np.where(members, dual.weights, 0.0).sum(axis=1)
        over = self.sets.values[within] - bounds
        at = int(np.argmax(over)) if len(over) else -1
        self.claim(
            "dual points, set by set",
            not len(over) or over[at] <= self.tolerance,  # false of what is not a number
            lambda: (
                f"{bounds[at]:.12g} for {self.sets.sets[np.flatnonzero(within)[at]]} of {part}, "
                f"which is above by {over[at]:.3g}{self._so_far()}"
            ),
        )

    def shrunk(self, before: Part | None, after: Part | None, where: str) -> None:
        """Check one by one the elements that a smaller region fixes."""
        if before is None or after is None:
            return
        level, within = self._level(), self.sets.within(before)
        replaceable = within & self.sets.members[:, self._needless[-1]].any(axis=1)
        within &= ~replaceable
        self._lost(
            "sets with needless elements",
            replaceable & ~self.sets.within(after),
            max(level, self.sets.best_of(self.sets.within(after))[0]),
            where,
        )
        for fixed, had, way in (
            (after.outside & ~before.outside, True, "out"),
            (after.inside & ~before.inside, False, "in"),
        ):
            for element in np.flatnonzero(fixed):
                lost = within & (self.sets.members[:, element] == had)
                self._lost(f"elements fixed {way}", lost, level, f"{where}: element {element} fixed {way}")
        self._lost("sets lost", within & ~self.sets.within(after), level, where)
        self.claim(
            "regions only get smaller",
            not (self.sets.within(after) & ~self.sets.within(before)).any(),
            lambda: f"{where}: {before} has become {after}",
        )

    def _lost(self, name: str, lost: BoolArray, level: float, where: str) -> None:
        value, chosen = self.sets.best_of(lost)
        self.claim(
            name,
            value <= level + self.tolerance,
            lambda: f"{where} at target {level:.12g}, which loses f{chosen} = {value:.12g}",
        )

    def leaf(self, region: Region, target: float, found: Sequence[IndexArray] | None) -> None:
        """Check that the sets of a leaf that may exceed the target have the best among them."""
        part, elements = self.part(region), self.elements_of(region)
        if found is None or part is None or elements is None:
            return
        value, chosen = self.sets.best_of(self.sets.within(part))
        listed = {tuple(sorted(elements[support].tolist())) for support in found}
        among = self.sets.best_of(np.array([one in listed for one in self.sets.sets], dtype=bool))[0]
        self.claim(
            "leaves",
            max(among, target) >= value - self.tolerance,
            lambda: f"{sorted(listed)} above {target:.12g} in {part}, but f{chosen} = {value:.12g}",
        )

    def node(self, node: Node) -> None:
        """Check that a node says in which numbers its region is."""
        elements = self.elements_of(node.region)
        if elements is None:
            return
        said = node.whole(np.arange(len(elements)))
        self.claim(
            "elements that nodes stand for",
            np.array_equal(said, elements),
            lambda: f"{type(node).__name__}: {said.tolist()}, but they are {elements.tolist()}",
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
            for kind in (Relaxation, *_kinds(Relaxation)):
                if "_dual_at" in vars(kind):
                    replace(kind, "_dual_at", self._dual_at(vars(kind)["_dual_at"]))
            replace(SetAside, "needless", self._new_needless(SetAside.needless))
            replace(DualBound, "__init__", self._new_dual(DualBound.__init__))
            replace(DualBound, "bound_on", self._bound_on(DualBound.bound_on))
            replace(Region, "among", self._among(Region.among))
            replace(Region, "with_inside", self._with_inside(Region.with_inside))
            replace(Prover, "observe_bound", self._observe_bound(Prover.observe_bound))
            tree = branching.BranchAndBound
            replace(tree, "__init__", self._new_tree(tree.__init__))
            replace(tree, "set_root", self._set_root(tree.set_root))
            replace(tree, "step", self._step(tree.step))
            replace(branching, "enumerate_leaf", self._enumerate_leaf(branching.enumerate_leaf))
            yield

    def _setattr(self) -> Callable[..., None]:
        def __setattr__(node: Node, name: str, value: Any) -> None:
            if name == "region" and "region" in vars(node) and value is not node.region:
                self.shrunk(self.part(node.region), self.part(value), type(node).__name__)
            object.__setattr__(node, name, value)
            if name == "bound" and "region" in vars(node):
                self.node(node)
                self.bound("bounds of nodes", node.bound, self.part(node.region), type(node).__name__)

        return __setattr__

    def _tighten(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def tighten(node: Node, target: float, *arguments: Any, **options: Any) -> Any:
            before = self.part(node.region)
            self._targets.append(target)
            self._needless.append(np.zeros(self.sets.n, dtype=bool))
            try:
                return original(node, target, *arguments, **options)
            finally:  # out of time, too
                where, after = f"{type(node).__name__}.tighten", self.part(node.region)
                self.shrunk(before, after, where)
                self.bound("bounds after tightening", node.bound, after, where)
                if node.own_bound is not None:
                    # On what the node began with: sets that fixing has ruled out are below it, too.
                    self.bound("bounds of nodes by themselves", node.own_bound, before, where)
                self._targets.pop()
                self._needless.pop()

        return tighten

    def _new_needless(self, original: Callable[..., IndexArray]) -> Callable[..., IndexArray]:
        @wraps(original)
        def needless(aside: SetAside, region: Region) -> IndexArray:
            found, elements = original(aside, region), self.elements_of(region)
            if elements is not None:
                self._needless[-1][elements[found]] = True
            return found

        return needless

    def _part(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def part(node: Node, *arguments: Any, **options: Any) -> Any:
            made = original(node, *arguments, **options)
            self.bound("bounds of parts", made.bound, self.part(made.region), type(made).__name__)
            return made

        return part

    def _dual_at(self, original: Callable[..., DualBound]) -> Callable[..., DualBound]:
        @wraps(original)
        def _dual_at(relaxation: Relaxation, *arguments: Any, **options: Any) -> DualBound:
            self._relaxations.append(relaxation)
            try:
                return original(relaxation, *arguments, **options)
            finally:
                self._relaxations.pop()

        return _dual_at

    def _new_dual(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def __init__(dual: DualBound, *arguments: Any, **options: Any) -> None:
            original(dual, *arguments, **options)
            self.claim(
                "dual points are of known regions",
                self._relaxations,
                lambda: "one was made by no relaxation, and could not be checked",
            )
            if self._relaxations:
                self.dual(dual, self._relaxations[-1].region)

        return __init__

    def _bound_on(self, original: Callable[..., float]) -> Callable[..., float]:
        @wraps(original)
        def bound_on(dual: DualBound, region: Region, *arguments: Any, **options: Any) -> float:
            bound = original(dual, region, *arguments, **options)
            self.bound("dual bounds on parts", bound, self.part(region), "bound_on")
            return bound

        return bound_on

    def _among(self, original: Callable[..., Region]) -> Callable[..., Region]:
        @wraps(original)
        def among(region: Region, kept: IndexArray) -> Region:
            made = original(region, kept)
            elements, before = self.elements_of(region), self.part(region)
            if elements is not None and before is not None:
                self.know(made.constraint, elements[kept])
                # Only what is outside may be dropped, so that no set is lost.
                self._lost(
                    "sets lost by dropping elements",
                    self.sets.within(before)
                    & np.delete(self.sets.members, elements[kept], axis=1).any(axis=1),
                    -np.inf,
                    "Region.among",
                )
            return made

        return among

    def _with_inside(self, original: Callable[..., Region]) -> Callable[..., Region]:
        @wraps(original)
        def with_inside(region: Region, which: int | IndexArray) -> Region:
            made = original(region, which)
            elements, before, after = self.elements_of(region), self.part(region), self.part(made)
            if elements is not None and before is not None and after is not None:
                held = self.sets.members[:, np.atleast_1d(elements[which])].all(axis=1)
                lost = self.sets.within(before) & held & ~self.sets.within(after)
                self._lost("sets lost by what no longer fits", lost, -np.inf, "Region.with_inside")
            return made

        return with_inside

    def _observe_bound(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def observe_bound(prover: Prover, kind: str, bound: float) -> None:
            self.claim(
                "bounds as they are observed",
                bound >= self.sets.best - self.tolerance,
                lambda: f"{bound:.12g} by {kind}, but the best is {self.sets.best:.12g}{self._so_far()}",
            )
            original(prover, kind, bound)

        return observe_bound

    def _new_tree(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def __init__(tree: branching.BranchAndBound, *arguments: Any, **options: Any) -> None:
            original(tree, *arguments, **options)
            self._tree = tree
            self.know(tree.constraint, np.arange(self.sets.n))

        return __init__

    def _set_root(self, original: Callable[..., None]) -> Callable[..., None]:
        @wraps(original)
        def set_root(tree: branching.BranchAndBound, root: Node, *arguments: Any, **options: Any) -> None:
            original(tree, root, *arguments, **options)
            part = self.part(root.region)
            if part is not None:
                self._lost("sets that the root lacks", ~self.sets.within(part), -np.inf, "the root")
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
