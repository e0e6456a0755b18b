"""Choose variables under structure, fast, with a proof of how good the choice is.

Start with ``help(swapwise.maximize)``, or with an estimator: ``help(swapwise.SparseRegressor)``. Beside them:

- ``swapwise.methods``: the methods around the paper, as objects with options;
- ``swapwise.theory``: constants of objectives, localizability, the table of guarantees;
- ``swapwise.graphs``: bootstrap, case dropping and comparison of graphs, centralities, pseudo-likelihoods;
- ``swapwise.extending``: states, moves and records, for classes of your own;
- ``swapwise.paper``: the experiments of the paper.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from swapwise.certify.certificate import Certificate
from swapwise.certify.certify import certify, exact
from swapwise.constraints.base import Constraint, IndependenceSystem
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.conflicts import Conflicts
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
from swapwise.lazy import lazily
from swapwise.maximize import maximize
from swapwise.objectives.a_optimal import AOptimal
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.coverage import Coverage
from swapwise.objectives.custom.check import check_objective
from swapwise.objectives.custom.objective import CustomObjective
from swapwise.objectives.custom.set_function import CustomSetFunction
from swapwise.objectives.facility_location import FacilityLocation
from swapwise.objectives.glm import Gamma, Logistic, Multinomial, NegativeBinomial, Poisson
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.objectives.linear import Linear
from swapwise.search import methods
from swapwise.search.result import SearchResult, Status
from swapwise.search.rules import NonOblivious, Oblivious, SemiOblivious
from swapwise.theory.guarantees import guarantee
from swapwise.theory.statement import Guarantee

if TYPE_CHECKING:
    from swapwise import extending as extending
    from swapwise import graphs as graphs
    from swapwise import paper as paper
    from swapwise.app.report.plots import plot_history, plot_path, plot_proof, plot_support
    from swapwise.estimators.classifier import SparseClassifier
    from swapwise.estimators.classifier_cv import SparseClassifierCV
    from swapwise.estimators.glm import SparseGLMRegressor
    from swapwise.estimators.glm_cv import SparseGLMRegressorCV
    from swapwise.estimators.regressor import SparseRegressor
    from swapwise.estimators.regressor_cv import SparseRegressorCV
    from swapwise.estimators.selector import SparseSelector
    from swapwise.graphs.estimators.gaussian import GaussianGraph
    from swapwise.graphs.estimators.gaussian_cv import GaussianGraphCV
    from swapwise.graphs.estimators.ising import IsingGraph
    from swapwise.graphs.estimators.ising_cv import IsingGraphCV
    from swapwise.graphs.estimators.mixed import MixedGraph
    from swapwise.graphs.estimators.mixed_cv import MixedGraphCV
    from swapwise.graphs.pictures.plots import plot_graph

# What rests on scikit-learn or matplotlib is imported when it is first used: both are slow to load.
_find = lazily(
    __name__,
    {
        "extending": "",
        "graphs": "",
        "paper": "",
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
        "SparseRegressor": "estimators.regressor",
        "SparseRegressorCV": "estimators.regressor_cv",
        "SparseSelector": "estimators.selector",
        "plot_graph": "graphs.pictures.plots",
        "plot_history": "app.report.plots",
        "plot_path": "app.report.plots",
        "plot_proof": "app.report.plots",
        "plot_support": "app.report.plots",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("swapwise")
    return _find(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "extending", "graphs", "paper", "theory"])


__all__ = [
    "AOptimal",
    "BMatching",
    "Certificate",
    "Conflicts",
    "Constraint",
    "Coverage",
    "CustomObjective",
    "CustomSetFunction",
    "FacilityLocation",
    "FewGroups",
    "Gamma",
    "GaussianGraph",
    "GaussianGraphCV",
    "Graphic",
    "Guarantee",
    "Hierarchy",
    "IndependenceSystem",
    "Intersection",
    "IsingGraph",
    "IsingGraphCV",
    "Knapsack",
    "Laminar",
    "LeastSquares",
    "Linear",
    "LinearMatroid",
    "Logistic",
    "Matroid",
    "MixedGraph",
    "MixedGraphCV",
    "Multinomial",
    "NegativeBinomial",
    "NonOblivious",
    "Oblivious",
    "OracleMatroid",
    "OracleSystem",
    "Partition",
    "Poisson",
    "SearchResult",
    "SemiOblivious",
    "SetFunction",
    "SetPacking",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseGLMRegressor",
    "SparseGLMRegressorCV",
    "SparseObjective",
    "SparseRegressor",
    "SparseRegressorCV",
    "SparseSelector",
    "Status",
    "Transversal",
    "Uniform",
    "certify",
    "check_objective",
    "exact",
    "guarantee",
    "maximize",
    "methods",
    "plot_graph",
    "plot_history",
    "plot_path",
    "plot_proof",
    "plot_support",
]
