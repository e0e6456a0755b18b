"""What is said of nearly collinear columns: ``python -m tests.fuzz.near_collinear [--quick]``.

Two kinds of data: two columns at a small distance from each other with a response along their difference, and
smooth spectra, in which every channel is nearly a combination of its neighbours. Each is searched, certified
and solved, directly and through ``SparseRegressor``, and compared with other sets: all of them where they are
few, else random ones and every swap of the answers from several starts in double precision. One row of counts
per distance or noise; false proofs should be 0.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

import swapwise as sw
from tests.fuzz.checks import AGREE, EXACT, LEFT_BEHIND, LOOSEST
from tests.fuzz.instances import EPS, spanned_within
from tests.fuzz.oracles import Regression, Set
from tests.fuzz.report import Report

#: All sets are compared up to this many; else some random ones, and the answers of searches from some of them
MOST_SETS, RANDOM_SETS, SEARCHES = 13_000, 300, 10
#: How many sets that are best by long doubles f is asked for, and are fitted by numpy.linalg.lstsq
VALUED, FITTED = 200, 5
#: Seconds for a search, a certificate or an exact solution
LIMIT = 3.0

COLUMNS = {
    "OPTIMAL": "exact says OPTIMAL",
    "false/f": "... but f says that another set is better",
    "false/lstsq": "... without a doubt, but the coefficients of lstsq on another set are better",
    "proven": "certify says that the answer of maximize is optimal",
    "bound/f": "an upper bound of exact or certify is below f of some set",
    "doubt": "the certificate of exact or certify says why it is in doubt",
    "local": "maximize says LOCAL_OPTIMUM by the oblivious rule",
    "swap/f": "... but f says that a swap is better",
    "reg": "SparseRegressor.certify says optimal",
    "reg/f": "... but its own value of another set is better",
    "reg/lstsq": "... without a doubt, but lstsq on another set is better",
}


@dataclass(frozen=True)
class Case:
    """A regression with nearly collinear columns, of which ``k`` are to be chosen."""

    name: str
    X: np.ndarray
    y: np.ndarray
    k: int

    @property
    def dtype(self) -> str:
        return self.X.dtype.str[1:]

    @cached_property
    def objective(self) -> sw.LeastSquares:
        return sw.LeastSquares(self.X, self.y)

    @cached_property
    def constraint(self) -> sw.Uniform:
        return sw.Uniform(self.X.shape[1], self.k)

    def rivals(self, *answers: np.ndarray) -> list[Set]:
        """Return sets to compare with: all, or random ones and the swaps of these and other answers."""
        n = self.X.shape[1]
        if comb(n, self.k) <= MOST_SETS:
            return list(combinations(range(n), self.k))
        random = np.random.default_rng(0)
        drawn = [random.permutation(n)[: self.k] for _ in range(RANDOM_SETS)]
        in_double = sw.LeastSquares(self.X.astype(float), self.y)
        found = [
            sw.maximize(in_double, self.constraint, "oblivious", start=start, time_limit=LIMIT).support
            for start in ("greedy", *drawn[:SEARCHES])
        ]
        sets = {tuple(sorted(chosen.tolist())) for chosen in drawn}
        return sorted(sets.union(*(swaps(answer, n) for answer in (*answers, *found))))


def swaps(answer: np.ndarray, n: int) -> Iterator[Set]:
    """Yield a set and all that differ from it in one element."""
    chosen = {int(element) for element in answer}
    yield tuple(sorted(chosen))
    for out in chosen:
        yield from (tuple(sorted(chosen - {out} | {new})) for new in range(n) if new not in chosen)


def near_duplicates(distance: float, dtype: str, seed: int) -> Case:
    random = np.random.default_rng(seed)
    x, apart = random.standard_normal((2, 40))
    X = np.column_stack([x, x + distance * apart, random.standard_normal((40, 4))])
    y = apart + 0.3 * random.standard_normal(40)
    return Case(f"distance {distance:.0e}", X.astype(dtype), y, 2)


def spectra(channels: int, noise: float, dtype: str, seed: int) -> Case:
    """Return sums of broad peaks, and the height of one that is ten times lower than the others."""
    random = np.random.default_rng([channels, seed])
    where, centres = np.linspace(0, 1, channels), random.uniform(0.1, 0.9, 5)
    peaks = np.exp(-((where - centres[:, None]) ** 2) / (2 * random.uniform(0.15, 0.3, 5)[:, None] ** 2))
    heights = random.standard_normal((60, 5)) * [1.0, 1.0, 1.0, 1.0, 0.1]
    X = 3.0 + heights @ peaks + noise * random.standard_normal((60, channels))
    y = heights[:, 4] - heights[:, 4].mean()
    return Case(f"{channels} channels, noise {noise:.0e}", X.astype(dtype), y, 4)


def judge(case: Case) -> Counter[str]:
    """Return which of ``COLUMNS`` hold of a case."""
    f, constraint = case.objective, case.constraint
    found = sw.maximize(f, constraint, "oblivious", time_limit=LIMIT)
    certificate = sw.certify(f, constraint, found, time_limit=LIMIT, gap=0.0)
    exact = sw.exact(f, constraint, LIMIT)
    sets = best_by_long_doubles(case.X, case.y, case.rivals(found.support, exact.support))
    best = max(f(chosen) for chosen in sets)
    by_fit = max(fitted_values(case.X.astype(float), case.y, f, sets))
    optimal = exact.status == "OPTIMAL"
    bound = min(certificate.upper_bound, exact.certificate.upper_bound)
    local = found.status == "LOCAL_OPTIMUM"
    swapped = max(f(chosen) for chosen in swaps(found.support, f.n))
    doubt = exact.certificate.doubt or certificate.doubt
    return Counter(
        {
            "OPTIMAL": optimal,
            "false/f": (optimal and best > exact.value + 2 * EXACT)
            or (certificate.optimal and best > certificate.value + 2 * EXACT),
            "false/lstsq": (optimal and not exact.certificate.doubt and by_fit > exact.value + AGREE)
            or (certificate.optimal and not certificate.doubt and by_fit > certificate.value + AGREE),
            "proven": certificate.optimal,
            "bound/f": bound < best - EXACT,
            "doubt": bool(doubt),
            "local": local,
            "swap/f": local and swapped > found.value + left_behind(case, found.support),
        }
    ) + judge_regressor(case, sets)


def check(seed: int) -> Report:
    """Judge nearly collinear columns at some distance, or spectra with some noise."""
    random = np.random.default_rng([27, seed])
    dtype, place = str(random.choice(["f4", "f8"])), int(random.integers(2**31))
    if random.random() < 0.9:
        case = near_duplicates(float(10 ** random.uniform(-9.5, -2)), dtype, place)
    else:
        case = spectra(int(random.choice([8, 12, 16])), float(10 ** random.uniform(-5, -2)), dtype, place)
    report = Report(f"{case.name} {dtype}", (f"{case.name.split()[0]} {dtype}",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = judge(case)
    for name, words in COLUMNS.items():
        if "/" in name:
            report.claim(f"not that {words.removeprefix('... ')}", not counts[name], str(dict(counts)))
    return report


def left_behind(case: Case, answer: np.ndarray) -> float:
    """Return what a search may leave behind: see ``tests.fuzz.checks``."""
    data = Regression(case.X, case.y)
    worst = max(data.condition(chosen) for chosen in swaps(answer, case.X.shape[1]))
    return min(LOOSEST, LEFT_BEHIND[case.dtype] + 32 * EPS[case.dtype] * worst)


def fitted_values(X: np.ndarray, y: np.ndarray, f: sw.LeastSquares, sets: list[Set]) -> list[float]:
    """Return ``value_at`` the coefficients of lstsq, for the first few sets."""
    fitted = []
    for chosen in sets[:FITTED]:
        coef = np.zeros(f.n)
        coef[list(chosen)] = np.linalg.lstsq(X[:, chosen], y, rcond=None)[0]
        fitted.append(f.value_at(coef))
    return fitted


def best_by_long_doubles(X: np.ndarray, y: np.ndarray, sets: list[Set]) -> list[Set]:
    """Return the sets that are best by long doubles, best first: what f says of the others is no larger."""
    values = Regression(X, y).values(sets, 0.0, spanned_within("f8", max(map(len, sets))))
    return [sets[index] for index in np.argsort(-values)[:VALUED]]


def judge_regressor(case: Case, sets: list[Set]) -> Counter[str]:
    """Return what holds of the same data through scikit-learn's interface, which centres them."""
    X, y = case.X, case.y
    model = sw.SparseRegressor(case.k, time_limit=LIMIT).fit(X, y)
    certificate = model.certify(X, y, time_limit=LIMIT)
    centred, response = X.astype(float) - X.astype(float).mean(axis=0), y - y.mean()
    (best, *_) = best_by_long_doubles(centred, response, sets)
    rival = sw.SparseRegressor(case.k, start=list(best), max_iter=0).fit(X, y).result_.value
    (by_fit,) = fitted_values(centred, response, sw.LeastSquares(centred, response), [best])
    return Counter(
        {
            "reg": certificate.optimal,
            "reg/f": certificate.optimal and rival > certificate.value + 2 * EXACT,
            "reg/lstsq": certificate.optimal and not certificate.doubt and by_fit > certificate.value + AGREE,
        }
    )


