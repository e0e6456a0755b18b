"""Methods compared by means over the instances that they share: figures, and the words for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from swapwise.paper.grid import COORDINATES, GRID, PAPER
from swapwise.paper.measure import COLUMNS
from swapwise.paper.procedures import EMPTY, LOCAL_SEARCHES
from swapwise.search.result import Status

SETTINGS = {block.setting.name: block.setting for block in PAPER}
#: The sizes of the grid, by setting and method.
DECLARED = {(block.setting.name, block.procedure.name): block.sizes or block.setting.sizes for block in GRID}

R200, R1000, V10, V20 = SETTINGS
OBLIVIOUS, SEMI, NON = LOCAL_SEARCHES
ACCELERATED = (SEMI, NON)
RESIDUAL, MODULAR = "random-residual-greedy", "modular"

# R² from here on counts as 1, so that methods are tied.
FULL = 0.999

_TEXTS = ("setting", "part", "method", "flavour", "status")
# Numbers that are divided by each other; one that is not positive was not measured.
_POSITIVE = ("seconds", "n_evaluations")
_INSTANCE = ["size", "flavour", "seed", "trial"]
#: The coordinates of the problem that a row solves, in any flavour
INSTANCE = ("setting", "seed", "trial", "size")


class Missing(LookupError): ...


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with all columns, numbers as numbers, and NaN where nothing was measured.

    Without a column ``alone``, seconds count as measured with nothing running beside.
    """
    rows = rows.reset_index(drop=True).reindex(columns=list(COLUMNS))
    rows = rows.astype(dict.fromkeys(_TEXTS, object))
    # A file may have these as words or as numbers.
    rows["alone"] = ~rows["alone"].astype(str).str.lower().isin(["false", "0", "0.0"])
    for name in rows.columns.difference([*_TEXTS, "alone"]):
        numbers = pd.to_numeric(rows[name], errors="coerce").astype(float).replace([np.inf, -np.inf], np.nan)
        rows[name] = numbers.where(numbers > 0) if name in _POSITIVE else numbers
    return rows.dropna(subset=[name for name in COORDINATES if name not in ("flavour", "seed")])


def searches_from(rows: pd.DataFrame, start: str) -> pd.DataFrame:
    """Rename the paper's searches: from this start to the bare names of their methods.

    Those from the empty set have these names; from another start, theirs become "... from empty".

    >>> methods = ["oblivious", "oblivious from arbitrary"]
    >>> rows = pd.DataFrame({"part": ["paper", "printed"], "method": methods})
    >>> searches_from(rows, "arbitrary").values.tolist()
    [['starts', 'oblivious from empty'], ['paper', 'oblivious']]
    """
    if start == EMPTY:
        return rows
    renamed: dict[str, str] = {}
    for name in (f"{kind}{method}" for kind in ("", "plain ") for method in LOCAL_SEARCHES):
        renamed |= {name: f"{name} from {EMPTY}", f"{name} from {start}": name}
    parts = rows["part"].mask((rows["part"] == "paper") & rows["method"].isin(LOCAL_SEARCHES), "starts")
    return rows.assign(method=rows["method"].replace(renamed), part=parts.replace("printed", "paper"))


def best_known_share(rows: pd.DataFrame) -> pd.Series:
    """Return every value divided by the largest that any method found on the same instance and size.

    Rows that solve another problem (certificates) or are not searches of the library have NaN.
    """
    comparable = rows[rows["part"].isin(["paper", "printed", "optimum", "starts", "pairs", "neighbours"])]
    value = pd.to_numeric(comparable["value"]).astype(float)
    instance = [comparable[name] for name in INSTANCE]
    return (value / value.groupby(instance, dropna=False).transform("max")).reindex(rows.index)


def optimum_share(rows: pd.DataFrame) -> pd.Series:
    """Return every value divided by the optimum of its instance and size, NaN where that is not proven."""
    is_proven = (rows["part"] == "optimum") & (rows["status"] == Status.OPTIMAL)
    value = pd.to_numeric(rows["value"]).astype(float)
    instance = [rows[name] for name in INSTANCE]
    return value / value.where(is_proven).groupby(instance, dropna=False).transform("max")


