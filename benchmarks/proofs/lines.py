"""The lines of the tables: which problems are proven, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

#: An answer counts as proven once it is known to have this share of the optimum, but for the gap.
GAP = 1e-4


@dataclass(frozen=True)
class Line:
    """A problem to be drawn from a seed.

    ``model`` says what is maximised and ``constraint`` where. ``size`` is that of the truth, and the limit of
    a uniform constraint; for the paper's, the limit of a category. ``ridge`` is what swapwise's objective is
    given: the weight of ‖w‖² beside ‖y − Xw‖² for least squares, of ‖w‖²/2 beside the mean log-likelihood
    elsewhere.
    """

    group: str
    samples: int
    features: int
    size: int
    ridge: float
    correlation: float = 0.5
    model: str = "least squares"
    constraint: str = "uniform"

    def __str__(self) -> str:
        """Name the line as tables do.

        >>> str(Line("table", 1000, 300, 10, 0.001, 0.9))
        '1000 × 300, k = 10, ρ = 0.9, ridge 0.001'
        >>> str(Line("glm", 1000, 100, 5, 0.001, 0.3, model="poisson"))
        'poisson, 1000 × 100, k = 5, ρ = 0.3, ridge 0.001'
        """
        kind = [] if self.model == "least squares" else [self.model]
        kind += [] if self.constraint == "uniform" else [self.constraint]
        limit = {"uniform": "k", "paper": "capacity"}.get(self.constraint, "true")
        drawn = [] if self.constraint == "paper" else [f"ρ = {self.correlation:g}"]
        shape = [f"{self.samples} × {self.features}", f"{limit} = {self.size}"]
        return ", ".join([*kind, *shape, *drawn, f"ridge {self.ridge:g}"])

    @property
    def slug(self) -> str:
        """The line as the name of a file.

        >>> Line("table", 1000, 300, 10, 0.001, 0.9).slug
        'table-least_squares-uniform-1000x300x10-0.9-0.001'
        """
        parts = (
            self.group,
            self.model,
            self.constraint,
            f"{self.samples}x{self.features}x{self.size}",
            f"{self.correlation:g}",
            f"{self.ridge:g}",
        )
        return "-".join(parts).replace(" ", "_")


@dataclass(frozen=True)
class Group:
    """Lines that make one table: how long each may take, who takes part, and how many draws there are."""

    lines: tuple[Line, ...]
    seconds: float
    programs: tuple[str, ...]
    seeds: int = 3


#: Samples, features, size, ridge and correlations of the lines with which OKRidge is compared.
TABLE = (
    (1000, 300, 10, 0.001, (0.5, 0.9)),
    (3000, 1000, 10, 0.001, (0.1, 0.5, 0.9)),
    (6000, 3000, 10, 0.001, (0.1, 0.5, 0.9)),
    (500, 500, 15, 1.0, (0.7,)),
)
LARGE = ((20_000, 10_000), (2000, 100_000))
CONSTRAINTS = ("partition", "laminar", "two partitions", "b-matching", "graphic")
GLM = (
    ("logistic", 2000, 300, 10, (0.001, 0.01)),
    ("logistic", 2000, 1000, 10, (0.001, 0.01)),
    ("poisson", 1000, 100, 5, (0.001,)),
    ("poisson", 2000, 1000, 10, (0.001,)),
)
#: Features, samples and the ridge for one sample of the paper's two settings; capacities are its own, too.
PAPER = ((200, 50), (1000, 100))
PAPER_RIDGE, PAPER_CAPACITIES = 0.1, range(1, 11)

OWN, BEFORE = "swapwise", "swapwise before"

GROUPS = {
    "table": Group(
        tuple(
            Line("table", samples, features, size, ridge, correlation)
            for samples, features, size, ridge, correlations in TABLE
            for correlation in correlations
        ),
        20.0,
        (OWN, "okridge"),
    ),
    "large": Group(
        tuple(
            Line("large", samples, features, size, share * samples, 0.3)
            for (samples, features), size, share in product(LARGE, (10, 20), (0.01, 0.1))
        ),
        60.0,
        (OWN, "l0bnb"),
        seeds=1,
    ),
    "constraints": Group(
        tuple(Line("constraints", 2000, 1000, 15, 20.0, constraint=name) for name in CONSTRAINTS),
        20.0,
        (OWN, BEFORE),
    ),
    "glm": Group(
        tuple(
            Line("glm", samples, features, size, ridge, 0.3, model)
            for model, samples, features, size, ridges in GLM
            for ridge in ridges
        ),
        20.0,
        (OWN, BEFORE, "el0ps"),
    ),
    "paper": Group(
        tuple(
            Line("paper", samples, features, capacity, PAPER_RIDGE * samples, constraint="paper")
            for features, samples in PAPER
            for capacity in PAPER_CAPACITIES
        ),
        10.0,
        (OWN, BEFORE),
    ),
}
