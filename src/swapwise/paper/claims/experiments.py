"""The claims of the results: on sparse regression, and on the structure of graphical models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from swapwise.paper.claims.record import Claim, Outcome
from swapwise.paper.comparisons import (
    ACCELERATED,
    MODULAR,
    NON,
    OBLIVIOUS,
    R200,
    R1000,
    RESIDUAL,
    SEMI,
    SETTINGS,
    V10,
    V20,
    Comparison,
    Lead,
    Missing,
    alone,
    listed,
    short,
    sizes,
    span,
    with_error,
)
from swapwise.paper.procedures import LOCAL_SEARCHES

OTHERS = (*LOCAL_SEARCHES, RESIDUAL)
# A method that takes longer than this many seconds a run is called too slow.
TOO_LONG = 60.0
# Ratios of processor times differ by less than 1.1 from run to run, idle or busy; between processors by more.
CLOSE = 1.25
CLOSED_FORM = "Here a closed form scores all swaps in one pass"


def too_slow(setting: str, reason: str, rows: pd.DataFrame) -> Outcome:
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


class Bar(NamedTuple):
    """The least and the largest ratio of times with which a claim holds, and the words for them."""

    low: float
    high: float
    meaning: str


def speed(
    setting: str,
    fast: Sequence[str],
    slow: Sequence[str],
    bar: Bar,
    reason: str,
    rows: pd.DataFrame,
) -> Outcome:
    try:
        comparison = Comparison.of(alone(rows), setting, "seconds", [*fast, *slow])
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
    holds = all(bar.low <= ratio <= bar.high for ratio in ratios)
    remarks = [
        f"{bar.meaning}. Times and ratios are geometric means over all instances.",
        "" if holds else reason,
    ]
    if min(ratios) > bar.high:
        remarks.append(f"The difference is in favour of {listed(fast)}.")
    if any(1 / CLOSE < ratio / end < CLOSE for ratio, end in product(ratios, bar[:2])):
        remarks.append("That is close to the bar: another processor may decide otherwise.")
    return Outcome(holds, f"{comparison.extent}: {'; '.join(texts)}", " ".join(filter(None, remarks)))


def quality(
    setting: str,
    benchmarks: Sequence[str],
    rows: pd.DataFrame,
    larger: bool = False,
    growing: bool = False,
) -> Outcome:
    """Compare the quality of the non-oblivious search with benchmarks, at every size or at the larger ones.

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
        only_there = holds and not all(lead.is_clear for lead in leads)
        remarks.append(
            "Judged at the larger sizes, as 'particularly' allows"
            + ("; at every size it would not hold." if only_there else ".")
        )
        remarks.append("Particularly: the lead over the best benchmark is larger there.")
        remarks += ["That is within sampling error."] if abs(high - low) <= 2 * error else []
        flat = [x.other for x in leads if x.by_size[upper].mean() <= x.by_size[~upper].mean()]
        remarks += [f"The lead over {listed(flat)} alone is not."] if flat else []
    remarks += [f"Not ahead of {x.other} at {sizes(setting, x.not_ahead)}." for x in leads if x.not_ahead]
    return Outcome(bool(holds), f"{comparison.extent}: {text}", " ".join([*remarks, *doubts]))


def comparable(rows: pd.DataFrame) -> Outcome:
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


def _doubts(leads: Sequence[Lead], judged: Collection[int] = (), holds: bool = True) -> list[str]:
    """Say where leads are within sampling error, and whether that is so wherever the verdict is made.

    A verdict is made at all judged sizes if it holds, else at those where the method is not ahead.
    """
    remarks = ["The verdict goes by means; ± is one standard error over trials, and clear is more than two."]
    remarks += [lead.doubt for lead in leads if lead.doubt]
    decisive = [(x, size) for x in leads for size in (x.ahead if holds else x.not_ahead) if size in judged]
    if decisive and all(size in lead.unclear for lead, size in decisive):
        remarks.append("Every size that decides the verdict is within sampling error.")
    return remarks


def _growth_error(comparison: Comparison, leads: Sequence[Lead], upper: np.ndarray) -> float:
    best = pd.concat({lead.other: lead.by_size for lead in leads}, axis=1).idxmin(axis=1)
    figures = comparison.figures
    size = figures.index.get_level_values("size")
    lead = figures[leads[0].method] - pd.concat([figures.loc[[x], best[x]] for x in best.index])
    by_trial = lead.groupby(["flavour", "seed", "trial", size.isin(best.index[upper])]).mean().unstack()
    return float((by_trial[True] - by_trial[False]).sem())


