"""``python -m benchmarks.proofs.small``: small random problems, and whether all that is proven is true.

Every instance is enumerated. Then ``certify`` (of independent sets that mostly are not the best, and of the
answer of the search) and ``exact`` are held to it, and watched while they work: every bound of every node and
dual point, and every fixed element one by one. See :mod:`benchmarks.proofs.watch`.

Values are those of the objective, whose bounds hold up to ``EXACT`` of their scale; where the criterion is
known in other arithmetic (long doubles, a plain Newton method), what is proven is held to that as well.
``--only SEED`` shows one instance again. The exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from traceback import extract_tb
from types import ModuleType
from typing import Any

import numpy as np

import swapwise as sw
from benchmarks.proofs.small_instances import Random, Set, SmallInstance, Way, independent_sets, instance_of
from benchmarks.proofs.watch import AllSets, Watch, replaced
from swapwise.certify import leaf, problem, prover, proximal, summands, working_set
from swapwise.certify.branching import BranchAndBound
from swapwise.checks import IndexArray
from swapwise.theory import diagonal
from tests.fuzz.checks import REFUSALS

#: Relative to the scale of the values: what proofs call equal
EXACT = 1e-9
#: Other arithmetic agrees to this, where columns are no worse conditioned than the second; such a likelihood
#: is computed for this many sets
AGREE, ILL, SETS_OF_LIKELIHOODS = 1e-6, 1e4, 6
#: What is small if instances are to be proven as if they were large, besides all that is for ground sets
#: ``_UP_TO`` some size. Of a matrix with one row, no iteration finds the eigenvalue.
AS_IF_LARGE = (
    (diagonal, "EIGENVALUES_UP_TO", 1),
    (proximal, "FIRST_ELEMENTS", 2),
    (working_set, "MOST_ELEMENTS", 5),
    (prover, "FEW_ELEMENTS", 0),
    (summands, "MOST_SETS", 0),
)


@dataclass
class Report:
    """What was checked of one instance, and what was wrong: what is claimed, and words."""

    instance: SmallInstance
    watch: Watch | None = None
    refusals: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def claims(self) -> Counter[str]:
        """How often each claim was checked."""
        return Counter() if self.watch is None else self.watch.claims

    @property
    def violations(self) -> list[tuple[str, str]]:
        """Claims that are wrong, and in which way; claims of the same kind once."""
        seen = {} if self.watch is None else self.watch.violations
        watched = [
            (name, words[0] + (f" … and {len(words) - 1} more" if len(words) > 1 else ""))
            for name, words in seen.items()
        ]
        return watched + self.failures

    def attempt(self, name: str, call: Callable[[], Any]) -> Any:
        """Return what a call returns, or None if it refused or failed; only failures are violations."""
        try:
            return call()
        except (ValueError, TypeError) as error:
            self.refusals[f"{name}: {str(error)[:50]}"] += 1
            if not REFUSALS.search(str(error)):
                self.failures.append((f"{name} refuses", _told(error)))
        except Exception as error:
            self.failures.append((f"{name} fails", _told(error)))
        return None


def _told(error: Exception) -> str:
    """Return what went wrong, and which part of the proof it was."""
    frames = [Path(frame.filename) for frame in extract_tb(error.__traceback__)]
    part = next((file.stem for file in reversed(frames) if file.parent.name == "certify"), "nothing")
    return f"{type(error).__name__}, in {part}: {error}"


def check(seed: int) -> Report:
    """Return what is proven of the instance of a seed, and what of it is wrong."""
    return check_instance(instance_of(seed))


def check_instance(instance: SmallInstance) -> Report:
    """Return what is proven of an instance, and what of it is wrong."""
    report = Report(instance)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        f = report.attempt("objective", instance.objective.make)
        constraint = report.attempt("constraint", instance.family.make)
        if f is None or constraint is None:
            return report
        sets = independent_sets(instance)
        values = report.attempt("f", lambda: [f(chosen) for chosen in sets])
        if values is not None:
            _check(report, f, constraint, AllSets(instance.n, sets, values))
    return report


def _check(report: Report, f: sw.SetFunction, constraint: sw.Constraint, sets: AllSets) -> None:
    """Watch three proofs, and check what they say at the end."""
    instance, way = report.instance, report.instance.way
    scale = max(abs(sets.best), f.scale)
    watch = report.watch = Watch(sets, EXACT * scale)
    others = _other_values(instance, sets)
    with watch.watching(), _proven_by(way):
        for name, given, stubborn, max_nodes in _proofs(instance, sets):
            call = partial(sw.certify, f, constraint, given, gap=way.gap, time_limit=way.seconds)
            with _kept_answer() if stubborn else nullcontext():
                certificate = report.attempt(name, partial(call, max_nodes=max_nodes))
            if certificate is not None:
                report.statuses[f"{name}: {'optimal' if certificate.optimal else certificate.status}"] += 1
                _check_certificate(watch, certificate, others, scale, name)
        found = report.attempt("exact", lambda: sw.exact(f, constraint, way.seconds, max_nodes=way.max_nodes))
    if found is not None:
        report.statuses[f"exact: {found.status}"] += 1
        _check_certificate(watch, found.certificate, others, scale, "exact")
        _check_answer(watch, found.support, found.value, scale, "the answer of exact")
        watch.claim(
            "OPTIMAL",
            found.status != "OPTIMAL" or found.value >= sets.best - 2 * EXACT * scale,
            lambda: f"exact says OPTIMAL of {found.value:.12g}, but the best is {sets.best:.12g}",
        )


def _proofs(instance: SmallInstance, sets: AllSets) -> list[tuple[str, Set | None, bool, int | None]]:
    """Return what is certified: name, answer, whether it is kept, and how many nodes it may take.

    What the search answers is nearly always the best, and ``exact`` proves the same of it. So more often the
    root is made to fix elements at one more target instead, below the best.
    """
    way, random = instance.way, instance.random
    meets = instance.family.meets or (lambda chosen: True)
    answers = np.array([place for place, chosen in enumerate(sets.sets) if meets(frozenset(chosen))])
    first = ("certify of a set", _some_set(random, sets, answers), way.stubborn, way.max_nodes)
    if random.random() < 0.4:
        return [first, ("certify", None, False, way.max_nodes)]
    return [first, ("certify of another set, at the root", _some_set(random, sets, answers), True, 1)]


def _some_set(random: Random, sets: AllSets, answers: IndexArray) -> Set:
    """Return a set that may be an answer: any at all, or one of the best."""
    if random.random() < 0.3:
        return sets.sets[answers[random.integers(len(answers))]]
    order = answers[np.argsort(-sets.values[answers], kind="stable")]
    return sets.sets[order[min(len(order), random.geometric(0.15)) - 1]]


def _kept_answer() -> AbstractContextManager[None]:
    """Let trees keep the set that they begin with; what is better counts as a bound all the same."""
    return replaced(BranchAndBound, "_improve", lambda tree, *arguments: None)


@contextmanager
def _proven_by(way: Way) -> Iterator[None]:
    """Switch off what would leave bounds little to do, for a while.

    Without the closed form of small regions, nothing but bounds and branching is left. As if an instance were
    large, nothing is done that is for ground sets ``_UP_TO`` some size, nor are summands enumerated; and
    relaxations begin with a working set of two elements, and again when it has more than a few.
    """
    with ExitStack() as stack:
        if not way.closed_form:
            stack.enter_context(replaced(leaf, "MOST_SETS", 0))
            stack.enter_context(replaced(leaf, "QUICK", 0))
        if way.as_if_large:
            proofs = [module for name, module in sys.modules.items() if name.startswith("swapwise.certify.")]
            sizes: list[tuple[ModuleType, str, int]] = [
                (module, name, 0) for module in proofs for name in vars(module) if name.endswith("_UP_TO")
            ]
            drawn = (
                (problem, "PRODUCTS_UP_TO", way.products_up_to),
                (working_set, "COLUMNS_UP_TO", way.columns_up_to),
            )
            for module, name, size in [*sizes, *AS_IF_LARGE, *drawn]:
                assert isinstance(vars(module)[name], int), f"{module.__name__} has no {name} any more"
                stack.enter_context(replaced(module, name, size))
        yield


def _check_certificate(
    watch: Watch, certificate: sw.Certificate, others: dict[Set, float], scale: float, name: str
) -> None:
    """Check all that a certificate says."""
    best, said = watch.sets.best, f"{name} says {certificate!r}"
    for kind, bound in [*certificate.bounds.items(), (certificate.kind, certificate.upper_bound)]:
        words = f"{said} ({bound:.12g}), but the best is {best:.12g}"
        watch.claim(f"bounds of certificates: {kind}", bound >= best - EXACT * scale, partial(str, words))
    _check_answer(watch, certificate.support, certificate.value, scale, f"{name}: the answer")
    if certificate.better is not None and certificate.better_value is not None:
        _check_answer(watch, certificate.better, certificate.better_value, scale, f"{name}: the better set")
        rises = certificate.better_value > certificate.value
        watch.claim("better sets are better", rises, lambda: said)
    watch.claim(
        "what is proven optimal",
        not certificate.optimal or certificate.value >= best - 2 * EXACT * scale,
        lambda: f"{said}, but the best is {best:.12g}",
    )
    if best > 0:
        true = certificate.value / best
        watch.claim(
            "ratios",
            certificate.ratio <= true + 2 * EXACT * scale / best,
            lambda: f"{said}: {certificate.ratio:.12g}, but in truth it is {true:.12g}",
        )
    watch.claim("ratios are at most 1", certificate.ratio <= 1, lambda: f"{said}: {certificate.ratio}")
    if others and not certificate.doubt:
        chosen = max(others, key=lambda one: others[one])
        watch.claim(
            "bounds, by other arithmetic",
            certificate.upper_bound >= others[chosen] - AGREE * scale,
            lambda: f"{said} ({certificate.upper_bound:.12g}), but {chosen} has {others[chosen]:.12g}",
        )


def _check_answer(watch: Watch, support: Any, value: Any, scale: float, name: str) -> None:
    """Check that a set is independent and worth what is said."""
    chosen = tuple(int(element) for element in support)
    known = dict(zip(watch.sets.sets, watch.sets.values.tolist(), strict=True))
    watch.claim("answers are independent", chosen in known, lambda: f"{name}: {chosen}")
    watch.claim(
        "values of answers",
        abs(known.get(chosen, value) - value) <= EXACT * scale,
        lambda: f"{name}: {value:.12g}, but f{chosen} = {known[chosen]:.12g}",
    )


def _other_values(instance: SmallInstance, sets: AllSets) -> dict[Set, float]:
    """Return what other arithmetic makes of sets whose columns are well conditioned."""
    data, likelihood = instance.objective.regression, instance.objective.likelihood
    if data is not None:
        sound = [one for one in sets.sets if data.condition(one) <= ILL]
        return (
            dict(zip(sound, data.values(sound, data.precision, 0.0).tolist(), strict=True)) if sound else {}
        )
    if likelihood is None:
        return {}
    few = np.unique(
        [int(np.argmax(sets.values)), *instance.random.integers(len(sets.sets), size=SETS_OF_LIKELIHOODS)]
    )
    some = [sets.sets[index] for index in few]
    return {one: likelihood.value(one) for one in some if likelihood.condition(one) <= ILL}


# -- many instances ---------------------------------------------------------------------------------------


@dataclass
class Totals:
    """Counts over all instances so far."""

    instances: int = 0
    sets: int = 0
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)

    def add(self, report: Report) -> None:
        """Add what is known of one instance."""
        self.instances += 1
        self.sets += 0 if report.watch is None else len(report.watch.sets.sets)
        self.cells[report.instance.objective.name, _short(report.instance.family.name)] += 1
        self.claims += report.claims
        self.refusals += report.refusals
        self.statuses += report.statuses
        self.broken.update(claim for claim, _ in report.violations)

    def told(self, seconds: float) -> str:
        """Return the summary that is printed."""
        each = 1000 * seconds / max(1, self.instances)
        lines = [
            f"{self.instances} instances, {self.sets:,} sets, in {seconds:.0f} s: {each:.0f} s per 1000",
            "",
        ]
        lines += [*self._table(), "", "how proofs ended"]
        lines += [f"  {count:11,}  {name}" for name, count in sorted(self.statuses.items())]
        lines += ["", "refused", *(f"  {count:11,}  {name}" for name, count in self.refusals.most_common(12))]
        lines += ["", "checked, and in how many instances it was wrong"]
        for claim in sorted({*self.claims, *self.broken}):
            lines.append(f"  {self.claims[claim]:11,}  {self.broken[claim]:6,}  {claim}")
        return "\n".join([*lines, "", f"{sum(self.broken.values())} violations"])

    def _table(self) -> list[str]:
        """Return how many instances there were of each objective under each constraint."""
        objectives = sorted({objective for objective, _ in self.cells})
        constraints = sorted({constraint for _, constraint in self.cells})
        width = max(map(len, objectives), default=0)
        names = [f"  {number + 1:3}  {name}" for number, name in enumerate(constraints)]
        header = " " * width + "".join(f"{number + 1:6}" for number in range(len(constraints))) + "   all"
        rows = []
        for objective in objectives:
            counts = [self.cells[objective, constraint] for constraint in constraints]
            rows.append(f"{objective:{width}}" + "".join(f"{count:6}" for count in [*counts, sum(counts)]))
        return ["constraints", *names, "", "instances by objective and constraint", header, *rows]


def _short(name: str) -> str:
    """Return the name of a constraint without what oracles are of."""
    return name.partition(":")[0]


def show(seed: int) -> int:
    """Check one instance and print all that is known of it; return the exit code."""
    report = check(seed)
    print(f"{seed}: {report.instance}")
    for words, count in sorted([*report.statuses.items(), *report.refusals.items(), *report.claims.items()]):
        print(f"  {count:7,}  {words}")
    _tell(report)
    return int(bool(report.violations))


def _tell(report: Report) -> None:
    for claim, words in report.violations:
        print(f"VIOLATED --only {report.instance.seed}: {claim}\n  {report.instance}\n  {words}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Read the options, check, print the summary; return the exit code."""
    parser = ArgumentParser(
        prog="python -m benchmarks.proofs.small", description="Proofs against enumeration."
    )
    parser.add_argument("--count", type=int, default=10000, help="how many instances (10000)")
    parser.add_argument("--seed", type=int, default=0, help="those of another number differ (0)")
    parser.add_argument("--first", type=int, default=0, help="the first instance, to go on (0)")
    parser.add_argument("--only", type=int, metavar="SEED", help="check the instance of one seed")
    options = parser.parse_args(arguments)
    if options.only is not None:
        return show(options.only)
    totals, start = Totals(), perf_counter()
    begin = options.seed * 10**7 + options.first
    for seed in range(begin, begin + options.count):
        report = check(seed)
        totals.add(report)
        _tell(report)
        if totals.instances % 500 == 0:
            took = perf_counter() - start
            print(f"{totals.instances} instances, {took:.0f} s", file=sys.stderr, flush=True)
    print(totals.told(perf_counter() - start))
    return int(bool(totals.broken))


if __name__ == "__main__":
    sys.exit(main())
