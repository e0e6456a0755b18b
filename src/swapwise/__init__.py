"""Choose variables under structure, fast, with a proof of how good the choice is."""

from swapwise.constraints.base import IndependenceSystem, MaxWeight
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.graphic import Graphic
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.linear import LinearMatroid
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.oracle import OracleMatroid
from swapwise.constraints.partition import Partition
from swapwise.constraints.set_packing import SetPacking
from swapwise.constraints.transversal import Transversal
from swapwise.constraints.uniform import Uniform
from swapwise.maximize import maximize
from swapwise.moves import Move, MoveList, SwapGrid
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.objectives.coverage import Coverage
from swapwise.objectives.custom import CustomSetFunction
from swapwise.objectives.facility_location import FacilityLocation
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.objectives.least_squares import LeastSquares
from swapwise.objectives.linear import Linear
from swapwise.search.pivots import NonOblivious, Oblivious, SemiOblivious
from swapwise.search.result import Event, SearchResult, Status
from swapwise.theory.certificate import Certificate
from swapwise.theory.certify import certify, exact
from swapwise.theory.constants import Constant, RestrictedConstants, restricted_constants
from swapwise.theory.guarantees import Guarantee, guarantee
from swapwise.theory.localizability import (
    Counterexample,
    Localizability,
    check_localizability,
    localizability,
)

__all__ = [
    "BMatching",
    "Certificate",
    "Constant",
    "Counterexample",
    "Coverage",
    "CustomSetFunction",
    "Event",
    "FacilityLocation",
    "Graphic",
    "Guarantee",
    "IndependenceSystem",
    "Intersection",
    "IsingPseudoLikelihood",
    "Laminar",
    "LeastSquares",
    "Linear",
    "LinearMatroid",
    "Localizability",
    "Matroid",
    "MaxWeight",
    "Move",
    "MoveList",
    "NonOblivious",
    "Oblivious",
    "OracleMatroid",
    "Partition",
    "RestrictedConstants",
    "SearchResult",
    "SemiOblivious",
    "SetFunction",
    "SetPacking",
    "SparseObjective",
    "SparseState",
    "State",
    "Status",
    "SwapGrid",
    "Transversal",
    "Uniform",
    "certify",
    "check_localizability",
    "exact",
    "guarantee",
    "localizability",
    "maximize",
    "restricted_constants",
]
