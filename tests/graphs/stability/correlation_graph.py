"""A graph estimator that takes microseconds: correlations beyond a threshold."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from swapwise.search.result import Status


class CorrelationGraph(BaseEstimator):
    """Edges between columns whose correlation is beyond a threshold; their weights are the correlations."""

    def __init__(self, threshold=0.2):
        self.threshold = threshold

    def fit(self, X, y=None, sample_weight=None):
        X = validate_data(self, X, dtype=float)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        weight = weight / weight.sum()
        centred = X - weight @ X
        products = centred.T @ (weight[:, None] * centred)
        scale = np.sqrt(np.outer(np.diag(products), np.diag(products)))
        varies = scale > 1e-12
        correlation = np.where(varies, products / np.where(varies, scale, 1.0), 0.0)
        np.fill_diagonal(correlation, 0.0)
        self.adjacency_ = np.where(np.abs(correlation) > self.threshold, correlation, 0.0)
        return self


class UnweightedGraph(BaseEstimator):
    """The same, for whom there are no weights."""

    def __init__(self, threshold=0.2):
        self.threshold = threshold

    def fit(self, X, y=None):
        self.adjacency_ = CorrelationGraph(self.threshold).fit(X).adjacency_
        return self


class RankGraph(BaseEstimator):
    """The same of ranks, which refuses weights as GaussianGraph does."""

    def __init__(self, correlation="spearman"):
        self.correlation = correlation

    def fit(self, X, y=None, sample_weight=None):
        if sample_weight is not None:
            raise ValueError("sample_weight needs correlation='pearson'")
        self.adjacency_ = CorrelationGraph().fit(np.argsort(np.argsort(X, axis=0), axis=0)).adjacency_
        return self


class _Result:
    status = Status.INTERRUPTED


class InterruptedGraph(CorrelationGraph):
    """The same, but some fits are interrupted: by an exception, or they end early, as searches do."""

    def __init__(self, threshold=0.2, raises=False):
        super().__init__(threshold)
        self.raises = raises

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        if sample_weight is not None and sample_weight[0] >= 3:
            if self.raises:
                raise KeyboardInterrupt
            self.result_ = _Result()
        return self


def chain(n_samples, n_vertices, seed=0, noise=1.0):
    """Each column is the one before, plus noise."""
    X = np.random.default_rng(seed).standard_normal((n_samples, n_vertices))
    for v in range(1, n_vertices):
        X[:, v] = X[:, v - 1] + noise * X[:, v]
    return X


class InMemoryGraph(CorrelationGraph):
    """The same, for arrays in memory."""

    def fit(self, X, y=None, sample_weight=None):
        assert type(X) is np.ndarray
        return super().fit(X, sample_weight=sample_weight)
