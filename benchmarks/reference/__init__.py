"""The paper's algorithms as plainly as possible: the oracle of the tests, the baseline of the benchmark.

Nothing here uses the library, and nothing here is fast. Sets are Python sets of integers, a
constraint is a function that tells whether a sorted list is independent, and every value is a refit.
"""

from benchmarks.reference.least_squares import PlainLeastSquares
from benchmarks.reference.local_search import (
    Outcome,
    arbitrary_start,
    best_singleton_start,
    local_search,
)
from benchmarks.reference.others import exhaustive, greedy, modular, random_residual_greedy

__all__ = [
    "Outcome",
    "PlainLeastSquares",
    "arbitrary_start",
    "best_singleton_start",
    "exhaustive",
    "greedy",
    "local_search",
    "modular",
    "random_residual_greedy",
]
