"""The summary as tables for the terminal, and whether it is as good as it is meant to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks.hard.summary import beside, ratios
from benchmarks.race.compare import OWN
from benchmarks.race.gaps import TIE, Answers, gap_table, gaps, groups
from benchmarks.race.rows import Lap

#: What the default fit is meant to reach. Time is beside abess's, the fastest peer that makes exchanges.
BELOW_BEST, MEAN_GAP = 0.10, 0.0003
MEDIAN_RATIO, WORST_RATIO = 0.7, 1.5
TIMED_PEER = "abess"
LISTED = 20


def tables(answers: Sequence[Answers], laps: Sequence[Lap], timed: bool) -> Iterator[Table]:
    """Yield all tables: R² beside each peer's, gaps to the best known, ratios of time."""
    programs = list(dict.fromkeys(lap.program for lap in laps))
    peers = [name for name in programs if name != OWN]
    yield _beside_table(answers, peers)
    yield gap_table(answers, programs)
    if timed and TIMED_PEER in peers:
        yield _ratio_table(laps)


def _beside_table(answers: Sequence[Answers], peers: Sequence[str]) -> Table:
    title = f"R² beside a peer's: above, equal (within {TIE:g}), below; lowest and mean difference"
    table = Table("", title=title, title_justify="left")
    for name in peers:
        for head in (name, "lowest", "mean"):
            table.add_column(head, justify="right")
    for label, belongs in groups([one.setting for one in answers]):
        cells = []
        for name in peers:
            found = beside([one for one in answers if belongs(one.setting)], name)
            if found is None:
                cells += ["", "", ""]
            else:
                counts = f"{found.above} {found.equal} {found.below}"
                cells += [counts, f"{found.least:+.1e}", f"{found.mean:+.1e}"]
        table.add_row(label, *cells)
    return table


def _ratio_table(laps: Sequence[Lap]) -> Table:
    table = Table("", title=f"Time over {TIMED_PEER}'s, instance by instance", title_justify="left")
    for head in ("swapwise ms", "median", "90 %", "worst"):
        table.add_column(head, justify="right")
    for label, belongs in groups([lap.setting for lap in laps]):
        found = ratios([lap for lap in laps if belongs(lap.setting)], TIMED_PEER)
        if found is not None:
            quantiles = (found.median, found.ninth_decile, found.worst)
            table.add_row(label, f"{found.milliseconds:.1f}", *(f"{ratio:.2f}" for ratio in quantiles))
    return table


def verdicts(answers: Sequence[Answers], laps: Sequence[Lap], timed: bool) -> Iterator[str]:
    """Yield a line for each aim, with what was reached."""
    for name in dict.fromkeys(lap.program for lap in laps if lap.program != OWN):
        found = beside(answers, name)
        if found is not None:
            yield _verdict(found.below == 0, f"below {name} in {found.below} (aim: none)")
    own = gaps(answers, OWN)
    if own is not None:
        yield _verdict(
            own.share <= BELOW_BEST,
            f"below the best known in {own.below} of {own.trials}, {own.share:.1%} (aim: {BELOW_BEST:.0%})",
        )
        yield _verdict(own.mean <= MEAN_GAP, f"mean gap {own.mean:.2e} (aim: {MEAN_GAP:g})")
    ratio = ratios(laps, TIMED_PEER) if timed else None
    if ratio is not None:
        what = f"time over {TIMED_PEER}'s"
        yield _verdict(
            ratio.median <= MEDIAN_RATIO, f"{what}, median {ratio.median:.2f} (aim: {MEDIAN_RATIO})"
        )
        yield _verdict(ratio.worst <= WORST_RATIO, f"{what}, worst {ratio.worst:.2f} (aim: {WORST_RATIO})")


def _verdict(reached: bool, what: str) -> str:
    return f"{'reached' if reached else 'not reached'}: {what}"


def below_a_peer(answers: Sequence[Answers]) -> Iterator[str]:
    """Yield the instances on which a peer found more, the largest differences first."""
    losses = [
        (one.r2[OWN] - r2, name, one.setting)
        for one in answers
        for name, r2 in one.r2.items()
        if OWN in one.r2 and one.r2[OWN] < r2 - TIE
    ]
    for difference, name, setting in sorted(losses, key=lambda loss: loss[0])[:LISTED]:
        yield f"{setting}: {difference:+.1e} beside {name}"
    if len(losses) > LISTED:
        yield f"and {len(losses) - LISTED} more"
