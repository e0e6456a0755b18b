"""A function written with JAX, as the callables that :class:`CustomObjective` works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Blocks of the Hessian are compiled for this many elements, or a power of two times as many.
SMALLEST_BLOCK = 8


class JaxFunction:
    """A scalar function of n coefficients with its derivatives, compiled and in 64 bits."""

    def __init__(self, function: Callable[[Any], Any], n: int) -> None:
        if not callable(function):
            raise TypeError(
                f"function must be a callable that takes an array of n coefficients and returns a scalar, "
                f"got {function!r}"
            )
        try:
            import jax
            from jax import enable_x64
        except ImportError as error:
            raise ImportError("from_jax needs JAX: pip install 'swapwise[jax]'") from error

        # Elements beyond the last pad a block: they are never set, so their derivatives are zero.
        def block(coef: Any, elements: Any) -> Any:
            def along(values: Any) -> Any:
                return function(coef.at[elements].set(values, mode="drop"))

            return jax.hessian(along)(coef.at[elements].get(mode="fill", fill_value=0.0))

        self.n = n
        # During this call and in this thread only: the precision of the user's own code stays.
        self._in_64_bits = lambda: enable_x64(True)
        self._value_and_grad = jax.jit(jax.value_and_grad(function))
        self._block = jax.jit(block)
        try:
            with self._in_64_bits():
                answer = jax.eval_shape(function, np.zeros(n))
        except Exception as error:
            error.add_note(f"swapwise called the function with an array of {n} coefficients")
            raise
        self._require_scalar(answer)

    def _require_scalar(self, answer: Any) -> None:
        shape, dtype = getattr(answer, "shape", None), getattr(answer, "dtype", None)
        if shape != () or dtype != np.float64:
            raise TypeError(
                f"function must return a scalar of 64 bits for {self.n} coefficients of 64 bits, got "
                f"{type(answer).__name__ if shape is None else f'shape {shape} of type {dtype}'}"
            )

    def value_and_grad(self, coef: FloatArray) -> tuple[float, FloatArray]:
        with self._in_64_bits():
            value, gradient = self._value_and_grad(coef)
            return float(value), np.asarray(gradient)

    def hessian_block(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return the Hessian of some elements.

        With 500 samples of 1000 features, a block of 10 takes half a millisecond and the whole 25. Every size
        takes a fifth of a second to compile, so sizes are powers of two.
        """
        size = SMALLEST_BLOCK
        while size < len(elements):
            size *= 2
        padded = np.full(size, self.n, dtype=np.intp)
        padded[: len(elements)] = elements
        with self._in_64_bits():
            return np.asarray(self._block(coef, padded))[: len(elements), : len(elements)]
