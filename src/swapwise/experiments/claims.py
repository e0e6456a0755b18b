"""The paper's sentences about its experiments, each beside what was measured here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd

from swapwise.constraints.bmatching import BMatching
from swapwise.experiments import comparisons
from swapwise.experiments.comparisons import Missing, Outcome, listed, short, sizes, span, tidy, trials
from swapwise.experiments.measure import one_core
from swapwise.experiments.procedures import LOCAL_SEARCHES
from swapwise.maximize import maximize
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.result import Status

Verdict = Literal["holds", "does not hold", "not measured"]
Check = Callable[[pd.DataFrame], Outcome]

R200, R1000, V10, V20 = comparisons.SETTINGS
OBLIVIOUS, SEMI, NON = LOCAL_SEARCHES
RESIDUAL, MODULAR = comparisons.RESIDUAL, comparisons.MODULAR

GOOD = "Good: at least 1/2 of the optimum on every instance, as local search has for submodular functions"
WHERE_IT_IS = (
    "Not among the rows of this run. Other starts and certificates are run in the default flavour only, the "
    "plain program only in a clone of the repository."
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
    """

    where: str
    sentence: str
    measured: str
    verdict: Verdict
    remark: str


def findings(rows: pd.DataFrame) -> list[Finding]:
    """Compare rows with the paper's claims, in the paper's order.

    The rows have the columns of :data:`swapwise.experiments.measure.COLUMNS` and are of one flavour. Claims
    whose rows are missing are "not measured".

    >>> rows = pd.DataFrame({"setting": "regression-200", "part": "paper", "size": 1, "trial": 0,
    ...                      "method": ["oblivious", "non-oblivious"], "seconds": [1.0, 0.1]})
    >>> [finding.measured for finding in findings(rows) if "10 times faster" in finding.sentence][0]
    'capacity 1, 1 trial each: non-oblivious is 10 times as fast as oblivious (100 ms and 1,000 ms a run).'
    """
    rows = tidy(rows)
    return [_finding(claim, rows) for claim in CLAIMS]


def to_markdown(found: Sequence[Finding], about: str = "", title: str = "The paper's claims") -> str:
    """Return the findings as a page: a summary, then a section for each.

    >>> page = to_markdown([Finding("Results", "It is fast.", "3 ms.", "holds", "Fast: 5 ms.")])
    >>> [line for line in page.splitlines() if line][1:]
    ['1 holds, 0 do not, 0 not measured.', '## 1. Results: holds', '> It is fast.', '3 ms.', '*Fast: 5 ms.*']
    """
    verdicts = [finding.verdict for finding in found]
    hold, fail, open_ = (verdicts.count(name) for name in ("holds", "does not hold", "not measured"))
    summary = (
        f"{hold} {'holds' if hold == 1 else 'hold'}, {fail} {'does' if fail == 1 else 'do'} not, "
        f"{open_} not measured."
    )
    paragraphs = [f"# {_escaped(title)}", *([_escaped(about)] if about else []), summary]
    for number, finding in enumerate(found, start=1):
        paragraphs += [
            f"## {number}. {_escaped(finding.where)}: {finding.verdict}",
            f"> {_escaped(finding.sentence)}",
            _escaped(finding.measured),
            *([f"*{_escaped(finding.remark)}*"] if finding.remark else []),
        ]
    return "\n\n".join(paragraphs) + "\n"


def describe(rows: pd.DataFrame) -> str:
    """Return one sentence on where rows come from, for the top of the page.

    >>> describe(pd.DataFrame({"setting": "ising-10", "part": "paper", "method": "random", "size": 1,
    ...                        "trial": [0, 1], "flavour": "default", "seed": 0}))
    '2 rows of the default flavour, 2 trials in each setting; running times are of one core.'
    """
    rows = tidy(rows)
    if rows.empty:
        return "There are no rows."
    trials = rows.drop_duplicates(["setting", "seed", "trial"]).groupby("setting").size()
    flavours = listed(sorted(rows["flavour"].dropna().unique())) or "unknown"
    return (
        f"{span([len(rows)], 'row')} of the {flavours} flavour, {span(trials, 'trial')} in each setting; "
        "running times are of one core."
    )


