"""Parameters and fitted attributes of estimators: each is declared once, with its documentation.

>>> @with_parameters
... class Shrunk(BaseEstimator):
...     '''A model.
...
...     Parameters
...     ----------
...     {parameters}
...
...     Attributes
...     ----------
...     {attributes}
...     '''
...     size: int = parameter(3, "int", "How many features.")
...     _: KW_ONLY
...     ridge: float = parameter(0.0, "float", "Weight of the penalty.")
...     coef_: list[float] = attribute("array of shape (n_features,)", "The coefficients.")
>>> Shrunk.__doc__.strip().splitlines()[-2:]
['    coef_ : array of shape (n_features,)', '        The coefficients.']
>>> @with_parameters
... class Stronger(Shrunk):
...     '''{parameters}'''
...     _: KW_ONLY
...     ridge: float = parameter(1.0, "float", "Weight of the penalty, which is not small here.")
>>> Stronger(2).get_params()
{'ridge': 1.0, 'size': 2}
>>> print(Stronger.__doc__)
size : int
    How many features.
ridge : float
    Weight of the penalty, which is not small here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, MISSING, field, make_dataclass
from inspect import cleandoc, get_annotations
from textwrap import indent
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

__all__ = ["KW_ONLY", "BaseEstimator", "attribute", "parameter", "with_parameters"]

Kind = TypeVar("Kind", bound=type)


class Declaration(NamedTuple):
    """What a class declares of a parameter, or of an attribute, which has no default."""

    kind: str
    text: str
    default: Any = MISSING
    #: As it is annotated
    type: Any = None
    is_keyword: bool = False


def parameter(default: Any, kind: str, text: str) -> Any:
    """Declare a parameter: its default, its type in words, and its meaning."""
    return Declaration(kind, cleandoc(text), default)


def attribute(kind: str, text: str = "", *, init: Literal[False] = False) -> Any:
    """Declare an attribute that ``fit`` sets: its type in words, and its meaning."""
    return Declaration(kind, cleandoc(text))


# A parameter is to type checkers what any value is: the default of a field.
@dataclass_transform(eq_default=False, field_specifiers=(attribute,))
def with_parameters(kind: Kind) -> Kind:
    """Give a class the ``__init__`` of its parameters and of those of its bases, and document all of them.

    ``{parameters}`` and ``{attributes}`` in the docstring stand for their descriptions: first the positional
    parameter, then those of the class, then those of its bases, as in the signature. A declaration replaces
    those of classes behind it in the order of method resolution.
    """
    made: Any = kind
    made._declared = dict(_own(kind))
    declared: dict[str, Declaration] = {}
    for base in kind.__mro__:
        for name, each in vars(base).get("_declared", {}).items():
            declared.setdefault(name, each)
    parameters = {name: each for name, each in declared.items() if each.default is not MISSING}
    parameters = dict(sorted(parameters.items(), key=lambda item: item[1].is_keyword))
    # Only the __init__ is a dataclass's: dask identifies dataclasses by their fields alone, without what a
    # subclass or a fit has set.
    fields = [
        (name, each.type, field(default=each.default, kw_only=each.is_keyword))
        for name, each in parameters.items()
    ]
    donor: Any = make_dataclass(kind.__name__, fields, eq=False, repr=False, match_args=False)
    made.__init__ = donor.__init__
    attributes = {name: each for name, each in declared.items() if name not in parameters}
    for place, described in (("{parameters}", parameters), ("{attributes}", attributes)):
        found = re.search(rf"^( *){place}", made.__doc__ or "", re.MULTILINE)
        if found:
            made.__doc__ = made.__doc__.replace(found[0], indent(_described(described), found[1]))
    return kind


def _own(kind: type) -> Iterator[tuple[str, Declaration]]:
    """Yield what a class itself declares, and take it off the class: help() would list it as a member."""
    is_keyword = False
    for name, annotation in get_annotations(kind, eval_str=True).items():
        is_keyword |= annotation is KW_ONLY
        each = vars(kind).get(name)
        if isinstance(each, Declaration):
            delattr(kind, name)
            yield name, each._replace(type=annotation, is_keyword=is_keyword)


def _described(declared: Mapping[str, Declaration]) -> str:
    return "\n".join(
        f"{name} : {each.kind}\n{indent(each.text, '    ')}".rstrip() for name, each in declared.items()
    )
