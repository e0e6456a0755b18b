from __future__ import annotations

import numpy as np
import pytest

from benchmarks.potentials import OBJECTIVES, PACKING_SEARCHES, SEARCHES, packed, parted, shares, shares_table


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_no_search_is_better_than_the_optimum(kind: str) -> None:
    found = shares(parted(kind, 8, 3, 2), SEARCHES)
    for each in found.values():
        assert len(each) == 2
        assert ((each > 0.5) & (each < 1 + 1e-9)).all()
    assert shares_table(kind, found).row_count == len(SEARCHES)


def test_packings() -> None:
    found = shares(packed(3, 8, 2), PACKING_SEARCHES)
    assert np.min(list(found.values())) > 1 / 3
