"""Parameters of estimators: names, defaults and documentation."""

import inspect
import pydoc
import re
from typing import get_type_hints

import pytest
from dask.base import tokenize
from sklearn.base import clone

import swapwise as sw

SHARED = {
    "constraint": 10,
    "method": "auto",
    "start": "auto",
    "q": 1,
    "ridge": None,
    "fit_intercept": True,
    "standardize": True,
    "groups": None,
    "forced": None,
    "bounds": None,
    "positive": False,
    "n_restarts": 0,
    "max_iter": None,
    "tol": 1e-10,
    "time_limit": None,
    "random_state": None,
    "progress": False,
}
OF_CV = SHARED | {
    "constraint": None,
    "sizes": None,
    "along": "size",
    "criterion": "cv",
    "cv": 5,
    "one_standard_error": False,
    "gamma": 0.5,
    "n_features_original": None,
    "weights_are": "importance",
    "n_jobs": None,
}
OF_GLM = {"family": "poisson", "alpha": None}
PARAMETERS = {
    sw.SparseRegressor: SHARED,
    sw.SparseRegressorCV: OF_CV,
    sw.SparseClassifier: SHARED | {"class_weight": None},
    sw.SparseClassifierCV: OF_CV | {"class_weight": None},
    sw.SparseGLMRegressor: SHARED | OF_GLM,
    sw.SparseGLMRegressorCV: OF_CV | OF_GLM,
    sw.SparseSelector: SHARED | {"loss": "auto"},
}
each_estimator = pytest.mark.parametrize("kind", PARAMETERS)


def test_every_estimator_is_here():
    named = [name for name in sw.__all__ if re.match("Sparse.*(or|er)(CV)?$", name)]
    assert sorted(named) == sorted(kind.__name__ for kind in PARAMETERS)


@each_estimator
def test_names_and_defaults(kind):
    assert kind().get_params() == PARAMETERS[kind]
    assert clone(kind()).get_params() == PARAMETERS[kind]
    signature = inspect.signature(kind).parameters
    assert {name: found.default for name, found in signature.items()} == PARAMETERS[kind]
    assert [*signature] == [*described("Parameters", kind)]


@each_estimator
def test_types_are_known_at_run_time(kind):
    assert get_type_hints(kind.__init__).keys() == {*PARAMETERS[kind], "return"}


def test_dask_tells_models_apart_by_all_that_they_hold():
    class Noted(sw.SparseRegressor):
        note = ""

    one, other = Noted(2), Noted(2)
    assert tokenize(one) == tokenize(other)
    other.note = "another"
    assert tokenize(one) != tokenize(other)


@each_estimator
def test_all_but_the_constraint_are_keywords(kind):
    signature = inspect.signature(kind).parameters
    assert [name for name, found in signature.items() if found.kind is not found.KEYWORD_ONLY] == [
        "constraint"
    ]
    assert kind(3).constraint == 3
    with pytest.raises(TypeError, match="positional argument"):
        kind(3, "oblivious")
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        kind(size=3)


@each_estimator
def test_what_is_set_is_shown(kind):
    assert repr(kind()) == f"{kind.__name__}()"
    assert repr(kind(3, ridge=0.1)) == f"{kind.__name__}(constraint=3, ridge=0.1)"
    assert kind(3) != kind(3)  # as for all estimators of scikit-learn
    assert len({kind(3), kind(3)}) == 2


def described(section, kind):
    """Return the descriptions of a section of ``help(kind)``, by name."""
    text = re.sub(r"^ \|  ?", "", pydoc.plain(pydoc.render_doc(kind)), flags=re.MULTILINE)
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n---)", text, re.MULTILINE | re.DOTALL)
    parts = re.split(r"^(\w+) : ", found[1], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@each_estimator
def test_help_describes_all_in_full(kind):
    assert described("Parameters", kind).keys() == PARAMETERS[kind].keys()
    for text in [*described("Parameters", kind).values(), *described("Attributes", kind).values()]:
        assert re.match(r"\S[^\n]*\n    +\S", text)  # what it is, and what it does
        assert not re.search(r"\b[Ss]ee :(class|meth):|\b[Aa]s for :class:", text)


def test_a_description_is_that_of_the_nearest_class():
    texts = {kind: described("Parameters", kind)["ridge"] for kind in PARAMETERS}
    assert texts[sw.SparseClassifierCV] == texts[sw.SparseClassifier] != texts[sw.SparseRegressor]
    assert texts[sw.SparseGLMRegressorCV] == texts[sw.SparseGLMRegressor] != texts[sw.SparseSelector]


@each_estimator
def test_parameters_are_no_members_of_the_class(kind):
    assert not {*PARAMETERS[kind]} & {*dir(kind)}
