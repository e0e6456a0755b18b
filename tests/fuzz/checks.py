"""Every claim that the library makes about an answer, against enumeration of all independent sets.

A check returns violations in words. Two tolerances recur. ``EXACT`` is for claims about the objective's own
values, which a proof compares in double precision whatever the data are. Searches score moves in the
precision of the data, so local optimality is held to what that precision and the condition of the columns
explain, but to no more than ``LOOSEST``: a large miss is never explained away.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

import swapwise as sw
from swapwise.moves import Move
from swapwise.objectives.base import rows_of
from tests.fuzz.instances import EPS, Instance, instance_of, spanned_within
from tests.fuzz.oracles import Set, independent_sets, neighbours
from tests.fuzz.report import Report

#: Relative to the size of the values: swapwise.numerics.EQUAL, the resolution of proofs
EXACT = 1e-9
#: What a search may leave behind, by the type of the data: documented as 4e-6 for single precision
LEFT_BEHIND = {"f8": 1e-8, "f4": 4e-6}
#: The most that the condition of the columns explains
LOOSEST = 1e-3
#: Values by other arithmetic agree to this; those of columns worse conditioned than ILL are not compared
AGREE, ILL = 1e-6, 1e5
#: Seconds that every call may take, and what it may be late by on a busy machine
LIMIT, LATE = 5.0, 3.0

STATUSES = {"OPTIMAL", "TIME_LIMIT", "ITERATION_LIMIT", "INTERRUPTED", "COMPLETE"}

#: What may be refused, and is said in the documentation
REFUSALS = re.compile(
    r"not known to be monotone|rule needs what|random-residual-greedy needs a matroid|leave floating point"
    r"|relaxation.*needs|start='model'|is searched by|seems to have no maximum"
)


class SearchReport(Report):
    """What was checked of one instance."""

    def __init__(self, instance: Instance) -> None:
        objective, family = instance.objective, instance.family
        name = f"{objective.name} f4" if objective.dtype == "f4" else objective.name
        super().__init__(str(instance), (name, family.name))
        self.instance = instance

    def attempt(self, name: str, call: Callable[[], Any]) -> Any:
        """Return what a call returns, or None if it refused or failed; only failures are violations."""
        try:
            return call()
        except (ValueError, TypeError) as error:
            expected = not self.instance.family.honest or REFUSALS.search(str(error))
            self.refusals[f"{name.partition('(')[0]}: {str(error)[:40]}"] += 1
            self.claim(
                "refuses only what is documented", expected, f"{name}: {type(error).__name__}: {error}"
            )
        except Exception as error:
            self.claim("raises nothing else", False, f"{name}: {type(error).__name__}: {error}")
        return None


class Answer(Protocol):
    """What all kinds of answers have in common."""

    support: Any
    value: float


@dataclass
class Truth:
    """An instance with its objective, its constraint and the values of all independent sets."""

    report: SearchReport
    f: sw.SetFunction
    constraint: sw.IndependenceSystem
    values: dict[Set, float]

    def __post_init__(self) -> None:
        self.instance = self.report.instance
        meets = self.instance.family.meets or (lambda s: True)
        self.answers = [s for s in self.values if meets(frozenset(s))]
        self.best_set = max(self.answers, key=lambda s: self.values[s])
        self.best = self.values[self.best_set]
        self.scale = max(abs(self.best), self.f.scale)

    def explained(self, base: float, *sets: Set) -> float:
        """Return a tolerance: ``base``, and what rounding makes of it when columns are ill-conditioned."""
        objective = self.instance.objective
        data = objective.regression or objective.likelihood
        if data is None:
            return base * self.scale
        condition = max(data.condition(chosen) for chosen in sets)
        return min(LOOSEST, base + 32 * EPS[objective.dtype] * condition) * self.scale


def check(seed: int) -> SearchReport:
    """Return what is claimed of the instance of a seed, and which claims are wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        report = _checked(seed)
        # Kernels are compiled when they are first used, and no limit holds for that.
        late = any(claim == "time limit" for claim, _ in report.violations)
        return _checked(seed) if late else report