def alone(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(seconds=rows["seconds"].where(rows["alone"]))


def require_methods(rows: pd.DataFrame, methods: Sequence[str], what: str = "rows of {}") -> None:
    """Raise if a method has no rows: what a run left out is not judged, be it by a small example."""
    absent = [method for method in methods if method not in set(rows["method"])]
    if absent:
        raise Missing(what.format(listed(absent)))


def gaps(rows: pd.DataFrame, kinds: Iterable[tuple[str, str]]) -> str:
    """Name the declared sizes of settings and methods that have no rows, "" if all have."""
    alike: dict[tuple[str, str], list[str]] = {}
    for setting, method in kinds:
        there = set(rows.loc[(rows["setting"] == setting) & (rows["method"] == method), "size"])
        gone = set(DECLARED.get((setting, method), ())) - there
        if gone or not there:
            where = f" at {sizes(setting, gone)}" if there else ""
            alike.setdefault((setting, where), []).append(method)
    return "; ".join(f"{listed(methods)} in {setting}{where}" for (setting, where), methods in alike.items())


@dataclass(frozen=True)
class Comparison:
    """One figure of several methods, by columns, on the same instances of a setting, by rows; no NaN."""

    setting: str
    figures: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, setting: str, column: str, methods: Sequence[str]) -> Comparison:
        """Collect the figures of the instances that all methods have, at all sizes that the grid declares."""
        there = rows[(rows["setting"] == setting) & rows["method"].isin(methods)].dropna(subset=[column])
        absent = gaps(there, [(setting, method) for method in methods])
        if absent:
            raise Missing(f"{column} of {absent}")
        figures = _table(there, column).dropna()
        declared = {size for method in methods for size in DECLARED.get((setting, method), ())}
        apart = declared - set(figures.index.get_level_values("size"))
        if apart or figures.empty:
            where = f"{setting} at {sizes(setting, apart)}" if apart else setting
            raise Missing(f"an instance of {where} with {column} of all of {listed(methods)}")
        return cls(setting, figures)

    def also(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        """Return another figure of the same instances, of the methods that have it for all of them."""
        there = rows[(rows["setting"] == self.setting) & rows["method"].isin(self.figures.columns)]
        return _table(there, column).reindex(index=self.figures.index).dropna(axis=1)

    @property
    def means(self) -> pd.DataFrame:
        return self.figures.groupby("size").mean()

    @property
    def extent(self) -> str:
        instances = self.figures.index.droplevel("flavour").drop_duplicates()
        per_size = instances.to_frame(index=False).groupby("size").size()
        return f"{sizes(self.setting, per_size.index)}, {span(per_size, 'trial')} each"

    @property
    def geometric_means(self) -> pd.Series:
        """Over all instances, by method; its ratios are those of :meth:`times`."""
        return np.exp(np.log(self.figures).mean())

    def times(self, fast: str, slow: str) -> float:
        return float(np.exp(self._logs(fast, slow).mean()))

    def times_by_size(self, fast: str, slow: str) -> pd.Series:
        return np.exp(self._logs(fast, slow).groupby("size").mean())

    def _logs(self, fast: str, slow: str) -> pd.Series:
        return np.log(self.figures[slow] / self.figures[fast])

    def loss(self, method: str, other: str) -> pd.Series:
        """Return the relative difference of one mean to another, for each size."""
        return (self.means[method] / self.means[other] - 1).fillna(0.0)

    def loss_error(self, method: str, other: str) -> float:
        """Return the standard error, over trials, of the mean of :meth:`loss`; NaN with one trial."""
        shares = (self.figures[method] - self.figures[other]).div(self.means[other], level="size")
        return float(shares.groupby(_INSTANCE[1:]).mean().sem())

    def lead(self, method: str, other: str) -> Lead:
        means = self.means
        # Ratios to the true graph may exceed 1: only R² ends there.
        full = FULL if self.setting.startswith("regression") else np.inf
        tied = (means[method] >= full) & (means[other] >= full)
        differences = (self.figures[method] - self.figures[other]).groupby("size")
        return Lead(self.setting, method, other, differences.mean(), differences.sem(), tied)


def _table(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    rows = rows.fillna({"flavour": "", "seed": 0})
    return rows.set_index([*_INSTANCE, "method"])[column].groupby([*_INSTANCE, "method"]).mean().unstack()


@dataclass(frozen=True)
class Lead:
    """How far a method's mean is above another's, by size; sizes are tied if both are at 1.

    ``error`` is the standard error over trials of the differences on the same instance, NaN with one trial.
    """

    setting: str
    method: str
    other: str
    by_size: pd.Series
    error: pd.Series
    tied: pd.Series

    @property
    def ahead(self) -> list[int]:
        return list(self.by_size.index[(self.by_size > 0) & ~self.tied])

    @property
    def not_ahead(self) -> list[int]:
        return list(self.by_size.index[(self.by_size <= 0) & ~self.tied])

    @property
    def unclear(self) -> list[int]:
        """The sizes at which the difference is within two standard errors, ties aside."""
        return list(self.by_size.index[(self.by_size.abs() <= 2 * self.error) & ~self.tied])

    @property
    def doubt(self) -> str:
        """A sentence on these sizes, and on those that have one trial only; "" if there are none."""
        single = self.by_size.index[self.error.isna() & ~self.tied]
        subject = f"The difference {self.method} minus {self.other}"
        sentences = []
        if self.unclear:
            where = sizes(self.setting, self.unclear)
            sentences.append(f"{subject} is not clear of sampling error at {where}.")
        if len(single):
            where = sizes(self.setting, single)
            sentences.append(f"{subject} has one trial, and so no standard error, at {where}.")
        return " ".join(sentences)

    @property
    def is_clear(self) -> bool:
        return bool(self.ahead) and not self.not_ahead

    def __str__(self) -> str:
        ties = f", {int(self.tied.sum())} tied at 1" if self.tied.any() else ""
        one_by_one = [
            "tied" if self.tied[size] else with_error(difference, self.error[size])
            for size, difference in self.by_size.items()
        ]
        return (
            f"{self.method} minus {self.other}: {', '.join(one_by_one)} "
            f"(ahead at {len(self.ahead)} of {len(self.by_size)}{ties})"
        )


def with_error(difference: float, error: float, form: str = ".3f") -> str:
    """Return a difference with its standard error, if it has one.

    >>> with_error(0.0172, 0.004), with_error(-0.5, np.nan), with_error(0.02, 0.005, ".1%")
    ('+0.017±0.004', '-0.500', '+2.0%±0.5%')
    >>> with_error(0.00312, 0.0004)
    '+0.0031±0.0004'
    """
    if form == ".3f" and 0.00005 <= error < 0.0005:
        form = ".4f"
    return f"{difference:+{form}}" + ("" if np.isnan(error) else f"±{error:{form}}")


def sizes(setting: str, numbers: Collection[float]) -> str:
    """Name sizes: "capacities 1–3", "b = 1, 3"."""
    ordered = sorted({int(number) for number in numbers})
    in_a_row = len(ordered) > 1 and ordered == list(range(ordered[0], ordered[-1] + 1))
    text = f"{ordered[0]}–{ordered[-1]}" if in_a_row else ", ".join(map(str, ordered))
    if not setting.startswith("regression"):
        return f"b = {text}"
    return f"{'capacity' if len(ordered) == 1 else 'capacities'} {text}"


def span(counts: Iterable[float], noun: str) -> str:
    """Name the smallest and the largest of some counts: "1 to 3 trials"."""
    different = sorted({int(count) for count in counts})
    text = str(different[0]) if len(different) == 1 else f"{different[0]} to {different[-1]}"
    return f"{text} {noun}{'' if different == [1] else 's'}"


def listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def trials(rows: pd.DataFrame) -> str:
    instances = rows.drop_duplicates(["setting", "size", "seed", "trial"])
    return span(instances.groupby(["setting", "size"]).size(), "trial")


def short(number: float) -> str:
    """Format a number with about two digits.

    >>> short(0.4321), short(3.14), short(9.99), short(54.3), short(178251.3), short(3.7e-6)
    ('0.43', '3.1', '10', '54', '178,251', '0.0000037')
    """
    if abs(number) >= 9.95:
        return f"{number:,.0f}"
    if abs(number) >= 1:
        return f"{number:.1f}"
    return np.format_float_positional(number, precision=2, fractional=False, trim="-")
