"""The experiments of the paper: instances, settings, claims and the figure.

``settings`` (instances and their problems) × ``procedures`` (what runs on them) × sizes × trials are the
cells of the ``grid``; ``measure`` makes a row of a cell, ``run`` all rows that the ``store`` lacks.
``claims`` judges the paper's sentences by rows, ``panels`` declares what the ``figure`` and the ``page`` show
of them.
"""

from swapwise.lazy import lazily

_HOMES = {
    "CLAIMS": "claims.verdicts",
    "Finding": "claims.record",
    "ISING_10": "settings",
    "ISING_20": "settings",
    "IsingInstance": "instances",
    "IsingSetting": "settings",
    "REGRESSION_1000": "settings",
    "REGRESSION_200": "settings",
    "RegressionInstance": "instances",
    "RegressionSetting": "settings",
    "draw_figure": "figure",
    "findings": "claims.verdicts",
    "pairs": "instances",
    "paper_ising": "instances",
    "paper_regression": "instances",
}

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = sorted(_HOMES)
