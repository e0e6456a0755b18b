"""The declared grid: which procedure runs in which setting, for which sizes and how many trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from swapwise.paper.neighbours import neighbours, searches_from_others
from swapwise.paper.procedures import (
    ARBITRARY,
    DEFAULT,
    FLAVOURS,
    LOCAL_SEARCHES,
    STARTS,
    Optimum,
    Plain,
    Procedure,
    Proof,
    Search,
)
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000, Setting

#: The coordinates of a row, which name its cell.
COORDINATES = ("setting", "part", "method", "size", "trial", "flavour", "seed")
Key = tuple[str, str, str, int, int, str, int]
#: The results of a cell: its coordinates and figures, by name.
Row = dict[str, Any]

#: The seed of runs that do not give one: the year of the paper.
SEED = 2020

#: The parts whose running times are shown, in the settings that are timed.
TIMED = ("paper", "printed", "plain", "neighbours")

# A quick run leaves out what takes longer than this, roughly.
QUICK_SECONDS = 0.5


@dataclass(frozen=True)
class Block:
    """One procedure in one setting, by default for all of its sizes."""

    setting: Setting
    procedure: Procedure
    seconds: float  # roughly, of the largest size; for the time left and for the order of work only
    sizes: tuple[int, ...] = ()
    most_trials: int | None = None
    growth: int = 2  # the power of the size with which the seconds grow


@dataclass(frozen=True)
class Cell:
    block: Block
    size: int
    trial: int
    flavour: str
    seed: int

    @property
    def key(self) -> Key:
        """The coordinates, on which alone the row depends."""
        setting, procedure = self.block.setting.name, self.block.procedure
        return (setting, procedure.part, procedure.name, self.size, self.trial, self.flavour, self.seed)

    @property
    def is_timed(self) -> bool:
        """Whether its running time is shown: then nothing else may run beside it."""
        return self.block.setting.timed and self.block.procedure.part in TIMED

    @property
    def seconds(self) -> float:
        block = self.block
        once = block.seconds * (self.size / block.setting.sizes[-1]) ** block.growth
        return once * (block.procedure.repeats if self.is_timed else 1)

    def method_seed(self) -> int:
        """Return the seed of the method's own randomness, the same in both flavours."""
        name = f"{self.block.setting.name} {self.block.procedure.name}"
        return int(
            np.random.SeedSequence([self.seed, self.trial, self.size, *name.encode()]).generate_state(1)[0]
        )


_REGRESSION_METHODS = (*LOCAL_SEARCHES, "random-residual-greedy", "modular")
_SECONDS: dict[Setting, dict[str, float]] = {
    REGRESSION_200: dict.fromkeys(_REGRESSION_METHODS, 0.02),
    REGRESSION_1000: dict.fromkeys(_REGRESSION_METHODS, 0.1),
    ISING_10: {**dict.fromkeys(LOCAL_SEARCHES, 0.08), "modular": 0.02, "random": 0.002},
    ISING_20: {
        "oblivious": 3.0,
        "semi-oblivious": 1.0,
        "non-oblivious": 0.1,
        "modular": 0.05,
        "random": 0.01,
    },
}
PAPER: tuple[Block, ...] = tuple(
    Block(setting, Search(method), took)
    for setting, seconds in _SECONDS.items()
    for method, took in seconds.items()
)
#: The same searches from the start that is printed.
PRINTED: tuple[Block, ...] = tuple(
    replace(block, procedure=Search(block.procedure.name, ARBITRARY))
    for block in PAPER
    if block.procedure.name in LOCAL_SEARCHES
)


def _plain(setting: Setting, searches: dict[str, float], others: dict[str, float]) -> list[Block]:
    """Return plain searches from both starts, and the methods that they are compared with."""
    procedures = {Plain(method, start): took for start in STARTS for method, took in searches.items()}
    procedures |= {Plain(method): took for method, took in others.items()}
    return [Block(setting, one, took, _EVERY_OTHER[setting], 3) for one, took in procedures.items()]


