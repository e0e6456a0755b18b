"""Digits: 64 pixels, with ink or without, as spins of an Ising model with at most four neighbours a pixel.

Nothing is said about where the pixels are. The positive couplings that are learnt are all but the grid.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import swapwise as sw

SIDE = 8


def touching(model: sw.IsingGraph) -> float:
    """Return the share of the positive couplings that join pixels side by side or corner to corner."""
    positive = model.support_[model.coupling_[tuple(model.support_.T)] > 0]
    first, second = (np.array(np.unravel_index(ends, (SIDE, SIDE))) for ends in positive.T)
    return float((np.abs(first - second).max(axis=0) == 1).mean())


def main(folder: Path) -> sw.IsingGraph:
    """Learn the graph, draw it on the grid of the pixels, and return the fitted estimator."""
    pixels = load_digits().data >= 3
    share = pixels.mean(axis=0)
    varies = (
        share * (1 - share) > 0.01
    )  # the others are nearly always blank: there is nothing to learn of them
    pairs = [(i, j) for i in range(SIDE**2) for j in range(i) if varies[i] and varies[j]]
    model = sw.IsingGraph(max_degree=4, ridge=0.1, edges=pairs).fit(pixels)

    rows, columns = np.unravel_index(np.arange(SIDE**2), (SIDE, SIDE))
    figure, axes = plt.subplots(figsize=(6.4, 6.4), constrained_layout=True)
    sw.plot_graph(model, axes, positions=np.column_stack([columns, -rows]), labels=False)
    axes.set_title(
        f"{len(model.support_)} edges; of the positive, {touching(model):.0%} between touching pixels"
    )
    figure.savefig(folder / "digits-graph.png", dpi=110)
    plt.close(figure)
    return model


if __name__ == "__main__":
    learnt = main(Path())
    print(f"{len(learnt.support_)} edges; of the positive, {touching(learnt):.0%} between touching pixels")
