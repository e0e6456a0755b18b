"""Parameters and attributes of estimators with a path over sizes, of which one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.estimators.parameters import KW_ONLY, BaseEstimator, attribute, parameter, with_parameters


@with_parameters
class PathParameters(BaseEstimator):
    """The sizes to try, the choice of one, and what the path leaves behind."""

    constraint: int | Constraint | Callable[[int], Any] | None = parameter(
        None,
        "int, constraint, or callable, optional",
        """
        Which sets are feasible, apart from their size: an int for the largest number of features, an object
        such as ``Partition`` or ``Intersection``, or a function of the number of features that returns
        either; None for no limit but the size. If both the constraint and the columns have names
        (``Partition.from_columns(df.columns)``), they are matched by name, and must be the same.
        """,
    )
    _: KW_ONLY
    sizes: Iterable[int] | None = parameter(
        None,
        "iterable of int, optional",
        """
        The sizes to try; by default 1, 2, … up to 20, half the samples (for ``criterion="cv"``, weights that
        are whole numbers count them), n / (log p · log log n) for n samples of p features, or what the
        constraint allows, whichever is least. Capacities: up to 20, to where all labels together would hold
        half the samples, or to the largest label. Larger sizes than the constraint allows are cut to the
        largest that it does, and those that are too small for ``forced`` features are left out. Include 0 to
        try the model without features.
        """,
    )
    along: str = parameter(
        "size",
        '"size" or "capacity"',
        """
        What a size is: the number of features (with ``groups``: of groups), or the number of features of each
        label of a ``Partition``, whose own capacities are then not used.
        """,
    )
    criterion: str = parameter(
        "cv",
        '"cv", "aic", "bic", "ebic" or "gic"',
        """
        What the chosen size minimises: the mean over the folds of the held-out loss (mean squared error,
        log-loss, deviance of the family), or the deviance on all data plus a penalty, see ``path_``.
        """,
    )
    cv: Any = parameter(
        5,
        "int, splitter of scikit-learn, or iterable of (train, test)",
        """
        The folds, over the samples as given. A column of ``groups`` that is constant in a training part, as
        the dummy of a level that does not occur in it, has a coefficient of 0 there; a warning names it.
        """,
    )
    one_standard_error: bool = parameter(
        False,
        "bool",
        "Choose the smallest size whose held-out loss is within one standard error of the least.",
    )
    gamma: float = parameter(
        0.5,
        "float",
        "Weight of the number of features to choose from in EBIC: 0 is BIC, 1 suits very many.",
    )
    n_features_original: int | None = parameter(
        None,
        "int, optional",
        """
        How many features (with ``groups``: groups) there were, if they have been screened before; for EBIC
        and GIC.
        """,
    )
    weights_are: str = parameter(
        "importance",
        '"importance", "precision" or "counts"',
        """
        What ``sample_weight`` means to information criteria; fits are the same for all three.
        ``"importance"``: how much a row matters, such as survey weights; N is the number of rows of positive
        weight, and penalties are multiplied by Kish's design effect ``N Σw² / (Σw)²``, which is 1 if all
        weights are equal: noise fits unequal weights as many times better. ``"precision"``: the inverse of
        each row's variance; N is the number of rows. ``"counts"``: whole numbers, how often each row was
        seen; N is their sum, and criteria are those of the rows repeated.
        """,
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        """
        How many folds run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them. Folds of data in
        chunks run one after the other.
        """,
    )
    n_restarts: int = parameter(
        0,
        "int",
        """
        How many more searches are made for the chosen size, on all data: they begin at random independent
        sets, every other one with half of the best answer so far (or, for random methods, draw again).
        """,
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        """
        Seconds after which the best answers so far are taken, for each path: the one on all data, and one for
        each fold.
        """,
    )

    criterion_: str = attribute(
        "str",
        """
        What chose the size: ``criterion``, or BIC if it was cross-validation and interrupted before any fold
        was done.
        """,
    )
    n_folds_: int = attribute(
        "int",
        "How many folds chose it: fewer than ``cv`` has if it was interrupted, none for a criterion.",
    )
    size_: int = attribute(
        "int",
        """
        The size chosen. ``coef_``, ``support_`` and the like are for this size; restarts may make them better
        than the path.
        """,
    )
    path_: pd.DataFrame = attribute(
        "pandas.DataFrame",
        """
        One row per size, on all data: ``size``, ``n_features`` (chosen), ``n_parameters`` (k below),
        ``value`` (of the objective), ``deviance``, ``aic``, ``bic``, ``ebic``, ``gic`` (small is good; the
        deviance of least squares is ``N log(RSS / N)``), ``status`` (why the search stopped), ``cv_mean`` and
        ``cv_se`` (mean over the folds of the held-out loss and its standard error, if there were folds).
        The deviance is N times the weighted mean of the rows'. The penalties of k free coefficients on s of p
        features or groups are ``2k``, ``k log N``, ``k log N + 2 gamma log C(p, s)`` and ``k log p log log
        N``. A feature has one coefficient, a group as many as its columns have rank beside the intercept:
        constant columns cost nothing, and the dummies of a factor one less than it has levels, whether the
        first is left out or not. The intercept has one.
        """,
    )
    path_supports_: list[IndexArray] = attribute(
        "list of sorted integer arrays", "The features of each size."
    )
    path_coefs_: FloatArray = attribute("array of shape (n_sizes, ...)", "The ``coef_`` of each size.")
