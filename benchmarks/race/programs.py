"""The programs in the race: from data and size to the features chosen, each as its documentation advises."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.race.designs import Instance
from swapwise.checks import FloatArray, IndexArray

Select = Callable[[Any, FloatArray, int], Any]

# Of the L0-penalised programs, for one value of the penalty: the parent stops whatever takes longer in all.
SECONDS_A_PENALTY = 5.0


@dataclass(frozen=True)
class Program:
    """A program: how it is called, what it needs installed, and how far it goes."""

    name: str
    package: str
    select: Select
    takes_sparse: bool = False
    most_work: float = np.inf  # features times the size of the support

    def why_not(self, instance: Instance) -> str:
        """Say why the program does not run on an instance; nothing if it does.

        >>> from benchmarks.race.designs import Setting
        >>> large = Setting("ar-0", 3.0, 20, 5000, 10, 0).draw()
        >>> PROGRAMS["SequentialFeatureSelector"].why_not(large), PROGRAMS["OMP"].why_not(large)
        ('takes too long beyond features x support = 10,000', '')
        """
        if instance.X.shape[1] * instance.size > self.most_work:
            return f"takes too long beyond features x support = {self.most_work:,.0f}"
        return ""

    def version(self) -> str | None:
        """Return the version installed, None if there is none."""
        with suppress(PackageNotFoundError):
            return version(self.package)
        return None


def chosen(support: Any) -> IndexArray:
    """Return a support as a sorted array without doubles.

    >>> chosen([7, 3, 3])
    array([3, 7])
    """
    return np.unique(np.asarray(support, dtype=np.intp))


def threads() -> int:
    """Return how many threads this process may use, for a program that does not look for itself."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def swapwise(X: Any, y: FloatArray, size: int) -> Any:
    """Fit as a user would, with nothing but the size given."""
    from swapwise import SparseRegressor

    return SparseRegressor(size).fit(X, y).support_


def abess(X: Any, y: FloatArray, size: int) -> Any:
    """Fit with the size given; its other settings were not faster here, save screening."""
    from abess import LinearRegression

    return np.flatnonzero(LinearRegression(support_size=size, thread=threads()).fit(X, y).coef_)


def abess_screening(X: Any, y: FloatArray, size: int) -> Any:
    """Fit among the columns that correlate most with y, as it advises for very many features."""
    from abess import LinearRegression

    samples, features = X.shape
    fewest = int(samples / (np.log(np.log(samples)) * np.log(features)))  # its own choice
    kept = min(max(fewest, size + 1), features)
    model = LinearRegression(support_size=size, screening_size=kept, thread=threads())
    return np.flatnonzero(model.fit(X, y).coef_)


def skscope(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Solve on centred data, by functions that are compiled once for each shape."""
    import jax.numpy as jnp
    from skscope import ScopeSolver

    value, slope = squared_loss()

    def loss(params: Any, data: Any) -> Any:  # plain functions: it counts their arguments
        return value(params, data)

    def gradient(params: Any, data: Any) -> Any:
        return slope(params, data)

    data = jnp.asarray(X - X.mean(axis=0)), jnp.asarray(y - y.mean())
    solver = ScopeSolver(X.shape[1], size)
    return np.flatnonzero(solver.solve(loss, data=data, gradient=gradient))


@cache
def squared_loss() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the mean of squared residuals and its gradient, for parameters and (X, y)."""
    import jax
    import jax.numpy as jnp

    def loss(params: Any, data: Any) -> Any:
        X, y = data
        return jnp.mean((y - X @ params) ** 2)

    return jax.jit(loss), jax.jit(jax.grad(loss))


def omp(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Fit scikit-learn's orthogonal matching pursuit, which takes the Gram matrix where that pays."""
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return np.flatnonzero(OrthogonalMatchingPursuit(n_nonzero_coefs=size).fit(X, y).coef_)


def lars(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Fit scikit-learn's least angle regression, without the path that nobody asked for."""
    from sklearn.linear_model import Lars

    return np.flatnonzero(Lars(n_nonzero_coefs=size, fit_path=False).fit(X, y).coef_)


def sequential(X: Any, y: FloatArray, size: int) -> Any:
    """Select forward by scikit-learn, each step by cross-validation."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LinearRegression

    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=size)
    return selector.fit(X, y).get_support(indices=True)


def fastcan(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Select by fastcan; its other method is for more samples than features, and it says so."""
    from fastcan import FastCan

    samples, features = X.shape
    eta = samples > features + 1
    return FastCan(size, eta=eta, verbose=0).fit(X, y).get_support(indices=True)


def el0ps(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Follow el0ps' path of penalties until there are more features than asked for."""
    # One process is all it gets, but what it builds on fails where mpi4py is installed and MPI is not.
    sys.modules.setdefault("mpi4py", None)  # type: ignore[arg-type]
    import pybnb
    from el0ps.datafit import Leastsquares
    from el0ps.path import Path
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver

    with patch.object(pybnb, "Solver", partial(pybnb.Solver, comm=None)):
        solver = BnbSolver(time_limit=SECONDS_A_PENALTY, relative_gap=1e-2)

    A = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(len(y)))
    path = Path(lmbd_num=20, lmbd_min=1e-2, max_nnz=size, stop_if_not_optimal=False, verbose=False)
    solutions = path.fit(solver, Leastsquares((y - y.mean()) / y.std()), L2norm(0.1), A)
    return _largest_within(size, (solution.x for solution in solutions.values()))


def l0bnb(X: FloatArray, y: FloatArray, size: int) -> Any:
    """Follow l0bnb's path of penalties, which ends with as many features as asked for, or more."""
    from l0bnb import fit_path

    vars(np).setdefault("Inf", np.inf)  # which it asks for, and numpy 2 has no more
    solutions = fit_path(X, y, lambda_2=0.01, max_nonzeros=size, time_limit=SECONDS_A_PENALTY)
    return _largest_within(size, (solution["B"] for solution in solutions))


def _largest_within(size: int, coefs: Iterable[FloatArray]) -> IndexArray:
    """Return the largest support of those that are not too large."""
    supports = [np.flatnonzero(coef) for coef in coefs]
    return max((support for support in supports if len(support) <= size), key=len)


PROGRAMS = {
    program.name: program
    for program in (
        Program("swapwise", "swapwise", swapwise, takes_sparse=True),
        Program("abess", "abess", abess, takes_sparse=True),
        Program("OMP", "scikit-learn", omp),
        Program("skscope", "skscope", skscope),
        Program("Lars", "scikit-learn", lars),
        Program("fastcan", "fastcan", fastcan),
        Program("abess (screening)", "abess", abess_screening, takes_sparse=True),
        Program("SequentialFeatureSelector", "scikit-learn", sequential, takes_sparse=True, most_work=1e4),
        Program("el0ps", "el0ps", el0ps, most_work=1e3),
        Program("l0bnb", "l0bnb", l0bnb, most_work=1e3),
    )
}
