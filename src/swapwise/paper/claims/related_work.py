"""The claims on related work: judged on rows, and on small examples that are run at once.

Theorems are not measured; answers are, wherever there is something to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import exp

import numpy as np
import pandas as pd

from swapwise.checks import IndexArray
from swapwise.constraints.base import Constraint
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.graphic import Graphic
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.partition import Partition
from swapwise.constraints.uniform import Uniform
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.maximize import maximize
from swapwise.objectives.coverage import Coverage
from swapwise.paper.claims.introduction import independent_columns
from swapwise.paper.claims.record import Claim, Outcome
from swapwise.paper.comparisons import (
    NON,
    OBLIVIOUS,
    SETTINGS,
    Missing,
    best_known_share,
    listed,
    require_methods,
    short,
    sizes,
    span,
    trials,
)
from swapwise.paper.graph_baselines import GRAPH_BASELINES
from swapwise.paper.graph_baselines.procedure import true_width
from swapwise.paper.instances import IsingInstance, paper_ising
from swapwise.paper.measure import one_core
from swapwise.paper.settings import IsingSetting

# The numbers of small examples, and of graphs to be recovered from so many samples.
EXAMPLES, GRAPHS, SAMPLES = 30, 3, 1000
# Values closer than this are the same.
SAME = 1e-9
RELATED = "Related work"


def cannot_be_run(rows: pd.DataFrame) -> Outcome:
    measured = "Nothing is run: that framework is not part of this library"
    return Outcome(None, measured, "What is said of theorems alone is not measured.")


def share_of_optimum(
    method: str,
    options: dict[str, object],
    families: Sequence[str],
    ratio: float,
    rows: pd.DataFrame,
    doubt: str = "one could refute it",
) -> Outcome:
    require_methods(rows[rows["value"] > 0], [method])
    texts, worst = [], 1.0
    for family in families:
        shares = _shares(method, tuple(options.items()), family)
        worst = min(worst, *shares)
        texts.append(f"{family}: at least {min(shares):.3f}, {np.mean(shares):.3f} on average")
    options_text = "".join(f", {name} {value}" for name, value in options.items())
    measured = (
        f"{method}{options_text}, on {EXAMPLES} random coverage problems with 8 sets each, as a share of the "
        f"optimum. {'; '.join(texts)}"
    )
    remark = f"The bar: {ratio:.3f} on every one of them. Examples do not prove a theorem; {doubt}."
    return Outcome(worst >= ratio - SAME, measured, remark)


MATROIDS = ("partition matroid", "graphic matroid")
# An intersection of partition matroids is a p-exchange system as well, whose moves are others.
SYSTEMS = ("two partition matroids, by the moves of [LSV10]", "b-matching, by the moves of [FNSW11]")
SMALL_Q = "with q = 1 it gives 1/(p + 1) = 0.333, and more with a larger q, so that the bar is higher than it"
_FAMILIES: dict[str, Callable[[], Constraint]] = {
    "cardinality": lambda: Uniform(8, 3),
    "partition matroid": lambda: Partition([0, 0, 0, 1, 1, 1, 2, 2], 1),
    "graphic matroid": lambda: Graphic([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]),
    SYSTEMS[0]: lambda: Intersection(
        Partition([0, 0, 0, 1, 1, 1, 2, 2], 1),
        Partition([0, 1, 2, 0, 1, 2, 0, 1], 1),
        neighbourhood="matroid",
    ),
    SYSTEMS[1]: lambda: BMatching([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)], 1),
}


@cache
def _shares(method: str, options: tuple[tuple[str, object], ...], family: str) -> list[float]:
    constraint, shares = _FAMILIES[family](), []
    with one_core():
        for seed in range(EXAMPLES):
            rng = np.random.default_rng(seed)
            f = Coverage([rng.choice(10, rng.integers(1, 5), replace=False).tolist() for _ in range(8)])
            best = maximize(f, constraint, "exhaustive").value
            shares.append(maximize(f, constraint, method, **dict(options)).value / best)  # type: ignore[arg-type]
    return shares


def incomparable(rows: pd.DataFrame) -> Outcome:
    texts = []
    for setting in SETTINGS:
        table = _on_common_instances(rows, setting, "value", [OBLIVIOUS, NON, "frank-wolfe"])
        for method in (OBLIVIOUS, NON):
            lead = table[method] / table["frank-wolfe"] - 1
            texts.append(
                f"{setting}: {method} is ahead on {(lead > SAME).sum()} of {len(lead)} instances, behind on "
                f"{(lead < -SAME).sum()} (on average {lead.mean():+.2%})"
            )
    remark = (
        "The words are about theorems, which is not measured: Frank–Wolfe's is on a continuous problem over "
        "the convex hull of the atoms, the paper's on sets. What is counted are the answers."
    )
    return Outcome(None, "; ".join(texts), remark)


def similar(rows: pd.DataFrame) -> Outcome:
    others = ["cosamp", "grasp"]
    texts, fewer = [], []
    for setting in SETTINGS:
        counts = _on_common_instances(rows, setting, "n_evaluations", [OBLIVIOUS, NON, *others]).mean()
        shares = _on_common_instances(
            rows.assign(share=best_known_share(rows)), setting, "share", [NON, *others]
        ).mean()
        fewer += [counts[method] < counts[OBLIVIOUS] for method in (NON, *others)]
        texts.append(
            f"{setting}: values of f in a run "
            + ", ".join(f"{name} {short(x)}" for name, x in counts.items())
            + "; share of the best found "
            + ", ".join(f"{name} {x:.3f}" for name, x in shares.items())
        )
    remark = (
        "Similar: gradients choose, so that they compute fewer values of f than the oblivious search in "
        "every setting. That the answers are alike is not said."
    )
    return Outcome(all(fewer), ". ".join(texts), remark)


def under_matroids(rows: pd.DataFrame) -> Outcome:
    is_mine = (rows["method"] == "clash") & rows["setting"].str.startswith("regression")
    runs = rows[is_mine & (rows["value"] > 0)]
    if runs.empty:
        raise Missing("rows of clash in the regression experiment")
    shares = _clash_under_matroids()
    known = best_known_share(rows)[runs.index]
    measured = (
        f"clash has {len(runs)} rows under a partition matroid ({listed(list(runs['setting'].unique()))}, "
        f"{trials(runs)}), with {known.mean():.3f} of the best found on average; small examples, as "
        f"shares of the optimum: {', '.join(f'{name} {share:.3f}' for name, share in shares.items())}"
    )
    remark = "Here it runs under every constraint that has a projection, b-matching among them."
    return Outcome(all(share > 0 for share in shares.values()), measured, remark)


@cache
def _clash_under_matroids() -> dict[str, float]:
    f = independent_columns()
    matroids: dict[str, Constraint] = {
        "partition": Partition([0, 0, 1, 1, 2, 2], 1),
        "laminar": Laminar(6, [([0, 1, 2], 1), (range(6), 2)]),
        "graphic": Graphic([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
    }
    with one_core():
        return {
            name: maximize(f, constraint, "clash").value / maximize(f, constraint, "exhaustive").value
            for name, constraint in matroids.items()
        }


def different_goals(rows: pd.DataFrame) -> Outcome:
    texts, differ = [], 0
    for name, setting in SETTINGS.items():
        if not isinstance(setting, IsingSetting):
            continue
        mine = rows[(rows["setting"] == name) & (rows["size"] == setting.degree)].dropna(subset=["quality"])
        if mine.empty:
            raise Missing(f"quality in {name} at {sizes(name, [setting.degree])}")
        best = mine.groupby(["seed", "trial"], dropna=False)["quality"].max()
        differ += int((best > 1 + SAME).sum())
        texts.append(
            f"{name}, {sizes(name, [setting.degree])}, {span([len(best)], 'trial')}: the best graph found "
            f"has a higher likelihood than the true one in {(best > 1 + SAME).sum()}, {best.mean() - 1:+.1%} "
            "on average"
        )
    remark = (
        "Guarantees are theorems, which is not measured. What is: the true graph is allowed, and yet not the "
        "best, so that a method that recovers it has a ratio below 1, and one of ratio 1 does not recover it."
    )
    return Outcome(differ > 0, "; ".join(texts), remark)


def recovers(methods: Sequence[str], rows: pd.DataFrame) -> Outcome:
    require_methods(rows[rows["value"] > 0], methods)
    texts, found_all = [], []
    for method in methods:
        hits = _edges_found(method)
        found_all.append(all(found == wanted for found, wanted in hits))
        shares = rows.assign(share=best_known_share(rows))
        shares = shares[(shares["method"] == method) & shares["setting"].str.startswith("ising")]
        few = ", ".join(f"{x:.3f} in {name}" for name, x in shares.groupby("setting")["share"].mean().items())
        texts.append(
            f"{method} finds {listed([f'{found} of {wanted}' for found, wanted in hits])} edges"
            + (f"; from the paper's 100 samples a share of the best value of {few}" if few else "")
        )
    measured = (
        f"{span([GRAPHS], 'graph')} of 8 vertices of degree 3 with couplings ±0.5, {SAMPLES} samples each, "
        f"under the true limit of 3 edges per vertex. {'. '.join(texts)}"
    )
    remark = (
        "That there is a theorem is not measured. What is: with many samples all true edges are found; the "
        "limit leaves no room for others."
    )
    return Outcome(all(found_all), measured, remark)


@cache
def _edges_found(method: str) -> list[tuple[int, int]]:
    """Return the numbers of true edges that a method finds, and of true edges, for each graph."""
    constraint = BMatching.complete(8, 3)
    with one_core():
        found = [(instance, _graph(method, instance, constraint)) for instance in _graphs()]
    return [(len(np.intersect1d(edges, x.edges)), len(x.edges)) for x, edges in found]


def _graph(method: str, instance: IsingInstance, constraint: BMatching) -> IndexArray:
    if method in GRAPH_BASELINES:
        return GRAPH_BASELINES[method].edges(instance.spins, constraint, true_width(instance))
    return maximize(IsingPseudoLikelihood(instance.spins), constraint, method).support


@cache
def _graphs() -> list[IsingInstance]:
    return [
        paper_ising(8, 3, n_samples=SAMPLES, random_state=seed, burn_in=1000, thin=20)
        for seed in range(GRAPHS)
    ]


def _on_common_instances(
    rows: pd.DataFrame, setting: str, column: str, methods: Sequence[str]
) -> pd.DataFrame:
    """Return a column of each method, a row per instance that all of them have."""
    mine = rows[(rows["setting"] == setting) & rows["method"].isin(methods) & (rows[column] > 0)]
    require_methods(mine, methods, f"{column} of {{}} in {setting}")
    mine = mine.fillna({"seed": 0})
    table = mine.pivot_table(column, ["size", "seed", "trial"], "method").dropna()
    if table.empty:
        raise Missing(f"an instance of {setting} with {column} of all of {listed(methods)}")
    return table[list(methods)]


CLAIMS = (
    Claim(
        f"{RELATED}, submodular maximization",
        "[NWF78] proposed a 1/2-approximation local search procedure for a cardinality constraint, which "
        "they call an interchange heuristic. [FNW78] generalized this result to a single matroid constraint.",
        partial(share_of_optimum, OBLIVIOUS, {"start": "arbitrary"}, ("cardinality", *MATROIDS), 0.5),
        False,
    ),
    Claim(
        f"{RELATED}, submodular maximization",
        "For a p-matroid intersection constraint, [LSV10] proposed a (1/p − ε)-approximation local search "
        "algorithm. [FNSW11] proposed a novel class of constraints called p-exchange systems and devised a "
        "(1/p − ε)-approximation local search algorithm.",
        # With q = 2, every set of examples as small is one move away.
        partial(share_of_optimum, OBLIVIOUS, {"q": 1}, SYSTEMS, 0.5, doubt=SMALL_Q),
        False,
    ),
    Claim(
        f"{RELATED}, submodular maximization",
        "[FW14] devised a (1 − 1/e)-approximation local search algorithm for a matroid constraint.",
        partial(share_of_optimum, "filmus-ward", {}, MATROIDS, 1 - exp(-1)),
        False,
    ),
    Claim(
        f"{RELATED}, sparse optimization",
        "[Sakaue19] considered sparse optimization with a constraint expressed by a monotone set function "
        "..., but their framework cannot deal with matroid constraints and p-exchange system constraints.",
        cannot_be_run,
        False,
    ),
    Claim(
        f"{RELATED}, sparse optimization",
        "the pairwise Frank-Wolfe algorithm incorporates the technique of moving weight between two atoms at "
        "each iteration, which is similar to our local search procedures, but their guarantees are "
        "incomparable to ours",
        incomparable,
    ),
    Claim(
        f"{RELATED}, sparse recovery",
        "sparse recovery guarantees, which cannot be compared directly with our guarantees on approximation "
        "ratios",
        different_goals,
        False,
    ),
    Claim(
        f"{RELATED}, sparse recovery",
        "In the context of compressed sensing, several algorithms similar to our non-oblivious local search "
        "algorithms have been developed [NT10, BRB13].",
        similar,
    ),
    Claim(
        f"{RELATED}, sparse recovery",
        "[KC12] and [BLSGB16] developed frameworks that can be applied to a matroid constraint.",
        under_matroids,
        False,
    ),
    Claim(
        f"{RELATED}, sparse recovery",
        "For structure learning of graphical models, [JJR11] provided sparse recovery guarantees for the "
        "forward-backward greedy algorithm",
        partial(recovers, ["foba"]),
        False,
    ),
    Claim(
        f"{RELATED}, sparse recovery",
        "Recently, algorithms with recovery guarantees under weaker assumptions have been developed "
        "[Bresler15, KM17, WSD19].",
        partial(recovers, ["bresler", "sparsitron", "l1-constrained-logistic"]),
        False,
    ),
)
