"""Interactions only with their main effects: schools of California."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import PolynomialFeatures

import swapwise as sw
from benchmarks.structure.case import WITH, WITHOUT, Case
from benchmarks.structure.peers import forecasters

TERMS = 8


def schools() -> tuple[pd.DataFrame, pd.Series]:
    """Return what is known of 303 school districts, squares and products of it, and their pupils' results."""
    from statsmodels.datasets import star98

    data = star98.load_pandas().data
    # Some products are among the columns already.
    plain = data[[name for name in data.columns[2:] if "_" not in name]]
    expand = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
    terms = expand.fit_transform((plain - plain.mean()) / plain.std())
    return terms, data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])


def products_with_their_factors(repeats: int = 100) -> Case:
    """Measure the share of the variance that is not explained in districts that were left out."""
    terms, share = schools()
    rules = {
        WITHOUT: sw.Uniform(terms.shape[1], TERMS),
        WITH: sw.Hierarchy.from_names(terms.columns, TERMS, sep=" "),
    }
    errors: dict[str, list[np.ndarray]] = {}
    for train, test in ShuffleSplit(repeats, test_size=0.5, random_state=0).split(terms):
        X, unseen = terms.iloc[train], terms.iloc[test]
        unseen = (unseen - X.mean()) / X.std(ddof=0)
        X, y = (X - X.mean()) / X.std(ddof=0), share.iloc[train].to_numpy()
        forecasts = {name: sw.SparseRegressor(rule).fit(X, y).predict(unseen) for name, rule in rules.items()}
        for name, run in forecasters().items():
            forecasts[name] = run(X.to_numpy(), y, TERMS, unseen.to_numpy())
        for name, forecast in forecasts.items():
            loss = np.full(len(terms), np.nan)
            loss[test] = (forecast - share.iloc[test]) ** 2 / share.var()
            errors.setdefault(name, []).append(loss)
    return Case(
        "What explains a school district's results?",
        "star98 (statsmodels), 12 columns and their products, 151 rows",
        f"{TERMS} terms, products only with both factors",
        "1 − R²",
        {name: np.array(values) for name, values in errors.items()},
    )
