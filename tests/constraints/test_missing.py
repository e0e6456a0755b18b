"""Missing labels and names are refused, whatever marks them as missing."""

import numpy as np
import pandas as pd
import pytest

from swapwise import Graphic, Partition

MISSING = [None, np.nan, pd.NA, pd.NaT]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_labels(missing):
    with pytest.raises(ValueError, match=r"every element needs a label, got .* at position 1"):
        Partition(["a", missing], 1)


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_vertices(missing):
    with pytest.raises(ValueError, match=r"every edge needs two vertices, got .* in edge number 0"):
        Graphic([("a", missing)])


@pytest.mark.parametrize("edges", [None, 5, "ab"])
def test_edges_that_are_none(edges):
    with pytest.raises(TypeError, match="edges must be pairs of vertices or a networkx graph, got"):
        Graphic(edges)
