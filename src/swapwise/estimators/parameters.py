"""Parameters of estimators: each is declared once, with its default and its documentation.

>>> @with_parameters
... class Shrunk(BaseEstimator):
...     '''A model.
...
...     Parameters
...     ----------
...     {parameters}
...     '''
...     size: int = parameter(3, "int", "How many features.")
...     _: KW_ONLY
...     ridge: float = parameter(0.0, "float", "Weight of the penalty.")
>>> @with_parameters
... class Stronger(Shrunk):
...     '''{parameters}'''
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
from dataclasses import KW_ONLY, dataclass, field, fields
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

__all__ = ["KW_ONLY", "BaseEstimator", "parameter", "with_parameters"]

Kind = TypeVar("Kind", bound=type)


def parameter(default: Any, kind: str, text: str) -> Any:
    """Declare a parameter: its default, what it may be, and what it does."""
    return field(default=default, metadata={"kind": kind, "text": cleandoc(text)})


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
def with_parameters(kind: Kind) -> Kind:
    """Give a class the ``__init__`` of its parameters and of those of its bases, and document all of them.

    ``{parameters}`` in the docstring stands for their descriptions. What a subclass declares again takes the
    place of what its base said.
    """
    made: Any = dataclass(eq=False, repr=False)(kind)
    described = [
        f"{p.name} : {p.metadata['kind']}\n" + indent(p.metadata["text"], "    ") for p in fields(made)
    ]
    found = re.search(r"^( *)\{parameters\}", made.__doc__ or "", re.MULTILINE)
    if found:
        text = indent("\n".join(described), found[1])
        made.__doc__ = str(made.__doc__).replace(found[0], text)
    return made
