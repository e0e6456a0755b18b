"""Compiled functions on plain arrays."""

# Numbers that kernels take and return, here so that reading them does not load a compiler.

# Families of likelihoods, in ``families``
LOGISTIC, POISSON, MULTINOMIAL, GAMMA, NEGATIVE_BINOMIAL = range(5)

# How a run of best moves ended, in ``swaps``: cut short, nothing left, or a start of collinear columns
GOING_ON, DONE, DEPENDENT = range(3)
