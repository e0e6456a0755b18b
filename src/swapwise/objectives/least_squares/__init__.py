"""Least squares: the objective, its state, the factors of the chosen columns, a compiled search."""
