"""One HTML page about chosen features: what was asked, what was chosen, how it was found, how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swapwise.certify.certificate import Certificate
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.constraint_of import Elements
from swapwise.report.chosen_parts import Chosen
from swapwise.report.data_parts import data_part
from swapwise.report.facts import facts_of
from swapwise.report.fit_parts import path_part
from swapwise.report.parts import asked_part, page_of, require_data, shown_name
from swapwise.report.proof_parts import certificate_part, course_parts
from swapwise.report.search_parts import moves_part, notice_of

TITLE = "Features chosen"

_NO_GROUP = "no group"


def selection_report(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    *,
    groups: Mapping[Any, Any] | None = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
    offset: Any = None,
) -> str:
    """Return a self-contained HTML page about the features that a fitted model has chosen.

    Parameters
    ----------
    model : fitted SparseRegressor, SparseClassifier or SparseGLMRegressor, or one of their kin
        A CV kind shows the fit against the size too.
    X : pandas.DataFrame
        The data of fit.
    y : array-like of shape (n_samples,)
        The target of fit.
    groups : mapping from feature to group, optional
        Features are listed by group; those that it does not name are in none.
    certificate : Certificate, optional
        By default that of the search, if it proved one.
    asked : mapping from str to str, optional
        What the user asked for, to be shown as a table.
    seconds : float, optional
        How long it took.
    offset : array-like of shape (n_samples,) or float, optional
        The offset of fit; without it, how well a model with offsets fits is not shown.

    Returns
    -------
    str
        About five megabytes, most of which is plotly.js.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import SparseRegressor
    >>> X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["tea", "milk", "<b>"])
    >>> y = 2 * X["tea"] - X["<b>"]
    >>> page = selection_report(SparseRegressor(2).fit(X, y), X, y)
    >>> "2 of 3 features were chosen" in page, "&lt;b&gt;" in page
    (True, True)
    """
    _check(model, X, y, groups)
    names = [shown_name(name) for name in X.columns]
    labels = Elements.of(model.groups, len(names), [str(name) for name in X.columns]).labels or names
    group_of = None if groups is None else [groups.get(name, _NO_GROUP) for name in X.columns]
    chosen = Chosen(model, X, names, group_of)
    parts = [
        asked_part(asked, facts_of(model, X, y, offset), seconds),
        chosen.part(),
        path_part(model),
        moves_part(model.result_, lambda element: shown_name(labels[element])),
        certificate_part(certificate, model.result_),
        *course_parts(certificate, model.result_),
        data_part(model, X, y, offset),
        chosen.correlation_part(),
    ]
    about = f"{len(model.support_)} of {len(names)} features, chosen from {len(X)} samples by swapwise."
    title = f"{TITLE} to explain {shown_name(asked['target'])}" if asked and "target" in asked else TITLE
    return page_of(title, about, parts, notice_of(model.result_, certificate))


def _check(model: Any, X: Any, y: Any, groups: Any) -> None:
    if not isinstance(model, SparseEstimator):
        raise TypeError(f"model must be a fitted SparseRegressor or one of its kin, got {model!r}")
    require_data(model, X)
    if len(y) != len(X):
        raise ValueError(f"y must have one value for each of the {len(X)} rows of X, got {len(y)}")
    if groups is not None and not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping from feature to group, or None, got {groups!r}")
