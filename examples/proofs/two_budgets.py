"""
Sensors: two budgets at once
============================

At most two sensors per site, and at most three expensive ones in all. Prices do not depend on sites: this is
an intersection of two matroids.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import swapwise as sw

EXPENSIVE = 3

# %%
# The readings
# ------------
# Forty sensors at eight sites. The expensive ones measure the weather at their site more precisely.

rng = np.random.default_rng(0)
prices = rng.choice(["cheap", "expensive"], 40)
sensors = pd.DataFrame({"site": np.repeat(list("ABCDEFGH"), 5), "price": prices})
sensors.index = [f"{site}{number}" for number, site in enumerate(sensors["site"])]

weather = rng.standard_normal((300, 8))
noise = np.where(sensors["price"] == "expensive", 0.3, 0.9)
readings = weather[:, np.repeat(np.arange(8), 5)] + noise * rng.standard_normal((300, 40))
X = pd.DataFrame(readings, columns=sensors.index)
load = weather @ np.linspace(0.2, 2.0, 8) + 0.5 * rng.standard_normal(300)
pd.crosstab(sensors["price"], sensors["site"])

# %%
# The budgets
# -----------
# An exchange of two for two can escape where no single swap improves: hence ``q=2``.

budgets = sw.Intersection(
    sw.Partition(sensors["site"], 2),
    sw.Partition(sensors["price"], {"expensive": EXPENSIVE, "cheap": len(sensors)}),
)
model = sw.SparseRegressor(budgets, q=2).fit(X, load)
X.columns[model.support_].tolist()

# %%
# How it was found
# ----------------
# The history has every move, with the strategy that made it:

moves = model.result_.to_frame()
moves[["added", "dropped", "value", "strategy"]].round(3)

# %%
# How good is it?
# ---------------
# Twenty nodes of branch and bound prove that no choice within both budgets is much better:

certificate = model.certify(X, load, time_limit=None, max_nodes=20)
print(certificate)

# %%
# What is chosen
# --------------

figure, axes = plt.subplots(figsize=(7, 6), constrained_layout=True)
sw.plot_support(model, axes, groups=sensors["site"])
expensive = [name for name in X.columns[model.support_] if sensors.loc[name, "price"] == "expensive"]
axes.set_title(f"R² {model.score(X, load):.3f}; expensive: {', '.join(expensive)}")
plt.show()
