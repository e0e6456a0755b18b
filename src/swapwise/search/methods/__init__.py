"""The methods other than local search, by name: ``maximize(..., method=name)`` or ``start=name``.

See Also
--------
maximize : what they are given to.
Oblivious, SemiOblivious, NonOblivious : the rules of local search.

Examples
--------
A method with options other than its own defaults is given as an object:

>>> import numpy as np
>>> import swapwise as sw
>>> f = sw.LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
>>> sw.maximize(f, sw.Uniform(3, 2), sw.methods.ForwardBackward(nu=0.3)).support
array([1, 2])
>>> sw.methods.METHODS["grasp"]
<class 'swapwise.search.methods.cosamp.GradientSupportPursuit'>
"""

from swapwise.search.methods.arht import ARHT
from swapwise.search.methods.base import Method
from swapwise.search.methods.clash import Clash
from swapwise.search.methods.cosamp import CoSaMP, GradientSupportPursuit
from swapwise.search.methods.exhaustive import Exhaustive
from swapwise.search.methods.foba import ForwardBackward
from swapwise.search.methods.frank_wolfe import FrankWolfe
from swapwise.search.methods.greedy import CostBenefit, Density, Greedy, RandomResidualGreedy
from swapwise.search.methods.jumps import Modular, RandomSet
from swapwise.search.methods.matching_pursuit import OrthogonalMatchingPursuit
from swapwise.search.methods.ordered import OrderedLocalSearch
from swapwise.search.methods.potential import Distorted, FilmusWard
from swapwise.search.methods.sieve import SieveStreaming, Streak
from swapwise.search.methods.streaming import StreamingSwaps
from swapwise.search.methods.thresholding import HardThresholdingPursuit, IterativeHardThresholding

KINDS: tuple[type[Method], ...] = (
    Greedy,
    Density,
    CostBenefit,
    RandomResidualGreedy,
    Modular,
    RandomSet,
    OrthogonalMatchingPursuit,
    ForwardBackward,
    IterativeHardThresholding,
    HardThresholdingPursuit,
    CoSaMP,
    GradientSupportPursuit,
    Clash,
    ARHT,
    FrankWolfe,
    SieveStreaming,
    Streak,
    StreamingSwaps,
    FilmusWard,
    Distorted,
    OrderedLocalSearch,
    Exhaustive,
)

#: By name, the class that a method is an object of
METHODS: dict[str, type[Method]] = {kind.name: kind for kind in KINDS}

__all__ = [
    "ARHT",
    "KINDS",
    "METHODS",
    "Clash",
    "CoSaMP",
    "CostBenefit",
    "Density",
    "Distorted",
    "Exhaustive",
    "FilmusWard",
    "ForwardBackward",
    "FrankWolfe",
    "GradientSupportPursuit",
    "Greedy",
    "HardThresholdingPursuit",
    "IterativeHardThresholding",
    "Method",
    "Modular",
    "OrderedLocalSearch",
    "OrthogonalMatchingPursuit",
    "RandomResidualGreedy",
    "RandomSet",
    "SieveStreaming",
    "Streak",
    "StreamingSwaps",
]


def __dir__() -> list[str]:
    return sorted(__all__)
