"""
Ising models: few neighbours, fewer mistakes
============================================

Twenty binary variables, none of which depends directly on more than three others, and 150 samples. Does the
constraint "at most three neighbours" help, and how well do separate regressions with an L1 penalty do?
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

import swapwise as sw
from swapwise.paper.graph_baselines.nodewise import l1_logistic
from swapwise.paper.instances import paper_ising

# %%
# Three ways to learn a graph
# ---------------------------
# EBIC chooses the number of edges of the first two. The third is IsingFit's recipe: one regression per
# variable, its penalty chosen by EBIC, and the edges that both ends agree on.


PAIRS = np.triu_indices(20, 1)  # edges are numbered in this order


def separate_regressions(spins):
    """Return the edges that both ends choose."""
    theta = l1_logistic(spins)
    return set(np.flatnonzero(((theta != 0) & (theta.T != 0))[PAIRS]))


def joint(max_degree):
    """Return a learner of one likelihood for all variables."""
    return lambda spins: set(sw.IsingGraphCV(max_degree=max_degree).fit(spins).result_.support)


learners = {
    "at most three neighbours": joint(3),
    "any number": joint(None),
    "separate, L1": separate_regressions,
}

# %%
# Twelve models
# -------------
# Edges that are wrong or missing, of thirty, in simulations whose truth is known.

models = [paper_ising(n_vertices=20, degree=3, n_samples=150, random_state=seed) for seed in range(12)]
found = {name: [learn(model.spins) for model in models] for name, learn in learners.items()}
wrong = pd.DataFrame(
    {
        name: [len(graph ^ set(model.edges)) for graph, model in zip(graphs, models, strict=True)]
        for name, graphs in found.items()
    }
)
comparison = pd.DataFrame({"wrong or missed": wrong.mean()})
comparison["standard error of the difference"] = wrong.sub(wrong["at most three neighbours"], axis=0).sem()
print(comparison.round(2).to_string())

# %%
# The mistakes in one of them
# ---------------------------
# The model with most mistakes without the limit. Correct edges are grey, false ones orange, and missed ones
# dashed.

shown = int(wrong["any number"].argmax())
true = set(models[shown].edges)
pairs = list(zip(*PAIRS, strict=True))
layout = nx.kamada_kawai_layout(nx.Graph([pairs[edge] for edge in true]))
plt.rcParams["font.size"] = 14
figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), constrained_layout=True)
for ax, (name, graphs) in zip(axes, found.items(), strict=True):
    graph = nx.empty_graph(20)
    looks = (
        (graphs[shown] & true, "0.6", "solid"),
        (graphs[shown] - true, "C1", "solid"),
        (true - graphs[shown], "C3", "dashed"),
    )
    for edges, colour, style in looks:
        lines = [pairs[edge] for edge in edges]
        nx.draw_networkx_edges(graph, layout, lines, edge_color=colour, style=style, width=2.5, ax=ax)
    nx.draw_networkx_nodes(graph, layout, node_size=60, node_color="C0", ax=ax)
    ax.set_title(f"{name}\n{wrong[name].mean():.1f} mistakes")
    ax.set_axis_off()
plt.show()
