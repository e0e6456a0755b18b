"""Which instances: designs on which searches end differently, at three sizes and two levels of noise."""

from __future__ import annotations

from benchmarks.race.designs import HARD_DESIGNS, Setting, grid

#: Samples, features, chosen: a true support that noise hides, and many columns beside it.
SIZES = ((200, 1000, 10), (300, 2000, 20), (600, 3000, 40))
SNRS = (1.0, 6.0)
SEEDS = 7


def instances(quick: bool = False) -> list[Setting]:
    """Return 336 settings; if quick, 24 of them, one per design and size.

    >>> len(instances()), len(instances(quick=True)), len({setting.design for setting in instances()})
    (336, 24, 8)
    """
    every = list(grid(HARD_DESIGNS, SNRS, SIZES, SEEDS))
    if not quick:
        return every
    first = [setting for setting in every if setting.seed == 0]
    # Both levels of noise occur at every size and, taken together, in most designs.
    pairs = list(zip(first[::2], first[1::2], strict=True))
    return [pair[(number + number // len(HARD_DESIGNS)) % 2] for number, pair in enumerate(pairs)]