def _checked(seed: int) -> SearchReport:
    report = SearchReport(instance_of(seed))
    report.attempt("another call", lambda: _check(report))
    return report


def _check(report: SearchReport) -> None:
    instance = report.instance
    f = report.attempt("objective", instance.objective.make)
    constraint = report.attempt("constraint", instance.family.make)
    if f is None or constraint is None:
        return
    sets = independent_sets(instance.n, instance.family.allows, instance.family.forced)
    values = report.attempt("f", lambda: {chosen: f(chosen) for chosen in sets})
    if values is None:
        return
    truth = Truth(report, f, constraint, values)
    check_values(truth)
    found = [check_search(truth, {}), check_search(truth, some_options(truth))]
    answers = [result for result in found if result is not None]
    given = answers[instance.random.integers(len(answers))] if answers else None
    certificate = report.attempt(
        "certify", lambda: sw.certify(f, constraint, given, time_limit=LIMIT, gap=0.0)
    )
    if certificate is not None:
        check_certificate(truth, certificate, "certify")
    result = report.attempt("exact", lambda: sw.exact(f, constraint, LIMIT))
    if result is not None:
        check_exact(truth, result)


def some_options(truth: Truth) -> dict[str, Any]:
    """Return how to search: any method, any start, any q."""
    random, f = truth.instance.random, truth.f
    if random.random() < 0.3:
        others = ["greedy", "random-residual-greedy", "modular", "random", "exhaustive"]
        return {"method": str(random.choice(others))}
    starts = ["empty", "arbitrary", "greedy", "modular", "best-singleton", "model"]
    if isinstance(f, sw.LeastSquares) and f.groups is None and random.random() < 0.2:
        starts = ["relaxation"]
    return {
        "method": str(random.choice(["oblivious", "oblivious", "semi-oblivious", "non-oblivious"])),
        "start": str(random.choice(starts)),
        "q": 1 if isinstance(truth.constraint, sw.Matroid) else int(random.choice([1, 1, 2])),
        "epsilon": [None, None, None, 0.1][random.integers(4)],
    }


def check_values(truth: Truth) -> None:
    """Check that f never falls, and that it is what other arithmetic says."""
    report, objective = truth.report, truth.instance.objective
    if objective.monotone:
        falls = [
            (before, after)
            for after in truth.values
            for out in after
            if (before := tuple(e for e in after if e != out)) in truth.values
            and truth.values[after] < truth.values[before] - EXACT * truth.scale
            and not _is_only_bounded(truth, after, truth.values[before])
        ]
        words = [f"f{b} = {truth.values[b]:.9g}, f{a} = {truth.values[a]:.9g}" for b, a in falls[:1]]
        report.claim("f is monotone", not falls, *words)
    for chosen, value, name, tolerance in other_values(truth):
        report.claim(
            f"value by {name}",
            abs(value - truth.values[chosen]) <= tolerance * truth.scale,
            f"f{chosen} = {truth.values[chosen]:.9g}, by {name} {value:.9g}",
        )


def _is_only_bounded(truth: Truth, chosen: Set, value: float) -> bool:
    """Return whether a fit did not come to its end, and f says so: it is known between bounds."""
    custom = isinstance(truth.f, sw.CustomObjective)
    return custom and truth.f.upper_bound(np.array(chosen, dtype=np.intp)) >= value


def other_values(truth: Truth) -> list[tuple[Set, float, str, float]]:
    """Return some sets, their values by other arithmetic, what that is, and how well f should agree."""
    objective, random = truth.instance.objective, truth.instance.random
    sets = list(truth.values)
    few = [truth.best_set, *(sets[i] for i in random.integers(0, len(sets), 5))]
    found = []
    if objective.regression is not None:
        data = objective.regression
        good = [s for s in few if data.precision > 0 or data.condition(s) < ILL]
        values = data.values(good, data.precision)
        near = [truth.explained(1e-7, s) / truth.scale if truth.scale else 1e-7 for s in good]
        found += [(s, v, "long doubles", t) for s, v, t in zip(good, values.tolist(), near, strict=True)]
        if objective.whole:
            fractions = [(s, data.rational(s)) for s in few[:3]]
            found += [(s, float(v), "rational numbers", 1e-7) for s, v in fractions if v is not None]
    if objective.likelihood is not None:
        good = [s for s in few if objective.likelihood.condition(s) < ILL]
        values = [(s, objective.likelihood.value(s)) for s in good]
        found += [(s, value, "Newton's method", AGREE) for s, value in values if not np.isnan(value)]
    return found