def cases(quick: bool) -> Iterator[list[Case]]:
    """Yield the cases of every row of the table."""
    seeds = 10 if quick else 40
    distances = [1e-2, *(float(f"{step}e-{power}") for power in range(3, 10) for step in (3, 1))]
    for dtype in ("f4", "f8"):
        for distance in distances:
            yield [near_duplicates(distance, dtype, seed) for seed in range(seeds)]
    for dtype in ("f4", "f8"):
        for channels, count in ((25, 5 if quick else 15), (50, 1 if quick else 5), (200, 1 if quick else 5)):
            for noise in (1e-3, 3e-4, 1e-4):
                yield [spectra(channels, noise, dtype, seed) for seed in range(count)]


def main() -> int:
    """Print the table; return 1 if a proof was false."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.near_collinear", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--only", default="", help="only rows whose name holds this, such as 'distance'")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("\n".join(f"{name:12} {words}" for name, words in COLUMNS.items()))
    print(f"\n{'':32} {'cases':>5}", *(f"{name:>11}" for name in COLUMNS))
    total: Counter[str] = Counter()
    for row in cases(options.quick):
        if options.only not in row[0].name:
            continue
        counts = sum((judge(case) for case in row), Counter[str]())
        total += counts
        name = f"{row[0].name} {row[0].dtype}"
        print(f"{name:32} {len(row):5}", *(f"{counts[name]:11}" for name in COLUMNS), flush=True)
    print(f"{'all':38}", *(f"{total[name]:11}" for name in COLUMNS))
    return int(any(total[name] for name in COLUMNS if "/" in name))


if __name__ == "__main__":
    sys.exit(main())
