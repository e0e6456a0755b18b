"""Parameters and attributes that all estimators of linear predictors share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.estimators.parameters import KW_ONLY, BaseEstimator, attribute, parameter, with_parameters
from swapwise.search.result import SearchResult
from swapwise.search.rules import Pivot


@with_parameters
class LinearParameters(BaseEstimator):
    """What limits the choice, how it is searched, and how coefficients are fitted."""

    constraint: int | Constraint | Callable[[int], Any] = parameter(
        10,
        "int, constraint, or callable",
        """
        How many features may be chosen, or which sets of them: an int for the largest number (10 by default;
        more than there are means no limit), an object such as ``Partition`` or ``Intersection``, or a
        function of the number of features that returns either. If both the constraint and the columns have
        names (``Partition.from_columns(df.columns)``), they are matched by name, and must be the same.
        """,
    )
    _: KW_ONLY
    method: str | Pivot = parameter(
        "auto",
        "str, pivot rule or method",
        """
        How to search: ``"auto"``, local search by ``"oblivious"``, ``"semi-oblivious"`` or
        ``"non-oblivious"`` (or a rule object), or another method, such as ``"greedy"`` or ``"omp"`` (or an
        object of ``swapwise.methods``). :func:`swapwise.maximize` lists them.
        """,
    )
    start: Any = parameter(
        "auto",
        "str, method or set of features",
        """
        Where local search begins (that for the smallest size, if there are several): ``"auto"``,
        ``"empty"``, ``"greedy"``, ``"model"`` or another name that :func:`swapwise.maximize` lists, the
        answer of a method, or an independent set.
        """,
    )
    q: int = parameter(
        1, "int", "How many features a move may exchange in local search; 1 under a single matroid."
    )
    ridge: float | None = parameter(
        None,
        "float, optional",
        """
        Weight of the penalty on the squared coefficients (of standardised columns, with ``standardize``).
        None is 0 for squared loss, and 1e-4 for likelihoods.
        """,
    )
    fit_intercept: bool = parameter(
        True, "bool", "Whether to fit an intercept, which is free: never chosen, counted or penalised."
    )
    standardize: bool = parameter(
        True,
        "bool",
        """
        Whether columns are divided by their standard deviation for the search, so that a ridge treats all
        alike. ``coef_`` is in the units of the data in any case.
        """,
    )
    groups: Any = parameter(
        None,
        "list, mapping from feature name or position to label, or function, optional",
        """
        One label per feature; groups are then chosen as a whole, and the constraint is one on groups in the
        order in which they first appear, with an int for how many groups. A function is called with the name
        of each feature (its position, if there are no names): ``lambda name: name.split("_")[0]`` puts the
        dummies of a factor together, also where an encoder has made none for a level that is not there.
        """,
    )
    forced: Any = parameter(
        None,
        "list, optional",
        """
        Features that are always chosen, by name or position (with ``groups``: groups by label). They count
        towards the limits of the constraint, and bring with them what they need under a ``Hierarchy``.
        """,
    )
    bounds: Any = parameter(
        None,
        "pair, one pair per feature, or mapping from name or position to pair, optional",
        """
        Bounds on coefficients, in the units of the data: ``(0, 1)`` for all, ``{"price": (None, 0)}`` for
        some; None is no bound. 0 has to be within them. The search takes bounds into account from the
        beginning: features are chosen for how well they fit within their bounds. ``result_.at_bound`` holds
        the chosen ones that are at a bound. Features have to be chosen one by one, without ``groups``.
        """,
    )
    positive: bool = parameter(
        False, "bool", "Whether no coefficient may be negative; may be combined with ``bounds``."
    )
    n_restarts: int = parameter(
        0,
        "int",
        """
        How many more searches begin at random independent sets, every other one with half of the best
        answer so far (or, for random methods, draw again); the best answer of all is kept. Ten cost about
        as much as four or five fits, since they share what was read of the data.
        """,
    )
    max_iter: int | None = parameter(
        None, "int, optional", "Largest number of moves of each search, after a start that is given by name."
    )
    tol: float = parameter(
        1e-10,
        "float",
        "A move improves if it gains more than ``tol`` times the value (for R², ``tol`` itself).",
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        "Seconds after which the best set so far is the answer, for all searches of a fit together.",
    )
    random_state: Any = parameter(
        None,
        "int, Generator or RandomState, optional",
        "For restarts and random methods. None is 0: the same call gives the same answer.",
    )
    progress: bool = parameter(False, "bool", "Show a bar on the terminal.")

    support_: IndexArray = attribute("sorted integer array", "The features chosen.")
    selection_frequency_: FloatArray = attribute(
        "array of shape (n_features,)",
        """
        The share of restarts, the first search included, whose answer holds each feature. All are on the same
        data: it is about how sure the search is, not how stable the choice is under resampling.
        """,
    )
    result_: SearchResult = attribute(
        "SearchResult",
        "The search behind the answer, on centred and scaled columns; its elements are features or groups.",
    )
    n_iter_: int = attribute("int", "The number of moves on the record of ``result_``, at least 1.")
    n_features_in_: int = attribute("int", "The number of features of the training data.")
    feature_names_in_: NDArray[Any] = attribute(
        "array of str, if the columns have names", "The names of the features of the training data."
    )
