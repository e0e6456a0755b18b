"""The paper's sentences about its experiments and its neighbours, each beside what was measured here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from swapwise.paper import claim_checks as checks
from swapwise.paper import neighbour_checks as neighbours
from swapwise.paper.claim_checks import (
    MODULAR,
    NON,
    OBLIVIOUS,
    R200,
    R1000,
    RESIDUAL,
    V10,
    V20,
    Outcome,
)
from swapwise.paper.comparisons import Missing, listed, searches_from, span, tidy
from swapwise.paper.grid import GRID
from swapwise.paper.procedures import EMPTY, LOCAL_SEARCHES, STARTS

Verdict = Literal["holds", "does not hold", "not measured"]
Check = Callable[[pd.DataFrame], Outcome]

WHERE_IT_IS = (
    "Not among the rows of this run. A quick run leaves out what takes long, an interrupted one what it had "
    "not come to. Certificates, and starts that are not in the paper, are run in the default flavour only."
)


@dataclass(frozen=True)
class Finding:
    """One claim of the paper and what was found.

    Attributes
    ----------
    where : the part of the paper, and whose running time it is if there are two
    sentence : the paper's words
    measured : the figures, with sizes and number of trials
    verdict : "holds", "does not hold" or "not measured"
    remark : what the paper's words were taken to mean, and the reason where figures differ
    start : where the paper's searches began; "" if the claim is not about them
    """

    where: str
    sentence: str
    measured: str
    verdict: Verdict
    remark: str
    start: str = ""

    @property
    def ruling(self) -> str:
        """The verdict, and for which start.

        >>> Finding("Results", "It is fast.", "3 s.", "does not hold", "", "arbitrary").ruling
        'does not hold from arbitrary'
        """
        return f"{self.verdict} from {self.start}" if self.start else self.verdict


class Claim(NamedTuple):
    """Where it stands, the sentence or the part of it that is checked, and the check.

    A claim ``by_start`` is about the paper's local searches, and is judged for every start that they have.
    """

    where: str
    sentence: str
    check: Check
    by_start: bool = False


def findings(rows: pd.DataFrame) -> list[Finding]:
    """Compare rows with the paper's claims, in the paper's order.

    The rows have the columns of :data:`swapwise.paper.measure.COLUMNS` and are of one flavour. Claims
    whose rows are missing, be it at one size of the grid only, are "not measured". Claims about the paper's
    searches are judged once for each start that they have rows from.

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
    """Return where the paper's searches begin; the empty set if there are none."""
    there = {
        block.procedure.printed_start for block in GRID if (rows["method"] == block.procedure.name).any()
    }
    return [start for start in STARTS if start in there] or [EMPTY]


def summary(found: Sequence[Finding]) -> str:
    """Count the verdicts, for each start if there are several.

    >>> theirs = [Finding("Results", "It is fast.", "3 s.", "does not hold", "", start) for start in STARTS]
    >>> summary(theirs[:1])
    '0 hold, 1 does not, 0 not measured'
    >>> summary([*theirs, Finding("Introduction", "It is new.", "", "not measured", "")])
    'from empty 0 hold, 1 does not, 1 not measured; from arbitrary 0 hold, 1 does not, 1 not measured'
    """
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
    """Return the findings as a page: a summary, then a section for each claim.

    >>> page = to_markdown([Finding("Results", "It is fast.", "3 ms.", "holds", "Fast: 5 ms.")])
    >>> [line for line in page.splitlines() if line][1:]
    ['1 holds, 0 do not, 0 not measured.', '## 1. Results: holds', '> It is fast.', '3 ms.', '*Fast: 5 ms.*']
    """
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
    """Return one sentence on where rows come from, for the top of the page.

    >>> describe(pd.DataFrame({"setting": "ising-10", "part": "paper", "method": "random", "size": 1,
    ...                        "trial": [0, 1], "flavour": "default", "seed": 0}))
    '2 rows of the default flavour, 2 trials in each setting; running times are processor time of one core.'
    """
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


REGRESSION, GRAPHS = "Results, sparse regression", "Results, graphical models"
SUBMODULAR, SPARSE, RECOVERY = (
    f"Related work, {topic}"
    for topic in ("submodular maximization", "sparse optimization", "sparse recovery")
)
PLAIN = "with the plain program that refits"
REFITTING, GRAPHS_REFITTING = f"{REGRESSION}, {PLAIN}", f"{GRAPHS}, {PLAIN}"
OTHERS = (*LOCAL_SEARCHES, RESIDUAL)

