"""Graphs of parts of a sample: how many cases could be missing before the picture changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_generator
from swapwise.graphs.stability.centrality import MEASURES, measure
from swapwise.graphs.stability.fits import GraphRefits, seeds
from swapwise.graphs.stability.tables import as_share, records, upper_triangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25)

# The correlation-stability coefficient requires this correlation with this probability, in the paper.
LEAST_CORRELATION, PROBABILITY = 0.7, 0.95


def case_dropping(
    model: Any,
    X: ArrayLike,
    shares: Iterable[float] = SHARES,
    n_boots: int = 100,
    *,
    sample_weight: ArrayLike | None = None,
    correlation: float = LEAST_CORRELATION,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> CaseDropping:
    """Learn the graph from random parts of the cases, and correlate it with that of all of them.

    Parameters
    ----------
    model : graph estimator
        As in :func:`bootstrap_graph`.
    X : array-like of shape (n_samples, n_features)
        In memory.
    shares : iterable of float
        Which shares of the cases to keep, each between 0 and 1.
    n_boots : int
        How many subsets to draw per share, without replacement.
    sample_weight : array-like of shape (n_samples,), optional
        As in :func:`bootstrap_graph`.
    correlation : float
        The correlation that the correlation-stability coefficient requires.
    level : float
        How much of the correlations the intervals hold.
    n_jobs, random_state, progress
        As in :func:`bootstrap_graph`.

    Returns
    -------
    CaseDropping

    See Also
    --------
    CaseDropping : the result, with its ``plot``.

    References
    ----------
    - S. Epskamp, D. Borsboom, E. I. Fried, *Estimating psychological networks and their accuracy: A tutorial
      paper*, Behavior Research Methods 2018. They ask for a coefficient of at least 0.25, and preferably 0.5,
      before the order of vertices by a centrality is interpreted.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import IsingGraphCV
    >>> from swapwise.graphs import case_dropping
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumprod(np.where(rng.random((300, 5)) < [0.1, 0.1, 0.2, 0.3, 0.4], -1, 1), axis=1)
    >>> cases = case_dropping(IsingGraphCV(), X, shares=[0.75, 0.5, 0.25], n_boots=10)
    >>> cases.coefficients[["edges", "strength"]]
    edges       0.75
    strength    0.75
    Name: CS-coefficient, dtype: float64
    """
    fits = GraphRefits.read(model, X, sample_weight)
    cases = fits.cases
    kept = _read_shares(shares, cases.total)
    correlation, level = as_share(correlation, "correlation"), as_share(level, "level")
    drawn = seeds(as_generator(random_state), n_boots, "n_boots")
    fitted = fits.fitted(cases.counts)
    names = fits.names(fitted)
    # Every share in turn, so that an interrupt leaves about as many subsets of each. The subsets of a seed
    # need not be nested.
    arguments = [
        (seed + place, round(share * cases.total)) for seed in drawn for place, share in enumerate(kept)
    ]
    weights, interrupted = fits.repeated(
        cases.subset, arguments, what="case dropping", n_jobs=n_jobs, progress=progress
    )
    share_of = np.resize(kept, len(weights))
    sample = upper_triangle(fitted.adjacency_)
    return CaseDropping(names, sample, share_of, weights[:, 0], correlation, level, interrupted)


def _read_shares(shares: Any, n_cases: int) -> list[float]:
    if isinstance(shares, str) or not isinstance(shares, Iterable):
        raise TypeError(f"shares must be numbers such as [0.75, 0.5, 0.25], got {shares!r}")
    kept = sorted({as_share(share, "a value of shares") for share in shares}, reverse=True)
    if not kept:
        raise ValueError("shares must hold at least one number, got none")
    if round(kept[-1] * n_cases) < 2:
        raise ValueError(f"every value of shares must keep at least two of {n_cases} cases, got {kept[-1]:g}")
    return kept


@dataclass(frozen=True, eq=False, repr=False)
class CaseDropping:
    """Graphs of parts of the sample beside that of the whole, from :func:`case_dropping`.

    Attributes
    ----------
    names : list
        The vertices.
    sample : array of shape (n_pairs,)
        The weight of each pair, (0, 1), (0, 2), ..., in the graph of all cases.
    shares : array of shape (n_subsets,)
        Which share of the cases each subset keeps.
    weights : array of shape (n_subsets, n_pairs)
        The weight of each pair in the graph of each subset.
    correlation : float
        The correlation that the correlation-stability coefficient requires.
    level : float
        How much of the correlations the intervals hold.
    interrupted : bool
        Whether fewer subsets were drawn than requested.

    See Also
    --------
    case_dropping : draws the parts.

    References
    ----------
    - Epskamp, Borsboom and Fried (2018), Estimating psychological networks and their accuracy: a tutorial
      paper.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[0.5, 0.2, 0.0], [0.0, 0.3, 0.4]])
    >>> cases = CaseDropping(["a", "b", "c"], np.array([0.6, 0.1, 0.0]), np.array([0.75, 0.5]), weights)
    >>> cases.correlations[["share", "edges", "strength"]].round(2)
       share  edges  strength
    0   0.75   0.97      0.97
    1   0.50  -1.00     -1.00
    >>> cases.coefficients["edges"]
    np.float64(0.25)
    """

    names: list[Hashable]
    sample: FloatArray
    shares: FloatArray
    weights: FloatArray
    correlation: float = LEAST_CORRELATION
    level: float = 0.95
    interrupted: bool = False

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """A row per subset: its share, and correlations of all weights, and centralities, with the whole.

        It is NaN where one of the two does not vary.
        """
        n = len(self.names)
        whole, parts = measure(self.sample[None], n), measure(self.weights, n)
        columns = {name: _correlations(whole[name][0], parts[name]) for name in MEASURES}
        edges = _correlations(self.sample, self.weights)
        return pd.DataFrame({"share": self.shares, "edges": edges, **columns})

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row per measure and share: mean, median and interval of the correlations.

        ``at_least`` is the share of subsets that reach the required correlation. In ``n_undefined`` of them
        there is no correlation, such as where no edge was found; they count as less.
        """
        long = self.correlations.melt("share", var_name="measure", value_name="correlation")
        tails = (1 - self.level) / 2, (1 + self.level) / 2
        groups = long.groupby(["measure", "share"], sort=False)["correlation"]
        frame = groups.agg(
            mean="mean",
            median="median",
            lower=lambda values: values.quantile(tails[0]),
            upper=lambda values: values.quantile(tails[1]),
            at_least=lambda values: (values >= self.correlation).mean(),
            n_subsets="size",
            n_undefined=lambda values: values.isna().sum(),
        )
        return frame.reset_index()

    @cached_property
    def coefficients(self) -> pd.Series:
        """The correlation-stability coefficient of all weights and of each centrality.

        The largest share of cases that can be dropped so that the correlation with the whole sample is at
        least 0.7 (or ``correlation``) in 95 % of subsets; 0 if there is none, NaN for what does not vary
        in the whole sample.
        """
        measures = list(dict.fromkeys(self.summary["measure"]))
        values = [self._coefficient(name) for name in measures]
        return pd.Series(values, index=measures, name="CS-coefficient")

    def _coefficient(self, name: str) -> float:
        if self.correlations[name].isna().all():
            return np.nan
        rows = self.summary[self.summary["measure"] == name]
        stable = rows["at_least"] >= PROBABILITY
        dropped = (1 - rows["share"][stable]).round(12)  # 0.45, not 0.44999999999999996
        return float(dropped.max()) if stable.any() else 0.0

    def plot(
        self,
        ax: Axes | None = None,
        *,
        measures: Iterable[str] = ("edges", "strength", "closeness", "betweenness"),
    ) -> Axes:
        """Draw how much graphs of parts of the cases are like that of all, over the share that is dropped.

        A line is the mean correlation, its band an interval. The legend has the correlation-stability
        coefficients.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Draw into these; by default into a new figure; ``ax.figure.savefig("x.png")`` saves it.
        measures : iterable of str
            What to draw: ``"edges"``, ``"strength"``, ``"expected_influence"``, ``"closeness"``,
            ``"betweenness"``, ``"degree"``.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import numpy as np
        >>> from swapwise.graphs import CaseDropping
        >>> weights = np.array([[0.5, 0.2, 0.0], [0.0, 0.3, 0.4]])
        >>> cases = CaseDropping(["a", "b", "c"], np.array([0.6, 0.1, 0.0]), np.array([0.75, 0.5]), weights)
        >>> cases.plot().get_ylabel()
        'correlation with the whole sample'
        """
        from swapwise.graphs.pictures.stability import draw_case_dropping

        return draw_case_dropping(self, ax, measures)

    def to_frame(self) -> pd.DataFrame:
        """Return ``summary``."""
        return self.summary

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as ``json.dump`` takes them."""
        return {
            "correlation": self.correlation,
            "level": self.level,
            "interrupted": self.interrupted,
            "coefficients": records(self.coefficients.to_frame().T)[0],
            "summary": records(self.summary),
        }

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {value:.2g}" for name, value in self.coefficients.items())
        return f"CaseDropping({len(self.weights)} subsets, CS-coefficients: {words})"


def _correlations(whole: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the correlation of a vector with each of some others, NaN where one of the two does not vary."""
    first, others = whole - whole.mean(), parts - parts.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(first) * np.linalg.norm(others, axis=1)
    # A mean is rounded: equal numbers less their mean are not exactly 0.
    varies = (np.ptp(whole) > 0) & (np.ptp(parts, axis=1) > 0)
    found: FloatArray = np.divide(others @ first, sizes, out=np.full(len(parts), np.nan), where=varies)
    return np.clip(found, -1.0, 1.0)
