"""The paper's experiments: a declared grid of cells, each measured by itself and stored when it is done.

``settings`` (the instances and what is maximised) × ``procedures`` (what runs on them) × sizes × trials are
put together in ``grid``; ``measure`` turns one cell into one row, ``run`` does all cells that are not in the
``store`` yet, ``manifest`` says how they were made; ``claims`` judges the paper's sentences by comparing
rows (``comparisons``).
"""
