"""What is proven of a size by programs that know only a penalty for each element.

If no set has less than ``lower`` of ``loss + λ₀·size``, no set of k elements has less loss than
``lower − λ₀·k``. At a penalty for which the best set has k elements, nothing is lost by that.

They get the penalty, and the answer of a search to start from, for free (``data.start_of``).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

NAME = "start.json"


@dataclass(frozen=True)
class Start:
    """The penalty, in units of swapwise's objective, and the answer to start from, with its value."""

    penalty: float
    value: float
    support: list[int]
    coef: list[float]

    @classmethod
    def read(cls, folder: str) -> Start:
        """Read what was written beside the data."""
        return cls(**json.loads((Path(folder) / NAME).read_text()))

    def write(self, folder: str) -> None:
        """Write it beside the data."""
        (Path(folder) / NAME).write_text(json.dumps(asdict(self)))

    def vector(self, features: int, factor: float = 1.0) -> Any:
        """Return the coefficients of all features, times a factor."""
        coef = np.zeros(features)
        coef[self.support] = factor * np.array(self.coef)
        return coef

    def tolerance(self, gap: float, nothing: float) -> float:
        """Return the gap relative to the penalised loss at which that of the value is small enough.

        ``nothing`` is the loss of no feature, in units of the objective.

        >>> Start(0.01, 0.75, [3, 4], [1.0, 1.0]).tolerance(1e-4, 1.0)  # the loss is 0.27
        0.0002777777777777778
        """
        return gap * self.value / (nothing - self.value + self.penalty * len(self.support))


def note(found: int, size: int) -> str:
    """Say so if the answer does not have the size that the penalty was meant to give.

    >>> note(10, 10), note(9, 10)
    ('', 'chose 9 of 10')
    """
    return "" if found == size else f"chose {found} of {size}"
