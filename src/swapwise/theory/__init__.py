"""Guarantees: theorems on methods, and bounds on the optimum from the answer, without a search.

``constants`` are m and M of an objective, ``ratios`` are γ, β and α, and ``localizable`` has the paper's
(α, β₁, β₂). ``guarantees`` has the theorems on local search, ``methods`` those on the other methods, and
``table`` all of them. ``along_the_run`` bounds the optimum from the set that was found, by the ``bounds``
that proofs use, too, and ``runs`` takes the best of all for a result.

The theorem on one method is at the top: ``swapwise.guarantee``, which returns a ``swapwise.Guarantee``.
"""

from swapwise.constraints.exchange_property import SmallestP, smallest_p
from swapwise.theory.constants import Constant, RestrictedConstants, restricted_constants
from swapwise.theory.localizable import (
    Counterexample,
    Localizability,
    check_localizability,
    localizability,
)
from swapwise.theory.ratios import SubmodularityRatios, submodularity_ratios
from swapwise.theory.table import guarantee_table


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Constant",
    "Counterexample",
    "Localizability",
    "RestrictedConstants",
    "SmallestP",
    "SubmodularityRatios",
    "check_localizability",
    "guarantee_table",
    "localizability",
    "restricted_constants",
    "smallest_p",
    "submodularity_ratios",
]
