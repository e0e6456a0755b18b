"""Least squares by refitting, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


class PlainLeastSquares:
    """R² relative to ``y`` as given (nothing is centred), less the ridge penalty.

        u(w) = 1 − (‖y − A w‖² + ridge ‖w‖²) / ‖y‖²,    f(X) = max { u(w) : supp(w) ⊆ X }

    ``u(0) = 0``. Rows of ``A`` are samples; with ``sample_weight``, squares are weighted sums.
    """

    def __init__(
        self, A: ArrayLike, y: ArrayLike, ridge: float = 0.0, sample_weight: ArrayLike | None = None
    ) -> None:
        self.A = np.array(A, dtype=float)
        self.y = np.array(y, dtype=float)
        self.ridge = ridge
        if sample_weight is not None:
            root = np.sqrt(np.asarray(sample_weight, dtype=float))
            self.A = self.A * root[:, None]
            self.y = self.y * root
        self.n = self.A.shape[1]
        self.total = float(self.y @ self.y)

    def coef(self, S: Iterable[int]) -> FloatArray:
        chosen = sorted(S)
        k = len(chosen)
        w = np.zeros(self.n)
        if k > 0:
            # The penalty ridge ‖w‖² is the squared error of k more rows √ridge · w ≈ 0.
            rows = np.vstack([self.A[:, chosen], np.sqrt(self.ridge) * np.eye(k)])
            target = np.concatenate([self.y, np.zeros(k)])
            w[chosen] = np.linalg.lstsq(rows, target, rcond=None)[0]
        return w

    def u(self, w: FloatArray) -> float:
        error = self.y - self.A @ w
        return float(1 - (error @ error + self.ridge * (w @ w)) / self.total)

    def value(self, S: Iterable[int]) -> float:
        chosen = sorted(S)
        return self.u(self.coef(chosen)) if chosen else 0.0

    def gradient(self, w: FloatArray) -> FloatArray:
        return (2 / self.total) * (self.A.T @ (self.y - self.A @ w) - self.ridge * w)

    def move_smoothness(self, dropped: int | None, added: int) -> float:
        """Return the tightest M for one move: the largest eigenvalue of its block of −∇²u."""
        touched = [added] if dropped is None else [dropped, added]
        columns = self.A[:, touched]
        block = (2 / self.total) * (columns.T @ columns + self.ridge * np.eye(len(touched)))
        return float(np.linalg.eigvalsh(block)[-1])
