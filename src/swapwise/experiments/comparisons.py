"""Methods compared by means over the instances that they share: figures, words and outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from swapwise.experiments.grid import COORDINATES, PAPER
from swapwise.experiments.measure import COLUMNS
from swapwise.experiments.procedures import LOCAL_SEARCHES

SETTINGS = {block.setting.name: block.setting for block in PAPER}
R200, R1000, V10, V20 = SETTINGS
OBLIVIOUS, SEMI, NON = LOCAL_SEARCHES
ACCELERATED = (SEMI, NON)
RESIDUAL, MODULAR = "random-residual-greedy", "modular"

# R² from here on counts as 1: who gets there has nothing left to be ahead by.
FULL = 0.999

_TEXTS = ("setting", "part", "method", "flavour", "status")
# Numbers that are divided by each other; one that is not positive was not measured.
_POSITIVE = ("seconds", "n_evaluations")


class Missing(LookupError):
    """The rows that a claim needs are not there."""


class Outcome(NamedTuple):
    """What a check found; ``holds`` is None if the figures do not decide it."""

    holds: bool | None
    measured: str
    remark: str


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with all columns, numbers as numbers and what was not measured as NaN.

    >>> rows = pd.DataFrame({"setting": ["ising-10"], "part": ["paper"], "method": ["random"], "size": ["3"],
    ...                      "trial": [0], "seconds": [None]})
    >>> tidy(rows)[["size", "seconds", "value"]].values.tolist()
    [[3.0, nan, nan]]
    """
    rows = rows.reset_index(drop=True).reindex(columns=list(COLUMNS))
    rows = rows.astype(dict.fromkeys(_TEXTS, object))
    for name in rows.columns.difference(_TEXTS):
        numbers = pd.to_numeric(rows[name], errors="coerce").replace([np.inf, -np.inf], np.nan)
        rows[name] = numbers.where(numbers > 0) if name in _POSITIVE else numbers
    return rows.dropna(subset=[name for name in COORDINATES if name not in ("flavour", "seed")])


@dataclass(frozen=True)
class Comparison:
    """One figure of several methods on the same instances of a setting.

    Attributes
    ----------
    setting : its name
    figures : one column for each method, one line for each instance (size, flavour, seed, trial); no NaN

    Examples
    --------
    >>> rows = pd.DataFrame({"setting": "ising-10", "part": "paper", "method": ["oblivious", "random"] * 2,
    ...                      "size": [1, 1, 2, 2], "trial": 0, "seconds": [2.0, 1.0, 8.0, 1.0]})
    >>> comparison = Comparison.of(tidy(rows), "ising-10", "seconds", ["oblivious", "random"])
    >>> comparison.times("random", "oblivious")
    4.0
    >>> comparison.extent
    'b = 1–2, 1 trial each'
    """

    setting: str
    figures: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, setting: str, column: str, methods: Sequence[str]) -> Comparison:
        """Collect the figures from tidy rows, of the instances that all methods have."""
        there = rows[(rows["setting"] == setting) & rows["method"].isin(methods)].dropna(subset=[column])
        absent = [method for method in methods if method not in set(there["method"])]
        if absent:
            raise Missing(f"{column} of {listed(absent)} in {setting}")
        there = there.fillna({"flavour": "", "seed": 0})
        figures = there.pivot_table(column, ["size", "flavour", "seed", "trial"], "method").dropna()
        if figures.empty:
            raise Missing(f"an instance of {setting} with {column} of all of {listed(methods)}")
        return cls(setting, figures)

    @property
    def means(self) -> pd.DataFrame:
        """The mean over trials, by size."""
        return self.figures.groupby("size").mean()

    @property
    def extent(self) -> str:
        """The sizes and the number of trials, in words."""
        instances = self.figures.index.droplevel("flavour").drop_duplicates()
        per_size = instances.to_frame(index=False).groupby("size").size()
        return f"{sizes(self.setting, per_size.index)}, {span(per_size, 'trial')} each"

    def times(self, fast: str, slow: str) -> float:
        """Return how many times as fast one method is as another: the geometric mean over instances."""
        return float(np.exp(self._logs(fast, slow).mean()))

    def times_by_size(self, fast: str, slow: str) -> pd.Series:
        """Return the same for each size."""
        return np.exp(self._logs(fast, slow).groupby("size").mean())

    def _logs(self, fast: str, slow: str) -> pd.Series:
        return np.log(self.figures[slow] / self.figures[fast])

    def loss(self, method: str, other: str) -> pd.Series:
        """Return by which share one method's mean differs from another's, for each size."""
        return (self.means[method] / self.means[other] - 1).fillna(0.0)

    def lead(self, method: str, other: str) -> Lead:
        """Return by how much one method's mean is above another's."""
        means = self.means
        # Ratios to the true graph may exceed 1: only R² ends there.
        full = FULL if self.setting.startswith("regression") else np.inf
        tied = (means[method] >= full) & (means[other] >= full)
        return Lead(self.setting, method, other, means[method] - means[other], tied)


