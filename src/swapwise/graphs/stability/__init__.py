"""How sure a learnt graph is: bootstrap, case dropping, comparison of two groups."""
