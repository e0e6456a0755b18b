"""The checks behind the claims: each looks at tidy rows and says what was found; a claim fixes all else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from swapwise.constraints.bmatching import BMatching
from swapwise.maximize import maximize
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.paper.comparisons import (
    DECLARED,
    SETTINGS,
    Comparison,
    Lead,
    Missing,
    best_known_share,
    gaps,
    listed,
    short,
    sizes,
    span,
    trials,
    with_error,
)
from swapwise.paper.grid import BEYOND
from swapwise.paper.measure import one_core
from swapwise.paper.procedures import LOCAL_SEARCHES
from swapwise.search.methods import METHODS
from swapwise.search.result import Status

R200, R1000, V10, V20 = SETTINGS
OBLIVIOUS, SEMI, NON = LOCAL_SEARCHES
ACCELERATED = (SEMI, NON)
RESIDUAL, MODULAR = "random-residual-greedy", "modular"

GOOD = "Good: at least 1/2 of the optimum on every instance, as local search has for submodular functions"
# A method that takes longer than this many seconds a run is called too slow.
TOO_LONG = 60.0


class Outcome(NamedTuple):
    """What a check found; ``holds`` is None if the figures do not decide it."""

    holds: bool | None
    measured: str
    remark: str


def efficient(methods: Sequence[str], rows: pd.DataFrame) -> Outcome:
    """See whether searches come to their end, and soon."""
    runs = rows[rows["method"].isin(methods)].dropna(subset=["status"])
    timed = _alone(runs).dropna(subset=["seconds"])
    for experiment, method in product(("regression", "ising"), methods):
        of_experiment = timed[timed["setting"].str.startswith(experiment)]
        if method not in set(of_experiment["method"]):
            raise Missing(f"seconds of {method} in the {experiment} experiment, with nothing beside it")
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


def local_optima(rows: pd.DataFrame) -> Outcome:
    """Compare local optima with the best set that any method found on the same instance."""
    known = rows.assign(share=best_known_share(rows)).dropna(subset=["share"])
    kinds = [f"{OBLIVIOUS}{start}" for start in ("", " from greedy", " from modular")]
    found = known[known["method"].isin(kinds) & (known["status"] == Status.LOCAL_OPTIMUM)]
    absent = [kind for kind in kinds if kind not in set(found["method"])]
    if absent:
        raise Missing(f"local optimum of {listed(absent)}")
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
    """Say which share of the optimum is proven, beside what the theorem guarantees."""
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


def broader(rows: pd.DataFrame) -> Outcome:
    """Try methods under a constraint that is not a matroid."""
    runs = rows[rows["setting"].str.startswith("ising")].dropna(subset=["value", "status"])
    absent = [method for method in LOCAL_SEARCHES if method not in set(runs["method"])]
    if absent:
        raise Missing(f"rows of {listed(absent)} in the ising experiment")
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


def too_slow(setting: str, reason: str, rows: pd.DataFrame) -> Outcome:
    """See how long the slower searches take at the largest size."""
    comparison = Comparison.of(rows, setting, "seconds", [OBLIVIOUS, SEMI])
    largest = SETTINGS[setting].sizes[-1]
    seconds = comparison.figures.loc[[largest]]
    measured = f"{sizes(setting, [largest])}, {span([len(seconds)], 'trial')}: " + "; ".join(
        f"a run of {method} takes {short(some.mean())} s on average, {short(some.max())} s at most"
        for method, some in seconds.items()
    )
    remark = "Too slow: a run takes more than a minute on average at the largest size, with either variant."
    there = rows[(rows["setting"] == setting) & (rows["size"] == largest)].dropna(subset=["seconds"])
    if not there.loc[there["method"].isin([OBLIVIOUS, SEMI]), "alone"].all():
        remark += " These runs were measured beside others, with which they share caches and memory."
    holds = bool((seconds.mean() > TOO_LONG).all())
    return Outcome(holds, measured, remark if holds else f"{remark} {reason}")


# Ratios of processor times differ by less than 1.1 from run to run, idle or busy; between processors by more.
CLOSE = 1.25


def speed(
    setting: str,
    fast: Sequence[str],
    slow: Sequence[str],
    bounds: tuple[float, float],
    meaning: str,
    reason: str,
    rows: pd.DataFrame,
) -> Outcome:
    """Compare seconds: how many times as fast each of some methods is as each of others."""
    try:
        comparison = Comparison.of(_alone(rows), setting, "seconds", [*fast, *slow])
    except Missing as missing:
        raise Missing(f"{missing}, measured with nothing beside") from None
    means = comparison.geometric_means * 1000
    texts, ratios = [], []
    for one, other in product(fast, slow):
        ratios.append(comparison.times(one, other))
        by_size = comparison.times_by_size(one, other)
        ends = [f"{short(by_size[size])} at {sizes(setting, [size])}" for size in by_size.index[[0, -1]]]
        texts.append(
            f"{one} is {short(ratios[-1])} times as fast as {other} "
            f"({short(means[one])} ms and {short(means[other])} ms a run; {', '.join(ends)})"
        )
    counts = comparison.also(rows, "n_evaluations").mean()
    if len(counts):
        texts.append("values of f in a run: " + ", ".join(f"{name} {short(x)}" for name, x in counts.items()))
    holds = all(bounds[0] <= ratio <= bounds[1] for ratio in ratios)
    remarks = [
        f"{meaning}. Times and ratios are geometric means over all instances.",
        "" if holds else reason,
    ]
    if min(ratios) > bounds[1]:
        remarks.append(f"The difference is in favour of {listed(fast)}.")
    if any(1 / CLOSE < ratio / bar < CLOSE for ratio, bar in product(ratios, bounds)):
        remarks.append("That is close to the bar: another processor may decide otherwise.")
    return Outcome(holds, f"{comparison.extent}: {'; '.join(texts)}", " ".join(filter(None, remarks)))


def evaluations(rows: pd.DataFrame) -> Outcome:
    """Compare how many values of f the three searches compute."""
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


def quality(
    setting: str,
    benchmarks: Sequence[str],
    rows: pd.DataFrame,
    larger: bool = False,
    growing: bool = False,
) -> Outcome:
    """Compare the quality of the non-oblivious search with benchmarks: at every size, or at the larger ones.

    With ``growing``, its lead has to be larger at the larger sizes, too.
    """
    comparison = Comparison.of(rows, setting, "quality", [NON, *benchmarks])
    leads = [comparison.lead(NON, other) for other in benchmarks]
    every = comparison.means.index
    upper = every >= np.median(SETTINGS[setting].sizes)
    if larger:
        holds = all((lead.by_size[upper] > 0).all() for lead in leads)
        meaning = f"Larger: {sizes(setting, every[upper])}; the mean over trials is higher at all of them"
    else:
        holds = all(lead.is_clear for lead in leads)
        ties = ", save where both are at 1 (R² ≥ 0.999)" if setting.startswith("regression") else ""
        meaning = f"Higher: the mean over trials is, at every size{ties}"
    doubts = _doubts(leads, every[upper] if larger else every, holds)
    remarks = [f"{meaning}."]
    text = "; ".join(map(str, leads))
    if growing:
        # A method that outperforms the benchmarks outperforms the best of them.
        lead_on_best = pd.concat([lead.by_size for lead in leads], axis=1).min(axis=1)
        high, low = lead_on_best[upper].mean(), lead_on_best[~upper].mean()
        error = _growth_error(comparison, leads, upper)
        holds = holds and high > low
        text += (
            f"; lead over the best benchmark: {high:+.3f} at the larger sizes, {low:+.3f} at the others, "
            f"which differ by {with_error(high - low, error)}"
        )
        remarks.append("Particularly: the lead over the best benchmark is larger there.")
        remarks += ["That is within sampling error."] if abs(high - low) <= 2 * error else []
        flat = [x.other for x in leads if x.by_size[upper].mean() <= x.by_size[~upper].mean()]
        remarks += [f"The lead over {listed(flat)} alone is not."] if flat else []
    remarks += [f"Not ahead of {x.other} at {sizes(setting, x.not_ahead)}." for x in leads if x.not_ahead]
    return Outcome(bool(holds), f"{comparison.extent}: {text}", " ".join([*remarks, *doubts]))


def comparable(rows: pd.DataFrame) -> Outcome:
    """Compare the R² of the non-oblivious search with that of the oblivious one."""
    comparison = Comparison.of(rows, R200, "quality", [NON, OBLIVIOUS])
    means, lead = comparison.means, comparison.lead(NON, OBLIVIOUS)
    loss, error = comparison.loss(NON, OBLIVIOUS), comparison.loss_error(NON, OBLIVIOUS)
    measured = (
        f"{comparison.extent}: mean R² {means[NON].mean():.3f} and {means[OBLIVIOUS].mean():.3f} "
        f"({with_error(loss.mean(), error, '.1%')}); the largest loss is {loss.min():+.1%}, at "
        f"{sizes(R200, [loss.idxmin()])}; {lead}"
    )
    holds = loss.mean() >= -0.02 and loss.min() >= -0.05
    remarks = [
        "Comparable: the mean R² is at most 2% lower on average over capacities, and at most 5% at each.",
        *_doubts([lead]),
    ]
    near = loss.index[(loss + 0.05).abs() <= 2 * lead.error / means[OBLIVIOUS]]
    remarks += [f"The bar of 5% is within sampling error at {sizes(R200, near)}."] if len(near) else []
    remarks += _near_bar(loss.mean(), error, -0.02)
    return Outcome(bool(holds), measured, " ".join(remarks))


def poor(rows: pd.DataFrame) -> Outcome:
    """Compare the R² of modular approximation with that of all other methods."""
    others = [*LOCAL_SEARCHES, RESIDUAL]
    comparison = Comparison.of(rows, R200, "quality", [MODULAR, *others])
    means = comparison.means.mean()
    leads = [comparison.lead(other, MODULAR) for other in others]
    loss, error = comparison.loss(MODULAR, NON).mean(), comparison.loss_error(MODULAR, NON)
    measured = (
        f"{comparison.extent}: mean R² "
        + ", ".join(f"{method} {means[method]:.3f}" for method in [MODULAR, *others])
        + f"; {with_error(loss, error, '.1%')} against non-oblivious. {'; '.join(map(str, leads))}"
    )
    lower = all(lead.is_clear for lead in leads)
    remarks = [
        "Poor: lower than all other methods at every capacity, save where both are at 1 (R² ≥ 0.999), and at "
        "least 5% lower than non-oblivious on average.",
        *_doubts(leads, comparison.means.index, lower),
        *_near_bar(loss, error, -0.05),
    ]
    return Outcome(lower and bool(loss <= -0.05), measured, " ".join(remarks))


def _alone(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without seconds that were measured beside other runs."""
    return rows.assign(seconds=rows["seconds"].where(rows["alone"]))


