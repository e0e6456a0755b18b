"""The words that ``swapwise graph`` knows, without what makes a command slow to start."""

from __future__ import annotations

from enum import StrEnum


class GraphModel(StrEnum):
    """How variables are distributed given the others."""

    AUTO = "auto"
    ISING = "ising"
    GAUSSIAN = "gaussian"
    MIXED = "mixed"


class Correlation(StrEnum):
    """What a Gaussian graph is computed from."""

    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"
    POLYCHORIC = "polychoric"
