"""What the measurements say: how often above and below each peer, gaps to the best known, ratios of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.race.compare import OWN
from benchmarks.race.gaps import TIE, Answers
from benchmarks.race.rows import Lap


@dataclass(frozen=True)
class Beside:
    """R² beside that of a peer: how often above, equal and below; the lowest and the mean difference."""

    above: int
    equal: int
    below: int
    least: float
    mean: float


@dataclass(frozen=True)
class Ratios:
    """Time over a peer's: quantiles over instances, and the median of the time itself."""

    milliseconds: float
    median: float
    ninth_decile: float
    worst: float


def beside(some: Sequence[Answers], peer: str) -> Beside | None:
    """Compare with a peer where both found an answer; None if there is no such setting.

    >>> from benchmarks.race.designs import Setting
    >>> setting = Setting("block", 1.0, 200, 1000, 10, 0)
    >>> beside([Answers(setting, {"swapwise": 0.5, "OMP": 0.25}, 0.5)], "OMP")
    Beside(above=1, equal=0, below=0, least=0.25, mean=0.25)
    """
    pairs = [(one.r2[OWN], one.r2[peer]) for one in some if OWN in one.r2 and peer in one.r2]
    if not pairs:
        return None
    differences = np.subtract(*np.array(pairs).T)
    above, below = int(np.sum(differences > TIE)), int(np.sum(differences < -TIE))
    equal = len(pairs) - above - below
    return Beside(above, equal, below, float(differences.min()), float(differences.mean()))


def ratios(laps: Iterable[Lap], peer: str) -> Ratios | None:
    """Return the time over a peer's, setting by setting; None if there is none to compare."""
    seconds = {(lap.setting, lap.program): lap.seconds for lap in laps if lap.seconds}
    pairs = [
        (own, seconds[setting, peer])
        for (setting, name), own in seconds.items()
        if name == OWN and (setting, peer) in seconds
    ]
    if not pairs:
        return None
    own, theirs = np.array(pairs).T
    low, high, worst = np.quantile(own / theirs, [0.5, 0.9, 1.0])
    return Ratios(1000 * float(np.median(own)), float(low), float(high), float(worst))
