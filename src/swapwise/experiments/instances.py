"""Random instances, made as the paper's experiments make them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count, as_real


@dataclass(frozen=True)
class RegressionInstance:
    """A regression problem whose answer is known.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The features, each with mean 0 and standard deviation 1.
    y : array of shape (n_samples,)
        The response.
    labels : array of shape (n_features,)
        The category of each feature.
    support : sorted integer array
        The true features.
    coef : array of shape (n_features,)
        The true weights; zero outside the support.
    """

    X: FloatArray
    y: FloatArray
    labels: IndexArray
    support: IndexArray
    coef: FloatArray


def paper_regression(
    n_features: int = 200,
    n_samples: int = 50,
    n_categories: int = 5,
    n_true: int = 5,
    noise: float = 0.2,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> RegressionInstance:
    """Make an instance of the paper's "Experiments on Sparse Regression".

    Entries are uniform on [0, 1], then every feature is centred and scaled to unit standard
    deviation. The features form categories of equal size, contiguous in index order; ``n_true`` true
    features are drawn from each, their weights are standard normal, and ``y = X w + noise``.

    Parameters
    ----------
    n_features, n_samples : int
        The shape of the problem; the paper's two settings are (200, 50) and (1000, 100).
    n_categories : int
        The number of categories; it has to divide ``n_features``. The paper has 5 and 10.
    n_true : int
        The number of true features in each category. The paper has 5 and 10.
    noise : float
        The standard deviation of the Gaussian noise.
    random_state : int, numpy.random.SeedSequence, numpy.random.Generator or None
        The source of randomness; the same number gives the same instance.

    Returns
    -------
    RegressionInstance

    Examples
    --------
    >>> instance = paper_regression(n_features=20, n_categories=4, n_true=2, random_state=0)
    >>> instance.X.shape, instance.y.shape
    ((50, 20), (50,))
    >>> instance.labels
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3])
    >>> instance.labels[instance.support]
    array([0, 0, 1, 1, 2, 2, 3, 3])
    """
    n_features, n_samples = as_count(n_features, "n_features"), as_count(n_samples, "n_samples")
    n_categories, n_true = as_count(n_categories, "n_categories"), as_count(n_true, "n_true")
    noise = as_real(noise, "noise")
    size = _category_size(n_features, n_categories)
    if n_true > size:
        raise ValueError(f"n_true must be at most the size of a category, {size}; got {n_true}")
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, or no feature varies; got {n_samples}")

    rng = np.random.default_rng(random_state)
    X = _standardised(rng.uniform(size=(n_samples, n_features)))
    labels = np.repeat(np.arange(n_categories), size)
    drawn = [category * size + rng.choice(size, n_true, replace=False) for category in range(n_categories)]
    support = np.sort(np.concatenate(drawn)).astype(np.intp)
    coef = np.zeros(n_features)
    coef[support] = rng.standard_normal(support.size)
    y = X @ coef + noise * rng.standard_normal(n_samples)
    return RegressionInstance(X, y, labels, support, coef)


def _category_size(n_features: int, n_categories: int) -> int:
    if n_features < 1 or n_categories < 1:
        raise ValueError(
            f"n_features and n_categories must be at least 1, got {n_features} and {n_categories}"
        )
    if n_features % n_categories:
        raise ValueError(
            f"n_features must be divisible by n_categories, so that all categories have the same size; "
            f"got {n_features} features and {n_categories} categories"
        )
    return n_features // n_categories


def _standardised(X: FloatArray) -> FloatArray:
    centred = X - X.mean(axis=0)
    return centred / centred.std(axis=0)