def check_search(truth: Truth, options: dict[str, Any]) -> sw.SearchResult | None:
    """Check one search: its answer, its status and what is guaranteed of it."""
    report, words = truth.report, f"maximize({options})"
    result = report.attempt(
        words, lambda: sw.maximize(truth.f, truth.constraint, time_limit=LIMIT, **options)
    )
    if result is None:
        return None
    if not check_answer(truth, result, words):
        return None
    check_record(truth, result, words)
    if (
        result.status == "LOCAL_OPTIMUM"
        and "oblivious" in result.method.split(", ")
        and truth.f.scoring != "pass"
    ):
        check_local_optimum(truth, result, options)
    if options.get("method") == "exhaustive" and result.status == "COMPLETE":
        report.claim(
            "exhaustive search finds the best",
            result.value >= truth.best - truth.explained(EXACT, truth.best_set, _key(result)),
            f"{words}: {result.value:.9g}, but f{truth.best_set} = {truth.best:.9g}",
        )
    guarantee = report.attempt("guarantee", lambda: result.guarantee)
    if guarantee is not None and not guarantee.in_expectation and truth.instance.objective.monotone:
        report.claim(
            "guarantee",
            guarantee.ratio * truth.best
            <= result.value + truth.explained(1e-8, truth.best_set, _key(result)),
            f"{words}: {guarantee!r}, but {result.value:.9g} of {truth.best:.9g} {truth.best_set}",
        )
    return result


def check_record(truth: Truth, result: sw.SearchResult, words: str) -> None:
    """Check that the moves on record lead to the answer, and that values fall only where that is said."""
    events, value = result.history, -np.inf
    for before, event in pairwise(events):
        after = Move(event.added, event.dropped).result(before.support)
        truth.report.claim("moves follow each other", after.tolist() == event.support.tolist(), words)
    for event in events:
        rises = event.value >= value - truth.explained(1e-8, _key(result))
        may_fall = "perturbation", "restart", *([] if truth.instance.objective.monotone else ["completion"])
        truth.report.claim("values rise", rises or event.strategy in may_fall, words)
        value = event.value
    if events:
        ends = events[-1].support.tolist() == result.support.tolist()
        truth.report.claim("the last move leads to the answer", ends, words)


def check_answer(truth: Truth, result: sw.SearchResult, words: str) -> bool:
    """Check that an answer is independent and worth what it says."""
    report, chosen = truth.report, _key(result)
    if not report.claim("answer is independent", chosen in truth.values, f"{words}: {chosen}"):
        return False
    report.claim("answer meets the lower limits", chosen in truth.answers, f"{words}: {chosen}")
    filled, rest = result.filled.tolist(), tuple(e for e in chosen if e not in result.filled)
    idle = truth.values.get(rest, np.inf) >= result.value - truth.explained(1e-8, chosen, rest)
    report.claim("what is filled in is worth nothing", not filled or idle, f"{words}: {filled} of {chosen}")
    report.claim("time limit", result.seconds <= LIMIT + LATE, f"{words}: {result.seconds:.1f} s")
    report.claim("nothing interrupts a search", result.status != "INTERRUPTED", words)
    report.claim(
        "value is that of the answer",
        abs(result.value - truth.values[chosen]) <= EXACT * truth.scale,
        f"{words}: {result.value:.12g}, but f{chosen} = {truth.values[chosen]:.12g}",
    )
    if result.coef is not None and isinstance(truth.f, sw.SparseObjective):
        outside = np.delete(result.coef, rows_of(truth.f, np.array(chosen, dtype=np.intp)), axis=0)
        report.claim("coefficients are on the answer", not outside.any(), f"{words}: {result.coef}")
        at, tolerance = truth.f.value_at(result.coef), truth.explained(1e-7, chosen)
        report.claim(
            "value of the coefficients",
            abs(at - result.value) <= tolerance,
            f"{words}: value_at(coef) = {at:.9g}, value {result.value:.9g} of {chosen}",
        )
    return True


