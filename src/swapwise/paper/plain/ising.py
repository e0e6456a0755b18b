"""The pseudo-log-likelihood of an Ising model by refitting with a general optimiser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

FloatArray = NDArray[np.float64]


class PlainIsing:
    """Mean pseudo-log-likelihood of symmetric couplings, less the ridge penalty and its start value.

        u(w) = (1/N) Σ_samples Σ_v log σ(2 x_v h_v) − ridge/2 ‖w‖² − const,   h_v = θ_v + Σ_u w_uv x_u

    The constant makes u(0) = 0. The ground set are the vertex pairs i < j in lexicographic order, or
    the given edges; x may be any real numbers, and enters as it is both as x_v and as x_u. Fields θ are
    zero, or with ``fields=True`` always free and never penalised: then u(w) is the best value over θ.

    ``numerical=True`` leaves the gradient to the optimiser's own differences and all tolerances at
    their defaults. Otherwise the gradient is exact and the optimiser goes on until it is below 1e-8,
    where the value is right to rounding.

    Without ridge the best couplings of some sets are infinite (if one spin determines another); the
    optimiser then stops at large finite ones.
    """

    def __init__(
        self,
        spins: ArrayLike,
        ridge: float = 0.0,
        fields: bool = False,
        edges: Iterable[Sequence[int]] | None = None,
        numerical: bool = False,
    ) -> None:
        self.x = np.array(spins, dtype=float)
        self.samples, self.vertices = self.x.shape
        self.ridge = ridge
        self.fields = fields
        self.numerical = numerical
        chosen = combinations(range(self.vertices), 2) if edges is None else edges
        self.edges = [(int(i), int(j)) for i, j in chosen]
        self.n = len(self.edges)
        self.ends = tuple(np.array(self.edges, dtype=int).reshape(-1, 2).T)
        self.at_zero = self.score(np.zeros(self.n), self.best_fields(np.zeros(self.n)))

    def coef(self, S: Iterable[int]) -> FloatArray:
        return self.fit(S)[0]

    def value(self, S: Iterable[int]) -> float:
        chosen = sorted(S)
        return self.score(*self.fit(chosen)) - self.at_zero if chosen else 0.0

    def u(self, w: FloatArray) -> float:
        """Return the objective at any vector of couplings, 0 at w = 0."""
        return self.score(w, self.best_fields(w)) - self.at_zero

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return the gradient of ``u`` at ``w``; best fields stay best to first order."""
        return self.slopes(w, self.best_fields(w))[0]

    def score(self, w: FloatArray, theta: FloatArray) -> float:
        """Return the mean pseudo-log-likelihood less the penalty, at any couplings and fields."""
        likelihood = log_expit(2 * self.x * self.local_fields(w, theta)).sum() / self.samples
        return float(likelihood - self.ridge / 2 * (w @ w))

    def slopes(self, w: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of ``score`` by the couplings and by the fields."""
        # d/dh_v of log σ(2 x_v h_v); a coupling is part of h at both of its ends, a field at its vertex.
        by_local_field = 2 * self.x * expit(-2 * self.x * self.local_fields(w, theta)) / self.samples
        by_pair = by_local_field.T @ self.x
        by_coupling = (by_pair + by_pair.T)[self.ends]
        return by_coupling - self.ridge * w, by_local_field.sum(axis=0)

    def local_fields(self, w: FloatArray, theta: FloatArray) -> FloatArray:
        """Return h, a row for every sample and a column for every vertex."""
        W = np.zeros((self.vertices, self.vertices))
        W[self.ends] = w
        return theta + self.x @ (W + W.T)

    def best_fields(self, w: FloatArray) -> FloatArray:
        return self._maximise(w, [])[1]

    def fit(self, S: Iterable[int]) -> tuple[FloatArray, FloatArray]:
        return self._maximise(np.zeros(self.n), sorted(S))

    def _maximise(self, w: FloatArray, free: list[int]) -> tuple[FloatArray, FloatArray]:
        """Maximise ``score`` over the free couplings (others stay as in ``w``) and the fields."""
        k = len(free)
        n_fields = self.vertices if self.fields else 0

        def unpack(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            couplings, theta = w.copy(), np.zeros(self.vertices)
            couplings[free] = z[:k]
            theta[:n_fields] = z[k:]
            return couplings, theta

        def loss(z: FloatArray) -> float:
            return -self.score(*unpack(z))

        def slope(z: FloatArray) -> FloatArray:
            by_coupling, by_field = self.slopes(*unpack(z))
            return -np.concatenate([by_coupling[free], by_field[:n_fields]])

        z = np.zeros(k + n_fields)
        if len(z) == 0:
            return unpack(z)
        if self.numerical:
            return unpack(minimize(loss, z, method="L-BFGS-B").x)
        options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 0.0, "gtol": 1e-8, "maxcor": 30}
        return unpack(minimize(loss, z, jac=slope, method="L-BFGS-B", options=options).x)
