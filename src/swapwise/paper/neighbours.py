"""The methods around the paper: which of them run in a setting, and from which of them a search may start."""

from __future__ import annotations

from swapwise.paper.graph_baselines import GRAPH_BASELINES, GraphBaseline
from swapwise.paper.procedures import BENCHMARKS, LOCAL_SEARCHES, Procedure, Search
from swapwise.paper.settings import Setting
from swapwise.search.methods import METHODS


def runnable(setting: Setting) -> list[str]:
    """Return the names of all methods other than local and exhaustive search that run in a setting."""
    problem = setting.placeholder_problem()
    return [name for name in METHODS if name != "exhaustive" and METHODS[name]().missing(*problem) is None]


def neighbours(setting: Setting) -> list[Procedure]:
    """Return the methods that the paper does not run, and for graphs the baselines of the literature."""
    found: list[Procedure] = [Search(name) for name in runnable(setting) if name not in BENCHMARKS]
    return [*found, *(map(GraphBaseline, GRAPH_BASELINES) if setting.experiment == "ising" else ())]


def rule_of(setting: Setting) -> str:
    """Return the local search that "auto" takes: for regression, all swaps are scored in closed form."""
    oblivious, semi_oblivious, _ = LOCAL_SEARCHES
    return oblivious if setting.experiment == "regression" else semi_oblivious


def searches_from_others(setting: Setting) -> list[Procedure]:
    """Return the local search that "auto" takes, from each start, and "auto" itself."""
    return [*(Search(rule_of(setting), start) for start in runnable(setting)), Search("auto", "auto")]