def check_local_optimum(truth: Truth, result: sw.SearchResult, options: dict[str, Any]) -> None:
    """Check that no move of the neighbourhood improves the answer by f's own value."""
    if options.get("epsilon") is not None:
        return
    chosen = _key(result)
    near = neighbours(truth.constraint, truth.values, chosen, options.get("q", 1))
    best = max(near, key=lambda s: truth.values[s], default=chosen)
    both = tuple(sorted({*chosen, *best}))
    base = max(LEFT_BEHIND[truth.instance.objective.dtype], truth.instance.objective.fitted_to)
    truth.report.claim(
        "local optimum",
        truth.values[best] <= result.value + truth.explained(base, best, chosen, both),
        f"maximize({options}): {result.value:.9g} at {chosen}, but f{best} = {truth.values[best]:.9g}",
    )


def check_exact(truth: Truth, result: sw.SearchResult) -> None:
    """Check the answer of exact, its status and its certificate."""
    if not check_answer(truth, result, "exact"):
        return
    truth.report.claim("status of exact is documented", str(result.status) in STATUSES, f"{result.status}")
    truth.report.claim(
        "exact says OPTIMAL of proofs only",
        (result.status == "OPTIMAL") <= result.certificate.optimal,
        f"{result.status}, but {result.certificate!r}",
    )
    check_certificate(truth, result.certificate, "exact")


def check_certificate(truth: Truth, certificate: sw.Certificate, words: str) -> None:
    """Check a bound and what is said to be optimal, by f's own values and by other arithmetic."""
    report, values = truth.report, truth.values
    said = f"{words} says {certificate!r}"
    report.claim("time limit", certificate.seconds <= LIMIT + LATE, f"{words}: {certificate.seconds:.1f} s")
    report.claim(
        "no set exceeds the bound",
        certificate.upper_bound >= truth.best - EXACT * truth.scale,
        f"{said}, but f{truth.best_set} = {truth.best:.9g}",
    )
    if certificate.better is not None:
        better = tuple(certificate.better.tolist())
        agrees = better in truth.answers
        agrees = agrees and abs(values[better] - certificate.better_value) <= EXACT * truth.scale
        report.claim("the better set is one", agrees, f"{said}: {better}")
    if certificate.optimal:
        report.claim(
            "what is proven optimal is",
            certificate.value >= truth.best - 2 * EXACT * truth.scale,
            f"{said}, but f{truth.best_set} = {truth.best:.9g}",
        )
        if not certificate.doubt:
            check_by_other_arithmetic(truth, certificate, said)


def check_by_other_arithmetic(truth: Truth, certificate: sw.Certificate, said: str) -> None:
    """Check that no set is better than what is proven optimal, by both readings of the columns."""
    objective = truth.instance.objective
    if objective.regression is None:
        return
    data, sets = objective.regression, list(truth.values)
    spanned = spanned_within(objective.dtype, max(len(data.columns_of(chosen)) for chosen in sets))
    readings = {"long doubles": data.values(sets, data.precision, 0.0 if data.precision else spanned)}
    if data.precision > 0:
        readings["long doubles, columns at their word"] = data.values(sets, 0.0, spanned)
    for name, others in readings.items():
        best = int(np.argmax(others))
        truth.report.claim(
            f"what is proven optimal is, by {name}",
            certificate.value >= others[best] - AGREE * truth.scale,
            f"{said} without a doubt, but {sets[best]} has {others[best]:.9g}",
        )


def _key(answer: Answer) -> Set:
    return tuple(int(element) for element in answer.support)
