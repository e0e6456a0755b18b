"""From laps to what they say: time ratios and differences of R² to each peer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

from benchmarks.race.designs import Setting
from benchmarks.race.rows import Figure, Lap
from benchmarks.race.scaling import exponent

OWN = "swapwise"


@dataclass(frozen=True)
class Comparison:
    """swapwise and one peer on all seeds of a setting; ``setting`` is that of the first seed.

    ``ratio`` is the time as a fraction of the peer's (median over seeds), ``above`` and ``below`` the largest
    and the smallest R² less the peer's, ``short`` how many features too few the peer found at most. All are
    None if the peer did not finish, and ``note`` says why.
    """

    setting: Setting
    threads: int
    peer: str
    seeds: int
    seconds: float
    ratio: float | None = None
    below: float | None = None
    above: float | None = None
    short: int | None = None
    note: str = ""


def comparisons(laps: Iterable[Lap]) -> list[Comparison]:
    """Return a comparison for each setting, number of threads and peer, in the order of the laps."""
    by_setting: dict[tuple[Setting, int], dict[str, list[Lap]]] = {}
    for lap in laps:
        programs = by_setting.setdefault((replace(lap.setting, seed=0), lap.threads), {})
        programs.setdefault(lap.program, []).append(lap)
    return [
        _compared(setting, threads, programs[OWN], peer, theirs)
        for (setting, threads), programs in by_setting.items()
        for peer, theirs in programs.items()
        if peer != OWN and all(lap.seconds is not None for lap in programs.get(OWN, [])) and OWN in programs
    ]


def _compared(setting: Setting, threads: int, own: list[Lap], peer: str, theirs: list[Lap]) -> Comparison:
    mine = {lap.setting.seed: lap for lap in own}
    seconds = median(lap.seconds for lap in own if lap.seconds is not None)
    pairs = [(mine[lap.setting.seed], lap) for lap in theirs if lap.seconds and lap.setting.seed in mine]
    if not pairs:
        return Comparison(setting, threads, peer, 0, seconds, note=theirs[0].note)
    ratios = [a.seconds / b.seconds for a, b in pairs if a.seconds and b.seconds]
    differences = [a.r2 - b.r2 for a, b in pairs if a.r2 is not None and b.r2 is not None]
    short = max(setting.size - lap.found for _, lap in pairs)
    low, high = min(differences), max(differences)
    return Comparison(setting, threads, peer, len(pairs), seconds, median(ratios), low, high, short)


def exponents(figures: Iterable[Figure]) -> dict[tuple[str, str], float]:
    """Return the fitted exponent of time for each topic and subject that was timed at several sizes.

    >>> figures = [Figure("growth", "a", at, "seconds", at**1.5, True, 1, "") for at in (10, 20, 40)]
    >>> {key: round(value, 6) for key, value in exponents(figures).items()}
    {('growth', 'a'): 1.5}
    """
    curves: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        if figure.quantity == "seconds":
            curves.setdefault((figure.topic, figure.subject), []).append(figure)
    return {
        key: exponent([figure.at for figure in curve], [figure.value for figure in curve])
        for key, curve in curves.items()
        if len({figure.at for figure in curve}) > 1
    }
