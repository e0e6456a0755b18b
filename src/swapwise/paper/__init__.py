"""The paper's experiments: a declared grid of cells, each measured by itself and stored when it is done.

``settings`` (the instances and what is maximised) × ``procedures`` (what runs on them) × sizes × trials are
put together in ``grid``; ``measure`` turns one cell into one row, ``run`` does all cells that are not in the
``store`` yet, ``manifest`` says how they were made; ``claims`` lists the paper's sentences, each
judged by one of ``claim_checks`` from ``comparisons`` of rows. ``figure`` and ``page`` show the rows, by the
``panels`` that are declared once for both.
"""
