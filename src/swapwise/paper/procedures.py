"""Procedures to run on an instance: the paper's searches, others beyond it, proofs, and plain programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.certify.certify import certify, exact
from swapwise.maximize import maximize
from swapwise.override import override
from swapwise.paper.plain.search import (
    arbitrary_start,
    exchange_search,
    modular,
    random_residual_greedy,
)
from swapwise.paper.settings import Setting
from swapwise.search.result import SearchResult, Status
from swapwise.search.rules import NonOblivious, Pivot

DEFAULT, AS_PUBLISHED = "default", "as-published"
FLAVOURS = (DEFAULT, AS_PUBLISHED)
LOCAL_SEARCHES = ("oblivious", "semi-oblivious", "non-oblivious")
#: Where the paper's searches begin here: at the empty set, or as Algorithms 1, 3 and 4 are printed, at one to
#: which arbitrary elements were added until it was maximal. Algorithm 2 has the empty set in the text.
EMPTY, ARBITRARY = STARTS = ("empty", "arbitrary")
#: The methods with which the paper compares its searches
BENCHMARKS = ("random-residual-greedy", "modular", "random")

# The least gain of a move of a plain search; two refits of one set differ by up to about a tenth of it.
PLAIN_TOL = 1e-7

#: The names that the figures of a row have; what a procedure does not measure stays empty.
FIGURES = ("value", "n_iter", "n_evaluations", "status", "upper_bound", "proven", "promised")


class Interrupted(Exception):
    """The search was interrupted: its figures are not those of the whole."""


@dataclass(frozen=True)
class Procedure(ABC):
    """A procedure runs on an instance and returns figures; its name and part are those of rows."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def part(self) -> str: ...

    @property
    def repeats(self) -> int:
        """The least number of runs when it is timed; the median counts."""
        return 3

    @property
    def printed_start(self) -> str | None:
        """Which of ``STARTS`` it begins at, if it is one of the paper's searches."""
        return None

    @abstractmethod
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Search(Procedure):
    """A method of :func:`swapwise.maximize`.

    >>> Search("oblivious").name, Search("oblivious", start="greedy", q=2).name
    ('oblivious', 'oblivious from greedy, q = 2')
    """

    method: str
    start: str = EMPTY
    q: int = 1

    @property
    @override
    def name(self) -> str:
        start = "" if self.start in (EMPTY, "auto") else f" from {self.start}"
        return self.method + start + ("" if self.q == 1 else f", q = {self.q}")

    @property
    @override
    def part(self) -> str:
        if self.q > 1:
            return "pairs"
        if self.start == ARBITRARY and self.method in LOCAL_SEARCHES:
            return "printed"
        if self.start != EMPTY:
            return "starts"
        return "paper" if self.method in (*LOCAL_SEARCHES, *BENCHMARKS) else "neighbours"

    @property
    @override
    def repeats(self) -> int:
        return 1 if self.part == "neighbours" else 3

    @property
    @override
    def printed_start(self) -> str | None:
        is_one = self.method in LOCAL_SEARCHES and self.part in ("paper", "printed")
        return self.start if is_one else None

    @override
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]:
        return _figures(self.search(setting, instance, size, flavour, seed))

    def search(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> SearchResult:
        objective, constraint = setting.problem(instance, size)
        method: str | Pivot = self.method
        if flavour == AS_PUBLISHED and method == "non-oblivious":
            method = NonOblivious(smoothness=setting.published_smoothness(objective))
        # No limit of moves: the paper states no T for its experiments.
        return maximize(objective, constraint, method, q=self.q, start=self.start, random_state=seed)


@dataclass(frozen=True)
class Proof(Procedure):
    """A search with the certificate of its answer.

    The number of parts that it looks at is limited, not the time, so that it is the same wherever it runs. A
    ridge (for one sample) makes the objective strongly concave, which the dual bound needs. Where nothing is
    proven beyond the trivial bound, there is no share of the optimum.
    """

    part = "certificates"
    ridge: float
    max_nodes: int

    @property
    @override
    def name(self) -> str:
        return "certificate" if self.ridge == 0 else "certificate with ridge"

    @override
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]:
        objective, constraint = setting.problem(instance, size, self.ridge)
        result = maximize(objective, constraint, start="empty", random_state=seed)
        figures = _figures(result)
        proof = certify(objective, constraint, result, time_limit=None, gap=0.0, max_nodes=self.max_nodes)
        if proof.status == Status.INTERRUPTED:
            raise Interrupted
        guarantee = None if result.guarantee is None else result.guarantee.beyond_trivial
        return {
            **figures,
            "status": str(proof.status),
            "upper_bound": proof.upper_bound,
            "proven": None if proof.trivial else proof.ratio,
            "promised": None if guarantee is None else guarantee.ratio,
        }


@dataclass(frozen=True)
class Optimum(Procedure):
    """The best set, or how far the best one found is below it at most.

    As for :class:`Proof`, the number of parts that it looks at is limited, not the time. Where the
    status is OPTIMAL the optimum is proven; else ``upper_bound`` is above it.
    """

    name = part = "optimum"
    max_nodes: int

    @override
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]:
        result = exact(*setting.problem(instance, size), max_nodes=self.max_nodes)
        proof = result.certificate
        assert proof is not None
        return {**_figures(result), "upper_bound": proof.upper_bound, "proven": proof.ratio}


@dataclass(frozen=True)
class Plain(Procedure):
    """A method as plainly as possible: every value is a refit, see ``swapwise.paper.plain``."""

    part = "plain"
    repeats = 1
    method: str
    start: str = EMPTY

    @property
    @override
    def name(self) -> str:
        return f"plain {self.method}" + ("" if self.start == EMPTY else f" from {self.start}")

    @property
    @override
    def printed_start(self) -> str | None:
        return self.start if self.method in LOCAL_SEARCHES else None

    @override
    def run(self, setting: Setting, instance: Any, size: int, flavour: str, seed: int) -> dict[str, Any]:
        f, constraint = setting.plain_problem(instance, size)
        if self.method in LOCAL_SEARCHES:
            M = setting.published_smoothness(setting.problem(instance, size)[0])
            start = arbitrary_start(constraint, f.n) if self.start == ARBITRARY else set()
            outcome = exchange_search(f, constraint.exchanges, self.method, start, M, tol=PLAIN_TOL)
        elif self.method == "random-residual-greedy":
            outcome = random_residual_greedy(f, constraint, f.n, np.random.default_rng(seed))
        else:
            outcome = modular(f, constraint, f.n, constraint.heaviest)
        return {"value": outcome.value, "n_iter": len(outcome.trace)}


def _figures(result: SearchResult) -> dict[str, Any]:
    if result.status == Status.INTERRUPTED:
        raise Interrupted
    return {
        "value": float(result.value),
        "n_iter": result.strategies[-1].n_moves,  # those of the method, which comes after its start
        "n_evaluations": result.n_evaluations,
        "status": str(result.status),
    }
