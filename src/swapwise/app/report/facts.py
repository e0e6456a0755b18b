"""Scores of a model, and its settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swapwise.app.report.parts import columns_in_words, shown_name
from swapwise.checks import FloatArray
from swapwise.estimators.base import SparseEstimator
from swapwise.search.result import Status


def settings_of(model: Any) -> dict[str, str]:
    samples = f"{model.n_samples_fit_} samples of {model.n_features_in_} {columns_in_words(model)}"
    facts = {"model": type(model).__name__, "fitted to": samples}
    if hasattr(model, "path_"):
        sizes = model.path_["size"]
        by = "cross-validation" if model.criterion_ == "cv" else model.criterion_.upper()
        if model.n_folds_ and model.result_.status is Status.INTERRUPTED:
            by += f" with the {model.n_folds_} folds that were done"
        unit = "capacity" if model.along == "capacity" else "size"
        facts[f"{unit} chosen"] = f"{model.size_}, of {sizes.min()} to {sizes.max()}, by {by}"
    if hasattr(model, "alpha_"):
        how = "estimated" if model.alpha is None else "given"
        facts["dispersion alpha"] = f"{model.alpha_:.4g}, {how}"
    return facts


def scores_of(
    model: Any,
    X: pd.DataFrame | None,
    y: Any,
    offset: Any = None,
    sample_weight: FloatArray | None = None,
    where: str = "the training data",
) -> dict[str, str]:
    """Return how good the fit is: on rows that were left out, if any were, and on the training data if given.

    A model that was fitted with an offset has no score on the data without that offset.
    """
    scores = {}
    if getattr(model, "criterion_", None) == "cv":
        row = model.path_[model.path_["size"] == model.size_].iloc[0]
        spread = f" ± {row['cv_se']:.2g}" if np.isfinite(row["cv_se"]) else ""
        scores[f"cross-validated {loss_name(model)}"] = f"{row['cv_mean']:.5g}{spread} on rows left out"
    if X is None or y is None:
        return scores or {"value of the objective": f"{model.result_.value:.5g}"}
    if offset is None and getattr(model, "_has_offset", False):
        return scores
    return scores | _quality(model, X, y, offset, sample_weight, where)


def loss_name(model: Any) -> str:
    if not isinstance(model, SparseEstimator):
        return "loss"
    family = getattr(model, "family_", None)
    return "mean squared error" if family is None else str(family.deviance_name)


def fit_measures(
    model: Any, X: pd.DataFrame, y: Any, offset: Any = None, sample_weight: FloatArray | None = None
) -> dict[str, float]:
    """Return R², or the deviance explained, and the accuracy, by name."""
    shift = {} if offset is None else {"offset": offset}
    score, family = float(model.score(X, y, sample_weight, **shift)), getattr(model, "family_", None)
    if family is None:  # least squares
        return {"R²": score}
    if family.outcome != "class":
        return {"deviance explained": score}
    from sklearn.metrics import d2_log_loss_score

    predicted = model.predict_proba(X, **shift)
    share = float(d2_log_loss_score(y, predicted, sample_weight=sample_weight, labels=model.classes_))
    return {"deviance explained": share, "accuracy": score}


def mean_and_deviation(values: FloatArray, weight: FloatArray | None = None) -> tuple[float, float]:
    mean = float(np.average(values, weights=weight))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))


def _quality(
    model: Any, X: pd.DataFrame, y: Any, offset: Any, weight: FloatArray | None, where: str
) -> dict[str, str]:
    measures = fit_measures(model, X, y, offset, weight)
    accuracy = measures.pop("accuracy", None)
    scores = {f"{name} on {where}": f"{value:.4f}" for name, value in measures.items()}
    if accuracy is not None:
        classes, rank = np.unique(np.asarray(y), return_inverse=True)
        counts = np.bincount(rank, weight)
        most, often = shown_name(classes[counts.argmax()]), 100 * counts.max() / counts.sum()
        return {
            "classified correctly": f"{100 * accuracy:.1f} % of {where}",
            "most frequent class": f"{most}: {often:.1f} % of {where}",
            **scores,
        }
    if "R²" in measures:
        residual = np.asarray(y, float) - np.asarray(model.predict(X), float)
        scores["standard deviation of the residuals"] = f"{mean_and_deviation(residual, weight)[1]:.4g}"
    return scores
