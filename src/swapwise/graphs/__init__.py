"""Undirected graphs: pairwise models, their estimators, how stable they are, and their pictures."""
