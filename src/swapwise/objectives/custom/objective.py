"""A sparse objective of the user's own, from any concave differentiable function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count, as_elements, as_real, is_number, warn
from swapwise.clock import Clock, OutOfTime
from swapwise.moves import MoveBatch
from swapwise.objectives.base import SparseObjective, SparseState, embed
from swapwise.objectives.coefficient_bounds import Bounds, read_bounds
from swapwise.objectives.custom.fit import Ascent, NoMaximumError
from swapwise.objectives.fit_bounds import missed_at_most, missed_by_model
from swapwise.override import override

ValueAndGrad = Callable[[FloatArray], tuple[float, FloatArray]]
HessianBlock = Callable[[FloatArray, IndexArray], FloatArray]


class CustomObjective(SparseObjective):
    r"""Any concave differentiable function of n coefficients, to be maximised.

    .. math:: f(S) = \max_{\operatorname{supp}(w) ⊆ S} u(w) - u(0)

    Every fit is a restricted maximisation that begins at the
    coefficients known so far: by a damped Newton method if there is a Hessian, or else by L-BFGS. See
    :func:`swapwise.objectives.custom.check.check_objective` for a test of whether the gradient is right,
    and :meth:`from_jax` for functions whose derivatives JAX can work out.

    Parameters
    ----------
    value_and_grad : callable
        Takes an array of n coefficients and returns u (a number) and its gradient (n numbers).
    n : int
        Number of coefficients.
    hessian : callable, optional
        Takes the same and returns the Hessian of u, of shape (n, n); negative semidefinite, as u is concave.
    smoothness : float or callable of t, optional
        A valid M: u curves by at most M along directions with t non-zeros. For the non-oblivious rule.
    strong_concavity : float
        A valid m: u curves by at least m everywhere, such as a ridge. Certificates rest on it.
    bounds : pair, sequence of pairs or mapping, optional
        Bounds on coefficients: ``(lower, upper)`` for all of them (None for no bound), a pair for each, or
        a mapping from position to pair. All must include 0, the coefficient of elements that are not chosen.
        The value of a set is then that of the best coefficients within the bounds, and u is only called
        there.
    positive : bool
        Whether no coefficient may be negative, in addition to ``bounds``.

    See Also
    --------
    check_objective : whether value and gradient agree.
    CustomSetFunction : a function of sets, without coefficients.
    SparseObjective : the class to subclass for more.

    Examples
    --------
    The nearest point to a target, with at most two non-zeros:

    >>> from swapwise import Uniform, maximize
    >>> target = np.array([1.0, -3.0, 2.0])
    >>> def value_and_grad(w):
    ...     return -0.5 * np.sum((w - target) ** 2), target - w
    >>> f = CustomObjective(value_and_grad, n=3, smoothness=1.0, strong_concavity=1.0)
    >>> result = maximize(f, Uniform(3, 2))
    >>> result.support, result.coef.round(6)
    (array([1, 2]), array([ 0., -3.,  2.]))

    The same with coefficients that are not negative:

    >>> result = maximize(CustomObjective(value_and_grad, n=3, positive=True), Uniform(3, 2))
    >>> result.support, result.coef.round(6)
    (array([0, 2]), array([1., 0., 2.]))
    """

    def __init__(
        self,
        value_and_grad: ValueAndGrad,
        n: int,
        *,
        hessian: Callable[[FloatArray], FloatArray] | None = None,
        smoothness: float | Callable[[int], float] | None = None,
        strong_concavity: float = 0.0,
        bounds: Bounds | None = None,
        positive: bool = False,
    ) -> None:
        if not callable(value_and_grad):
            raise TypeError(
                f"value_and_grad must be a callable that takes an array of n coefficients and returns a "
                f"number and n slopes, got {value_and_grad!r}"
            )
        if hessian is not None and not callable(hessian):
            raise TypeError(
                f"hessian must be a callable that returns an array of shape (n, n), or None, got {hessian!r}"
            )
        if smoothness is not None and not callable(smoothness):
            smoothness = as_real(smoothness, "smoothness")
        self.n = as_count(n, "n")
        self.bounds = read_bounds(bounds, positive, self.n)
        self.value_and_grad = value_and_grad
        self._hessian_block: HessianBlock | None = None if hessian is None else partial(_block_of, hessian)
        self._smoothness = smoothness
        self._strong_concavity = as_real(strong_concavity, "strong_concavity")
        self._warned = False
        self._at_zero, self._slope_at_zero = self._evaluate(np.zeros(self.n))
        # Values are differences of raw ones, which round by the size of the offset.
        self.scale = abs(self._at_zero)

    @classmethod
    def from_jax(
        cls,
        function: Callable[[Any], Any],
        n: int,
        *,
        smoothness: float | Callable[[int], float] | None = None,
        strong_concavity: float = 0.0,
        bounds: Bounds | None = None,
        positive: bool = False,
    ) -> Self:
        """Return the objective of a function written with ``jax.numpy``: n coefficients to a number.

        JAX computes gradient and Hessian, compiled and in 64 bits, regardless of its configuration.
        Huber regression with at most one feature of each kind:

        >>> import jax.numpy as jnp
        >>> from swapwise import Partition, maximize
        >>> rng = np.random.default_rng(0)
        >>> X, labels = rng.standard_normal((60, 6)), list("aabbcc")
        >>> y = 2 * X[:, 1] - X[:, 4] + rng.standard_t(2, 60) / 4
        >>> def log_likelihood(w):
        ...     r = y - X @ w
        ...     return -jnp.where(abs(r) < 1, r**2 / 2, abs(r) - 0.5).mean() - 0.01 * (w @ w)
        >>> f = CustomObjective.from_jax(log_likelihood, n=X.shape[1])
        >>> result = maximize(f, Partition(labels, 1))
        >>> result.support[abs(result.coef[result.support]) > 0.5]
        array([1, 4])
        """
        from swapwise.objectives.custom.jax import JaxFunction

        compiled = JaxFunction(function, as_count(n, "n"))
        objective = cls(
            compiled.value_and_grad,
            n,
            smoothness=smoothness,
            strong_concavity=strong_concavity,
            bounds=bounds,
            positive=positive,
        )
        objective._hessian_block = compiled.hessian_block
        return objective

    @override
    def start(self, support: Iterable[int] = ()) -> CustomObjectiveState:
        return CustomObjectiveState(self, as_elements(support, self.n, "the start"))

    # -- u at any coefficients ----------------------------------------------------------------------

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self._evaluate(coef)[0] - self._at_zero

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self._evaluate(coef)[1]

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self._evaluate(coef)
        return value - self._at_zero, gradient

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        if self._hessian_block is None:
            return super().hessian_at(coef, elements)
        try:
            block = np.asarray(self._hessian_block(coef.copy(), elements), dtype=np.float64)
        except Exception as error:
            error.add_note(f"swapwise called the Hessian at {short(coef)}")
            raise
        if not np.isfinite(block).all():
            raise ValueError(
                f"the Hessian must be finite, got {block[~np.isfinite(block)][0]} at {short(coef)}"
            )
        return -(block + block.T) / 2

    @override
    def smoothness(self, t: int) -> float:
        if self._smoothness is None:
            return super().smoothness(t)
        return as_real(self._smoothness(t), "smoothness") if callable(self._smoothness) else self._smoothness

    @override
    def strong_concavity(self, t: int) -> float:
        return self._strong_concavity

    def _evaluate(self, coef: FloatArray) -> tuple[float, FloatArray]:
        value, slope = self._call(coef)
        if not np.isfinite(value):
            raise ValueError(f"value_and_grad must return a finite value, got {value} at {short(coef)}")
        return value, slope

    def _call(self, coef: FloatArray) -> tuple[float, FloatArray]:
        # Copies: the function may change its argument, and the caller the answer.
        try:
            answer = self.value_and_grad(coef.copy())
        except Exception as error:
            error.add_note(f"swapwise called value_and_grad at {short(coef)}")
            raise
        if not isinstance(answer, (tuple, list)) or len(answer) != 2 or not is_number(answer[0]):
            raise TypeError(
                f"value_and_grad must return a number and an array of length {self.n}, got {answer!r}"
            )
        value, slope = float(answer[0]), np.array(answer[1])
        if slope.dtype.kind not in "biuf":
            raise TypeError(f"the gradient must hold real numbers, got values of type {slope.dtype}")
        if slope.shape != (self.n,):
            raise ValueError(f"the gradient must have shape ({self.n},), got shape {slope.shape}")
        if np.isfinite(value) and not np.isfinite(slope).all():
            where = int(np.argmin(np.isfinite(slope)))
            raise ValueError(
                f"the gradient must be finite, got {slope[where]} at coordinate {where} at {short(coef)}"
            )
        return value, slope.astype(np.float64, copy=False)

    # -- the best coefficients on a set -------------------------------------------------------------

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        return self.fit_from(support, np.zeros(len(support)))

    def fit_from(self, support: IndexArray, start: FloatArray) -> tuple[float, FloatArray]:
        """f(support) and its coefficients, by an ascent from ``start``."""
        if not len(support):
            return 0.0, np.empty(0)
        # Far-away trial points may overflow; their values show it.
        with np.errstate(all="ignore"):
            ascent = Ascent(self, support, start)
            ascent.run()
        if not ascent.converged and not self._warned:
            self._warned = warn(
                f"the fit on the set {support.tolist()} did not converge: the slope is still "
                f"{np.abs(ascent.free_slope).max():.3g}; is the gradient right (see check_objective)? "
                "A hessian or a ridge helps"
            )
        return ascent.value - self._at_zero, ascent.point

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        if support is None:
            return np.inf
        if not len(support):
            return 0.0
        with np.errstate(all="ignore"):
            ascent = Ascent(self, support, np.zeros(len(support)), clock)
            try:
                ascent.run()
            except OutOfTime:
                pass  # the last point still proves a bound, if a poorer one
            except NoMaximumError:
                return np.inf
            value, coef = ascent.value - self._at_zero, embed(self, support, ascent.point)
            curvature = self.hessian_at(coef, support)
            slope = ascent.free_slope
            by_model = missed_by_model(self, support, value, slope, curvature)
        return value + min(missed_at_most(self, slope), by_model)


class CustomObjectiveState(SparseState):
    """A state of :class:`CustomObjective`: every refit begins at the coefficients that stay."""

    objective: CustomObjective

    def __init__(self, objective: CustomObjective, support: IndexArray) -> None:
        self._coef = np.zeros(objective.n)
        super().__init__(objective, support)

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        listed = moves.to_list()
        self.n_evaluations += len(listed)
        supports = [move.result(self.support) for move in listed.moves()]
        values = [self.objective.fit_from(support, self._coef[support])[0] for support in supports]
        return moves.spread(np.array(values, dtype=np.float64) - self.value)

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, values = self.objective.fit_from(support, self._coef[support])
        self._coef = embed(self.objective, support, values)
        self._gradient = None
        self.n_evaluations += 1


def short(coef: FloatArray) -> str:
    """The first few non-zeros of a vector, for messages."""
    chosen = np.flatnonzero(coef)
    shown = [f"{place}: {coef[place]:.4g}" for place in chosen[:6]]
    return f"w = {{{', '.join([*shown, '…' if len(chosen) > 6 else 'others: 0'])}}}"


def _block_of(
    hessian: Callable[[FloatArray], FloatArray], coef: FloatArray, elements: IndexArray
) -> FloatArray:
    whole = np.asarray(hessian(coef))
    if whole.shape != (len(coef), len(coef)):
        raise ValueError(f"the Hessian must have shape ({len(coef)}, {len(coef)}), got shape {whole.shape}")
    return whole[np.ix_(elements, elements)]