def _finding(claim: tuple[str, str, Check], rows: pd.DataFrame) -> Finding:
    where, sentence, check = claim
    try:
        outcome = check(rows)
    except Missing as missing:
        return Finding(where, sentence, f"Missing: {missing}.", "not measured", WHERE_IT_IS)
    verdict: Verdict = "not measured"
    if outcome.holds is not None:
        verdict = "holds" if outcome.holds else "does not hold"
    return Finding(where, sentence, f"{outcome.measured}.", verdict, outcome.remark)


def _escaped(text: str) -> str:
    return re.sub(r"([\\|*_<`])", r"\\\1", text)


def efficient(methods: Sequence[str], rows: pd.DataFrame) -> Outcome:
    """See whether searches come to their end, and soon."""
    runs = rows[rows["method"].isin(methods)].dropna(subset=["status"])
    timed = runs.dropna(subset=["seconds"])
    for experiment, method in product(("regression", "ising"), methods):
        of_experiment = timed[timed["setting"].str.startswith(experiment)]
        if method not in set(of_experiment["method"]):
            raise Missing(f"seconds of {method} in the {experiment} experiment")
    ended = runs["status"].isin([Status.LOCAL_OPTIMUM, Status.ITERATION_LIMIT])
    slowest = timed.loc[timed["seconds"].idxmax()]
    measured = (
        f"{ended.sum()} of {len(runs)} runs of {listed(methods)} came to their end, in "
        f"{listed(list(runs['setting'].unique()))}; of the {len(timed)} that were timed the slowest took "
        f"{short(slowest['seconds'])} s ({slowest['method']}, {slowest['setting']}, "
        f"{sizes(slowest['setting'], [slowest['size']])}), the median {short(timed['seconds'].median())} s"
    )
    holds = bool(ended.all() and slowest["seconds"] <= 1)
    remark = "Efficient: every run comes to its end, and none that is timed takes more than a second."
    return Outcome(holds, measured, remark)


def local_optima(rows: pd.DataFrame) -> Outcome:
    """Compare local optima with the best set that any method found on the same instance."""
    known = rows[rows["part"].isin(["paper", "starts", "pairs"]) & (rows["value"] > 0)]
    best = known.groupby(["setting", "size", "flavour", "seed", "trial"], dropna=False)["value"]
    known = known.assign(share=known["value"] / best.transform("max"))
    kinds = [f"{OBLIVIOUS}{start}" for start in ("", " from greedy", " from modular")]
    found = known[known["method"].isin(kinds) & (known["status"] == Status.LOCAL_OPTIMUM)]
    absent = [kind for kind in kinds if kind not in set(found["method"])]
    if absent:
        raise Missing(f"local optimum of {listed(absent)}")
    worst = found.loc[found["share"].idxmin()]
    measured = (
        f"{len(found)} local optima ({listed(kinds)}, in {listed(list(found['setting'].unique()))}; "
        f"{trials(found)}): the worst has {worst['share']:.3f} of the best value known for its instance "
        f"({worst['setting']}, {sizes(worst['setting'], [worst['size']])}); mean {found['share'].mean():.4f}"
    )
    remark = f"{GOOD}, here of the best value that any method found; the optimum may be higher."
    return Outcome(bool(worst["share"] >= 0.5), measured, remark)


def proofs(rows: pd.DataFrame) -> Outcome:
    """Say which share of the optimum is proven, beside what the theorem promises."""
    proven = rows[rows["part"] == "certificates"].dropna(subset=["proven"])
    if proven.empty:
        raise Missing("certificates")
    texts = []
    for (setting, method), some in proven.groupby(["setting", "method"], sort=False):
        promised = some["promised"].dropna()
        promise = f"{short(promised.mean())} on average" if promised.max() > 0 else "nothing"
        texts.append(
            f"{setting}, {method} ({sizes(setting, some['size'])}, {trials(some)}): proven at least "
            f"{some['proven'].min():.3f}, {some['proven'].mean():.3f} on average; promised {promise}"
        )
    remark = f"{GOOD}, and proven. What the theorem promises by itself is in the figures."
    if proven["proven"].min() >= 0.5:
        return Outcome(True, ". ".join(texts), remark)
    return Outcome(None, ". ".join(texts), f"{remark} What is not proven may be true all the same.")