_EVERY_OTHER = {REGRESSION_200: (2, 4, 6, 8, 10), ISING_10: (1, 3, 5)}
PLAIN: tuple[Block, ...] = (
    *_plain(
        REGRESSION_200,
        {"oblivious": 1.5, "semi-oblivious": 0.7, "non-oblivious": 0.05},
        {"random-residual-greedy": 1.0, "modular": 0.01},
    ),
    *_plain(ISING_10, {"oblivious": 10.0, "semi-oblivious": 2.0, "non-oblivious": 0.15}, {"modular": 0.1}),
)
# With 20 vertices the bound of the whole alone is within three per cent of the best set; for more than five
# edges at each vertex it takes long.
OPTIMA: tuple[Block, ...] = (
    Block(ISING_10, Optimum(max_nodes=5000), 0.4),
    Block(ISING_20, Optimum(max_nodes=1), 60.0, (1, 2, 3, 4, 5), growth=5),
)
_STARTS: tuple[tuple[Setting, tuple[str, ...], float], ...] = (
    (REGRESSION_200, ("oblivious", "non-oblivious"), 0.02),
    (REGRESSION_1000, ("oblivious", "non-oblivious"), 0.1),
    (ISING_10, ("oblivious",), 0.1),
    (ISING_20, ("semi-oblivious",), 3.0),
)
BEYOND: tuple[Block, ...] = (
    *(
        Block(setting, Search(method, start), took)
        for setting, methods, took in _STARTS
        for method in methods
        for start in ("modular", "greedy")
    ),
    *(Block(ISING_10, Search(method, "greedy", q=2), 1.5) for method in LOCAL_SEARCHES),
    Block(REGRESSION_200, Proof(ridge=0.0, max_nodes=150), 3.0, (1, 2, 3, 5, 10), most_trials=3, growth=0),
    Block(REGRESSION_200, Proof(ridge=0.1, max_nodes=10), 1.5, most_trials=5, growth=0),
    Block(ISING_10, Proof(ridge=0.01, max_nodes=1000), 2.0, most_trials=5, growth=0),
)

# Seconds of the methods around the paper at the largest size, their number of trials, and their sizes.
_NEIGHBOURS: dict[Setting, tuple[float, int, tuple[int, ...]]] = {
    REGRESSION_200: (0.02, 5, (1, 3, 5)),
    REGRESSION_1000: (0.2, 3, (1, 3, 5)),
    ISING_10: (0.2, 3, (1, 3, 5)),
    ISING_20: (1.2, 3, (4, 7)),
}
# Slow methods take this many times as long, whatever the size.
_SLOWER = {"frank-wolfe": 12.0, "streak": 10.0, "sieve": 4.0, "filmus-ward": 3.0, "distorted": 6.0}


def _neighbours(setting: Setting) -> list[Block]:
    """Return blocks of the methods around the paper, and of local search from each of them."""
    took, most, sizes = _NEIGHBOURS[setting]
    known = {block.procedure for block in (*PRINTED, *BEYOND) if block.setting == setting}
    found = [one for one in (*neighbours(setting), *searches_from_others(setting)) if one not in known]
    times = {one: _SLOWER.get(one.name.rpartition(" ")[2]) for one in found}
    return [
        Block(setting, one, took * (times[one] or 1.0), sizes, most, growth=0 if times[one] else 2)
        for one in found
    ]


NEIGHBOURS: tuple[Block, ...] = tuple(block for setting in _NEIGHBOURS for block in _neighbours(setting))
#: Both of the starts that the paper's searches have here.
BOTH = "both"

#: All that is declared, in the order of rows.
GRID: tuple[Block, ...] = (*PAPER, *PRINTED, *PLAIN, *OPTIMA, *BEYOND, *NEIGHBOURS)


