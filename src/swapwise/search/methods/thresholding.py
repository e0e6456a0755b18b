"""Hard thresholding: a gradient step, then the projection onto the constraint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import FloatArray, as_real
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Step
from swapwise.objectives.base import SetFunction, SparseState, State, embed
from swapwise.search.methods.base import SparseMethod, moved_to
from swapwise.search.methods.projection import Projection
from swapwise.search.result import Status

# Rounds end after this many, and steps are halved no further than this share of the first one.
MOST_ROUNDS, SHORTEST = 1000, 1e-12


class Thresholding(SparseMethod):
    """What both kinds of hard thresholding share: the step, and where a round leads.

    A set that a step and its projection lead back to is *fixed*. Whatever the constraint, a fixed set S of
    step η has ``f(S) ≥ m_2s² η² max f`` (proven in the documentation, "How good is my answer?"), so the step
    for which the answer is fixed is on the record: ``result.strategies[-1].details["step"]``.
    """

    def __init__(self, step: str | float = "adaptive") -> None:
        if isinstance(step, str):
            if step not in ("adaptive", "global"):
                raise ValueError(f"step must be 'adaptive', 'global' or a positive number, got {step!r}")
            self.step: str | float = step
        else:
            self.step = as_real(step, "step", positive=True)

    def missing(self, objective: SetFunction, constraint: IndependenceSystem) -> str | None:
        """Ask for a sparse objective, and for one that knows its smoothness if the step is made of it."""
        lacks = super().missing(objective, constraint)
        if lacks is None and self.step == "global":
            try:
                objective.smoothness(1)  # type: ignore[attr-defined]
            except NotImplementedError:
                return "a smoothness constant for step='global' (give a number, or step='adaptive')"
        return lacks

    def _fixed_step(self) -> float | None:
        """Return the step of all rounds, None if it is adapted."""
        if self.step == "adaptive":
            return None
        if self.step == "global":
            size = min(self._objective.n, 2 * self._constraint.max_size())
            return 1.0 / self._objective.smoothness(max(1, size))
        return float(self.step)

    def _note(self, project: Projection, n_rounds: int, step: float) -> None:
        self.details = {"rounds": n_rounds, "step": step, "head": project.head, "tail": project.tail}
        if n_rounds == MOST_ROUNDS:
            self.finished = Status.ITERATION_LIMIT


class HardThresholdingPursuit(Thresholding):
    """Hard thresholding pursuit: step, project, and refit on the set that this leads to.

    ``S ← supp P(w + η ∇u(w))``, ``w ← argmax u on S``, until S stays. P is the projection onto the
    constraint, so that this is model-based in the sense of Baraniuk et al. under any constraint.

    Parameters
    ----------
    step : "adaptive", "global" or a positive number
        The η. ``"adaptive"`` doubles it after a round that raised the value and halves it after one that did
        not; ``"global"`` is 1/M_2s, for which every round raises the value.

    References
    ----------
    Foucart (2011), Hard thresholding pursuit: an algorithm for compressive sensing.
    Baraniuk, Cevher, Duarte and Hegde (2010), Model-based compressive sensing.
    Yuan, Li and Zhang (2018), Gradient hard thresholding pursuit.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "htp").support
    array([1, 2])
    """

    name = "htp"

    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        """Go where the projection of a step leads; a set that is not better only if the step is fixed."""
        assert isinstance(state, SparseState)
        objective, project = self._objective, Projection(self._objective, self._constraint)
        support, value, coef, gradient = state.support, state.value, state.coef, state.gradient
        fixed = self._fixed_step()
        step, shortest, seen = fixed or np.inf, 0.0, set[bytes]()
        for n_rounds in range(1, MOST_ROUNDS + 1):
            budget.check()
            # Without coefficients to compare with, all steps lead to the same set.
            ahead = gradient if np.isinf(step) and not coef.any() else coef + min(step, 1.0) * gradient
            if np.isfinite(step):
                ahead = coef + step * gradient
            target = project.support(ahead, budget.clock)
            self._note(project, n_rounds, step)
            is_known = target.tobytes() in seen
            if np.array_equal(target, support) or step <= shortest or (fixed and is_known):
                return
            state.n_evaluations += 1
            there, values = objective._fit(target)
            if fixed is None and there <= value:
                step /= 2
                continue
            seen.add(target.tobytes())
            support, value, coef = target, there, embed(objective, target, values)
            gradient = objective.gradient_at(coef)
            if fixed is None:
                step = 2 * step if np.isfinite(step) else _first_step(coef, ahead)
                shortest = shortest or SHORTEST * step
            yield moved_to(target, state, budget)


def _first_step(coef: FloatArray, gradient: FloatArray) -> float:
    """Return the step that leads from no coefficients to about as long ones as these."""
    length = float(np.linalg.norm(gradient[coef != 0]))
    return float(np.linalg.norm(coef)) / length if length > 0 else 1.0
