"""The data of the race: what is drawn, from which seed, and quickly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.race.hard import HARD, autoregression
from swapwise.checks import FloatArray, IndexArray

EQUAL_CORRELATION = 0.5
BLOCK, BLOCK_CORRELATION = 20, 0.8
LEVELS = 50  # of each one-hot variable; the k-th most frequent word has frequency ∝ 1/k

Generator = np.random.Generator


@dataclass(frozen=True)
class Instance:
    """A regression problem; ``truth`` are the features that the response was made of, if anybody knows."""

    name: str
    X: Any  # C-ordered float64, as users have it, or scipy's CSR
    y: FloatArray
    truth: IndexArray
    size: int


@dataclass(frozen=True)
class Setting:
    """What to draw: a design, its shape, how many features matter, the noise, and a seed.

    ``snr`` is the variance of the signal over that of the noise.

    >>> instance = Setting("ar-0.3", 3.0, samples=50, features=20, size=4, seed=0).draw()
    >>> instance.name, instance.X.shape, len(instance.truth), instance.size
    ('ar-0.3, snr 3, 50x20x4, seed 0', (50, 20), 4, 4)
    """

    design: str
    snr: float
    samples: int
    features: int
    size: int
    seed: int

    def __str__(self) -> str:
        noise = "" if self.design in REAL else f", snr {self.snr:g}"
        return f"{self.design}{noise}, {self.samples}x{self.features}x{self.size}, seed {self.seed}"

    def draw(self) -> Instance:
        """Return the instance: the same on every call."""
        if self.design in REAL:
            X, y = REAL[self.design].load()
            return Instance(str(self), X, y, np.empty(0, np.intp), self.size)
        rng = np.random.default_rng([self.seed, self.samples, self.features])
        X = DESIGNS[self.design](rng, self.samples, self.features)
        truth = np.sort(rng.choice(_usable(X), self.size, replace=False)).astype(np.intp)
        coef = rng.choice([-1.0, 1.0], self.size) * rng.uniform(0.5, 1.5, self.size)
        signal = X[:, truth] @ coef
        noise = rng.standard_normal(self.samples) * np.sqrt(signal.var() / self.snr)
        return Instance(str(self), X, signal + noise, truth, self.size)


def autocorrelated(correlation: float) -> Callable[[Generator, int, int], FloatArray]:
    """Return a design in which columns i and j have the correlation ρ^|i − j|."""

    def design(rng: Generator, samples: int, features: int) -> FloatArray:
        return autoregression(rng.standard_normal((samples, features)), correlation)

    return design


def uniform(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return the paper's design: uniform entries, columns centred and scaled to standard deviation 1."""
    X = rng.random((samples, features))
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return X


def equicorrelated(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return a design in which all pairs of columns have the same correlation."""
    return _with_common(rng, samples, features, features, EQUAL_CORRELATION)


def block(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return a design of blocks of columns, correlated within and independent between them."""
    return _with_common(rng, samples, features, BLOCK, BLOCK_CORRELATION)


def one_hot(rng: Generator, samples: int, features: int) -> csr_array:
    """Return categorical variables of 50 levels, one column a level, in which every level occurs."""
    if features % LEVELS or samples < LEVELS:
        raise ValueError(
            f"one-hot data need a multiple of {LEVELS} features and at least as many samples; "
            f"got {features} features, {samples} samples"
        )
    variables = features // LEVELS
    frequency = 1 / np.arange(1, LEVELS + 1)
    levels = rng.choice(LEVELS, (variables, samples), p=frequency / frequency.sum())
    levels[:, :LEVELS] = np.arange(LEVELS)  # a column of zeros would be of no use to anybody
    levels = rng.permuted(levels, axis=1)
    columns = (levels + LEVELS * np.arange(variables)[:, None]).T.ravel()
    starts = np.arange(samples + 1) * variables
    return csr_array((np.ones(len(columns)), columns, starts), shape=(samples, features))


def _with_common(rng: Generator, samples: int, features: int, width: int, correlation: float) -> FloatArray:
    common = rng.standard_normal((samples, -(-features // width)))
    X = rng.standard_normal((samples, features))
    X *= np.sqrt(1 - correlation)
    for position in range(common.shape[1]):
        X[:, position * width : (position + 1) * width] += np.sqrt(correlation) * common[:, [position]]
    return X


def _usable(X: Any) -> IndexArray:
    """Return the columns that the response may be made of: rare words cannot be told from noise."""
    if isinstance(X, np.ndarray):
        return np.arange(X.shape[1])
    return np.flatnonzero(X.sum(axis=0) >= X.shape[0] / LEVELS)


@dataclass(frozen=True)
class Real:
    """Data that scikit-learn ships, as a regression, with the products of all pairs of columns if so said."""

    loader: str
    shape: tuple[int, int]
    size: int
    products: bool

    def load(self) -> tuple[FloatArray, FloatArray]:
        """Return X, without columns that are constant, and y."""
        from sklearn import datasets
        from sklearn.preprocessing import PolynomialFeatures, StandardScaler

        X, y = getattr(datasets, self.loader)(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        if self.products:
            X = PolynomialFeatures(2, include_bias=False).fit_transform(X)
        X = X[:, X.std(axis=0) > 0]
        return np.ascontiguousarray(X), y.astype(float)


DESIGNS: dict[str, Callable[[Generator, int, int], Any]] = {
    **{f"ar-{correlation:g}": autocorrelated(correlation) for correlation in (0.0, 0.3, 0.7, 0.9)},
    "uniform": uniform,
    "equicorrelated": equicorrelated,
    "block": block,
    "one-hot": one_hot,
    **HARD,
}
REAL = {
    "real-diabetes": Real("load_diabetes", (442, 65), 10, products=True),
    "real-cancer": Real("load_breast_cancer", (569, 495), 10, products=True),
    "real-digits": Real("load_digits", (1797, 61), 20, products=False),
}
#: Those on which programs differ in what they find.
HARD_DESIGNS = ("ar-0.9", "equicorrelated", "block", *HARD)
SNRS = (0.5, 3.0, 20.0)
SMALL = (200, 200, 5)
SIZES = (
    (500, 1000, 10),
    (2500, 5000, 50),
    (5000, 10_000, 100),
    (1000, 100_000, 20),
    (100_000, 1000, 30),
)


def grid(
    designs: Sequence[str], snrs: Sequence[float], sizes: Sequence[tuple[int, int, int]], seeds: int
) -> Iterator[Setting]:
    """Yield every combination, small sizes first; real data come once, in their own shape.

    >>> [str(setting) for setting in grid(["ar-0", "real-digits"], [3], [(50, 20, 4)], seeds=2)]
    ['ar-0, snr 3, 50x20x4, seed 0', 'ar-0, snr 3, 50x20x4, seed 1', 'real-digits, 1797x61x20, seed 0']
    """
    drawn = [design for design in designs if design not in REAL]
    for size, design, snr, seed in product(sizes, drawn, snrs, range(seeds)):
        yield Setting(design, float(snr), *size, seed)
    for design in designs:
        if design in REAL:
            yield Setting(design, 0.0, *REAL[design].shape, REAL[design].size, 0)
