"""Oracles of the tests beside ``swapwise.experiments.plain``: the paper's neighbours, best subsets."""
