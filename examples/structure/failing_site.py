"""
Digits: sensors that survive the failure of a site
==================================================

Classify ten digits from eight of 64 pixels. Each row of pixels is a site with eight sensors, and one day a
site fails. A limit of two sensors per site bounds the loss. What does that insurance cost while everything
works?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit

import swapwise as sw

# %%
# The constraint
# --------------

digits = load_digits()
X, y = digits.data, digits.target
row = np.arange(64) // 8
rules = {"at most two per row": sw.Partition(row, 2, size=8), "any eight": sw.Uniform(64, 8)}

# %%
# Failures
# --------
# Readings of a failed row are replaced by their means in the training data. Errors are on held-out digits.

rows, chosen = [], {}
for train, test in StratifiedShuffleSplit(4, test_size=0.4, random_state=0).split(X, y):
    for name, rule in rules.items():
        model = sw.SparseClassifier(rule, ridge=1e-3).fit(X[train], y[train])
        chosen.setdefault(name, model.support_)
        readings = [np.where(row == failed, X[train].mean(axis=0), X[test]) for failed in range(-1, 8)]
        wrong = [1 - model.score(read, y[test]) for read in readings]
        rows.append({"rule": name, "all work": wrong[0], "worst row fails": max(wrong[1:])})
errors = pd.DataFrame(rows).set_index("rule")
comparison = errors.groupby("rule").mean()
difference = errors.loc["any eight"].to_numpy() - errors.loc["at most two per row"].to_numpy()
comparison.loc["gain"] = difference.mean(axis=0)
comparison.loc["standard error"] = difference.std(axis=0, ddof=1) / len(difference) ** 0.5
print(comparison.round(3))

# %%
# Where the sensors are
# ---------------------
# The limit costs a little while all rows work, and saves more when the worst one fails.

plt.rcParams["font.size"] = 13
figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), constrained_layout=True)
for ax, (name, pixels) in zip(axes, chosen.items(), strict=True):
    ax.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", alpha=0.6)
    ax.scatter(pixels % 8, row[pixels], s=260, color="C1" if name == "any eight" else "C0", edgecolor="white")
    working, failing = comparison.loc[name]
    ax.set_title(f"{name}\n{working:.0%} wrong, {failing:.0%} after a failure")
    ax.set(xticks=[], yticks=range(8), ylabel="row")
plt.show()
