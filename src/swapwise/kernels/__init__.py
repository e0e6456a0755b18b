"""Compiled functions on plain arrays, in the version that suits the processor best."""

from importlib import import_module
from typing import Any


def _best() -> Any:
    """Return the module with the widest vector instructions that this processor has."""
    baseline = import_module("._baseline", __name__)
    return import_module(f"._{baseline.best_level()}", __name__)


_compiled = _best()

#: Whether indices are checked: see ``make checked``
CHECKED: bool = _compiled.CHECKED

blocks = _compiled.blocks
completions = _compiled.completions
moments = _compiled.moments
nested = _compiled.nested
swaps = _compiled.swaps

# Numbers that kernels take and return, here so that reading them does not load a compiler.

# Families of likelihoods, in ``families``. Compiled code is cached, so a number is never given to another.
LOGISTIC, POISSON, MULTINOMIAL, GAMMA, NEGATIVE_BINOMIAL = range(1, 6)
