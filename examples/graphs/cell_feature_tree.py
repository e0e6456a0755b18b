"""
Cell features: the likeliest tree
=================================

Which measurements of a cell depend on each other? The tree (or the forest of a few edges) with the largest
likelihood for Gaussian data is the one of largest mutual information: Chow and Liu's tree, a graphic matroid.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.datasets import load_breast_cancer

import swapwise as sw

# %%
# Edges and their weights
# -----------------------
# The ten means. Every pair is a possible edge; its weight is the mutual information of two Gaussians with
# that correlation.

means = load_breast_cancer(as_frame=True).data.filter(like="mean ").rename(columns=lambda name: name[5:])
edges = list(combinations(means.columns, 2))
correlation = means.corr()
information = sw.Linear([-0.5 * np.log(1 - correlation.loc[edge] ** 2) for edge in edges])

# %%
# The tree, and the forest of five edges
# --------------------------------------
# A linear function under a matroid is the easy case: the answers are optimal, and proven to be.

trees = sw.Graphic(edges)
found = {"tree": trees, "forest of five edges": trees.truncate(5)}
results = {name: sw.maximize(information, constraint) for name, constraint in found.items()}
for name, constraint in found.items():
    print(f"{name}: {sw.certify(information, constraint, results[name])}")

# %%
# What depends on what
# --------------------

plt.rcParams["font.size"] = 13
for name, result in results.items():
    figure, ax = plt.subplots(figsize=(7, 4.8), constrained_layout=True)
    graph = nx.Graph()
    graph.add_nodes_from(means.columns)
    graph.add_weighted_edges_from((*edges[e], information.weights[e]) for e in result.support)
    sw.plot_graph(graph, ax)
    ax.set_title(f"{name}: {result.value:.2f} nats")
plt.show()
