"""Columns and responses, regular and degenerate: what proofs about regressions are tried on.

Every degeneracy takes the columns and the response and returns them spoiled in one way. They can follow each
other, so that a duplicate may be rescaled and then moved away from zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Data = tuple[np.ndarray, np.ndarray]

#: Distances of near-duplicates, relative to their length: three per decade
DISTANCES = [step * 10.0**-power for power in range(2, 10) for step in (1.0, 0.5, 0.2)]


def regular(random: Random, samples: int, n: int) -> Data:
    """Return columns with something in common, and a response that few of them explain."""
    X = random.standard_normal((samples, n)) + random.choice([0.0, 0.7, 3.0]) * random.standard_normal(
        (samples, 1)
    )
    few = random.permutation(n)[:3]
    noise = random.choice([0.0, 0.1, 1.0]) * random.standard_normal(samples)
    return X, X[:, few] @ random.standard_normal(len(few)) + noise


def duplicates(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Repeat columns: as they are, with the other sign, or longer."""
    X = X.copy()
    for _ in range(random.integers(1, 3)):
        i, j = random.permutation(X.shape[1])[:2]
        X[:, j] = random.choice([1.0, -1.0, 3.7, 1e-5]) * X[:, i]
    return X, y


def near_duplicates(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Let two columns differ by little, and the response point along the difference."""
    X = X.copy()
    i, j = random.permutation(X.shape[1])[:2]
    apart = random.standard_normal(len(X))
    distance = random.choice(DISTANCES) * np.linalg.norm(X[:, i]) / max(np.linalg.norm(apart), 1e-300)
    X[:, j] = X[:, i] + distance * apart
    return X, apart + 0.3 * random.standard_normal(len(X))


def near_sums(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Let a column be nearly the sum of two others."""
    X = X.copy()
    i, j, k = random.permutation(X.shape[1])[:3]
    apart = random.standard_normal(len(X))
    X[:, k] = X[:, i] + X[:, j] + random.choice(DISTANCES) * apart
    return X, apart + 0.3 * random.standard_normal(len(X))


def sums(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Let columns be sums of two others."""
    X = X.copy()
    for _ in range(random.integers(1, 3)):
        i, j, k = random.permutation(X.shape[1])[:3]
        X[:, k] = X[:, i] + random.choice([-1.0, 1.0, 0.3]) * X[:, j]
    return X, y


def one_hot(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Replace three columns by the levels of a factor, which sum to one."""
    X = X.copy()
    X[:, random.permutation(X.shape[1])[:3]] = np.eye(3)[random.integers(0, 3, len(X))]
    return X, y


def constant_column(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    X = X.copy()
    X[:, random.integers(X.shape[1])] = random.choice([1.0, -1e4, 1e-6])
    return X, y


def zero_column(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    X = X.copy()
    X[:, random.permutation(X.shape[1])[: random.integers(1, 3)]] = 0.0
    return X, y


def scales(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Measure columns in units up to sixteen orders of magnitude apart, and the response in another."""
    units = random.choice([1e-8, 1e-3, 1.0, 1e3, 1e8], X.shape[1])
    return X * units, y * random.choice([1e-6, 1.0, 1e6])


def offsets(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Move columns away from zero by up to a million times their length."""
    shift = random.choice([0.0, 1e3, 1e4, 1e6], X.shape[1])
    return X + shift, y + random.choice([0.0, 1e3])


def integers(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Round to few values, so that many sets tie."""
    return np.clip(np.rint(X), -2.0, 2.0), np.clip(np.rint(y), -2.0, 2.0)


def constant_response(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    return X, np.full(len(y), random.choice([0.0, 1.0, -2.5]))


def explained_response(random: Random, X: np.ndarray, y: np.ndarray) -> Data:
    """Let two columns explain the response without a remainder."""
    i, j = random.permutation(X.shape[1])[:2]
    return X, X[:, i] - X[:, j]


Degeneracy = Callable[[Random, np.ndarray, np.ndarray], Data]

DEGENERACIES: list[Degeneracy] = [
    duplicates,
    near_duplicates,
    near_duplicates,
    near_sums,
    sums,
    one_hot,
    constant_column,
    zero_column,
    scales,
    offsets,
    integers,
    constant_response,
    explained_response,
]


def some_design(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Return columns, a response, and what is the matter with them; a third of all are regular."""
    samples = int(random.choice([1, 3, max(2, n - 2), n + 1, 12, 25], p=[0.02, 0.08, 0.1, 0.1, 0.4, 0.3]))
    X, y = regular(random, samples, n)
    words = ["regular" if samples >= n else f"{samples} samples"]
    for index in random.integers(0, len(DEGENERACIES), random.choice([0, 1, 2], p=[0.33, 0.47, 0.2])):
        spoil = DEGENERACIES[index]
        X, y = spoil(random, X, y)
        words.append(spoil.__name__.replace("_", " "))
    if len(words) > 1 and words[0] == "regular":
        words = words[1:]
    return X, y, ", ".join(words)


def some_weights(random: Random, samples: int) -> np.ndarray | None:
    """Return no weights, moderate ones, or some over seven decades."""
    kind = random.integers(5)
    if kind < 3:
        return None
    return 10.0 ** random.uniform(*((-0.5, 0.5) if kind == 3 else (-4.0, 3.0)), samples)
