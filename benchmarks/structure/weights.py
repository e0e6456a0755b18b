"""No negative weights: a country's birth rate as a mixture of five others'."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from sklearn.linear_model import OrthogonalMatchingPursuit

import swapwise as sw
from benchmarks.structure.case import WITH, WITHOUT, Case
from benchmarks.structure.peers import lasso_path
from swapwise.checks import FloatArray

COUNTRIES = 5
LAST_YEARS = (1980, 1985, 1990, 1995)
#: Rows of the table that are averages of countries
REGIONS = re.compile("income|OECD|small states")


def birth_rates() -> pd.DataFrame:
    """Return children per woman by year and country, of countries for which all years are known."""
    from statsmodels.datasets import fertility

    data = fertility.load_pandas().data.set_index("Country Name")
    years = [name for name in data.columns if name.isdigit()]
    rates = data[years].astype(float).dropna(axis=1, how="all").dropna()
    rates = rates[[REGIONS.search(country) is None for country in rates.index]].T
    return rates.set_axis(rates.index.astype(int))


def few_donors(repeats: int = len(LAST_YEARS)) -> Case:
    """Measure the error in the years after the last one that was seen, for every country."""
    rates = birth_rates()
    errors: dict[str, FloatArray] = {}
    for repeat, last in enumerate(LAST_YEARS[:repeats]):
        seen, later = rates.loc[:last].to_numpy(), rates.loc[last + 1 :].to_numpy()
        for country in range(rates.shape[1]):
            others = np.arange(rates.shape[1]) != country
            forecasts = _forecasts(seen[:, others], seen[:, country], later[:, others])
            for name, forecast in forecasts.items():
                of_program = errors.setdefault(name, np.full((repeats, rates.shape[1]), np.nan))
                of_program[repeat, country] = np.mean((forecast - later[:, country]) ** 2) ** 0.5
    return Case(
        "Which countries together resemble one country?",
        f"fertility (statsmodels), {rates.shape[1]} countries in turn, years up to 1980, 1985, 1990, 1995",
        f"{COUNTRIES} countries, no negative weights",
        "children per woman, root mean square",
        errors,
    )


def _forecasts(X: FloatArray, y: FloatArray, unseen: FloatArray) -> dict[str, FloatArray]:
    found = {
        WITHOUT: sw.SparseRegressor(COUNTRIES, fit_intercept=False).fit(X, y).predict(unseen),
        WITH: sw.SparseRegressor(COUNTRIES, fit_intercept=False, positive=True).fit(X, y).predict(unseen),
    }
    pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=COUNTRIES, fit_intercept=False).fit(X, y)
    found["OMP"] = pursuit.predict(unseen)
    for name, positive in (("Lasso", False), ("Lasso, positive", True)):
        found[name] = unseen @ lasso_path(X, y, COUNTRIES, intercept=False, positive=positive)
    return found
