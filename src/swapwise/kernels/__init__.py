"""Compiled functions on plain arrays, in the version that suits the processor best."""

from importlib import import_module
from typing import Any

from swapwise.kernels import _baseline


def _best() -> Any:
    """Return the module with the widest vector instructions that this processor has."""
    return import_module(f"{__name__}._{_baseline.best_level()}")


_compiled = _best()

edge_swaps = _compiled.edge_swaps
gibbs = _compiled.gibbs
ising = _compiled.ising
ising_tables = _compiled.ising_tables
moments = _compiled.moments
nested = _compiled.nested

# Numbers that kernels take and return, here so that reading them does not load a compiler.

# Families of likelihoods, in ``families``. Compiled code is cached, so a number is never given to another.
LOGISTIC, POISSON, MULTINOMIAL, GAMMA, NEGATIVE_BINOMIAL = range(1, 6)

# How a run of best moves ended, in ``swaps``: cut short, nothing left, or a start of collinear columns
GOING_ON, DONE, DEPENDENT = range(3)
