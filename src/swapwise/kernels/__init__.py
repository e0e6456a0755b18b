"""Compiled functions on plain arrays, in the version that suits the processor best."""

from importlib import import_module
from typing import Any


def _best() -> Any:
    """Return the module with the widest vector instructions that this processor has."""
    baseline = import_module("._baseline", __name__)
    try:
        return import_module(f"._{baseline.best_level()}", __name__)
    except ModuleNotFoundError:  # built on a machine of another kind
        return baseline


_compiled = _best()

#: Whether indices are checked: see ``make checked``
CHECKED: bool = _compiled.CHECKED

blocks = _compiled.blocks
bounded_swaps = _compiled.bounded_swaps
completions = _compiled.completions
edge_swaps = _compiled.edge_swaps
exchanges = _compiled.exchanges
exploration = _compiled.exploration
families = _compiled.families
fits = _compiled.fits
gaussian = _compiled.gaussian
gibbs = _compiled.gibbs
glm = _compiled.glm
ising = _compiled.ising
ising_tables = _compiled.ising_tables
knapsack = _compiled.knapsack
moments = _compiled.moments
neighbourhoods = _compiled.neighbourhoods
nested = _compiled.nested
pairs = _compiled.pairs
perspective = _compiled.perspective
perturbations = _compiled.perturbations
swaps = _compiled.swaps
