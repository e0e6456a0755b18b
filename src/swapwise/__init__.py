"""Choose variables under structure, fast, with a proof of how good the choice is."""

from importlib import import_module
from typing import Any

from swapwise.certify.certificate import Certificate
from swapwise.certify.certify import certify, exact
from swapwise.certify.history import ProofEvent
from swapwise.constraints.base import Constraint, IndependenceSystem, MaxWeight
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.conflicts import Conflicts
from swapwise.constraints.exchange_property import SmallestP, smallest_p
from swapwise.constraints.few_groups import FewGroups
from swapwise.constraints.graphic import Graphic
from swapwise.constraints.hierarchy import Hierarchy
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.knapsack import Knapsack
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.linear import LinearMatroid
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.oracle import OracleMatroid
from swapwise.constraints.oracle_system import OracleSystem
from swapwise.constraints.partition import Partition
from swapwise.constraints.set_packing import SetPacking
from swapwise.constraints.transversal import Transversal
from swapwise.constraints.uniform import Uniform
from swapwise.graphs.gaussian import GaussianPseudoLikelihood
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.graphs.mixed import MixedPseudoLikelihood
from swapwise.maximize import maximize
from swapwise.moves import Move, MoveList, SwapGrid
from swapwise.objectives.a_optimal import AOptimal
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.objectives.coverage import Coverage
from swapwise.objectives.custom.check import check_objective
from swapwise.objectives.custom.objective import CustomObjective
from swapwise.objectives.custom.set_function import CustomSetFunction
from swapwise.objectives.facility_location import FacilityLocation
from swapwise.objectives.glm import Gamma, Logistic, Multinomial, NegativeBinomial, Poisson
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.objectives.linear import Linear
from swapwise.search import methods
from swapwise.search.result import Event, SearchResult, Status, StrategyRun
from swapwise.search.rules import NonOblivious, Oblivious, SemiOblivious
from swapwise.theory.constants import Constant, RestrictedConstants, restricted_constants
from swapwise.theory.guarantees import guarantee
from swapwise.theory.localizability import (
    Counterexample,
    Localizability,
    check_localizability,
    localizability,
)
from swapwise.theory.ratios import SubmodularityRatios, submodularity_ratios
from swapwise.theory.statement import Guarantee
from swapwise.theory.table import guarantee_table

# What rests on scikit-learn or matplotlib is imported when it is first asked for: both are slow to load.
_LAZY = {
    "GaussianGraph": "graphs.estimators.gaussian",
    "GaussianGraphCV": "graphs.estimators.gaussian_cv",
    "IsingGraph": "graphs.estimators.ising",
    "IsingGraphCV": "graphs.estimators.ising_cv",
    "MixedGraph": "graphs.estimators.mixed",
    "MixedGraphCV": "graphs.estimators.mixed_cv",
    "SparseClassifier": "estimators.classifier",
    "SparseClassifierCV": "estimators.classifier_cv",
    "SparseGLMRegressor": "estimators.glm",
    "SparseGLMRegressorCV": "estimators.glm_cv",
    "SparsePoissonRegressor": "estimators.poisson",
    "SparsePoissonRegressorCV": "estimators.poisson_cv",
    "SparseRegressor": "estimators.regressor",
    "SparseRegressorCV": "estimators.regressor_cv",
    "SparseSelector": "estimators.selector",
    "CaseDropping": "graphs.stability.case_dropping",
    "GraphBootstrap": "graphs.stability.bootstrap",
    "GraphComparison": "graphs.stability.comparison",
    "bootstrap_graph": "graphs.stability.bootstrap",
    "case_dropping": "graphs.stability.case_dropping",
    "centralities": "graphs.stability.centrality",
    "compare_graphs": "graphs.stability.comparison",
    "plot_case_dropping": "graphs.pictures.stability",
    "plot_centrality": "graphs.pictures.stability",
    "plot_comparison": "graphs.pictures.stability",
    "plot_differences": "graphs.pictures.stability",
    "plot_edge_intervals": "graphs.pictures.stability",
    "plot_graph": "graphs.pictures.plots",
    "plot_history": "app.report.plots",
    "plot_path": "app.report.plots",
    "plot_proof": "app.report.plots",
    "plot_support": "app.report.plots",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("swapwise")
    if name not in _LAZY:
        raise AttributeError(f"module 'swapwise' has no attribute {name!r}")
    return getattr(import_module(f"swapwise.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AOptimal",
    "BMatching",
    "CaseDropping",
    "Certificate",
    "Conflicts",
    "Constant",
    "Constraint",
    "Counterexample",
    "Coverage",
    "CustomObjective",
    "CustomSetFunction",
    "Event",
    "FacilityLocation",
    "FewGroups",
    "Gamma",
    "GaussianGraph",
    "GaussianGraphCV",
    "GaussianPseudoLikelihood",
    "GraphBootstrap",
    "GraphComparison",
    "Graphic",
    "GroupLeastSquares",
    "Guarantee",
    "Hierarchy",
    "IndependenceSystem",
    "Intersection",
    "IsingGraph",
    "IsingGraphCV",
    "IsingPseudoLikelihood",
    "Knapsack",
    "Laminar",
    "LeastSquares",
    "Linear",
    "LinearMatroid",
    "Localizability",
    "Logistic",
    "Matroid",
    "MaxWeight",
    "MixedGraph",
    "MixedGraphCV",
    "MixedPseudoLikelihood",
    "Move",
    "MoveList",
    "Multinomial",
    "NegativeBinomial",
    "NonOblivious",
    "Oblivious",
    "OracleMatroid",
    "OracleSystem",
    "Partition",
    "Poisson",
    "ProofEvent",
    "RestrictedConstants",
    "SearchResult",
    "SemiOblivious",
    "SetFunction",
    "SetPacking",
    "SmallestP",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseGLMRegressor",
    "SparseGLMRegressorCV",
    "SparseObjective",
    "SparsePoissonRegressor",
    "SparsePoissonRegressorCV",
    "SparseRegressor",
    "SparseRegressorCV",
    "SparseSelector",
    "SparseState",
    "State",
    "Status",
    "StrategyRun",
    "SubmodularityRatios",
    "SwapGrid",
    "Transversal",
    "Uniform",
    "bootstrap_graph",
    "case_dropping",
    "centralities",
    "certify",
    "check_localizability",
    "check_objective",
    "compare_graphs",
    "exact",
    "guarantee",
    "guarantee_table",
    "localizability",
    "maximize",
    "methods",
    "plot_case_dropping",
    "plot_centrality",
    "plot_comparison",
    "plot_differences",
    "plot_edge_intervals",
    "plot_graph",
    "plot_history",
    "plot_path",
    "plot_proof",
    "plot_support",
    "restricted_constants",
    "smallest_p",
    "submodularity_ratios",
]