@dataclass(frozen=True)
class Lead:
    """How far a method's mean is above another's, by size; sizes are tied if both are at 1."""

    setting: str
    method: str
    other: str
    by_size: pd.Series
    tied: pd.Series

    @property
    def ahead(self) -> list[int]:
        """The sizes at which the method's mean is higher."""
        return list(self.by_size.index[(self.by_size > 0) & ~self.tied])

    @property
    def not_ahead(self) -> list[int]:
        """The sizes at which it is not, ties aside."""
        return list(self.by_size.index[(self.by_size <= 0) & ~self.tied])

    @property
    def is_clear(self) -> bool:
        """Whether it is ahead wherever there is no tie."""
        return bool(self.ahead) and not self.not_ahead

    def __str__(self) -> str:
        """Say where it is ahead, where not, and all differences."""
        ties = f", {int(self.tied.sum())} tied at 1" if self.tied.any() else ""
        one_by_one = [
            "tied" if self.tied[size] else f"{difference:+.3f}" for size, difference in self.by_size.items()
        ]
        return (
            f"{self.method} minus {self.other}: {', '.join(one_by_one)} "
            f"(ahead at {len(self.ahead)} of {len(self.by_size)}{ties})"
        )


def sizes(setting: str, numbers: Collection[float]) -> str:
    """Return sizes in words.

    >>> sizes("regression-200", [1, 2, 3]), sizes("regression-200", [2]), sizes("ising-10", [1, 3])
    ('capacities 1–3', 'capacity 2', 'b = 1, 3')
    """
    ordered = sorted({int(number) for number in numbers})
    in_a_row = len(ordered) > 1 and ordered == list(range(ordered[0], ordered[-1] + 1))
    text = f"{ordered[0]}–{ordered[-1]}" if in_a_row else ", ".join(map(str, ordered))
    if not setting.startswith("regression"):
        return f"b = {text}"
    return f"{'capacity' if len(ordered) == 1 else 'capacities'} {text}"


def span(counts: Iterable[float], noun: str) -> str:
    """Return the smallest and the largest of some counts, in words.

    >>> span([3, 3], "trial"), span([1, 3], "trial"), span([1], "trial")
    ('3 trials', '1 to 3 trials', '1 trial')
    """
    different = sorted({int(count) for count in counts})
    text = str(different[0]) if len(different) == 1 else f"{different[0]} to {different[-1]}"
    return f"{text} {noun}{'' if different == [1] else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names in words.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def trials(rows: pd.DataFrame) -> str:
    """Return the number of instances of each setting and size, in words."""
    instances = rows.drop_duplicates(["setting", "size", "seed", "trial"])
    return span(instances.groupby(["setting", "size"]).size(), "trial")


def short(number: float) -> str:
    """Return a number as it is read at a glance.

    >>> short(0.4321), short(3.14), short(54.3), short(178251.3), short(3.7e-6)
    ('0.43', '3.1', '54', '178,251', '0.0000037')
    """
    if abs(number) >= 10:
        return f"{number:,.0f}"
    if abs(number) >= 1:
        return f"{number:.1f}"
    return np.format_float_positional(number, precision=2, fractional=False, trim="-")


# Checks: a table of claims fixes all but the rows, which are tidy.


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
    comparison = Comparison.of(rows, setting, "seconds", [*fast, *slow])
    means = comparison.figures.mean() * 1000
    texts, ratios = [], []
    for one, other in product(fast, slow):
        ratios.append(comparison.times(one, other))
        by_size = comparison.times_by_size(one, other)
        ends = [f"{short(by_size[size])} at {sizes(setting, [size])}" for size in by_size.index[[0, -1]]]
        texts.append(
            f"{one} is {short(ratios[-1])} times as fast as {other} "
            f"({short(means[one])} ms and {short(means[other])} ms a run"
            + (f"; {', '.join(ends)})" if len(by_size) > 1 else ")")
        )
    there = rows[(rows["setting"] == setting) & rows["method"].isin(means.index)]
    counts = there.groupby("method")["n_evaluations"].mean().dropna()
    if len(counts):
        texts.append("values of f in a run: " + ", ".join(f"{name} {short(x)}" for name, x in counts.items()))
    holds = all(bounds[0] <= ratio <= bounds[1] for ratio in ratios)
    remarks = [f"{meaning}, by the geometric mean over all instances.", "" if holds else reason]
    if min(ratios) > bounds[1]:
        remarks.append(f"The difference is in favour of {listed(fast)}.")
    return Outcome(holds, f"{comparison.extent}: {'; '.join(texts)}", " ".join(filter(None, remarks)))


