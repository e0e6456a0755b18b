"""Parameters of graph estimators keep their names, defaults and places, and are documented in full."""

import inspect
import re
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import swapwise as sw

EVERY = {
    "edges": None,
    "forced_edges": None,
    "max_edges": None,
    "max_iter": None,
    "method": "auto",
    "n_restarts": 0,
    "progress": False,
    "q": 1,
    "random_state": None,
    "threshold": 0.0,
    "time_limit": None,
    "tol": 1e-10,
}
LIMITS = {"max_degree": 3, "start": "auto"}
CHOICE = {
    "criterion": "ebic",
    "cv": 5,
    "gamma": 0.25,
    "max_degree": None,
    "n_jobs": None,
    "one_standard_error": False,
}
ISING = {"fields": True, "ridge": 0.01}
GAUSSIAN = {"correlation": "pearson", "ridge": 0.0}
MIXED = {"families": None, "ridge": 0.01}
PARAMETERS = {
    sw.IsingGraph: EVERY | LIMITS | ISING,
    sw.IsingGraphCV: EVERY | CHOICE | ISING,
    sw.GaussianGraph: EVERY | LIMITS | GAUSSIAN,
    sw.GaussianGraphCV: EVERY | CHOICE | GAUSSIAN | {"gamma": 0.5},
    sw.MixedGraph: EVERY | LIMITS | MIXED,
    sw.MixedGraphCV: EVERY | CHOICE | MIXED,
}


@pytest.mark.parametrize("kind", PARAMETERS, ids=lambda kind: kind.__name__)
class TestParameters:
    def test_names_and_defaults(self, kind):
        assert kind().get_params() == PARAMETERS[kind]
        assert repr(kind()) == f"{kind.__name__}()"
        assert get_type_hints(kind.__init__).keys() == {*PARAMETERS[kind], "return"}

    def test_only_degrees_are_positional(self, kind):
        first, *others = inspect.signature(kind).parameters.values()
        assert (first.name, first.kind) == ("max_degree", first.POSITIONAL_OR_KEYWORD)
        assert {other.kind for other in others} == {inspect.Parameter.KEYWORD_ONLY}

    def test_copies_and_words(self, kind):
        model = kind(2, max_edges=5, threshold=0.1)
        assert (
            clone(model).get_params()
            == model.get_params()
            == PARAMETERS[kind]
            | {
                "max_degree": 2,
                "max_edges": 5,
                "threshold": 0.1,
            }
        )
        assert repr(model) == f"{kind.__name__}(max_degree=2, max_edges=5, threshold=0.1)"

    def test_each_is_documented_by_itself(self, kind):
        described = names_in("Parameters", kind)
        assert sorted(described) == sorted(PARAMETERS[kind])
        assert described == [*inspect.signature(kind).parameters]

    def test_so_is_every_attribute_of_a_fit(self, kind):
        frame = pd.DataFrame(np.random.default_rng(0).integers(2, size=(60, 3)), columns=list("abc"))
        fitted = vars(kind().fit(frame))
        assert sorted(names_in("Attributes", kind)) == sorted(
            set(re.findall(r"\b[a-z]\w*_\b", " ".join(fitted)))
        )


def names_in(section, kind):
    """The names that a section of the documentation describes, each with words of its own."""
    text = re.search(rf"^{section}\n-+\n(.*?)\n\n", inspect.getdoc(kind), re.MULTILINE | re.DOTALL)[1]
    assert "As in" not in text
    return re.findall(r"^(\w+) : .+\n    \S", text, re.MULTILINE)