def _near_bar(mean: float, error: float, bar: float) -> list[str]:
    near = abs(mean - bar) <= 2 * error
    return [f"The average is within sampling error of the bar of {abs(bar):.0%}."] if near else []


REGRESSION, GRAPHS = "Results, sparse regression", "Results, graphical models"


def _speed(
    where: str,
    sentence: str,
    setting: str,
    fast: Sequence[str],
    slow: Sequence[str],
    bar: Bar,
    reason: str = "",
) -> tuple[Claim, Claim]:
    """Return a claim on the library, and the same on the plain program, which refits for every value."""
    plain_fast, plain_slow = ([f"plain {method}" for method in methods] for methods in (fast, slow))
    return (
        Claim(where, sentence, partial(speed, setting, fast, slow, bar, reason)),
        Claim(
            f"{where}, with the plain program that refits",
            sentence,
            partial(speed, setting, plain_fast, plain_slow, bar, ""),
        ),
    )


CLAIMS = (
    *_speed(
        REGRESSION,
        "the non-oblivious variant is approximately 10 times faster than the oblivious variant",
        R200,
        [NON],
        [OBLIVIOUS],
        Bar(5.0, 20.0, "Approximately 10: 5 to 20"),
        f"{CLOSED_FORM}, which leaves little to accelerate; see the next claim for refits.",
    ),
    Claim(REGRESSION, "an objective value comparable to that of the oblivious variant", comparable),
    Claim(
        REGRESSION,
        "In comparison to the random residual greedy algorithm, the non-oblivious variant achieves a higher "
        "objective value",
        partial(quality, R200, [RESIDUAL]),
    ),
    *_speed(
        REGRESSION,
        "the non-oblivious variant achieves a higher objective value in a similar running time",
        R200,
        [NON],
        [RESIDUAL],
        Bar(0.5, np.inf, "Similar running time, or a shorter one: it takes at most twice as long"),
    ),
    *_speed(
        REGRESSION,
        "Modular approximation is considerably faster than the other methods",
        R200,
        [MODULAR],
        OTHERS,
        Bar(2.0, np.inf, "Considerably: at least twice as fast as each of them"),
        f"{CLOSED_FORM}.",
    ),
    Claim(REGRESSION, "but the quality of its solution is poor", poor),
    Claim(
        REGRESSION,
        "The oblivious and semi-oblivious local search algorithms cannot be applied to this setting due to "
        "their slow running time.",
        partial(too_slow, R1000, f"{CLOSED_FORM}."),
    ),
    Claim(
        REGRESSION,
        "in this setting, we can observe that the non-oblivious variant outperforms the benchmarks",
        partial(quality, R1000, [RESIDUAL, MODULAR]),
    ),
    *_speed(
        GRAPHS,
        "We can observe that our acceleration techniques work well in practice.",
        V10,
        ACCELERATED,
        [OBLIVIOUS],
        Bar(1.5, np.inf, "Work well: both are at least 1.5 times as fast as the oblivious variant"),
    ),
    *_speed(
        GRAPHS,
        "The running time of the non-oblivious variant is competitive with that of modular approximation",
        V10,
        [NON],
        [MODULAR],
        Bar(0.5, np.inf, "Competitive: at most twice the time"),
        "In the default flavour every move is scored with its own M, which costs more than one M for all "
        "moves, as the algorithms are printed; the as-published flavour has that one.",
    ),
    Claim(
        GRAPHS,
        "its solution quality is higher than that of modular approximation for larger solution size",
        partial(quality, V10, [MODULAR], larger=True),
    ),
    Claim(
        GRAPHS,
        "Since the oblivious and semi-oblivious local search algorithms are too slow to be applied to this "
        "setting, we omit them.",
        partial(too_slow, V20, "Here refits are compiled, and start from the fit at hand."),
    ),
    Claim(
        GRAPHS,
        "the non-oblivious variant outperforms the benchmarks particularly in cases of larger solution size",
        partial(quality, V20, [MODULAR, "random"], larger=True, growing=True),
    ),
)
