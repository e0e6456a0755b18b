"""
Birth rates: a country as a mixture of others
=============================================

What would a country's birth rate have been without a reform, a crisis, a war? Comparative studies
("synthetic control") answer with a mixture of a few other countries that followed the same course before. A
mixture has no negative weights. Does that improve forecasts?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import fertility

import swapwise as sw

COUNTRIES, LAST = 5, 1990

# %%
# The data
# --------
# Children per woman, by year and country, for the countries with data for all years.

rates = fertility.load_pandas().data.set_index("Country Name").filter(regex=r"^\d").astype(float)
rates = rates.dropna(axis=1, how="all").dropna().T
rates.index = rates.index.astype(int)
averages = rates.columns.str.contains("income|OECD|small states")
rates = rates.loc[:, ~averages]
print(f"{rates.shape[1]} countries, {rates.index[0]} to {rates.index[-1]}")

# %%
# Every country in turn
# ---------------------
# Five others are chosen on the years up to 1990 and evaluated on the later ones, with and without negative
# weights. There is no intercept: a mixture of birth rates is a birth rate.


def forecast(country, positive):
    """Return the mixture for all years, with the weights by country."""
    others = rates.drop(columns=country)
    model = sw.SparseRegressor(COUNTRIES, positive=positive, fit_intercept=False)
    model.fit(others.loc[:LAST], rates.loc[:LAST, country])
    return pd.Series(model.predict(others), index=rates.index), model


def error(country, positive):
    """Return the root mean square of the errors after the last year that was seen."""
    later = forecast(country, positive)[0] - rates[country]
    return np.mean(later.loc[LAST + 1 :] ** 2) ** 0.5


errors = pd.DataFrame(
    {
        name: [error(country, sign) for country in rates]
        for name, sign in (("without", False), ("with", True))
    },
    index=rates.columns,
)
gain = errors["without"] - errors["with"]
print(errors.mean().round(3).to_string())
print(
    f"gain {gain.mean():.3f}, standard error {gain.sem():.3f}; {np.mean(gain > 0):.0%} of the countries gain"
)

# %%
# One of them
# -----------
# South Korea: Hong Kong and Thailand, or a sum of five countries with negative weights among them, which fits
# the past better. Not every country gains, but the average does. Countries are not independent of each
# other, so the standard error is too small.

plt.rcParams["font.size"] = 13
figure, axes = plt.subplots(figsize=(7, 4.4), constrained_layout=True)
axes.plot(rates["Korea, Rep."], color="0.2", lw=3, label="South Korea")
for label, positive, colour in (("no negative weights", True, "C0"), ("weights of both signs", False, "C1")):
    mixture, model = forecast("Korea, Rep.", positive)
    weights = pd.Series(model.coef_[model.support_], index=model.get_feature_names_out())
    print(label, weights.round(2).to_dict())
    axes.plot(mixture, color=colour, lw=2, label=label)
axes.axvline(LAST, color="0.5", ls=":")
axes.set(xlabel="year", ylabel="children per woman", ylim=(0, None))
axes.legend()
plt.show()
