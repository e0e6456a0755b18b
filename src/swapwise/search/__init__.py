"""Searching: pivot rules, acceptance rules, starts, the loop, and methods other than local search."""
