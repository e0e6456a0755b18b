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

from collections import UserDict
from importlib import import_module
from typing import Any

from swapwise.search.methods.base import Method
from swapwise.search.methods.cosamp import CoSaMP, GradientSupportPursuit
from swapwise.search.methods.exhaustive import Exhaustive
from swapwise.search.methods.foba import ForwardBackward
from swapwise.search.methods.frank_wolfe import FrankWolfe
from swapwise.search.methods.greedy import CostBenefit, Density, Greedy, RandomResidualGreedy
from swapwise.search.methods.jumps import Modular, RandomSet
from swapwise.search.methods.matching_pursuit import OrthogonalMatchingPursuit
from swapwise.search.methods.potential import Distorted, FilmusWard
from swapwise.search.methods.thresholding import HardThresholdingPursuit, IterativeHardThresholding

# Methods that serve comparison alone are in `swapwise.paper`, and imported when they are looked up.
_COMPARED = {
    "ARHT": "arht",
    "Clash": "clash",
    "OrderedLocalSearch": "ordered",
    "SieveStreaming": "sieve",
    "Streak": "sieve",
    "StreamingSwaps": "streaming",
}


def __getattr__(name: str) -> Any:
    if name not in _COMPARED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"swapwise.paper.methods.{_COMPARED[name]}"), name)


class Methods(UserDict[str, Any]):
    """Classes by name; a class of ``swapwise.paper`` is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        kind = self.data[name]
        return __getattr__(kind) if isinstance(kind, str) else kind


#: The class of each method by name
METHODS = Methods(
    {
        "greedy": Greedy,
        "density": Density,
        "cost-benefit": CostBenefit,
        "random-residual-greedy": RandomResidualGreedy,
        "modular": Modular,
        "random": RandomSet,
        "omp": OrthogonalMatchingPursuit,
        "foba": ForwardBackward,
        "iht": IterativeHardThresholding,
        "htp": HardThresholdingPursuit,
        "cosamp": CoSaMP,
        "grasp": GradientSupportPursuit,
        "clash": "Clash",
        "arht": "ARHT",
        "frank-wolfe": FrankWolfe,
        "sieve": "SieveStreaming",
        "streak": "Streak",
        "streaming": "StreamingSwaps",
        "filmus-ward": FilmusWard,
        "distorted": Distorted,
        "ordered": "OrderedLocalSearch",
        "exhaustive": Exhaustive,
    }
)

__all__ = [
    "ARHT",
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