def evaluations(rows: pd.DataFrame, settings: Sequence[str] = tuple(SETTINGS)) -> Outcome:
    """Compare how many values of f the three searches compute."""
    texts, fewer = [], []
    for setting in settings:
        try:
            comparison = Comparison.of(rows, setting, "n_evaluations", LOCAL_SEARCHES)
        except Missing:
            continue
        means = comparison.figures.mean()
        fewer += [means[method] < means[OBLIVIOUS] for method in ACCELERATED]
        counts = ", ".join(f"{method} {short(means[method])}" for method in LOCAL_SEARCHES)
        texts.append(f"{setting} ({comparison.extent}): {counts}")
    if not texts:
        raise Missing(f"n_evaluations of {listed(LOCAL_SEARCHES)} in {listed(settings)}")
    remark = (
        "Accelerated: fewer values of f in every setting that was run, whatever a value costs; "
        "seconds are in the Results."
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
    if larger and (upper.all() or not upper.any()):
        raise Missing(f"larger or smaller sizes of {setting}, there is only {sizes(setting, every)}")
    if larger:
        holds = all((lead.by_size[upper] > 0).all() for lead in leads)
        meaning = f"Larger: {sizes(setting, every[upper])}; the mean over trials is higher at all of them"
    else:
        holds = all(lead.is_clear for lead in leads)
        ties = ", save where both are at 1 (R² ≥ 0.999)" if setting.startswith("regression") else ""
        meaning = f"Higher: the mean over trials is, at every size{ties}"
    remarks = [f"{meaning}."]
    text = "; ".join(map(str, leads))
    if growing:
        # Whoever outperforms the benchmarks outperforms the best of them.
        lead_on_best = pd.concat([lead.by_size for lead in leads], axis=1).min(axis=1)
        high, low = lead_on_best[upper].mean(), lead_on_best[~upper].mean()
        holds = holds and high > low
        text += f"; lead over the best benchmark: {high:+.3f} at the larger sizes, {low:+.3f} at the others"
        remarks.append("Particularly: the lead over the best benchmark is larger there.")
        flat = [x.other for x in leads if x.by_size[upper].mean() <= x.by_size[~upper].mean()]
        remarks += [f"The lead over {listed(flat)} alone is not."] if flat else []
    remarks += [f"Not ahead of {x.other} at {sizes(setting, x.not_ahead)}." for x in leads if x.not_ahead]
    return Outcome(bool(holds), f"{comparison.extent}: {text}", " ".join(remarks))


def comparable(rows: pd.DataFrame) -> Outcome:
    """Compare the R² of the non-oblivious search with that of the oblivious one."""
    comparison = Comparison.of(rows, R200, "quality", [NON, OBLIVIOUS])
    means = comparison.means
    loss = comparison.loss(NON, OBLIVIOUS)
    measured = (
        f"{comparison.extent}: mean R² {means[NON].mean():.3f} and {means[OBLIVIOUS].mean():.3f} "
        f"({loss.mean():+.1%}); the largest loss is {loss.min():+.1%}, at {sizes(R200, [loss.idxmin()])}"
    )
    holds = loss.mean() >= -0.02 and loss.min() >= -0.05
    remark = "Comparable: the mean R² is at most 2% lower on average over capacities, and at most 5% at each."
    return Outcome(bool(holds), measured, remark)


def poor(rows: pd.DataFrame) -> Outcome:
    """Compare the R² of modular approximation with that of all other methods."""
    others = [*LOCAL_SEARCHES, RESIDUAL]
    comparison = Comparison.of(rows, R200, "quality", [MODULAR, *others])
    means = comparison.means.mean()
    leads = [comparison.lead(other, MODULAR) for other in others]
    loss = comparison.loss(MODULAR, NON).mean()
    measured = (
        f"{comparison.extent}: mean R² "
        + ", ".join(f"{method} {means[method]:.3f}" for method in [MODULAR, *others])
        + f"; {loss:+.1%} against non-oblivious. {leads[-1]}"
    )
    remark = (
        "Poor: lower than all other methods at every capacity, save where both are at 1 (R² ≥ 0.999), and at "
        "least 5% lower than non-oblivious on average."
    )
    return Outcome(all(lead.is_clear for lead in leads) and bool(loss <= -0.05), measured, remark)
