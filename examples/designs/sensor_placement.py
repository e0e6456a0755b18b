"""
Sensors: regions, distances and a budget
========================================

Where should six sensors be, so that the whole field can be reconstructed from what they read? PySensors
chooses them by QR with column pivoting, a greedy method, and has options for regions, distances and costs.
Here these are constraints, the search is not greedy, and a certificate says how far from the best an answer
can be.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits

import swapwise as sw

SENSORS, NOISE = 6, 3.0

# %%
# The field
# ---------
# The examples of PySensors use the Olivetti faces, which have to be downloaded. The handwritten digits,
# which scikit-learn ships, serve as well: a field is an image of 8 × 8 pixels, and a sensor reads one of
# them, with noise.

images = load_digits().data
images = images - images.mean(axis=0)
scale, modes = np.linalg.svd(images, full_matrices=False)[1:]
modes = modes[:SENSORS].T
print(f"{(scale[:SENSORS] ** 2).sum() / (scale**2).sum():.0%} of the variance is in {SENSORS} modes")

# %%
# The objective
# -------------
# The share of the modes' variance that a linear regression on the sensors explains. There is one response
# per mode, so a sensor has one coefficient per mode: a group of columns. Independent noise is a ridge. A QR
# decomposition keeps all inner products in 64 rows.

rows = np.linalg.qr(images, mode="r")
reconstruction = sw.LeastSquares(
    np.kron(np.eye(SENSORS), rows),
    (rows @ modes).T.ravel(),
    groups=np.tile(np.arange(64), SENSORS),
    ridge=len(images) * NOISE**2,
)

# %%
# The rules
# ---------
# A region in the middle, a distance of three pixels, and costs that rise towards the middle.

down, across = np.divmod(np.arange(64), 8)
rim = np.minimum.reduce([down, across, 7 - down, 7 - across])
zone = np.where(rim >= 2, "middle", "outside")
distance = np.hypot(down[:, None] - down, across[:, None] - across)
any_six = sw.Uniform(64, SENSORS)
room = {"middle": 2, "outside": SENSORS}
rules = {
    "anywhere": any_six,
    "at most 2 in the middle": sw.Partition(zone, room, size=SENSORS),
    "exactly 1 in the middle": sw.Partition(zone, room | {"middle": 1}, at_least={"middle": 1}, size=SENSORS),
    "3 pixels apart": sw.Intersection(any_six, sw.Conflicts(64, np.argwhere(np.triu(distance < 3, k=1)))),
    "within a budget of 12": sw.Intersection(any_six, sw.Knapsack(1 + rim, 12)),
}

# %%
# Pivoted QR, and the best
# ------------------------
# Each step of pivoted QR takes the pixel with the largest part orthogonal to the pixels before it, among the
# pixels that the rule still allows. (PySensors 0.4.3 chooses the same pixels under the first
# three rules. Three pixels apart it runs out of room after four, and puts the other two side by side.)
# ``exact`` begins with a local search and goes on with branch and bound; a hundred nodes take a second or
# two per rule.


def pivoted_qr(constraint):
    """Choose pixels one by one, as QR with column pivoting does."""
    rest, chosen = modes.T.copy(), np.empty(0, dtype=int)
    for _ in range(SENSORS):
        lengths = np.where(constraint.addable(chosen), np.linalg.norm(rest, axis=0), 0.0)
        if not lengths.any():
            break
        pivot = lengths.argmax()
        chosen, unit = np.union1d(chosen, pivot), rest[:, pivot] / lengths[pivot]
        rest -= np.outer(unit, unit @ rest)
    return chosen


greedy = {name: pivoted_qr(rule) for name, rule in rules.items()}
best = {name: sw.exact(reconstruction, rule, max_nodes=100) for name, rule in rules.items()}
table = pd.DataFrame(
    {
        "pivoted QR": {name: reconstruction(chosen) for name, chosen in greedy.items()},
        "local search": {name: sw.maximize(reconstruction, rule).value for name, rule in rules.items()},
        "best found": {name: result.value for name, result in best.items()},
        "no set exceeds": {name: result.certificate.upper_bound for name, result in best.items()},
    }
)
table["proven"] = table["best found"] / table["no set exceeds"]
print(table.round(3).to_string())

# %%
# Where they are
# --------------
# Dots are the best sensors found, crosses those of pivoted QR; the darker a pixel, the more it varies.

figure, axes = plt.subplots(1, 5, figsize=(14, 3.4), constrained_layout=True)
for ax, name in zip(axes, rules, strict=True):
    ax.imshow(images.std(axis=0).reshape(8, 8), cmap="Greys", vmin=0, vmax=14)
    if "middle" in name:
        ax.add_patch(Rectangle((1.5, 1.5), 4, 4, fill=False, ec="#6b6b6b", lw=1.5, ls="--"))
    chosen = best[name].support
    ax.scatter(across[chosen], down[chosen], s=90, color="#1f6fb4", ec="white", zorder=2)
    ax.scatter(across[greedy[name]], down[greedy[name]], s=70, marker="x", color="#c4391d", lw=2, zorder=3)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{name}\n{table['pivoted QR'][name]:.3f} → {table['best found'][name]:.3f}", fontsize=10)
plt.show()
