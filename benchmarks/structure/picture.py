"""``python -m benchmarks.structure.picture``: draw log loss over the number of cell features measured."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.structure.case import WITH, WITHOUT, Case
from benchmarks.structure.groups import log_losses
from swapwise.paper.measure import one_core

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "structure.png"
FEATURES = range(2, 7)
LOOKS = {
    "L1": ("L1 (scikit-learn)", "#8c8c8c", "s"),
    WITHOUT: ("best columns, no groups", "#d97706", "D"),
    WITH: ("best columns of few cell features", "#1d4ed8", "o"),
}


def main() -> None:
    """Measure and draw."""
    with one_core():
        cases = [Case("", "", "", "", log_losses(features, 60)) for features in FEATURES]
    plt.rcParams["font.size"] = 13
    figure, axes = plt.subplots(figsize=(7.2, 4.4), constrained_layout=True)
    for program, (label, colour, marker) in LOOKS.items():
        means = [case.mean(program) for case in cases]
        # Of the difference to the constrained answer: that is what the eye compares.
        bars = None if program == WITH else [case.gain(program)[1] for case in cases]
        axes.errorbar(FEATURES, means, bars, color=colour, marker=marker, lw=2, ms=8, capsize=4, label=label)
    axes.set(xlabel="cell features that must be measured (of 10)", ylabel="log loss of new tumours")
    axes.set_xticks(FEATURES)
    axes.set_ylim(0, None)
    axes.yaxis.set_major_locator(plt.MaxNLocator(5))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=130)
    for program in LOOKS:
        print(program, np.round([case.mean(program) for case in cases], 3))


if __name__ == "__main__":
    main()
