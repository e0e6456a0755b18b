"""How far answers are below the best known: how often, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from benchmarks.race.best import BestKnown
from benchmarks.race.designs import Setting
from benchmarks.race.rows import Lap

TIE = 1e-7  # R² of two answers that differ by less are equal


@dataclass(frozen=True)
class Answers:
    """The R² of every program on one setting, and the best known."""

    setting: Setting
    r2: Mapping[str, float]
    best: float

    def gap(self, program: str) -> float:
        """Return how far a program is below the best known; less than a tie is nothing.

        >>> answers = Answers(Setting("block", 1.0, 200, 1000, 10, 0), {"OMP": 0.5, "abess": 0.6}, 0.6 + 1e-9)
        >>> round(answers.gap("OMP"), 6), answers.gap("abess")
        (0.1, 0.0)
        """
        gap = self.best - self.r2[program]
        return gap if gap > TIE else 0.0


def answers(laps: Iterable[Lap], best: BestKnown) -> list[Answers]:
    """Return what each program found on each setting, with the best known."""
    by_setting: dict[Setting, dict[str, float]] = {}
    for lap in laps:
        if lap.r2 is not None:
            by_setting.setdefault(lap.setting, {})[lap.program] = lap.r2
    return [Answers(setting, r2, _highest(setting, r2, best)) for setting, r2 in by_setting.items()]


def _highest(setting: Setting, r2: dict[str, float], best: BestKnown) -> float:
    known = best.of(setting)
    return max(r2.values()) if known is None else max(known.r2, *r2.values())


@dataclass(frozen=True)
class Gaps:
    """The gaps of a program on several settings."""

    trials: int
    below: int
    mean: float
    worst: float

    @property
    def share(self) -> float:
        """How many of the answers are below the best known."""
        return self.below / self.trials

    def __str__(self) -> str:
        return f"{self.below} of {self.trials}, {self.mean:.1e}, {self.worst:.1e}" if self.trials else ""


def gaps(answers: Iterable[Answers], program: str) -> Gaps | None:
    """Return the gaps of a program where it found an answer, None if it never did.

    >>> setting = Setting("block", 1.0, 200, 1000, 10, 0)
    >>> print(gaps([Answers(setting, {"OMP": 0.5}, 0.7), Answers(setting, {"OMP": 0.7}, 0.7)], "OMP"))
    1 of 2, 1.0e-01, 2.0e-01
    """
    found = [one.gap(program) for one in answers if program in one.r2]
    if not found:
        return None
    return Gaps(len(found), sum(gap > 0 for gap in found), sum(found) / len(found), max(found))


Group = tuple[str, Callable[[Setting], bool]]


def groups(settings: Sequence[Setting]) -> list[Group]:
    """Return what to sum up by: each design, size and signal-to-noise ratio if there are several, and all.

    >>> [name for name, _ in groups([Setting("block", snr, 200, 1000, 10, 0) for snr in (1.0, 6.0)])]
    ['snr 1', 'snr 6', 'all']
    """
    found: dict[str, Callable[[Setting], bool]] = {}
    for name in (_design, _size, _snr):
        labels = dict.fromkeys(map(name, settings))
        for label in labels if len(labels) > 1 else ():
            found[label] = lambda setting, name=name, label=label: name(setting) == label  # type: ignore[misc]
    return [*found.items(), ("all", lambda setting: True)]


def _design(setting: Setting) -> str:
    return setting.design


def _size(setting: Setting) -> str:
    return f"{setting.samples}x{setting.features}x{setting.size}"


def _snr(setting: Setting) -> str:
    return f"snr {setting.snr:g}"


def gap_table(answers: Sequence[Answers], programs: Sequence[str]) -> Table:
    """Show for each group of settings how often each program is below the best known, and by how much."""
    title = f"Below the best known R² (by more than {TIE:g}): how often, mean gap, worst gap"
    table = Table("", title=title, title_justify="left")
    for name in programs:
        table.add_column(name, justify="right")
    for cells in _cells(answers, programs):
        table.add_row(*cells)
    return table


def gap_markdown(answers: Sequence[Answers], programs: Sequence[str]) -> str:
    """Return the same for a README."""
    lines = [["below the best known, mean gap, worst gap", *programs], ["---"] * (1 + len(programs))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [*lines, *_cells(answers, programs)])


def _cells(answers: Sequence[Answers], programs: Sequence[str]) -> Iterator[list[str]]:
    for label, belongs in groups([one.setting for one in answers]):
        some = [one for one in answers if belongs(one.setting)]
        yield [label, *(str(gaps(some, name) or "") for name in programs)]
