"""The verdict on every claim, and the page that lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from swapwise.paper.claims import experiments, introduction, related_work
from swapwise.paper.claims.record import Claim, Finding, Verdict
from swapwise.paper.comparisons import Missing, listed, searches_from, span, tidy
from swapwise.paper.grid import GRID
from swapwise.paper.procedures import EMPTY, STARTS

#: All claims, in the paper's order
CLAIMS: tuple[Claim, ...] = (*introduction.CLAIMS, *related_work.CLAIMS, *experiments.CLAIMS)

WHERE_IT_IS = (
    "Not among the rows of this run. A quick run leaves out what takes long, an interrupted one what it had "
    "not come to. Certificates, and starts that are not in the paper, are run in the default flavour only."
)


def findings(rows: pd.DataFrame) -> list[Finding]:
    """Judge all claims, in the paper's order.

    Claims about the paper's searches are judged once for each start that they have rows from.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows of ``rows.csv``, of one flavour. A claim whose rows are missing, be it at one size of the
        grid only, is "not measured".

    Returns
    -------
    list of Finding

    See Also
    --------
    draw_figure : the same rows as a figure.

    Examples
    --------
    >>> import numpy as np
    >>> rows = pd.DataFrame({"setting": "regression-200", "part": "paper", "size": [*range(1, 11)] * 2,
    ...                      "trial": 0, "method": np.repeat(["oblivious", "non-oblivious"], 10),
    ...                      "seconds": np.repeat([1.0, 0.1], 10)})
    >>> finding = [finding for finding in findings(rows) if "10 times faster" in finding.sentence][0]
    >>> finding.ruling, finding.measured[:72]
    ('holds from empty', 'capacities 1–10, 1 trial each: non-oblivious is 10 times as fast as obli')
    >>> summary(findings(rows))
    '1 holds, 0 do not, 34 not measured'
    """
    rows = tidy(rows)
    by_start = {start: searches_from(rows, start) for start in _starts_of(rows)}
    return [
        _finding(claim, chosen, start)
        for claim in CLAIMS
        for start, chosen in (by_start.items() if claim.by_start else [("", rows)])
    ]


def _starts_of(rows: pd.DataFrame) -> list[str]:
    there = {
        block.procedure.printed_start for block in GRID if (rows["method"] == block.procedure.name).any()
    }
    return [start for start in STARTS if start in there] or [EMPTY]


def summary(found: Sequence[Finding]) -> str:
    starts = [start for start in STARTS if any(finding.start == start for finding in found)] or [""]
    counts = [_counts([x.verdict for x in found if x.start in ("", start)]) for start in starts]
    if len(starts) == 1:
        return counts[0]
    return "; ".join(f"from {start} {count}" for start, count in zip(starts, counts, strict=True))


def _counts(verdicts: Sequence[str]) -> str:
    hold, fail, open_ = (verdicts.count(name) for name in ("holds", "does not hold", "not measured"))
    return (
        f"{hold} {'holds' if hold == 1 else 'hold'}, {fail} {'does' if fail == 1 else 'do'} not, "
        f"{open_} not measured"
    )


def to_markdown(found: Sequence[Finding], about: str = "", title: str = "The paper's claims") -> str:
    paragraphs = [f"# {_escaped(title)}", *([_escaped(about)] if about else []), f"{summary(found)}."]
    for number, (_, some) in enumerate(groupby(found, lambda x: (x.where, x.sentence)), start=1):
        mine = list(some)
        rulings = "; ".join(finding.ruling for finding in mine)
        paragraphs += [
            f"## {number}. {_escaped(mine[0].where)}: {rulings}",
            f"> {_escaped(mine[0].sentence)}",
        ]
        for finding in mine:
            begin = f"From {finding.start}: " if len(mine) > 1 else ""
            paragraphs += [
                begin + _escaped(finding.measured),
                *([f"*{_escaped(finding.remark)}*"] if finding.remark else []),
            ]
    return "\n\n".join(paragraphs) + "\n"


def describe(rows: pd.DataFrame) -> str:
    rows = tidy(rows)
    if rows.empty:
        return "There are no rows."
    trials = rows.drop_duplicates(["setting", "seed", "trial"]).groupby("setting").size()
    flavours = listed(sorted(rows["flavour"].dropna().unique())) or "unknown"
    return (
        f"{span([len(rows)], 'row')} of the {flavours} flavour, {span(trials, 'trial')} in each setting; "
        "running times are processor time of one core."
    )


def _finding(claim: Claim, rows: pd.DataFrame, start: str) -> Finding:
    where, sentence, check, _ = claim
    try:
        outcome = check(rows)
    except Missing as missing:
        return Finding(where, sentence, f"Missing: {missing}.", "not measured", WHERE_IT_IS, start)
    verdict: Verdict = "not measured"
    if outcome.holds is not None:
        verdict = "holds" if outcome.holds else "does not hold"
    return Finding(where, sentence, f"{outcome.measured}.", verdict, outcome.remark, start)


def _escaped(text: str) -> str:
    return re.sub(r"([\\|*_<`])", r"\\\1", text)
