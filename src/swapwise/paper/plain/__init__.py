"""The paper's algorithms as plainly as possible: a part of the experiments, and an oracle of the tests.

Nothing here uses the rest of the library, and nothing here is fast. Sets are Python sets of integers, a
constraint is a function that tells if a sorted list is independent, and every value is a refit: by least
squares, or as in the paper by L-BFGS through SciPy. So the rules of the searches can be compared by
themselves, with no closed form or compiled loop in favour of one of them.
"""

from swapwise.paper.plain.constraints import PlainMatching, PlainPartition
from swapwise.paper.plain.ising import PlainIsing
from swapwise.paper.plain.least_squares import PlainLeastSquares

__all__ = ["PlainIsing", "PlainLeastSquares", "PlainMatching", "PlainPartition"]
