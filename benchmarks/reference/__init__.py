"""Oracles of the tests beside ``swapwise.paper.plain``: the paper's neighbours, best subsets."""
