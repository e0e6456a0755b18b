"""What a case measures, and how it is told: paired errors on new data, and their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from swapwise.checks import FloatArray

WITHOUT, WITH = "without", "with"


@dataclass(frozen=True)
class Case:
    """Errors of all programs on the same new data.

    Parameters
    ----------
    title, data, constraint, measure : str
        What is asked, of which data, under which rule, and what the errors are.
    errors : mapping of str to array of shape (repeats, units)
        By program, two of which are ``"without"`` and ``"with"`` the constraint. A repeat is a split of the
        data or a last year of training; a unit is a row, a country or a simulated set. What was not tested is
        NaN.
    also : mapping of str to float, optional
        What else was measured, such as the error as long as nothing fails.
    """

    title: str
    data: str
    constraint: str
    measure: str
    errors: Mapping[str, FloatArray]
    also: Mapping[str, float] = field(default_factory=dict)

    def mean(self, program: str) -> float:
        """Return the mean error of a program."""
        return float(np.nanmean(self.errors[program]))

    def peer(self) -> str:
        """Return the other program with the lowest error."""
        return min((name for name in self.errors if name not in (WITHOUT, WITH)), key=self.mean)

    def gain(self, program: str = WITHOUT) -> tuple[float, float]:
        """Return how much larger a program's error is than that with the constraint, and its standard error.

        The standard error is the larger of two: over units, each with its mean over the repeats, and over
        repeats, where there are several. Splits of the same rows overlap, so the second alone would often
        be too small.

        >>> case = Case("", "", "", "", {"without": np.array([[2.0, 4.0]]), "with": np.array([[1.0, 1.0]])})
        >>> case.gain()
        (2.0, 1.0)
        """
        difference = self.errors[program] - self.errors[WITH]
        difference = difference[:, ~np.isnan(difference).all(axis=0)]  # some rows no split may have tested
        over_units = standard_error(np.nanmean(difference, axis=0))
        over_repeats = standard_error(np.nanmean(difference, axis=1)) if len(difference) > 1 else 0.0
        return float(np.nanmean(difference)), max(over_units, over_repeats)

    def row(self) -> list[str]:
        """Return the cells of the table, as text."""
        best = self.peer()
        return [
            self.title,
            self.data,
            self.constraint,
            self.measure,
            f"{self.mean(WITHOUT):.3f}",
            f"**{self.mean(WITH):.3f}**",
            _plus_minus(*self.gain()),
            f"{best} {self.mean(best):.3f}",
            _plus_minus(*self.gain(best)),
        ]


HEADER = [
    "question",
    "data",
    "constraint",
    "error on new data",
    "without",
    "with",
    "gain ± s.e.",
    "best other program",
    "gain ± s.e.",
]

#: From the number of repeats, if not the usual one, to a case
Measure = Callable[..., Case]


def standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def markdown(cases: list[Case]) -> str:
    """Return the table of all cases in Markdown."""
    lines = [HEADER, ["---"] * len(HEADER), *(case.row() for case in cases)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _plus_minus(mean: float, error: float) -> str:
    return f"{mean:.3f} ± {error:.3f}".replace("-", "−")
