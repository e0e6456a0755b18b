"""CoSaMP and GraSP: fit on more elements than may be chosen, then prune."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget, Clock
from swapwise.moves import Step
from swapwise.objectives.base import SparseState, State, element_norms2, embed
from swapwise.override import override
from swapwise.search.methods.base import Incumbent, SparseMethod
from swapwise.search.methods.projection import Projection

# Rounds end when this many in a row have led to no better set. Where merged sets have fewer elements than
# there are samples, a set has almost always come back by then; elsewhere sets may change for long.
FRUITLESS = 10


class MergeAndPrune(SparseMethod):
    debias: bool

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        project = Projection(self._objective, self._constraint)
        best, seen = Incumbent(state, budget, self._tol), {state.support.tobytes()}
        gradient, n_rounds, fruitless = state.gradient, 0, 0
        while fruitless < FRUITLESS:
            budget.check()
            n_rounds += 1
            merged = np.union1d(state.support, self._steepest(gradient, project, budget.clock))
            state.n_evaluations += 1
            coef = embed(self._objective, merged, self._objective._fit(merged)[1])
            support = project.support(coef, budget.clock)
            self.details = {"rounds": n_rounds, "head": project.head, "tail": project.tail}
            if support.tobytes() in seen:
                break
            seen.add(support.tobytes())
            steps = best.go(support)
            fruitless = 0 if steps else fruitless + 1
            yield steps
            if self.debias:
                gradient = state.gradient
            else:
                gradient = self._objective.gradient_at(project.restrict(coef, support))
        best.restore()

    def _steepest(self, gradient: FloatArray, project: Projection, clock: Clock) -> IndexArray:
        # Two disjoint independent sets
        weights = element_norms2(self._objective, gradient)
        first = project.heaviest(weights, clock)
        weights[first] = 0.0
        return np.union1d(first, project.heaviest(weights, clock))


class CoSaMP(MergeAndPrune):
    """Compressive sampling matching pursuit: merge with the steepest elements, fit, prune.

    From coefficients w on a set S, a round takes the elements Z with the longest gradients ``∇u(w)``, fits on
    ``Z ∪ S`` and keeps of the fit what the projection onto the constraint keeps. Under ``Uniform(n, k)``, Z
    has the 2k longest; under any constraint it is two disjoint independent sets, the heaviest and that of the
    rest, as in the model-based version of Baraniuk et al. It ends when a set comes back, or when ten
    rounds in a row have led to no better one. The answer is the best set on the way, refitted.

    The next gradient is that of the pruned coefficients, not of a refit on their set: this is the difference
    to ``"grasp"``. For least squares the gradient is the correlation with the residual, and this is CoSaMP as
    published; for other objectives it is GraSP without debiasing. With more merged columns than samples the
    fit explains anything, and pruning is nearly arbitrary.

    See Also
    --------
    GradientSupportPursuit : for any objective.
    HardThresholdingPursuit : fewer fits.

    References
    ----------
    - Needell and Tropp (2010), CoSaMP: iterative signal recovery from incomplete and inaccurate samples.
    - Baraniuk, Cevher, Duarte and Hegde (2010), Model-based compressive sensing.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "cosamp").support
    array([1, 2])
    """

    name = "cosamp"
    debias = False


class GradientSupportPursuit(MergeAndPrune):
    """Gradient support pursuit (GraSP): CoSaMP for any sparse objective.

    A round merges the set with the elements of longest gradients, fits on all of them, and prunes the fit:
    see :class:`CoSaMP`.

    Parameters
    ----------
    debias : bool
        Whether the next gradient is that of a refit on the pruned set. Without, it is that of the pruned
        coefficients, and for least squares this is ``"cosamp"``.

    See Also
    --------
    CoSaMP : without the refit.

    References
    ----------
    - Bahmani, Raj and Boufounos (2013), Greedy sparsity-constrained optimization.

    Examples
    --------
    >>> from swapwise import Logistic, Uniform, maximize
    >>> X = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [1.0, -2.0, 1.0], [0.0, 1.0, 0.0]])
    >>> maximize(Logistic(X, [1, 0, 0, 1], ridge=0.1), Uniform(3, 1), "grasp").support
    array([1])
    """

    name = "grasp"

    def __init__(self, debias: bool = True) -> None:
        if not isinstance(debias, bool):
            raise TypeError(f"debias must be True or False, got {debias!r}")
        self.debias = debias
