"""
Breast cancer: no two redundant columns
=======================================

Radius, perimeter and area of a cell are nearly redundant, and the best six columns contain two of them.
Two constraints make the model easier to read: no two highly correlated columns, and columns from at most
three cell features, since measuring a feature gives its mean, error and worst value at once.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score

import swapwise as sw

SIZE, ABOVE, FEATURES = 6, 0.8, 3

# %%
# The rules
# ---------
# Conflicts are read from the correlations, groups from the names.

data = load_breast_cancer(as_frame=True)
X, malignant = (data.data - data.data.mean()) / data.data.std(), data.target == 0
feature = {
    name: name.removeprefix("mean ").removeprefix("worst ").removesuffix(" error") for name in X.columns
}
apart = sw.Conflicts.from_correlation(X, above=ABOVE)
few = sw.FewGroups(feature, FEATURES, size=SIZE)
rules = {
    "any six": sw.Uniform(X.shape[1], SIZE),
    "no two correlated": apart.truncate(SIZE),
    "three cell features": few,
    "both rules": sw.Intersection(apart, few),
}
print(f"{len(apart.pairs)} of {X.shape[1] * (X.shape[1] - 1) // 2} pairs have a correlation above {ABOVE}")

# %%
# What they choose
# ----------------
# The likelihood falls with every rule, as it must. The log loss on held-out tumours does not get worse: over
# ten splits, no difference from any six columns is larger than twice its standard error. ``proven`` is the
# share of the best likelihood within the rule that twenty nodes of branch and bound prove.

splits = StratifiedShuffleSplit(10, test_size=0.4, random_state=0)
models, losses, rows = {}, {}, []
for name, rule in rules.items():
    model = models[name] = sw.SparseClassifier(rule, ridge=1e-3).fit(X, malignant)
    chosen = X.columns[model.support_]
    among = X[chosen].corr().abs().to_numpy() - np.eye(len(chosen))
    losses[name] = -cross_val_score(
        sw.SparseClassifier(rule, ridge=1e-3), X, malignant, cv=splits, scoring="neg_log_loss"
    )
    proof = model.certify(X, malignant, time_limit=None, max_nodes=20)
    more = losses[name] - losses["any six"]
    cells = len({feature[column] for column in chosen})
    rows.append(
        [
            name,
            among.max(),
            cells,
            model.result_.value,
            proof.ratio,
            losses[name].mean(),
            more.std(ddof=1) / 10**0.5,
        ]
    )
columns = [
    "rule",
    "largest correlation",
    "cell features",
    "likelihood",
    "proven",
    "log loss",
    "standard error",
]
comparison = pd.DataFrame(rows, columns=columns).set_index("rule")
print(comparison.round(3).to_string())

# %%
# The coefficients
# ----------------
# Two redundant columns share the coefficient between them. If they exclude each other, one has all of it.

plt.rcParams["font.size"] = 11
for name in ["no two correlated", "any six"]:
    figure, ax = plt.subplots(figsize=(8, 5), constrained_layout=True)
    sw.plot_support(models[name], ax)
    ax.set_title(f"{name}: log loss {comparison.loc[name, 'log loss']:.3f}")
plt.show()
