"""``python -m benchmarks.oracles``: random oracles, matroids and not: is what is said of them true?

Families on 6 to 10 elements are enumerated, and compared with what every method, guarantee, certificate and
exact solution says under ``OracleMatroid`` and ``OracleSystem``; then how many families that are not matroids
are refused where there are too many sets to verify, at construction and by the end of a search.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw

Random = np.random.Generator
Set = frozenset[int]
Rule = Callable[[Set], bool]

METHODS = ("oblivious", "greedy", "modular", "exhaustive", "semi-oblivious", "non-oblivious")


def matroid(random: Random, n: int) -> Rule:
    """Return a matroid of any family, as a rule."""
    labels = random.integers(0, 3, n)
    edges = [tuple(map(int, random.permutation(5)[:2])) for _ in range(n)]
    slots = [np.flatnonzero(random.random(n) < 0.4).tolist() for _ in range(3)]
    known: list[sw.Matroid] = [
        sw.Uniform(n, int(random.integers(1, n))),
        sw.Partition(labels, int(random.integers(1, 3))),
        sw.Partition(labels, 2).truncate(3),
        sw.Graphic(edges),
        sw.Transversal(n, slots),
        sw.LinearMatroid(random.integers(-1, 2, (3, n)).astype(float)),
    ]
    chosen = known[random.integers(len(known))]
    return lambda s: chosen.is_independent(s)


def budget(random: Random, n: int) -> Rule:
    """Return prices and what may be spent."""
    price = random.integers(1, 8, n)
    most = int(random.integers(4, max(5, price.sum() // 2)))
    return lambda s: sum(price[e] for e in s) <= most


def one_group(random: Random, n: int) -> Rule:
    """Return "elements of one group only"."""
    label, most = np.arange(n) % random.integers(2, 4), int(random.integers(2, 5))
    return lambda s: len({label[e] for e in s}) <= 1 and len(s) <= most


def conflicts(random: Random, n: int) -> Rule:
    """Return pairs that exclude each other."""
    pairs = [set(random.permutation(n)[:2].tolist()) for _ in range(random.integers(2, n))]
    most = int(random.integers(2, n))
    return lambda s: len(s) <= most and not any(pair <= s for pair in pairs)


def subsets_of_some(random: Random, n: int) -> Rule:
    """Return the subsets of a few random sets."""
    facets = [frozenset(random.permutation(n)[: random.integers(2, 6)].tolist()) for _ in range(n)]
    return lambda s: not s or any(s <= facet for facet in facets)


def with_main_effect(random: Random, n: int) -> Rule:
    """Return "an interaction only with its main effect": not downward closed."""
    main = {e: int(random.integers(n // 2)) for e in range(n // 2, n)}
    most = int(random.integers(2, n))
    return lambda s: len(s) <= most and all(main[e] in s for e in s if e in main)


def not_closed(random: Random, n: int) -> Rule:
    """Return a matroid and a few sets that have no business there."""
    rule = matroid(random, n)
    stray = {frozenset(random.permutation(n)[: random.integers(2, n)].tolist()) for _ in range(2)}
    return lambda s: rule(s) or s in stray


FAMILIES = (matroid, budget, one_group, conflicts, subsets_of_some, with_main_effect, not_closed)


@dataclass
class Counts:
    """What became of the families of one kind."""

    kinds: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    verification: float = 0.0
    search: float = 0.0
    proof: float = 0.0


def as_oracle(rule: Rule) -> Callable[[np.ndarray], bool]:
    """Return a rule as the function that oracles take."""
    return lambda support: bool(rule(frozenset(support.tolist())))


def kind_of(n: int, rule: Rule) -> str:
    """Return "matroid", "closed" or "other", by all pairs of sets."""
    allowed = {s for size in range(n + 1) for s in map(frozenset, combinations(range(n), size)) if rule(s)}
    if not all(s - {e} in allowed for s in allowed for e in s):
        return "other"
    addable = {s: {e for e in range(n) if e not in s and s | {e} in allowed} for s in allowed}
    matroidal = all(len(t) != len(s) + 1 or addable[s] & (t - s) for s in allowed for t in allowed)
    return "matroid" if matroidal else "closed"


def objective_of(random: Random, n: int) -> sw.SetFunction:
    """Return a random regression or coverage."""
    if random.random() < 0.5:
        return sw.Coverage([set(random.integers(0, 10, 3).tolist()) for _ in range(n)])
    X = random.standard_normal((15, n)) + random.choice([0.0, 1.0]) * random.standard_normal((15, 1))
    return sw.LeastSquares(X, random.standard_normal(15), ridge=float(random.choice([0.0, 0.1])))


def check(objective: sw.SetFunction, system: sw.Constraint, best: float, counts: Counts) -> None:
    """Run everything under a constraint, and note what contradicts the best value by enumeration."""
    slack = 1e-9 * max(1.0, abs(best))
    sparse = isinstance(objective, sw.SparseObjective)
    for method in METHODS if sparse else METHODS[:4]:
        since = perf_counter()
        result = sw.maximize(objective, system, method, start="empty")
        counts.search += perf_counter() - since if method == "oblivious" else 0.0
        promise = result.guarantee
        if promise is not None and result.value < promise.ratio * best - slack:
            counts.violations.append(f"{system}, {method}: {promise}, {result.value} of {best}")
        if system.p is None and method != "exhaustive" and not (promise is None or promise.vacuous):
            counts.violations.append(f"{system}, {method}: a theorem without a reason")
    since = perf_counter()
    for bound in (
        sw.certify(objective, system, result).upper_bound,
        sw.certify(objective, system, []).upper_bound,
    ):
        if bound < best - slack:
            counts.violations.append(f"{system}: bound {bound} below {best}")
    exact = sw.exact(objective, system)
    counts.proof += perf_counter() - since
    if exact.status is sw.Status.OPTIMAL and exact.value < best - slack:
        counts.violations.append(f"{system}: OPTIMAL {exact.value} of {best}")
    counts.kinds["proven"] += exact.status is sw.Status.OPTIMAL


def small(count: int, seed: int = 0) -> dict[str, Counts]:
    """Draw families on 6 to 10 elements, and check all that is said of them."""
    found: dict[str, Counts] = {family.__name__: Counts() for family in FAMILIES}
    for number in range(count):
        random = np.random.default_rng([seed, number])
        family, n = FAMILIES[number % len(FAMILIES)], int(random.integers(6, 11))
        rule, counts = family(random, n), found[family.__name__]
        kind, objective = kind_of(n, rule), objective_of(random, n)
        counts.kinds[kind] += 1
        for builder in (sw.OracleMatroid, sw.OracleSystem):
            since = perf_counter()
            try:
                system = builder(n, as_oracle(rule))
            except ValueError:
                counts.kinds[f"{builder.__name__} refused"] += 1
                if kind == "matroid" or (kind == "closed" and builder is sw.OracleSystem):
                    counts.violations.append(f"{family.__name__} {number}: {kind} refused")
                continue
            counts.verification += perf_counter() - since
            counts.kinds[f"{builder.__name__} served"] += 1
            sets = (np.array(s, dtype=int) for k in range(n + 1) for s in combinations(range(n), k))
            best = max(objective(s) for s in sets if rule(frozenset(s.tolist())))
            check(objective, system, best, counts)
    return found


def detection(n: int, family: Callable[[Random, int], Rule], count: int) -> tuple[float, float, float]:
    """Return the shares refused at construction and by the end of a search, and seconds to construct."""
    at_once, by_search, seconds = 0, 0, 0.0
    for number in range(count):
        random = np.random.default_rng([1, number, n])
        rule = family(random, n)
        objective = sw.LeastSquares(random.standard_normal((50, n)), random.standard_normal(50))
        since = perf_counter()
        try:
            system = sw.OracleMatroid(n, as_oracle(rule))
        except ValueError:
            at_once += 1
            continue
        finally:
            seconds += perf_counter() - since
        try:
            sw.maximize(objective, system)
        except ValueError:
            by_search += 1
    return at_once / count, (at_once + by_search) / count, seconds / count


def small_table(count: int) -> tuple[Table, list[str]]:
    """Show what became of the small families."""
    title = f"{count} families on 6 to 10 elements"
    columns = [
        "family",
        "matroids",
        "closed",
        "other",
        "refused as matroid",
        "as system",
        "served as matroid",
    ]
    columns += ["as system", "proven", "violations", "verification / search", "verification / proof"]
    table = Table(*columns, title=title)
    violations: list[str] = []
    for name, counts in small(count).items():
        k = counts.kinds
        kinds = [k["matroid"], k["closed"], k["other"], k["OracleMatroid refused"], k["OracleSystem refused"]]
        kinds += [k["OracleMatroid served"], k["OracleSystem served"], k["proven"], len(counts.violations)]
        ratios = [f"{counts.verification / max(spent, 1e-9):.2f}" for spent in (counts.search, counts.proof)]
        table.add_row(name, *map(str, kinds), *ratios)
        violations += counts.violations
    return table, violations


def detection_table(count: int) -> Table:
    """Show how many families that are not matroids are refused where there are too many sets to verify."""
    table = Table(
        "family", *(f"n = {n}" for n in (13, 25, 40, 60)), title="Refused at once, after a search, ms"
    )
    for family in FAMILIES[1:]:
        cells = []
        for n in (13, 25, 40, 60):
            once, search, seconds = detection(n, family, count)
            cells.append(f"{once:.0%}, {search:.0%}, {1000 * seconds:.0f}")
        table.add_row(family.__name__, *cells)
    return table


def main() -> None:
    """Print both tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="families on 6 to 10 elements")
    parser.add_argument(
        "--large", type=int, default=20, help="families per kind and size on 13 to 60 elements"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # random regressions are collinear now and then
    console = Console(width=160)
    table, violations = small_table(options.count)
    console.print(table)
    console.print(f"{len(violations)} violations")
    for violation in violations[:20]:
        console.print(violation)
    console.print(detection_table(options.large))


if __name__ == "__main__":
    main()
