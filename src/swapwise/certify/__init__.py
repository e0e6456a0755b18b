"""Certificates: proven upper bounds on the optimum of this very instance.

``certify`` is the entry; a ``prover`` tries all bounds, keeps the ``history`` and makes a ``certificate``.
Branch and bound is in ``branching``: it splits a ``region`` of the independent sets, and the parts are
``nodes``, each bounded in one of three ways, between which ``root`` decides:

- by the perspective ``relaxation`` (nodes are ``relaxed``): fractional sets, and a ``diagonal`` that is
  subtracted from the Hessian. Sets are found by ``proximal`` steps on a ``working_set`` under nested limits,
  by the same under ``overlapping`` ``limits``, and else by ``frank_wolfe`` steps. Elements that no better set
  can hold are fixed and dropped; a smaller ``problem`` has a better diagonal;
- by the ``summands`` of the objective, each maximised by itself, at prices on which they agree. Their sets
  are in a ``set_table``: all of them or, found by branch and bound over the ``subsets`` of each, those that
  can matter (``summand_lists``);
- by values and marginal gains only.

Small parts of quadratic problems are enumerated in closed form (``leaf``).
"""
