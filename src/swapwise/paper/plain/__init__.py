"""The paper's algorithms as plainly as possible: the oracle of the tests, and a part of the experiments.

Nothing here uses the rest of the library, and nothing here is fast. Sets are Python sets of integers, a
constraint is a function that tells if a sorted list is independent, and every value is a refit: by least
squares, or as in the paper by L-BFGS through SciPy. So the rules of the searches can be compared by
themselves, with no closed form or compiled loop in favour of one of them.
"""

from swapwise.paper.plain.constraints import PlainMatching, PlainPartition
from swapwise.paper.plain.ising import PlainIsing
from swapwise.paper.plain.least_squares import PlainLeastSquares
from swapwise.paper.plain.local_search import (
    Outcome,
    arbitrary_start,
    best_singleton_start,
    local_search,
)
from swapwise.paper.plain.others import exhaustive, greedy, modular, random_residual_greedy
from swapwise.paper.plain.systems import exchange_search, system_search

__all__ = [
    "Outcome",
    "PlainIsing",
    "PlainLeastSquares",
    "PlainMatching",
    "PlainPartition",
    "arbitrary_start",
    "best_singleton_start",
    "exchange_search",
    "exhaustive",
    "greedy",
    "local_search",
    "modular",
    "random_residual_greedy",
    "system_search",
]
