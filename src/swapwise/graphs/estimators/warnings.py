"""What users of graph estimators should know of their samples before they rely on a graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from swapwise.checks import FloatArray, some_of, warn
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.two_values import MOST_OF_A_SCALE, missing_code

# Criteria such as EBIC are derived for many samples; with fewer than this they choose nearly by chance.
FEW_SAMPLES = 30

# With two samples per variable, correlations that are all 0 have estimates whose matrix has eigenvalues from
# 0.09 to 2.9 instead of 1 (the law of Marchenko and Pastur): edges may well be chance.
SAMPLES_PER_VARIABLE = 2

# Columns whose correlation is at least this far from 0 are one variable.
ONE_VARIABLE = 0.9999

# The first rows, by which columns that cannot hold answers are ruled out before all rows are looked at.
FIRST_ROWS = 1000


def warn_of_few_samples(sample: GraphSample) -> None:
    n_variables = sample.values.shape[1]
    least = max(FEW_SAMPLES, SAMPLES_PER_VARIABLE * n_variables)
    if sample.size < least:
        warn(
            f"X has {sample.size:.4g} samples of {n_variables} variables: criteria that choose the number of "
            f"edges are made for many more, {least} at least (two per variable, and no fewer than "
            f"{FEW_SAMPLES}); a bootstrap shows how sure edges are"
        )


def warn_of_weights(sample: GraphSample) -> None:
    if sample.weights_are_counts and not _are_patterns(sample):
        warn(
            "sample_weight has whole numbers, taken for how often each row was seen: "
            f"{sample.weight.sum():.0f} samples, although there are {len(sample.values)} rows. If they are "
            "survey weights, divide them by their mean, or too many edges are found; counts of patterns are "
            "right as they are"
        )


def _are_patterns(sample: GraphSample) -> bool:
    """Return whether rows look like a table of patterns: few values, no row twice, counts that differ."""
    if (sample.weight == sample.weight[0]).all():
        return False
    has_few = all(len(_values_of(column)) <= MOST_OF_A_SCALE for column in sample.values.T)
    return has_few and len(np.unique(sample.values, axis=0)) == len(sample.values)


def warn_of_codes(values: FloatArray, names: Sequence[Hashable]) -> None:
    codes = {}
    for name, column in zip(names, values.T, strict=True):
        if len(_values_of(column[:FIRST_ROWS])) <= MOST_OF_A_SCALE + 1:
            code = missing_code(tuple(_values_of(column).tolist()))
            if code is not None:
                codes[name] = code
    if codes:
        code = next(iter(codes.values()))
        same = [repr(name) for name, each in codes.items() if each == code]
        others = [f"{each:g} in {name!r}" for name, each in codes.items() if each != code]
        warn(
            f"{'; '.join([f'{code:g} in {some_of(same)}', *others[:1]])} seems to stand for missing answers, "
            "but is taken for an answer like the others: leave such cells empty (NaN), as by "
            f"X.replace({code:g}, np.nan) in pandas"
        )


def warn_of_twins(values: FloatArray, names: Sequence[Hashable]) -> None:
    known, filled = ~np.isnan(values), np.nan_to_num(values)
    filled = filled / np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
    means = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, filled - means, 0.0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    centred = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    twins = np.argwhere(np.triu(np.abs(centred.T @ centred) > ONE_VARIABLE, 1))
    if len(twins):
        pairs = [f"{names[u]!r} and {names[v]!r}" for u, v in twins.tolist()]
        warn(
            f"columns that are the same variable, as their correlation is ±1: {some_of(pairs)}; leave one of "
            "them out, or each takes the other's edges"
        )


def _values_of(column: FloatArray) -> FloatArray:
    found: FloatArray = np.unique(column[~np.isnan(column)])
    return found