def broader(rows: pd.DataFrame) -> Outcome:
    """Try methods under a constraint that is no matroid."""
    f, matching = LeastSquares(np.eye(6), np.arange(1.0, 7.0)), BMatching.complete(4, 1)
    with one_core():
        ended = [maximize(f, matching, method).status == Status.LOCAL_OPTIMUM for method in LOCAL_SEARCHES]
        try:
            maximize(f, matching, RESIDUAL)
            refusal = ""
        except TypeError as error:
            refusal = str(error)
    runs = rows[rows["setting"].str.startswith("ising") & rows["method"].isin(LOCAL_SEARCHES)]
    measured = (
        f"{sum(ended)} of 3 local searches work under a b-matching constraint, which is no matroid "
        f"({len(runs)} rows of this run, and a small example); {RESIDUAL} "
        + (f"refuses it: “{refusal}”" if refusal else "works there too")
    )
    remark = "Modular approximation and greedy, too, work under that constraint; greedy without a guarantee."
    return Outcome(all(ended) and bool(refusal), measured, remark)


def too_slow(setting: str, reason: str, rows: pd.DataFrame) -> Outcome:
    """See whether the slower searches were run, and came to their end."""
    runs = rows[(rows["setting"] == setting) & rows["method"].isin([OBLIVIOUS, SEMI])]
    runs = runs.dropna(subset=["status", "value"])
    if runs.empty:
        raise Missing(f"run of {OBLIVIOUS} and {SEMI} in {setting}")
    texts, absent = [], []
    for method in (OBLIVIOUS, SEMI):
        some = runs[runs["method"] == method]
        gone = set(comparisons.SETTINGS[setting].sizes) - set(some["size"])
        absent += [f"{method} at {sizes(setting, gone)}"] if gone else []
        if len(some):
            texts.append(
                f"{method} was run {span([len(some)], 'time')} ({sizes(setting, some['size'])}, "
                f"{trials(some)} each), with {short(some['n_iter'].mean())} moves and "
                f"{short(some['n_evaluations'].mean())} values of f in a run"
            )
    stopped = int((~runs["status"].isin([Status.LOCAL_OPTIMUM, Status.ITERATION_LIMIT])).sum())
    measured = "; ".join([*texts, *(f"no rows of {gone}" for gone in absent)])
    measured += f"; {len(runs) - stopped} of {len(runs)} runs came to their end"
    remark = "Too slow: there are runs that had to be stopped. Seconds are not measured in this setting."
    if stopped or not absent:
        return Outcome(bool(stopped), measured, remark if stopped else f"{remark} {reason}")
    return Outcome(None, measured, f"{remark} The sizes without rows may be those that take too long.")


REGRESSION, GRAPHS = "Results, sparse regression", "Results, graphical models"
REFITTING = f"{REGRESSION}, with the plain program that refits"
OTHERS = (*LOCAL_SEARCHES, RESIDUAL)

TEN = "the non-oblivious variant is approximately 10 times faster than the oblivious variant"
SIMILAR = "the non-oblivious variant achieves a higher objective value in a similar running time"
FASTER = "Modular approximation is considerably faster than the other methods"

ABOUT_TEN = ((5.0, 20.0), "Approximately 10: 5 to 20")
AT_MOST_TWICE = ((0.5, 2.0), "Similar running time: neither takes more than twice as long")
TWICE = ((2.0, np.inf), "Considerably: at least twice as fast as each of them")
COMPETITIVE = ((0.5, np.inf), "Competitive: at most twice the time")
WELL = ((1.5, np.inf), "Work well: both are at least 1.5 times as fast as the oblivious variant")

CLOSED_FORM = "Here a closed form scores all swaps in one pass"
NOTHING_LEFT = f"{CLOSED_FORM}, which leaves little to accelerate; see the next claim for refits."
MANY_REFITS = "Random residual greedy refits for every candidate, non-oblivious only for every move."
OWN_CONSTANTS = (
    "In the default flavour every move is scored with its own M, which costs more than the paper's one M for "
    "all moves; the as-published flavour has that one."
)


