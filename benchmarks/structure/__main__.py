"""``python -m benchmarks.structure``: errors on new data with and without a constraint, as one table.

Names of cases (``lags groups``) run those alone. "Without" is the same search without the constraint.
Programs choose the same number of columns (in ``groups``, columns of the same number of cell features), apart
from LassoCV in ``lags`` and nodewise L1 in ``graph``, which choose how many. abess takes part if it is
installed (``pip install '.[peers]'``). Nothing is downloaded.
"""

from __future__ import annotations

from argparse import ArgumentParser

from benchmarks.structure.case import Measure, markdown
from benchmarks.structure.failure import a_row_fails
from benchmarks.structure.graph import few_neighbours
from benchmarks.structure.groups import three_cell_features
from benchmarks.structure.hierarchy import products_with_their_factors
from benchmarks.structure.lags import one_lag_per_signal
from benchmarks.structure.weights import few_donors
from swapwise.paper.measure import one_core

CASES: dict[str, Measure] = {
    "groups": three_cell_features,
    "lags": one_lag_per_signal,
    "weights": few_donors,
    "hierarchy": products_with_their_factors,
    "failure": a_row_fails,
    "graph": few_neighbours,
}


def main() -> None:
    """Print the table, and what each program did beside it."""
    parser = ArgumentParser(prog="python -m benchmarks.structure", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"any of {', '.join(CASES)}; all by default")
    parser.add_argument("--all-programs", action="store_true", help="also print the errors of every program")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"expected any of {', '.join(CASES)}, got {', '.join(sorted(unknown))}")
    with one_core():
        measured = [CASES[name]() for name in options.cases or CASES]
    print(markdown(measured))
    if options.all_programs:
        for case in measured:
            means = {name: case.mean(name) for name in case.errors} | dict(case.also)
            print(case.title, *(f"{name} {mean:.4f}" for name, mean in means.items()), sep="\n  ")


if __name__ == "__main__":
    main()