def _without(what: str, gone: str) -> str:
    return f" There are no {what} of {gone}." if gone else ""


def _doubts(leads: Sequence[Lead], judged: Collection[int] = (), holds: bool = True) -> list[str]:
    """Say where leads are not clear of sampling error, and whether that is so wherever the verdict is made.

    A verdict is made at all judged sizes if it holds, else at those where the method is not ahead.
    """
    remarks = ["The verdict goes by means; ± is one standard error over trials, and clear is more than two."]
    remarks += [lead.doubt for lead in leads if lead.doubt]
    decisive = [(x, size) for x in leads for size in (x.ahead if holds else x.not_ahead) if size in judged]
    if decisive and all(size in lead.unclear for lead, size in decisive):
        remarks.append("Every size that decides the verdict is within sampling error.")
    return remarks


def _growth_error(comparison: Comparison, leads: Sequence[Lead], upper: np.ndarray) -> float:
    """Return the standard error over trials of how much larger the lead on the best is at upper sizes."""
    best = pd.concat({lead.other: lead.by_size for lead in leads}, axis=1).idxmin(axis=1)
    figures = comparison.figures
    size = figures.index.get_level_values("size")
    lead = figures[leads[0].method] - pd.concat([figures.loc[[x], best[x]] for x in best.index])
    by_trial = lead.groupby(["flavour", "seed", "trial", size.isin(best.index[upper])]).mean().unstack()
    return float((by_trial[True] - by_trial[False]).sem())


def _near_bar(mean: float, error: float, bar: float) -> list[str]:
    near = abs(mean - bar) <= 2 * error
    return [f"The average is within sampling error of the bar of {abs(bar):.0%}."] if near else []
