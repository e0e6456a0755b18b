"""Outcomes as tables in markdown: a line is a row, a program a column, and seeds are side by side."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.proofs.outcomes import Outcome

#: Values that differ by less, relative to the larger, count as the same answer.
SAME = 1e-7


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the table of one group.

    >>> from benchmarks.proofs.lines import Line
    >>> line = Line("table", 1000, 300, 10, 0.001)
    >>> print(markdown([Outcome(line, 0, "swapwise", 20.0, 2, ((0.5, 0.8, 0.8),), (1, 2)),
    ...                 Outcome(line, 0, "okridge", 20.0, 2, ((21.0, 0.8, 0.9),), (1, 2))]))
    | samples × features | swapwise | okridge | answers |
    |---|---|---|---|
    | 1000 × 300, k = 10, ρ = 0.5, ridge 0.001 | 0.50 s | gap 11.1 % at 21 s | the same |
    <BLANKLINE>
    """
    programs = list(dict.fromkeys(outcome.program for outcome in outcomes))
    with_memory = any(outcome.line.group == "large" for outcome in outcomes)
    rows = []
    for line in dict.fromkeys(outcome.line for outcome in outcomes):
        here = [outcome for outcome in outcomes if outcome.line == line]
        cells = [_cell([one for one in here if one.program == name], with_memory) for name in programs]
        rows.append([str(line), *cells, _answers(here)])
    return _table(["samples × features", *programs, "answers"], rows)


def ratios(outcomes: Sequence[Outcome]) -> str:
    """Return the table of the paper's setting: the mean share of the optimum that is proven."""
    programs = list(dict.fromkeys(outcome.program for outcome in outcomes))
    rows = []
    for line in dict.fromkeys(outcome.line for outcome in outcomes):
        cells = []
        for name in programs:
            gaps = [one.gap for one in outcomes if (one.line, one.program) == (line, name)]
            known = [gap for gap in gaps if gap is not None]
            cells.append(f"{1 - fmean(known):.4f}" if known else "none")
        rows.append([str(line), *cells])
    return _table(["samples × features", *programs], rows)


def figure(outcome: Outcome) -> str:
    """Say what came of a run: the time until it was proven, the gap that was left, or why there is none."""
    if outcome.gap is None or outcome.seconds is None:
        return outcome.note
    if outcome.proven_at is not None:
        said = f"{_seconds(outcome.proven_at)}"
    else:
        said = f"gap {_percent(outcome.gap)} at {_seconds(outcome.seconds)}"
    return f"{said} ({outcome.note})" if outcome.note else said


def _cell(outcomes: Sequence[Outcome], with_memory: bool) -> str:
    said = list(dict.fromkeys(map(figure, outcomes)) if _all_failed(outcomes) else map(figure, outcomes))
    if with_memory:
        peaks = [one.megabytes for one in outcomes if one.megabytes is not None]
        said += [f"peak {max(peaks) / 1000:.1f} GB"] if peaks else []
    return "; ".join(said)


def _all_failed(outcomes: Sequence[Outcome]) -> bool:
    return all(one.gap is None for one in outcomes)


def _answers(outcomes: Sequence[Outcome]) -> str:
    """Say whether programs found the same, seed by seed."""
    seeds = dict.fromkeys(one.seed for one in outcomes)
    said = [_verdict([one for one in outcomes if one.seed == seed and one.points]) for seed in seeds]
    return "; ".join(dict.fromkeys(filter(None, said)))


def _verdict(outcomes: Sequence[Outcome]) -> str:
    """Compare answers to one problem by values that are computed plainly, or where there are none by sets."""
    if len(outcomes) < 2:
        return ""
    values = {one.program: one.plain for one in outcomes if one.plain is not None}
    if len(values) < len(outcomes):
        return "the same" if len({one.support for one in outcomes}) == 1 else "different sets"
    best = max(values.values())
    behind = [name for name, value in values.items() if value < best - SAME * abs(best)]
    return f"{', '.join(behind)} worse" if behind else "the same"


def _seconds(seconds: float) -> str:
    """Write a time with two digits or so.

    >>> _seconds(0.114), _seconds(1.96), _seconds(20.03)
    ('0.11 s', '2.0 s', '20 s')
    """
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _percent(gap: float) -> str:
    """Write a gap, small ones as powers of ten.

    >>> _percent(0.0937), _percent(0.00023)
    ('9.4 %', '2.3e-04')
    """
    return f"{100 * gap:.1f} %" if gap >= 0.001 else f"{gap:.1e}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    joined = ["| " + " | ".join(line) + " |" for line in lines]
    joined[1] = "|" + "---|" * len(head)
    return "\n".join(joined) + "\n"
