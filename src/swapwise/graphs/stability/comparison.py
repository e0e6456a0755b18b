"""Whether two groups have the same graph: a permutation test."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_generator, some_of
from swapwise.graphs.stability.cases import CaseCounts
from swapwise.graphs.stability.centrality import measure
from swapwise.graphs.stability.fits import GraphRefits, read_table, seeds
from swapwise.graphs.stability.tables import pair_frame, records, upper_triangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Statistics of a permutation that fall short of the sample's by no more than this count as equal to it:
# they are sums of the same numbers in another order, or ends of another search for the same maximum.
TIE = 1e-9


def compare_graphs(
    model: Any,
    X1: ArrayLike,
    X2: ArrayLike,
    n_permutations: int = 1000,
    *,
    sample_weight1: ArrayLike | None = None,
    sample_weight2: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> GraphComparison:
    """Test whether two independent groups have the same graph, by permuting the group labels.

    Under the hypothesis that both groups were drawn from one distribution, every split of all cases into
    groups of these sizes is as likely as the observed one. A graph is learnt from both parts of random
    splits.

    Parameters
    ----------
    model : graph estimator
        As in :func:`bootstrap_graph`; what it was fitted to does not matter.
    X1, X2 : array-like of shape (n_samples, n_features)
        The two groups, with the same columns, in memory.
    n_permutations : int
        How many splits to draw. No p-value is below ``1 / (n_permutations + 1)``.
    sample_weight1, sample_weight2 : array-like of shape (n_samples,), optional
        How much each row counts. If all are whole numbers, they are counts of cases, which are split; if not,
        rows are, with their weights.
    n_jobs, random_state, progress
        As in :func:`bootstrap_graph`.

    Returns
    -------
    GraphComparison

    See Also
    --------
    GraphComparison : the result, with its ``plot``.

    Notes
    -----
    Holm's correction multiplies the smallest p-value by the number of pairs, so it needs at least 20
    permutations per pair to find anything at 5 %. ``p_max`` compares each difference with the largest one
    of every permutation instead: it allows for all pairs at once with as few permutations as the tests of
    the whole graph.

    References
    ----------
    - C. D. van Borkulo et al., *Comparing network structures on three aspects: A permutation test*,
      Psychological Methods 2022. P. H. Westfall, S. S. Young, *Resampling-based multiple testing*, 1993, for
      ``p_max``.

    Examples
    --------
    The first two variables go together in the first group alone:

    >>> import numpy as np
    >>> from swapwise import IsingGraphCV
    >>> from swapwise.graphs import compare_graphs
    >>> X1, X2 = np.random.default_rng(0).integers(2, size=(2, 200, 3))
    >>> X1[:150, 1] = X1[:150, 0]
    >>> compare_graphs(IsingGraphCV(), X1, X2, n_permutations=19).tests["p_value"]
    global strength            0.05
    largest edge difference    0.05
    Name: p_value, dtype: float64
    """
    first, second = read_table(X1, "X1"), read_table(X2, "X2")
    _require_same_columns(first, second)
    n1, n2 = first.shape[0], second.shape[0]
    weights = (
        _read_weight(sample_weight1, n1, "sample_weight1"),
        _read_weight(sample_weight2, n2, "sample_weight2"),
    )
    fits = GraphRefits.read(model, _together(first, second), np.concatenate(weights))
    counts, in_first = fits.cases.counts, np.arange(n1 + n2) < n1
    size = int(counts[in_first].sum())
    drawn = [(seed, size) for seed in seeds(as_generator(random_state), n_permutations, "n_permutations")]
    seen = [fits.fitted(np.where(own, counts, 0)) for own in (in_first, ~in_first)]
    names = fits.names(seen[0])
    permuted, interrupted = fits.repeated(
        fits.cases.split, drawn, what="permutation test", n_jobs=n_jobs, progress=progress
    )
    one, other = (upper_triangle(fitted.adjacency_) for fitted in seen)
    return GraphComparison(names, one, other, permuted, interrupted)


def _read_weight(weight: Any, n_rows: int, name: str) -> FloatArray:
    cases = CaseCounts.read(weight, n_rows, name)
    return cases.counts * cases.weight


def _require_same_columns(first: Any, second: Any) -> None:
    if hasattr(first, "columns") != hasattr(second, "columns"):
        raise TypeError("X1 and X2 must both be frames or both be arrays, got one of each")
    if not hasattr(first, "columns"):
        if first.shape[1] != second.shape[1]:
            raise ValueError(
                f"X1 and X2 must have the same columns, got {first.shape[1]} and {second.shape[1]} of them"
            )
        return
    if list(first.columns) == list(second.columns):
        return
    apart = [str(name) for name in first.columns.symmetric_difference(second.columns, sort=False)]
    if apart:
        raise ValueError(f"X1 and X2 must have the same columns, but only one of them has {some_of(apart)}")
    raise ValueError("X1 and X2 must have their columns in the same order; try X2[X1.columns]")


def _together(first: Any, second: Any) -> Any:
    """Return the rows of both groups, which are fitted with weights that pick a group."""
    if hasattr(first, "columns"):
        return pd.concat([first, second], ignore_index=True)
    if hasattr(first, "tocsr") or hasattr(second, "tocsr"):
        from scipy.sparse import vstack

        return vstack([first, second], format="csr")
    return np.concatenate([first, second])


@dataclass(frozen=True, eq=False, repr=False)
class GraphComparison:
    """The graphs of two groups and of random splits of all cases, from :func:`compare_graphs`.

    Attributes
    ----------
    names : list
        The vertices.
    first, second : array of shape (n_pairs,)
        The weight of each pair, (0, 1), (0, 2), ..., in the graph of each group.
    permuted : array of shape (n_permutations, 2, n_pairs)
        The same for both parts of each split.
    interrupted : bool
        Whether fewer splits were drawn than requested.
    tests, edges, centralities : pandas.DataFrame
        The groups compared as a whole, by edge and by centrality; computed on first access.

    See Also
    --------
    compare_graphs : draws the splits.

    Examples
    --------
    >>> import numpy as np
    >>> permuted = np.array([[[0.3, 0.1, 0.0], [0.4, 0.1, 0.0]]] * 9)
    >>> found = GraphComparison(list("abc"), np.array([0.6, 0.1, 0.0]), np.array([0.1, 0.1, 0.0]), permuted)
    >>> found.tests
                             first  second  difference  p_value
    global strength            0.7     0.2         0.5      0.1
    largest edge difference    NaN     NaN         0.5      0.1
    >>> found.edges[["source", "target", "difference", "p_value", "p_holm", "p_max"]]
      source target  difference  p_value  p_holm  p_max
    0      a      b         0.5      0.1     0.3    0.1
    1      a      c         0.0      1.0     1.0    1.0
    2      b      c         0.0      1.0     1.0    1.0
    """

    names: list[Hashable]
    first: FloatArray
    second: FloatArray
    permuted: FloatArray
    interrupted: bool = False

    @property
    def n_permutations(self) -> int:
        """The number of random splits."""
        return len(self.permuted)

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Two tests of the whole graph.

        The global strength is the sum of the absolute weights of all edges; the largest difference between
        weights of a pair tests whether all weights are the same. A difference is first minus second.
        """
        strength = np.abs(self.permuted).sum(axis=2)
        one, other = np.abs(self.first).sum(), np.abs(self.second).sum()
        largest = np.abs(self.first - self.second).max()
        rows = {
            "global strength": (
                one,
                other,
                one - other,
                self._p(one - other, strength[:, 0] - strength[:, 1]),
            ),
            "largest edge difference": (np.nan, np.nan, largest, self._p(largest, self._largest)),
        }
        return pd.DataFrame.from_dict(rows, "index", columns=["first", "second", "difference", "p_value"])

    @cached_property
    def edges(self) -> pd.DataFrame:
        """A row per pair: both weights, their difference and its p-values.

        ``p_value`` is for this pair alone; ``p_holm`` (by Holm) and ``p_max`` (by the largest difference of
        each permutation) allow for all pairs.
        """
        difference, permuted = self.first - self.second, self.permuted[:, 0] - self.permuted[:, 1]
        p = self._p(difference, permuted)
        return pair_frame(self.names).assign(
            first=self.first,
            second=self.second,
            difference=difference,
            p_value=p,
            p_holm=_holm(p),
            p_max=self._p(difference, self._largest[:, None]),
        )

    @cached_property
    def centralities(self) -> pd.DataFrame:
        """A row per measure and vertex, as in :func:`centralities`; ``p_holm`` allows for all vertices."""
        n = len(self.names)
        seen = measure(np.array([self.first, self.second]), n)
        permuted = [measure(self.permuted[:, group], n) for group in (0, 1)]
        frames = []
        for name, (one, other) in seen.items():
            p = self._p(one - other, permuted[0][name] - permuted[1][name])
            columns = {"measure": name, "vertex": self.names, "first": one, "second": other}
            frames.append(pd.DataFrame(columns).assign(difference=one - other, p_value=p, p_holm=_holm(p)))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def _largest(self) -> FloatArray:
        largest: FloatArray = np.abs(self.permuted[:, 0] - self.permuted[:, 1]).max(axis=1)
        return largest

    def _p(self, seen: Any, permuted: FloatArray) -> Any:
        """Return the share of splits, the observed one included, with as large a difference."""
        as_large = (np.abs(permuted) >= np.abs(seen) - TIE).sum(axis=0)
        return (1 + as_large) / (1 + self.n_permutations)

    def plot(self, ax: Axes | None = None, *, alpha: float = 0.05, top: int = 40) -> Axes:
        """Draw the weights of pairs in both groups, those that differ most first.

        On the right are the p-values that allow for all pairs (``p_max``); pairs that differ by them stand
        out. The title has the tests of the whole graph.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Draw into these; by default into a new figure that is as high as its rows need;
            ``ax.figure.savefig("x.png")`` saves it.
        alpha : float
            The largest p-value that counts as a difference.
        top : int
            How many pairs to draw, of those that are an edge in one group or both.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import numpy as np
        >>> from swapwise.graphs import GraphComparison
        >>> permuted = np.array([[[0.3, 0.1, 0.0], [0.4, 0.1, 0.0]]] * 19)
        >>> first, second = np.array([0.6, 0.1, 0.0]), np.array([0.1, 0.1, 0.0])
        >>> found = GraphComparison(list("abc"), first, second, permuted)
        >>> [label.get_text() for label in found.plot().get_yticklabels()]
        ['a – b', 'a – c']
        """
        from swapwise.graphs.pictures.stability import draw_comparison

        return draw_comparison(self, ax, alpha, top)

    def to_frame(self) -> pd.DataFrame:
        """Return ``edges``."""
        return self.edges

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as ``json.dump`` takes them."""
        return {
            "n_permutations": self.n_permutations,
            "interrupted": self.interrupted,
            "tests": records(self.tests.rename_axis("test").reset_index()),
            "edges": records(self.edges),
            "centralities": records(self.centralities),
        }

    def __repr__(self) -> str:
        strength, largest = self.tests["p_value"]
        return (
            f"GraphComparison({self.n_permutations} permutations, {len(self.names)} vertices: "
            f"global strength p = {strength:.3g}, largest edge difference p = {largest:.3g})"
        )


def _holm(p: FloatArray) -> FloatArray:
    """Return p-values adjusted for all of them, by Holm's method."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
