"""Parameters of graph estimators keep their names, defaults and places, and are documented in full."""

import inspect
import re

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
        section = re.search(r"^Parameters\n-+\n(.*?)\n\n", inspect.getdoc(kind), re.MULTILINE | re.DOTALL)[1]
        described = re.findall(r"^(\w+) : .+\n    \S", section, re.MULTILINE)
        assert sorted(described) == sorted(PARAMETERS[kind])
        assert described == [*inspect.signature(kind).parameters]
