"""The words that ``swapwise graph`` knows, without what makes a command slow to start."""

from __future__ import annotations

from enum import StrEnum


class GraphModel(StrEnum):
    """What is learnt: how variables are distributed given the others.

    >>> GraphModel("gaussian").value
    'gaussian'
    """

    AUTO = "auto"
    ISING = "ising"
    GAUSSIAN = "gaussian"
    MIXED = "mixed"


class Correlation(StrEnum):
    """What a Gaussian graph is computed from.

    >>> Correlation("spearman").value
    'spearman'
    """

    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"
    POLYCHORIC = "polychoric"
