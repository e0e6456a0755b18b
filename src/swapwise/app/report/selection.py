"""One HTML page about chosen features: the answer first, then how good it is, then how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swapwise.app.report.chosen_parts import ChosenFeatures
from swapwise.app.report.data_parts import data_parts
from swapwise.app.report.facts import scores_of, settings_of
from swapwise.app.report.fit_parts import path_parts
from swapwise.app.report.parts import (
    columns_in_words,
    columns_of,
    page_of,
    seconds_in_words,
    settings_part,
    shown_name,
    training_frame,
)
from swapwise.app.report.proof_parts import certificate_parts, proof_history_parts, verdict_in_words
from swapwise.app.report.search_parts import moves_parts, notice_of, search_in_words
from swapwise.certify.certificate import Certificate
from swapwise.checks import as_weights
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.ground_set import GroundSet

TITLE = "Features chosen"

_NO_GROUP = "no group"


def selection_report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    groups: Mapping[Any, Any] | None = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
    offset: Any = None,
    sample_weight: Any = None,
) -> str:
    """Return the page that :meth:`SparseRegressor.report` writes, where its parameters are described.

    Scores on data other than those of the fit, or with other weights, are labelled as on the data given.
    """
    _check(model, groups)
    X = training_frame(model, X)
    if X is not None and y is not None and len(y) != len(X):
        raise ValueError(f"y must have one value for each of the {len(X)} rows of X, got {len(y)}")
    weight = None if X is None or sample_weight is None else as_weights(sample_weight, len(X))
    data = X, y, offset, weight
    known = X is not None and y is not None
    where = "the training data"
    if known and not model._is_training_data(X, y, weight, offset):
        where = "the data given"
    columns = columns_of(model, X)
    names = [shown_name(name) for name in columns]
    labels = GroundSet.of(model.groups, len(names), [str(name) for name in columns]).labels or names
    group_of = None if groups is None else [groups.get(name, _NO_GROUP) for name in columns]
    chosen, result = ChosenFeatures(model, names, group_of), model.result_
    time = "time of the search" if seconds is None else "time"  # a part of the whole fit
    facts = {
        **scores_of(model, *data, where),
        "proof": verdict_in_words(certificate, result, "select"),
        time: seconds_in_words(result.seconds if seconds is None else seconds),
    }
    parts = [
        chosen.part(facts),
        *path_parts(model),
        *certificate_parts(certificate, result),
        *proof_history_parts(certificate, result),
        *(data_parts(model, *data, where) if known else []),
        *(chosen.correlation_parts(X, weight) if X is not None else []),
        *moves_parts(result, lambda element: shown_name(labels[element])),
        settings_part(asked, {**settings_of(model), "search": search_in_words(result)}),
    ]
    count = f"{len(model.support_)} of {len(names)} {columns_in_words(model)}"
    about = f"{count}, chosen from {model.n_samples_fit_} samples"
    title = f"{TITLE} to explain {shown_name(asked['target'])}" if asked and "target" in asked else TITLE
    return page_of(title, f"{about} by swapwise.", parts, notice_of(result, certificate))


def _check(model: Any, groups: Any) -> None:
    if not isinstance(model, SparseEstimator):
        raise TypeError(f"model must be a fitted SparseRegressor or one of its kin, got {model!r}")
    if groups is not None and not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping from feature to group, or None, got {groups!r}")
