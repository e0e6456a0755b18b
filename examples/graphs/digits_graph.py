"""
Digits: recovering the pixel grid
=================================

Pixels, with or without ink, are the spins of an Ising model with at most four neighbours per pixel. The model
is not told where the pixels are, yet its positive couplings nearly recover the grid.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import swapwise as sw

SIDE = 8

# %%
# The spins
# ---------
# Of the 64 pixels, those that are nearly always blank are left out.

ink = load_digits().data >= 3
share = ink.mean(axis=0)
pixels = np.flatnonzero(share * (1 - share) > 0.01)
print(f"{len(pixels)} pixels, {len(ink)} digits")

# %%
# The graph
# ---------
# One joint likelihood of all pixels, and one limit for all of them at once:

model = sw.IsingGraph(max_degree=4, ridge=0.1).fit(ink[:, pixels])
print(model.graph_)

# %%
# Touching pixels
# ---------------
# Most positive couplings join pixels that touch at a side or a corner.

places = np.column_stack(np.unravel_index(pixels, (SIDE, SIDE)))
first, second = model.support_[model.coupling_[tuple(model.support_.T)] > 0].T
touching = float((np.abs(places[first] - places[second]).max(axis=1) == 1).mean())

figure, axes = plt.subplots(figsize=(6.4, 6.4), constrained_layout=True)
sw.plot_graph(model, axes, positions=places[:, ::-1] * [1, -1], labels=False)
axes.set_title(f"{len(model.support_)} edges; of the positive, {touching:.0%} between touching pixels")
plt.show()
