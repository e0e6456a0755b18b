"""The paper's four settings: random instances, and an objective and a constraint for each size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.constraints.base import Constraint
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.partition import Partition
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override
from swapwise.paper.instances import IsingInstance, RegressionInstance, paper_ising, paper_regression
from swapwise.paper.plain import PlainIsing, PlainLeastSquares, PlainMatching, PlainPartition


@dataclass(frozen=True)
class Setting(ABC):
    """Random instances of one shape, each with one problem for every size of the paper.

    Where it is ``timed``, running times are shown, so that its rows must be measured one at a time.
    """

    name: str
    sizes: tuple[int, ...]
    timed: bool

    @property
    def experiment(self) -> str:
        return self.name.split("-")[0]

    @abstractmethod
    def instance(self, random_state: np.random.SeedSequence) -> Any:
        """Draw an instance."""

    @abstractmethod
    def problem(self, instance: Any, size: int, ridge: float = 0.0) -> tuple[SparseObjective, Constraint]:
        """Return the objective and the constraint; ``ridge`` is for one sample."""

    @abstractmethod
    def placeholder_problem(self) -> tuple[SparseObjective, Constraint]:
        """Return a problem of the same kind and shape on data that take no time to draw."""

    @abstractmethod
    def plain_problem(
        self, instance: Any, size: int
    ) -> tuple[PlainLeastSquares | PlainIsing, PlainPartition | PlainMatching]:
        """Return the problem for the plain program."""

    @abstractmethod
    def yardstick(self, instance: Any) -> float:
        """Return the value that a row's is divided by; the paper divides by the optimum."""

    @abstractmethod
    def published_smoothness(self, objective: Any) -> float:
        """Return one M for all moves, as the algorithms are printed."""


@dataclass(frozen=True)
class RegressionSetting(Setting):
    """Sparse regression under a partition matroid; a size is the capacity of every category.

    ``shape`` are the numbers of features, samples, categories, and true features in each.

    See Also
    --------
    IsingSetting : the paper's other experiment.
    paper_regression : an instance.

    Examples
    --------
    >>> setting = RegressionSetting("regression-20", (1, 2), False, shape=(20, 30, 4, 2))
    >>> instance = setting.instance(np.random.SeedSequence(0))
    >>> setting.problem(instance, size=2)[1]
    Partition(n=20, ...)
    """

    shape: tuple[int, int, int, int]

    @override
    def instance(self, random_state: np.random.SeedSequence) -> RegressionInstance:
        return paper_regression(*self.shape, random_state=random_state)

    @override
    def problem(
        self, instance: RegressionInstance, size: int, ridge: float = 0.0
    ) -> tuple[LeastSquares, Partition]:
        objective = LeastSquares(instance.X, instance.y, ridge=ridge * len(instance.y))
        return objective, Partition(instance.labels, size)

    @override
    def placeholder_problem(self) -> tuple[LeastSquares, Partition]:
        return self.problem(self.instance(np.random.SeedSequence(0)), self.sizes[0])

    @override
    def plain_problem(
        self, instance: RegressionInstance, size: int
    ) -> tuple[PlainLeastSquares, PlainPartition]:
        return PlainLeastSquares(instance.X, instance.y), PlainPartition(instance.labels.tolist(), size)

    @override
    def yardstick(self, instance: RegressionInstance) -> float:
        return 1.0

    @override
    def published_smoothness(self, objective: LeastSquares) -> float:
        # M_{s,2} for any angle between columns: 2 if they are unit vectors and u is half a square. The paper
        # does not say which M it has for regressions.
        return objective.smoothness(2)


@dataclass(frozen=True)
class IsingSetting(Setting):
    """Structure learning under a degree limit; a size is the number of edges that a vertex may have.

    See Also
    --------
    RegressionSetting : the paper's other experiment.
    paper_ising : an instance.

    Examples
    --------
    >>> setting = IsingSetting("ising-6", (1, 2), False, n_vertices=6, degree=3)
    >>> instance = setting.instance(np.random.SeedSequence(0))
    >>> setting.problem(instance, size=2)[0].n
    15
    """

    n_vertices: int
    degree: int

    @override
    def instance(self, random_state: np.random.SeedSequence) -> IsingInstance:
        return paper_ising(self.n_vertices, self.degree, random_state=random_state)

    @override
    def problem(
        self, instance: IsingInstance, size: int, ridge: float = 0.0
    ) -> tuple[IsingPseudoLikelihood, BMatching]:
        return (
            IsingPseudoLikelihood(instance.spins, ridge=ridge),
            BMatching.complete(self.n_vertices, size),
        )

    @override
    def placeholder_problem(self) -> tuple[IsingPseudoLikelihood, BMatching]:
        spins = np.random.default_rng(0).choice([-1.0, 1.0], size=(20, self.n_vertices))
        no_edges = IsingInstance(spins, np.empty(0, dtype=np.intp), np.zeros(0))
        return self.problem(no_edges, self.sizes[0])

    @override
    def plain_problem(self, instance: IsingInstance, size: int) -> tuple[PlainIsing, PlainMatching]:
        return PlainIsing(instance.spins), PlainMatching(self.n_vertices, size)

    @override
    def yardstick(self, instance: IsingInstance) -> float:
        return IsingPseudoLikelihood(instance.spins)(instance.edges)

    @override
    def published_smoothness(self, objective: IsingPseudoLikelihood) -> float:
        return 4.0 * float(self.n_vertices) ** 1.5


REGRESSION_200 = RegressionSetting("regression-200", tuple(range(1, 11)), True, (200, 50, 5, 5))
REGRESSION_1000 = RegressionSetting("regression-1000", tuple(range(1, 11)), False, (1000, 100, 10, 10))
ISING_10 = IsingSetting("ising-10", tuple(range(1, 6)), True, n_vertices=10, degree=5)
ISING_20 = IsingSetting("ising-20", tuple(range(1, 8)), False, n_vertices=20, degree=7)
