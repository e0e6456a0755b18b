"""Sensors: at most two at each site and, of them all, at most three that are dear.

An intersection of two matroids. Readings of forty sensors at eight sites; prices have nothing to do with
places.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import swapwise as sw

DEAR = 3


def readings(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return the readings, the load that they are to predict, and site and price of each sensor."""
    rng = np.random.default_rng(seed)
    sensors = pd.DataFrame(
        {"site": np.repeat(list("ABCDEFGH"), 5), "price": rng.choice(["cheap", "dear"], 40)}
    )
    sensors.index = [f"{site}{number}" for number, site in enumerate(sensors["site"])]
    weather = rng.standard_normal((300, 8))
    # Dear sensors see the weather at their site better.
    noise = np.where(sensors["price"] == "dear", 0.3, 0.9)
    X = weather[:, np.repeat(np.arange(8), 5)] + noise * rng.standard_normal((300, 40))
    load = weather @ np.linspace(0.2, 2.0, 8) + 0.5 * rng.standard_normal(300)
    return pd.DataFrame(X, columns=sensors.index), load, sensors


def main(folder: Path) -> sw.SparseRegressor:
    """Choose the sensors under both budgets, say how good the choice is, draw it, return the estimator."""
    X, load, sensors = readings()
    budgets = sw.Intersection(
        sw.Partition(sensors["site"], 2),
        sw.Partition(sensors["price"], {"dear": DEAR, "cheap": len(sensors)}),
    )
    model = sw.SparseRegressor(budgets, q=2).fit(X, load)  # two at a time: what one swap cannot undo, two can
    model.certificate_ = model.certify(X, load, time_limit=None, max_nodes=20)

    figure, axes = plt.subplots(figsize=(7, 6), constrained_layout=True)
    sw.plot_support(model, axes, groups=sensors["site"])
    dear = [name for name in X.columns[model.support_] if sensors.loc[name, "price"] == "dear"]
    axes.set_title(f"R² {model.score(X, load):.3f}; dear: {', '.join(dear)}")
    figure.savefig(folder / "two-budgets.png", dpi=110)
    plt.close(figure)
    return model


if __name__ == "__main__":
    chosen = main(Path())
    print(chosen.certificate_)
