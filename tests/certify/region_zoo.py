"""Random regions of a constraint, their sets by the definition, and weights."""

import numpy as np

from swapwise.constraints.region import Region
from tests.contracts.constraint_zoo import subsets


def some_region(random, constraint):
    """Return a part of the allowed sets: some elements are forced in or out, if they may be."""
    region = Region.of(constraint)
    for element in random.permutation(constraint.n)[: random.integers(4)]:
        if region.inside[element] or region.outside[element]:
            continue
        region = region.with_inside(int(element)) if random.random() < 0.6 else region.with_outside(element)
    return region


def sets_of(region, allows):
    """Return the sets of a region by the definition."""
    held, outside = set(region.held.tolist()), set(np.flatnonzero(region.outside).tolist())
    return [s for s in subsets(range(len(region.inside))) if held <= s and not s & outside and allows(s)]


def weights_of(random, n):
    """Return weights that are not negative, every second time with ties."""
    return random.choice([0.0, 1.0, 1.0, 2.0, 0.3], n) + 0.1 * random.random(n) * random.integers(2)
