"""Small random problems under each family and each pair of families, against enumeration."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import swapwise as sw
from benchmarks.families.zoo import Random, member_of, neighbours

#: Values that differ by less are the same
EXACT = 1e-8


class Row(NamedTuple):
    """What was seen of one family or pair, and one objective."""

    names: str
    objective: str
    instances: int
    share: float  #: of the optimum, on average
    worst: float
    optimal: float  #: how often the search found the optimum
    wrong: tuple[str, ...]


def least_squares(random: Random, n: int) -> sw.SetFunction:
    """Return a regression, with a column twice in one of three."""
    X = random.standard_normal((12, n))
    if random.random() < 0.3:
        X[:, random.integers(n)] = X[:, random.integers(n)]
    y = X @ random.standard_normal(n) + random.standard_normal(12)
    return sw.LeastSquares(X, y, ridge=float(random.choice([0.0, 0.5])))


def coverage(random: Random, n: int) -> sw.SetFunction:
    """Return a coverage of fourteen items."""
    sets = (random.choice(14, int(random.integers(1, 5)), replace=False).tolist() for _ in range(n))
    return sw.Coverage(list(map(set, sets)))


OBJECTIVES: dict[str, Callable[[Random, int], sw.SetFunction]] = {
    "least squares": least_squares,
    "coverage": coverage,
}


def row_of(names: tuple[str, ...], objective: str, instances: int) -> Row:
    """Return what is seen of some instances of a family, or of a pair."""
    shares, wrong = [], list[str]()
    for seed in range(instances):
        random = np.random.default_rng([seed, *map(ord, "+".join(names) + objective)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of collinear columns
            share, words = checked(names, objective, random)
        shares.append(share)
        wrong += [f"{' + '.join(names)}, {objective}, seed {seed}: {word}" for word in words]
    found = np.array(shares)
    optimal = float(np.mean(found > 1 - 1e-7))
    return Row(
        " + ".join(names),
        objective,
        instances,
        float(found.mean()),
        float(found.min()),
        optimal,
        tuple(wrong),
    )


def checked(names: tuple[str, ...], objective: str, random: Random) -> tuple[float, list[str]]:
    """Return the share of the optimum that a search finds, and what is wrong with it or with proofs."""
    member = member_of(names, random, int(random.integers(8, 11)))
    f = OBJECTIVES[objective](random, member.constraint.n)
    values = {chosen: f(sorted(chosen)) for chosen in member.answers()}
    best, wrong = max(values.values()), list[str]()
    found = sw.maximize(f, member.constraint)
    chosen = frozenset(found.support.tolist())
    if chosen not in values:
        return 0.0, ["the answer is not independent, or misses a lower limit"]
    near = max((values[target] for target in neighbours(member, chosen, set(values))), default=0.0)
    if found.status is not sw.Status.LOCAL_OPTIMUM or near > found.value + EXACT:
        wrong.append(f"the answer is not locally optimal: {near:.9g} beside {found.value:.9g}")
    proven = sw.exact(f, member.constraint)
    if proven.status is not sw.Status.OPTIMAL or abs(proven.value - best) > EXACT:
        wrong.append(f"exact: {proven.status.name} at {proven.value:.9g}, where {best:.9g} is best")
    certificate = sw.certify(f, member.constraint, found, max_nodes=int(random.integers(0, 4)))
    if certificate.upper_bound < best - EXACT:
        wrong.append(f"the certificate's bound {certificate.upper_bound:.9g} is below {best:.9g}")
    if found.guarantee is not None and found.guarantee.ratio * best > found.value + EXACT:
        wrong.append(f"the guarantee {found.guarantee.ratio:.6g} is more than there is")
    return (found.value / best if best > 0 else 1.0), wrong
