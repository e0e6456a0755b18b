"""Non-parametric bootstrap of a learnt graph: how much edges and centralities vary from sample to sample."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_generator, warn
from swapwise.graphs.stability.centrality import MEASURES, measure
from swapwise.graphs.stability.fits import GraphRefits, last_step, seeds
from swapwise.graphs.stability.tables import (
    as_share,
    pair_frame,
    pair_labels,
    records,
    spread,
    upper_triangle,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bootstrap_graph(
    model: Any,
    X: ArrayLike,
    n_boots: int = 1000,
    *,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = False,
) -> GraphBootstrap:
    """Learn a graph again and again from cases that were drawn with replacement.

    Parameters
    ----------
    model : graph estimator
        Such as an :class:`IsingGraph`, fitted or not, or a pipeline that ends in one. One that is fitted must
        have been fitted to X. Every choice that its ``fit`` makes, such as that of the number of edges, is
        made again for each bootstrap sample.
    X : array-like of shape (n_samples, n_features)
        The training data, in memory.
    n_boots : int
        How many bootstrap samples to draw.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts. Whole numbers are counts: as many cases are drawn as their sum. With other
        weights, rows are drawn, which keep their weights.
    level : float
        How much of the bootstrap distribution the intervals hold.
    n_jobs : int, optional
        How many processes fit at the same time, as in joblib; -1 is one per core. The answer does not
        depend on it.
    random_state : int or numpy Generator, optional
        None is 0: the same call gives the same answer.
    progress : bool
        Show a bar on the terminal.

    Returns
    -------
    GraphBootstrap
        After an interrupt, what was done so far, with a warning.

    See Also
    --------
    case_dropping : whether the order of the vertices by centrality can be trusted.
    compare_graphs : whether two groups have the same graph.
    GraphBootstrap : the result, with its ``plot``.

    Notes
    -----
    Estimators that leave out edges set weak ones to exactly zero in many bootstrap samples, and penalties
    pull the others towards zero. Intervals show how much a weight varies; they are not tests of whether it
    is zero. The inclusion frequency of an edge shows how sure it is that it is there.

    References
    ----------
    - S. Epskamp, D. Borsboom, E. I. Fried, *Estimating psychological networks and their accuracy: A tutorial
      paper*, Behavior Research Methods 2018.

    Examples
    --------
    Four variables in a chain, each of which mostly repeats the one before:

    >>> import numpy as np
    >>> from swapwise import IsingGraphCV
    >>> from swapwise.graphs import bootstrap_graph
    >>> turns = np.where(np.random.default_rng(0).random((300, 4)) < 0.2, -1, 1)
    >>> boot = bootstrap_graph(IsingGraphCV(), np.cumprod(turns, axis=1), n_boots=20)
    >>> boot
    GraphBootstrap(20 bootstrap samples, 4 vertices, 3 edges in the sample, 3 of them in 95 % or more)
    >>> boot.edges[["source", "target", "weight", "lower", "upper", "inclusion"]].round(2).head(3)
       source  target  weight  lower  upper  inclusion
    0       0       1    0.66   0.59   0.84       1.00
    1       0       2    0.00   0.00   0.00       0.00
    2       0       3    0.00   0.00   0.15       0.05
    """
    fits = GraphRefits.read(model, X, sample_weight)
    level = as_share(level, "level")
    drawn = [(seed,) for seed in seeds(as_generator(random_state), n_boots, "n_boots")]
    fitted = fits.fitted(fits.cases.counts)
    names = fits.names(fitted)
    _warn_of_other_data(last_step(model), fitted)
    weights, interrupted = fits.repeated(
        fits.cases.resampled, drawn, what="bootstrap", n_jobs=n_jobs, progress=progress
    )
    return GraphBootstrap(names, upper_triangle(fitted.adjacency_), weights[:, 0], level, interrupted)


def _warn_of_other_data(given: Any, fitted: Any) -> None:
    known = getattr(given, "adjacency_", None)
    if known is None:
        return
    if known.shape != fitted.adjacency_.shape or not np.allclose(known, fitted.adjacency_, atol=1e-6):
        warn(
            "model was fitted to other data than X and sample_weight, or draws at random: the graph of the "
            "sample is that of a new fit to X"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GraphBootstrap:
    """Graphs of bootstrap samples beside that of the sample, from :func:`bootstrap_graph`.

    Attributes
    ----------
    names : list
        The vertices.
    sample : array of shape (n_pairs,)
        The weight of each pair, (0, 1), (0, 2), ..., in the graph of the sample; 0 where there is no edge.
    weights : array of shape (n_boots, n_pairs)
        The same for each bootstrap sample.
    level : float
        How much of the bootstrap distribution the intervals hold.
    interrupted : bool
        Whether fewer bootstrap samples were drawn than requested.
    edges, centralities : pandas.DataFrame
        All pairs, and the centralities of vertices, with their intervals; computed on first access.

    See Also
    --------
    bootstrap_graph : draws the samples.

    References
    ----------
    - Epskamp, Borsboom and Fried (2018), Estimating psychological networks and their accuracy: a tutorial
      paper.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[0.5, 0.2, 0.0], [0.7, 0.0, 0.0]])
    >>> boot = GraphBootstrap(["a", "b", "c"], np.array([0.6, 0.1, 0.0]), weights)
    >>> boot.edges[["source", "target", "weight", "mean", "inclusion"]]
      source target  weight  mean  inclusion
    0      a      b     0.6   0.6        1.0
    1      a      c     0.1   0.1        0.5
    2      b      c     0.0   0.0        0.0
    >>> boot.differences()
           a – b  a – c
    a – b  False   True
    a – c   True  False
    """

    names: list[Hashable]
    sample: FloatArray
    weights: FloatArray
    level: float = 0.95
    interrupted: bool = False

    @property
    def n_boots(self) -> int:
        """The number of bootstrap samples."""
        return len(self.weights)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """A row per pair of vertices.

        ``weight`` is that of the sample; ``mean``, ``sd``, ``lower`` and ``upper`` are of the bootstrap
        samples, zeros included; ``inclusion`` is the share of them in which the pair is an edge,
        ``positive`` and ``negative`` the shares in which its weight has that sign.
        """
        return pair_frame(self.names).assign(
            weight=self.sample,
            **spread(self.weights, self.level),
            inclusion=(self.weights != 0).mean(axis=0),
            positive=(self.weights > 0).mean(axis=0),
            negative=(self.weights < 0).mean(axis=0),
        )

    @cached_property
    def centralities(self) -> pd.DataFrame:
        """A row per measure and vertex, as in :func:`centralities`, with its interval."""
        of_sample = measure(self.sample[None], len(self.names))
        frames = [
            pd.DataFrame({"measure": name, "vertex": self.names, "value": of_sample[name][0]}).assign(
                **spread(values, self.level)
            )
            for name, values in self._measured.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def differences(self, of: str = "edges", *, p_values: bool = False) -> pd.DataFrame:
        """Return which weights, or which centralities, differ from each other.

        Two of them differ if the interval of their difference over the bootstrap samples does not hold 0.
        Nothing is corrected for the number of comparisons.

        Parameters
        ----------
        of : str
            ``"edges"``, those of the sample's graph, or a measure of centrality: ``"strength"``,
            ``"expected_influence"``, ``"closeness"``, ``"betweenness"`` or ``"degree"``.
        p_values : bool
            Return twice the share of bootstrap samples on the rarer side of 0 instead of yes or no.

        Returns
        -------
        pandas.DataFrame
            Square and symmetric, from the largest value in the sample to the smallest.
        """
        values, sample, labels = self._compared(of)
        order = np.argsort(-sample, kind="stable")
        labels = [labels[place] for place in order]
        different, p = _differences(values[:, order], self.level)
        return pd.DataFrame(p if p_values else different, index=labels, columns=labels)

    def plot(
        self,
        of: str = "edges",
        *,
        differences: bool = False,
        least: float = 0.05,
        top: int = 200,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw weights or a centrality, from the largest to the smallest, with their bootstrap intervals.

        Beside edges is the share of bootstrap samples in which a pair is an edge.

        Parameters
        ----------
        of : str
            ``"edges"``, or a measure of centrality, as in :meth:`differences`.
        differences : bool
            Draw which of them differ from each other instead, as by :meth:`differences`: black tiles if so,
            grey ones if not. The diagonal holds the values of the sample: those of edges as colours, blue
            if positive and orange if negative.
        least : float
            Pairs that are no edge of the sample, and an edge in a smaller share of the bootstrap samples, are
            left out of the intervals of edges.
        top : int
            How many pairs these show: those that are edges most often. With more than about 200, names
            overlap whatever the size of the figure.
        ax : matplotlib axes, optional
            Draw into these; by default into a new figure that is as large as its rows need;
            ``ax.figure.savefig("x.png")`` saves it.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import numpy as np
        >>> from swapwise.graphs import GraphBootstrap
        >>> weights = np.array([[0.5, -0.2, 0.0], [0.7, 0.0, 0.0]])
        >>> boot = GraphBootstrap(["a", "b", "c"], np.array([0.6, -0.1, 0.0]), weights)
        >>> [label.get_text() for label in boot.plot().get_yticklabels()]
        ['a – b', 'a – c']
        >>> [label.get_text() for label in boot.plot("strength", differences=True).get_yticklabels()]
        ['a', 'b', 'c']
        """
        from swapwise.graphs.pictures import stability as pictures

        _require_known(of)
        if differences:
            return pictures.draw_differences(self, of, ax)
        if of == "edges":
            return pictures.draw_edges(self, ax, least, top)
        return pictures.draw_centrality(self, of, ax)

    def _compared(self, of: str) -> tuple[FloatArray, FloatArray, list[Any]]:
        _require_known(of)
        if of == "edges":
            there, labels = np.flatnonzero(self.sample), pair_labels(self.names)
            return self.weights[:, there], self.sample[there], [labels[pair] for pair in there]
        return self._measured[of], measure(self.sample[None], len(self.names))[of][0], self.names

    @cached_property
    def _measured(self) -> dict[str, FloatArray]:
        return measure(self.weights, len(self.names))

    def to_frame(self) -> pd.DataFrame:
        """Return ``edges``."""
        return self.edges

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as ``json.dump`` takes them."""
        return {
            "n_boots": self.n_boots,
            "level": self.level,
            "interrupted": self.interrupted,
            "edges": records(self.edges),
            "centralities": records(self.centralities),
        }

    def __repr__(self) -> str:
        is_edge = self.sample != 0
        sure = int((self.edges["inclusion"].to_numpy()[is_edge] >= 0.95).sum())
        return (
            f"GraphBootstrap({self.n_boots} bootstrap samples, {len(self.names)} vertices, "
            f"{int(is_edge.sum())} edges in the sample, {sure} of them in 95 % or more)"
        )


def _require_known(of: str) -> None:
    if of not in ("edges", *MEASURES):
        raise ValueError(f"of must be 'edges' or one of {', '.join(MEASURES)}, got {of!r}")


def _differences(values: FloatArray, level: float) -> tuple[Any, FloatArray]:
    """Return whether the interval of the difference excludes 0, for all pairs of columns, and p-values."""
    n_draws, n_columns = values.shape
    different, p = np.zeros((n_columns, n_columns), dtype=bool), np.ones((n_columns, n_columns))
    for i in range(n_columns - 1):  # by rows, as all differences at once may not fit in memory
        difference = values[:, i + 1 :] - values[:, [i]]
        lower, upper = np.quantile(difference, [(1 - level) / 2, (1 + level) / 2], axis=0)
        different[i, i + 1 :] = (lower > 0) | (upper < 0)
        rarer = np.minimum((difference <= 0).sum(axis=0), (difference >= 0).sum(axis=0))
        p[i, i + 1 :] = np.minimum(1.0, 2 * (1 + rarer) / (1 + n_draws))
    return different | different.T, np.minimum(p, p.T)
