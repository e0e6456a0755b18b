"""What is known of the answer.

Before the search: ``constants`` (m and M of an objective), ``localizability``, ``guarantees`` (what the
theorems promise of a method) and ``run_guarantee`` (of one run).

After it: ``certify`` is the entry; a ``prover`` goes through all bounds and makes a ``certificate``.
``bounds`` are those that need no search. Branch and bound is in ``branching``: it splits a ``region`` of the
allowed sets, and nodes bound the parts in one of three ways, which ``roots`` picks:

- ``perspective_node``: fractional sets (``perspective``), mixtures of allowed ones (``atoms``), charged by a
  ``diagonal`` of spare curvature;
- ``block_node``: every block of the objective by itself;
- ``set_node``: values and marginal gains only.

Small parts of quadratic problems are gone through in closed form (``finishing``).
"""
