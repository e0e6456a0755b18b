"""The claims of the abstract, the introduction and Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd

from swapwise.constraints.bmatching import BMatching
from swapwise.maximize import maximize
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.paper.claims.record import Claim, Outcome
from swapwise.paper.comparisons import (
    ACCELERATED,
    DECLARED,
    OBLIVIOUS,
    RESIDUAL,
    SETTINGS,
    Comparison,
    Missing,
    alone,
    best_known_share,
    gaps,
    listed,
    require_methods,
    short,
    sizes,
    trials,
)
from swapwise.paper.grid import BEYOND
from swapwise.paper.measure import one_core
from swapwise.paper.procedures import LOCAL_SEARCHES
from swapwise.search.methods import METHODS
from swapwise.search.result import Status
from swapwise.theory.constants import restricted_constants
from swapwise.theory.guarantees import guarantee

GOOD = "Good: at least 1/2 of the optimum on every instance, as local search has for submodular functions"


def efficient(methods: Sequence[str], rows: pd.DataFrame) -> Outcome:
    runs = rows[rows["method"].isin(methods)].dropna(subset=["status"])
    timed = alone(runs).dropna(subset=["seconds"])
    for experiment, method in product(("regression", "ising"), methods):
        missing = f"seconds of {{}} in the {experiment} experiment, with nothing beside it"
        require_methods(timed[timed["setting"].str.startswith(experiment)], [method], missing)
    at_optimum = runs["status"] == Status.LOCAL_OPTIMUM
    slowest = timed.loc[timed["seconds"].idxmax()]
    measured = (
        f"{at_optimum.sum()} of {len(runs)} runs of {listed(methods)} ended at a local optimum, in "
        f"{listed(list(runs['setting'].unique()))}; of the {len(timed)} that were timed with nothing beside "
        f"them the slowest took {short(slowest['seconds'])} s ({slowest['method']}, {slowest['setting']}, "
        f"{sizes(slowest['setting'], [slowest['size']])}), the median {short(timed['seconds'].median())} s"
    )
    holds = bool(at_optimum.all() and slowest["seconds"] <= 1)
    remark = (
        "Efficient: every run ends at a local optimum, and none that is timed takes more than a second. The "
        "paper does not say after how many moves it stops a search; here none is stopped."
    )
    untimed = gaps(timed, [(name, x) for name in SETTINGS if SETTINGS[name].timed for x in methods])
    return Outcome(
        holds,
        measured,
        remark + _without("rows", gaps(runs, product(SETTINGS, methods))) + _without("seconds", untimed),
    )


def _without(what: str, gone: str) -> str:
    return f" There are no {what} of {gone}." if gone else ""


def local_optima(rows: pd.DataFrame) -> Outcome:
    known = rows.assign(share=best_known_share(rows)).dropna(subset=["share"])
    kinds = [f"{OBLIVIOUS}{start}" for start in ("", " from greedy", " from modular")]
    found = known[known["method"].isin(kinds) & (known["status"] == Status.LOCAL_OPTIMUM)]
    require_methods(found, kinds, "local optimum of {}")
    worst = found.loc[found["share"].idxmin()]
    measured = (
        f"{len(found)} local optima ({listed(kinds)}, in {listed(list(found['setting'].unique()))}; "
        f"{trials(found)}): the worst has {worst['share']:.3f} of the best value known for its instance "
        f"({worst['setting']}, {sizes(worst['setting'], [worst['size']])}); mean {found['share'].mean():.4f}"
    )
    remark = f"{GOOD}, here of the best value that any method found; the optimum may be higher."
    gone = gaps(found, [kind for kind in DECLARED if kind[1] in kinds])
    return Outcome(bool(worst["share"] >= 0.5), measured, remark + _without("local optima", gone))


def proofs(rows: pd.DataFrame) -> Outcome:
    proven = rows[rows["part"] == "certificates"].dropna(subset=["proven"])
    if proven.empty:
        raise Missing("certificates")
    texts = []
    for (setting, method), some in proven.groupby(["setting", "method"], sort=False):
        promised = some["promised"].dropna()
        promise = f"{short(promised.mean())} on average" if promised.max() > 0 else "nothing"
        texts.append(
            f"{setting}, {method} ({sizes(setting, some['size'])}, {trials(some)}): proven at least "
            f"{some['proven'].min():.3f}, {some['proven'].mean():.3f} on average; guaranteed {promise}"
        )
    kinds = [(x.setting.name, x.procedure.name) for x in BEYOND if x.procedure.part == "certificates"]
    remark = f"{GOOD}, and proven. What the theorem guarantees by itself is in the figures."
    remark += _without("certificates", gaps(proven, kinds))
    if proven["proven"].min() >= 0.5:
        return Outcome(True, ". ".join(texts), remark)
    return Outcome(None, ". ".join(texts), f"{remark} What is not proven may be true all the same.")


def guaranteed_without_matroid(rows: pd.DataFrame) -> Outcome:
    require_methods(rows[rows["value"] > 0], [OBLIVIOUS, "greedy"])
    guaranteed, refused = _guaranteed_under_b_matching()
    some = {name: ratio for name, ratio in guaranteed.items() if ratio > 0}
    greedy = [name for name in ("greedy", "omp", "foba") if name in some]
    measured = (
        "A small regression under a b-matching constraint. There is a guarantee for "
        f"{listed([f'{name} ({ratio:.2g})' for name, ratio in some.items()])}; nothing for "
        f"{listed([name for name in guaranteed if name not in some])}; not to be run there: {listed(refused)}"
    )
    remark = "N/A: no greedy method has a guarantee, or it cannot be run there."
    return Outcome(not greedy and "random-residual-greedy" in refused, measured, remark)


@cache
def _guaranteed_under_b_matching() -> tuple[dict[str, float], list[str]]:
    """Return the ratios of the methods that run in a small example, and the names of the others."""
    f, matching = independent_columns(), BMatching.complete(4, 1)
    constants = restricted_constants(f, matching.max_size(), matching.exchange_size(1))
    runs = [name for name in METHODS if METHODS[name]().missing(f, matching) is None and name != "exhaustive"]
    guaranteed = {name: guarantee(name, matching, constants).ratio for name in (OBLIVIOUS, *runs)}
    return guaranteed, [name for name in METHODS if name not in (*runs, "exhaustive")]


def independent_columns() -> LeastSquares:
    """Return a regression on six nearly orthogonal columns: the theorems guarantee something there."""
    X = np.random.default_rng(0).standard_normal((60, 6))
    return LeastSquares(X, X @ np.arange(1.0, 7.0))


def evaluations(rows: pd.DataFrame) -> Outcome:
    absent = gaps(rows.dropna(subset=["n_evaluations"]), product(SETTINGS, LOCAL_SEARCHES))
    if absent:
        raise Missing(f"n_evaluations of {absent}")
    texts, fewer = [], []
    for setting in SETTINGS:
        comparison = Comparison.of(rows, setting, "n_evaluations", LOCAL_SEARCHES)
        means = comparison.figures.mean()
        fewer += [means[method] < means[OBLIVIOUS] for method in ACCELERATED]
        counts = ", ".join(f"{method} {short(means[method])}" for method in LOCAL_SEARCHES)
        texts.append(f"{setting} ({comparison.extent}): {counts}")
    remark = (
        "Accelerated: fewer values of f in every setting, whatever a value costs; seconds are in the Results."
    )
    return Outcome(all(fewer), "; ".join(texts), remark)


def broader(rows: pd.DataFrame) -> Outcome:
    runs = rows[rows["setting"].str.startswith("ising")].dropna(subset=["value", "status"])
    require_methods(runs, LOCAL_SEARCHES, "rows of {} in the ising experiment")
    runs = runs[runs["method"].isin(LOCAL_SEARCHES)]
    f, matching = LeastSquares(np.eye(6), np.arange(1.0, 7.0)), BMatching.complete(4, 1)
    with one_core():
        found = [maximize(f, matching, method, start="empty") for method in LOCAL_SEARCHES]
        ended = [result.status == Status.LOCAL_OPTIMUM for result in found]
        try:
            maximize(f, matching, RESIDUAL)
            refusal = ""
        except TypeError as error:
            refusal = str(error)
    measured = (
        f"{sum(ended)} of 3 local searches work under a b-matching constraint, which is not a matroid "
        f"({len(runs)} rows of this run, and a small example); {RESIDUAL} "
        + (f"refuses it: “{refusal}”" if refusal else "works there too")
    )
    refusing = [name for name in METHODS if METHODS[name]().missing(f, matching) is not None]
    others = [name for name in METHODS if name not in (*refusing, "exhaustive")]
    remark = (
        f"{listed(others).capitalize()}, too, work there, most of them without a guarantee; "
        f"{listed(refusing)} do not."
    )
    return Outcome(all(ended) and bool(refusal), measured, remark)


CLAIMS = (
    Claim(
        "Abstract",
        "to confirm the practical efficiency of the proposed local search algorithms",
        partial(efficient, LOCAL_SEARCHES),
    ),
    Claim(
        "Introduction",
        "localizability is a property that implies any local optimum is a good approximation to a global "
        "optimal solution",
        local_optima,
    ),
    Claim("Introduction", "simple local search algorithms achieve a good approximation", proofs, False),
    Claim(
        "Table 1",
        "p-Matroid intersection or p-Exchange systems: Greedy-based: N/A",
        guaranteed_without_matroid,
        False,
    ),
    Claim("Introduction", "accelerated variants of our proposed local search algorithms", evaluations),
    Claim(
        "Introduction",
        "An advantage of our approach over existing methods is its applicability to a broader class of "
        "combinatorial constraints.",
        broader,
        False,
    ),
    Claim(
        "Introduction",
        "to confirm the practical efficiency of our accelerated local search algorithms",
        partial(efficient, ACCELERATED),
    ),
)
