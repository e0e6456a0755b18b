"""
Digits: two exemplars of each
=============================

Which twenty images represent all 1797 best, if each digit may have two? This is facility location under a
partition matroid: every image counts its similarity to the most similar exemplar.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

import swapwise as sw

digits = load_digits()

# %%
# The objective and the rule
# --------------------------
# Row i of the similarities says how well each image would represent image i.

similarity = rbf_kernel(digits.data, gamma=2e-4)
coverage = sw.FacilityLocation(similarity)
two_of_each = sw.Partition(digits.target, 2)

# %%
# The search
# ----------
# The objective is submodular, so half of the optimum is guaranteed for any data. The gains of the
# elements that could be added to the answer guarantee more, and the certificate proves still more.

result = sw.maximize(coverage, two_of_each)
certificate = sw.certify(coverage, two_of_each, result, time_limit=None, max_nodes=1)
print(result.guarantee)
print(certificate)

# %%
# What the rule costs
# -------------------
# Any twenty images are hardly better, with three of some digits and one of others:

any_twenty = sw.maximize(coverage, sw.Uniform(len(digits.target), 20))
print(f"any twenty: {any_twenty.value:.1f}, two of each: {result.value:.1f}")
print("of each digit:", np.bincount(digits.target[any_twenty.support]))

# %%
# The exemplars
# -------------

exemplars = result.support[np.argsort(digits.target[result.support], kind="stable")]
figure, axes = plt.subplots(2, 10, figsize=(10, 2.4), constrained_layout=True)
for ax, image in zip(axes.T.ravel(), exemplars, strict=True):
    ax.imshow(digits.images[image], cmap="Greys")
    ax.set_axis_off()
plt.show()