TEN = "the non-oblivious variant is approximately 10 times faster than the oblivious variant"
SIMILAR = "the non-oblivious variant achieves a higher objective value in a similar running time"
FASTER = "Modular approximation is considerably faster than the other methods"

ABOUT_TEN = ((5.0, 20.0), "Approximately 10: 5 to 20")
AT_MOST_TWICE = ((0.5, np.inf), "Similar running time, or a shorter one: it takes at most twice as long")
TWICE = ((2.0, np.inf), "Considerably: at least twice as fast as each of them")
COMPETITIVE = ((0.5, np.inf), "Competitive: at most twice the time")
WELL = ((1.5, np.inf), "Work well: both are at least 1.5 times as fast as the oblivious variant")

CLOSED_FORM = "Here a closed form scores all swaps in one pass"
NOTHING_LEFT = f"{CLOSED_FORM}, which leaves little to accelerate; see the next claim for refits."
OWN_CONSTANTS = (
    "In the default flavour every move is scored with its own M, which costs more than one M for all moves, "
    "as the algorithms are printed; the as-published flavour has that one."
)


def _plain(*methods: str) -> list[str]:
    return [f"plain {method}" for method in methods]


#: All of them, in the paper's order.
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "Abstract",
        "to confirm the practical efficiency of the proposed local search algorithms",
        partial(checks.efficient, LOCAL_SEARCHES),
        by_start=True,
    ),
    Claim(
        "Introduction",
        "localizability is a property that implies any local optimum is a good approximation to a global "
        "optimal solution",
        checks.local_optima,
        by_start=True,
    ),
    Claim("Introduction", "simple local search algorithms achieve a good approximation", checks.proofs),
    Claim(
        "Table 1",
        "p-Matroid intersection or p-Exchange systems: Greedy-based: N/A",
        neighbours.promised_without_matroid,
    ),
    Claim(
        "Introduction",
        "accelerated variants of our proposed local search algorithms",
        checks.evaluations,
        by_start=True,
    ),
    Claim(
        "Introduction",
        "An advantage of our approach over existing methods is its applicability to a broader class of "
        "combinatorial constraints.",
        checks.broader,
    ),
    Claim(
        "Introduction",
        "to confirm the practical efficiency of our accelerated local search algorithms",
        partial(checks.efficient, checks.ACCELERATED),
        by_start=True,
    ),
    Claim(
        SUBMODULAR,
        "[NWF78] proposed a 1/2-approximation local search procedure for a cardinality constraint, which "
        "they call an interchange heuristic. [FNW78] generalized this result to a single matroid constraint.",
        partial(
            neighbours.share_of_optimum,
            OBLIVIOUS,
            {"start": "arbitrary"},
            ("cardinality", *neighbours.MATROIDS),
            neighbours.HALF,
        ),
    ),
    Claim(
        SUBMODULAR,
        "For a p-matroid intersection constraint, [LSV10] proposed a (1/p − ε)-approximation local search "
        "algorithm. [FNSW11] proposed a novel class of constraints called p-exchange systems and devised a "
        "(1/p − ε)-approximation local search algorithm.",
        partial(neighbours.share_of_optimum, OBLIVIOUS, {"q": 2}, neighbours.SYSTEMS, neighbours.HALF),
    ),
    Claim(
        SUBMODULAR,
        "[FW14] devised a (1 − 1/e)-approximation local search algorithm for a matroid constraint.",
        partial(
            neighbours.share_of_optimum,
            "filmus-ward",
            {},
            neighbours.MATROIDS,
            neighbours.ONE_MINUS_ONE_BY_E,
        ),
    ),
    Claim(
        SPARSE,
        "[Sakaue19] considered sparse optimization with a constraint expressed by a monotone set function "
        "..., but their framework cannot deal with matroid constraints and p-exchange system constraints.",
        partial(neighbours.cannot_be_run, "Nothing is run: that framework is not part of this library"),
    ),
    Claim(
        SPARSE,
        "the pairwise Frank-Wolfe algorithm incorporates the technique of moving weight between two atoms at "
        "each iteration, which is similar to our local search procedures, but their guarantees are "
        "incomparable to ours",
        neighbours.incomparable,
        by_start=True,
    ),
    Claim(
        RECOVERY,
        "sparse recovery guarantees, which cannot be compared directly with our guarantees on approximation "
        "ratios",
        neighbours.different_goals,
    ),
    Claim(
        RECOVERY,
        "In the context of compressed sensing, several algorithms similar to our non-oblivious local search "
        "algorithms have been developed [NT10, BRB13].",
        neighbours.similar,
        by_start=True,
    ),
    Claim(
        RECOVERY,
        "[KC12] and [BLSGB16] developed frameworks that can be applied to a matroid constraint.",
        neighbours.under_matroids,
    ),
    Claim(
        RECOVERY,
        "For structure learning of graphical models, [JJR11] provided sparse recovery guarantees for the "
        "forward-backward greedy algorithm",
        partial(neighbours.recovers, ["foba"]),
    ),
    Claim(
        RECOVERY,
        "Recently, algorithms with recovery guarantees under weaker assumptions have been developed "
        "[Bresler15, KM17, WSD19].",
        partial(neighbours.recovers, ["bresler", "sparsitron", "l1-constrained-logistic"]),
    ),
    Claim(
        REGRESSION,
        TEN,
        partial(checks.speed, R200, [NON], [OBLIVIOUS], *ABOUT_TEN, NOTHING_LEFT),
        by_start=True,
    ),
    Claim(
        REFITTING,
        TEN,
        partial(checks.speed, R200, _plain(NON), _plain(OBLIVIOUS), *ABOUT_TEN, ""),
        by_start=True,
    ),
    Claim(
        REGRESSION,
        "an objective value comparable to that of the oblivious variant",
        checks.comparable,
        by_start=True,
    ),
    Claim(
        REGRESSION,
        "In comparison to the random residual greedy algorithm, the non-oblivious variant achieves a higher "
        "objective value",
        partial(checks.quality, R200, [RESIDUAL]),
        by_start=True,
    ),
    Claim(
        REGRESSION, SIMILAR, partial(checks.speed, R200, [NON], [RESIDUAL], *AT_MOST_TWICE, ""), by_start=True
    ),
    Claim(
        REFITTING,
        SIMILAR,
        partial(checks.speed, R200, _plain(NON), _plain(RESIDUAL), *AT_MOST_TWICE, ""),
        by_start=True,
    ),
    Claim(
        REGRESSION,
        FASTER,
        partial(checks.speed, R200, [MODULAR], OTHERS, *TWICE, f"{CLOSED_FORM}."),
        by_start=True,
    ),
    Claim(
        REFITTING,
        FASTER,
        partial(checks.speed, R200, _plain(MODULAR), _plain(*OTHERS), *TWICE, ""),
        by_start=True,
    ),
    Claim(REGRESSION, "but the quality of its solution is poor", checks.poor, by_start=True),
    Claim(
        REGRESSION,
        "The oblivious and semi-oblivious local search algorithms cannot be applied to this setting due to "
        "their slow running time.",
        partial(checks.too_slow, R1000, f"{CLOSED_FORM}."),
        by_start=True,
    ),
    Claim(
        REGRESSION,
        "in this setting, we can observe that the non-oblivious variant outperforms the benchmarks",
        partial(checks.quality, R1000, [RESIDUAL, MODULAR]),
        by_start=True,
    ),
    Claim(
        GRAPHS,
        "We can observe that our acceleration techniques work well in practice.",
        partial(checks.speed, V10, checks.ACCELERATED, [OBLIVIOUS], *WELL, ""),
        by_start=True,
    ),
    Claim(
        GRAPHS_REFITTING,
        "We can observe that our acceleration techniques work well in practice.",
        partial(checks.speed, V10, _plain(*checks.ACCELERATED), _plain(OBLIVIOUS), *WELL, ""),
        by_start=True,
    ),
    Claim(
        GRAPHS,
        "The running time of the non-oblivious variant is competitive with that of modular approximation",
        partial(checks.speed, V10, [NON], [MODULAR], *COMPETITIVE, OWN_CONSTANTS),
        by_start=True,
    ),
    Claim(
        GRAPHS_REFITTING,
        "The running time of the non-oblivious variant is competitive with that of modular approximation",
        partial(checks.speed, V10, _plain(NON), _plain(MODULAR), *COMPETITIVE, ""),
        by_start=True,
    ),
    Claim(
        GRAPHS,
        "its solution quality is higher than that of modular approximation for larger solution size",
        partial(checks.quality, V10, [MODULAR], larger=True),
        by_start=True,
    ),
    Claim(
        GRAPHS,
        "Since the oblivious and semi-oblivious local search algorithms are too slow to be applied to this "
        "setting, we omit them.",
        partial(checks.too_slow, V20, "Here refits are compiled, and start from the fit at hand."),
        by_start=True,
    ),
    Claim(
        GRAPHS,
        "the non-oblivious variant outperforms the benchmarks particularly in cases of larger solution size",
        partial(checks.quality, V20, [MODULAR, "random"], larger=True, growing=True),
        by_start=True,
    ),
)
