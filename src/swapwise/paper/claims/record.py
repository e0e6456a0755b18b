"""Records of a claim, of the outcome of its check, and of the finding that is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

Verdict = Literal["holds", "does not hold", "not measured"]


class Outcome(NamedTuple):
    """The outcome of a check; ``holds`` is None if the figures do not decide it."""

    holds: bool | None
    measured: str
    remark: str


class Claim(NamedTuple):
    """A sentence of the paper, and the check that judges it on tidy rows.

    A check raises :class:`swapwise.paper.comparisons.Missing` if rows that it needs are not there. A claim
    ``by_start`` is about the paper's local searches, and is judged for every start that they have.
    """

    where: str
    sentence: str
    check: Callable[[pd.DataFrame], Outcome]
    by_start: bool = True


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

    See Also
    --------
    findings : the findings on the rows of a run.

    Examples
    --------
    >>> Finding("Results", "It is fast.", "3 s.", "does not hold", "", "arbitrary").ruling
    'does not hold from arbitrary'
    """

    where: str
    sentence: str
    measured: str
    verdict: Verdict
    remark: str
    start: str = ""

    @property
    def ruling(self) -> str:
        return f"{self.verdict} from {self.start}" if self.start else self.verdict
