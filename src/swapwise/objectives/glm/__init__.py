"""Generalised linear models: a likelihood of a linear predictor on the chosen columns."""
