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
...     coef_: FloatArray = attribute("array of shape (n_features,)", "The coefficients.")
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
from dataclasses import KW_ONLY, Field, dataclass, field, fields
from inspect import cleandoc, get_annotations, signature
from textwrap import indent
from typing import Any, Literal, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

__all__ = ["KW_ONLY", "BaseEstimator", "attribute", "parameter", "with_parameters"]

Kind = TypeVar("Kind", bound=type)


def parameter(default: Any, kind: str, text: str) -> Any:
    """Declare a parameter: its default, its type in words, and its meaning."""
    return field(default=default, metadata={"kind": kind, "text": cleandoc(text)})


def attribute(kind: str, text: str = "", *, init: Literal[False] = False) -> Any:
    """Declare an attribute that ``fit`` sets: its type in words, and its meaning."""
    return field(init=init, metadata={"kind": kind, "text": cleandoc(text)})


# A parameter is to type checkers what any value is: the default of a field.
@dataclass_transform(eq_default=False, field_specifiers=(attribute,))
def with_parameters(kind: Kind) -> Kind:
    """Give a class the ``__init__`` of its parameters and of those of its bases, and document all of them.

    ``{parameters}`` and ``{attributes}`` in the docstring stand for their descriptions: first the positional
    parameter, then those of the class, then those of its bases, as in the signature. A declaration in a
    subclass replaces that of its base. A mix-in must not inherit the parameters of the estimators that it is
    mixed into: its copies would replace those that the estimators declare again.
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False)(kind)
    declared: dict[str, Field[Any]] = {each.name: each for each in fields(made)}
    for name, each in declared.items():
        if each.init and name in vars(made):
            delattr(made, name)  # the default, which help() and API pages would list as a member
    nearest_first = dict.fromkeys(name for base in made.__mro__ for name in get_annotations(base))
    known = [declared[name] for name in nearest_first if name in declared]
    known.sort(key=lambda each: bool(each.init and each.kw_only))
    taken = signature(made.__init__)
    order = ["self", *(each.name for each in known if each.init)]
    made.__init__.__signature__ = taken.replace(parameters=[taken.parameters[name] for name in order])
    for place, is_parameter in (("{parameters}", True), ("{attributes}", False)):
        text = "\n".join(_described(each) for each in known if each.init is is_parameter)
        found = re.search(rf"^( *){place}", made.__doc__ or "", re.MULTILINE)
        if found:
            made.__doc__ = made.__doc__.replace(found[0], indent(text, found[1]))
    return made


def _described(each: Field[Any]) -> str:
    return f"{each.name} : {each.metadata['kind']}\n" + indent(each.metadata["text"], "    ").rstrip()
