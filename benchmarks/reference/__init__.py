"""Oracles of the tests beside ``swapwise.paper.plain``: searches, the paper's neighbours, best subsets."""