def _plain(*methods: str) -> list[str]:
    return [f"plain {method}" for method in methods]


#: Where it stands, the sentence or the part of it that is checked, and the check.
CLAIMS: tuple[tuple[str, str, Check], ...] = (
    (
        "Abstract",
        "to confirm the practical efficiency of the proposed local search algorithms",
        partial(efficient, LOCAL_SEARCHES),
    ),
    (
        "Introduction",
        "localizability is a property that implies any local optimum is a good approximation to a global "
        "optimal solution",
        local_optima,
    ),
    ("Introduction", "simple local search algorithms achieve a good approximation", proofs),
    ("Introduction", "accelerated variants of our proposed local search algorithms", comparisons.evaluations),
    (
        "Introduction",
        "An advantage of our approach over existing methods is its applicability to a broader class of "
        "combinatorial constraints.",
        broader,
    ),
    (
        "Introduction",
        "to confirm the practical efficiency of our accelerated local search algorithms",
        partial(efficient, comparisons.ACCELERATED),
    ),
    (REGRESSION, TEN, partial(comparisons.speed, R200, [NON], [OBLIVIOUS], *ABOUT_TEN, NOTHING_LEFT)),
    (REFITTING, TEN, partial(comparisons.speed, R200, _plain(NON), _plain(OBLIVIOUS), *ABOUT_TEN, "")),
    (REGRESSION, "an objective value comparable to that of the oblivious variant", comparisons.comparable),
    (
        REGRESSION,
        "In comparison to the random residual greedy algorithm, the non-oblivious variant achieves a higher "
        "objective value",
        partial(comparisons.quality, R200, [RESIDUAL]),
    ),
    (REGRESSION, SIMILAR, partial(comparisons.speed, R200, [NON], [RESIDUAL], *AT_MOST_TWICE, "")),
    (
        REFITTING,
        SIMILAR,
        partial(comparisons.speed, R200, _plain(NON), _plain(RESIDUAL), *AT_MOST_TWICE, MANY_REFITS),
    ),
    (REGRESSION, FASTER, partial(comparisons.speed, R200, [MODULAR], OTHERS, *TWICE, f"{CLOSED_FORM}.")),
    (REFITTING, FASTER, partial(comparisons.speed, R200, _plain(MODULAR), _plain(*OTHERS), *TWICE, "")),
    (REGRESSION, "but the quality of its solution is poor", comparisons.poor),
    (
        REGRESSION,
        "The oblivious and semi-oblivious local search algorithms cannot be applied to this setting due to "
        "their slow running time.",
        partial(too_slow, R1000, f"{CLOSED_FORM}."),
    ),
    (
        REGRESSION,
        "in this setting, we can observe that the non-oblivious variant outperforms the benchmarks",
        partial(comparisons.quality, R1000, [RESIDUAL, MODULAR]),
    ),
    (
        GRAPHS,
        "We can observe that our acceleration techniques work well in practice.",
        partial(comparisons.speed, V10, comparisons.ACCELERATED, [OBLIVIOUS], *WELL, ""),
    ),
    (
        GRAPHS,
        "The running time of the non-oblivious variant is competitive with that of modular approximation",
        partial(comparisons.speed, V10, [NON], [MODULAR], *COMPETITIVE, OWN_CONSTANTS),
    ),
    (
        GRAPHS,
        "its solution quality is higher than that of modular approximation for larger solution size",
        partial(comparisons.quality, V10, [MODULAR], larger=True),
    ),
    (
        GRAPHS,
        "Since the oblivious and semi-oblivious local search algorithms are too slow to be applied to this "
        "setting, we omit them.",
        partial(too_slow, V20, "Here refits are compiled, and start from the fit at hand."),
    ),
    (
        GRAPHS,
        "the non-oblivious variant outperforms the benchmarks",
        partial(comparisons.quality, V20, [MODULAR, "random"]),
    ),
    (
        GRAPHS,
        "the non-oblivious variant outperforms the benchmarks particularly in cases of larger solution size",
        partial(comparisons.quality, V20, [MODULAR, "random"], larger=True, growing=True),
    ),
)