def cells(
    trials: int = 10,
    seed: int = SEED,
    flavour: str = DEFAULT,
    *,
    start: str = BOTH,
    quick: bool = False,
    only: Sequence[str] = (),
) -> list[Cell]:
    """Return the cells of a run, in the order of the declared grid.

    ``trials`` is the number of instances of each setting. What goes beyond the paper is for the default
    flavour only. ``start`` says where the paper's local searches begin: "both", "empty" or "arbitrary". With
    ``quick``, cells that take more than half a second or so are left out. ``only`` are names of experiments
    (all of their settings), settings, parts or methods: a cell must have one of each kind that is given. The
    name of a search of the paper stands for both of its starts.

    >>> cells(trials=1, only=["ising-20", "modular"])[2].key
    ('ising-20', 'paper', 'modular', 3, 0, 'default', 2020)
    >>> sorted({cell.key[2] for cell in cells(trials=1, only=["ising-20", "oblivious"])})
    ['oblivious', 'oblivious from arbitrary']
    """
    if flavour not in FLAVOURS:
        raise ValueError(f"flavour must be one of {', '.join(FLAVOURS)}; got {flavour!r}")
    if start not in (BOTH, *STARTS):
        raise ValueError(f"start must be one of {', '.join((BOTH, *STARTS))}; got {start!r}")
    chosen = _by_kind(only)
    left_out = set() if flavour == DEFAULT else {*BEYOND, *NEIGHBOURS}
    found = [
        cell
        for block in GRID
        if block not in left_out
        and (start == BOTH or block.procedure.printed_start in (None, start))
        and all(_is_meant(block, kind, wanted) for kind, wanted in chosen.items())
        for cell in _cells_of(block, trials, seed, flavour)
        if not quick or cell.seconds <= QUICK_SECONDS
    ]
    if not found:
        raise ValueError(_nothing(only, flavour, start, quick))
    return found


def _nothing(only: Sequence[str], flavour: str, start: str, quick: bool) -> str:
    others = {f"from the {start} start": start != BOTH, "quick": quick}
    reasons = ["nothing is " + " and ".join([*only, *(word for word, given in others.items() if given)])]
    if flavour != DEFAULT:
        reasons.append("what goes beyond the paper is run in the default flavour only")
    return "; ".join(reasons)


def names() -> dict[str, list[str]]:
    """Return the names that ``only`` may have, by kind."""
    kinds = _kinds(GRID[0])
    return {kind: list(dict.fromkeys(_kinds(block)[kind] for block in GRID)) for kind in kinds}


def _kinds(block: Block) -> dict[str, str]:
    return {
        "experiment": block.setting.experiment,
        "setting": block.setting.name,
        "part": block.procedure.part,
        "method": block.procedure.name,
    }


def _is_meant(block: Block, kind: str, wanted: set[str]) -> bool:
    """Whether one of the names is the block's, or that of the same search from the empty set."""
    name = _kinds(block)[kind]
    if kind == "method" and block.procedure.printed_start == ARBITRARY:
        return not wanted.isdisjoint([name, name.removesuffix(f" from {ARBITRARY}")])
    return name in wanted


def _by_kind(only: Iterable[str]) -> dict[str, set[str]]:
    known = names()
    chosen: dict[str, set[str]] = {}
    for name in only:
        kind = next((kind for kind in known if name in known[kind]), None)
        if kind is None:
            choices = "; ".join(f"{kind}s: {', '.join(map(repr, known[kind]))}" for kind in known)
            near = get_close_matches(name, [one for some in known.values() for one in some], n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise ValueError(f"only knows no {name!r}{hint}; there are {choices}")
        if kind == "experiment":
            settings = {block.setting.name for block in PAPER if block.setting.experiment == name}
            chosen.setdefault("setting", set()).update(settings)
        else:
            chosen.setdefault(kind, set()).add(name)
    return chosen


def _cells_of(block: Block, trials: int, seed: int, flavour: str) -> Iterator[Cell]:
    most = trials if block.most_trials is None else min(trials, block.most_trials)
    for trial in range(most):
        for size in block.sizes or block.setting.sizes:
            yield Cell(block, size, trial, flavour, seed)
