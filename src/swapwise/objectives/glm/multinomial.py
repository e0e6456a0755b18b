"""Classes of several kinds: multinomial logistic regression, a feature for all classes or for none."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import families
from swapwise.objectives.glm.family import Family, about_zero
from swapwise.objectives.glm.objective import GeneralizedLinear


def _read_classes(y: Any, n_samples: int | None) -> FloatArray:
    target = as_vector(y, n_samples, "y", non_negative=True)
    if (target != np.floor(target)).any():
        raise ValueError("y must hold numbers of classes, 0, 1, 2, ...; number labels by np.unique")
    classes = np.unique(target)
    gap = np.flatnonzero(classes != np.arange(len(classes)))
    if gap.size:
        raise ValueError(f"y must number the classes from 0 without a gap, but nothing is of class {gap[0]}")
    return target


def _probabilities(scores: FloatArray) -> FloatArray:
    probabilities: FloatArray = scipy.special.softmax(scores, axis=-1)
    return probabilities


def _deviances(y: FloatArray, scores: FloatArray) -> FloatArray:
    deviances: FloatArray = (
        -2.0 * scipy.special.log_softmax(scores, axis=1)[np.arange(len(y)), y.astype(np.intp)]
    )
    return deviances


def _most_curvature(target: FloatArray) -> FloatArray:
    # Böhning's bound: the matrix diag(p) − ppᵀ has no eigenvalue above one half.
    return np.full(len(target), 0.5)


def _scores(target: FloatArray) -> FloatArray:
    # Orthonormal, and orthogonal to the constant: lengths of coefficients stay what they are.
    return np.ascontiguousarray(scipy.linalg.helmert(max(2, int(target.max(initial=0)) + 1)).T)


MULTINOMIAL_FAMILY = Family(
    name="multinomial",
    title="multinomial logistic regression",
    number=families.MULTINOMIAL,
    read_target=_read_classes,
    mean=_probabilities,
    deviances=_deviances,
    perfect=np.zeros_like,
    first_intercept=about_zero,
    divergence_cause="the classes are separable, or nearly so",
    deviance_name="log-loss",
    outcome="class",
    most_curvature=_most_curvature,
    scores=_scores,
)


class Multinomial(GeneralizedLinear):
    """Mean log-likelihood of a multinomial logistic regression with row-wise selection.

    A feature is chosen for all classes or for none: an element of the ground set is a column with a
    coefficient for each class. Coefficients sum to zero over the classes, which loses nothing and, with a
    ridge, is where the maximum lies anyway. ``result.coef`` has shape (n_features, n_classes).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Sparse matrices (CSR, CSC) stay sparse.
    y : array-like of shape (n_samples,)
        Classes, numbered from 0; ``np.unique(labels, return_inverse=True)`` numbers any labels.
    ridge : float
        Weight of the penalty ``‖w‖²/2``; intercepts are free.
    sample_weight : array-like of shape (n_samples,), optional
    fit_intercept : bool
    groups : iterable of hashable, optional
        One label per column: elements of the ground set are then whole groups, in order of appearance.

    See Also
    --------
    Logistic : two classes.
    SparseClassifier : the estimator.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import Multinomial, Uniform, maximize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = np.argmax(X[:, [1, 3]] @ [[2, -1, -1], [0, 2, -2]] + rng.gumbel(size=(300, 3)), axis=1)
    >>> result = maximize(Multinomial(X, y), Uniform(5, 2))
    >>> result.support, result.coef.shape
    (array([1, 3]), (5, 3))
    """

    family = MULTINOMIAL_FAMILY

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float = 0.0,
        *,
        sample_weight: ArrayLike | None = None,
        fit_intercept: bool = True,
        groups: Iterable[Hashable] | None = None,
    ) -> None:
        super().__init__(X, y, ridge, sample_weight=sample_weight, fit_intercept=fit_intercept, groups=groups)

    @property
    def n_classes(self) -> int:
        return len(self.likelihood.basis)
