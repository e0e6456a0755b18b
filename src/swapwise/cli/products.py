"""Products and powers among the features, by their names: which features each of them is made of."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.messages import hint, quoted

# What stands between the factors of a product: in R's formulas, and in what scikit-learn makes.
SIGNS = (":", " ")

POWER = "^"

HOW = (
    "products must be columns of the table whose names spell them, a:b or a^2: in pandas, "
    "table['a:b'] = table['a'] * table['b']; --product-sign says what else stands between factors"
)


def parents_of(
    features: Sequence[str], sign: str | None, left_out: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return which features each product or power needs, by name.

    Without a ``sign`` it is ``:`` if a name has that, and else a blank, as scikit-learn writes products. A
    name with blanks none of which separates a feature, such as ``body mass``, is no product.

    >>> parents_of(["a", "b", "a:b", "a^2"], None)
    {'a:b': ['a', 'b'], 'a^2': ['a']}
    >>> parents_of(["a", "b", "a b", "body mass"], None)
    {'a b': ['a', 'b']}
    """
    from swapwise.constraints.terms import parents_of_terms

    between, known = _sign_of(features) if sign is None else sign, dict.fromkeys(features)
    terms = [name for name in features if sign is not None or not _is_plain(name, between, known)]
    for name in terms:
        _require_factors(name, between, known, left_out)
    parents = parents_of_terms(terms, between, POWER)
    if not parents:
        said = "" if sign is None else f" with {sign!r} between its factors"
        raise BadInput(f"--hierarchy: no name is a product or a power of others{said}; {HOW}")
    return parents


def _sign_of(features: Sequence[str]) -> str:
    """Return what stands between factors: what makes a product of features of the most names."""
    known = set(features)
    spelled = {sign: [_factors(name, sign) for name in features if sign in name] for sign in SIGNS}
    made = {sign: sum(known.issuperset(factors) for factors in some) for sign, some in spelled.items()}
    first, second = SIGNS
    return first if spelled[first] and made[first] >= made[second] else second


def _is_plain(name: str, sign: str, features: Collection[str]) -> bool:
    """Return whether a name has blanks that separate words, and not factors."""
    return sign == " " and " " in name and not any(factor in features for factor in _factors(name, sign))


def _factors(name: str, sign: str) -> list[str]:
    """Return the features that a name multiplies, without their exponents.

    >>> _factors("a^2:b", ":")
    ['a', 'b']
    """
    return [re.sub(r"(?<=.)\^\d+$", "", part) for part in name.split(sign)]


def _require_factors(name: str, sign: str, features: Collection[str], left_out: Sequence[str]) -> None:
    """Refuse a product of what is no feature."""
    factors = _factors(name, sign)
    missing = [factor for factor in dict.fromkeys(factors) if factor not in features]
    if not missing or factors == [name]:
        return
    if missing[0] in left_out:
        raise BadInput(
            f"--hierarchy: {name!r} needs {missing[0]!r}, which is left out; --force-out leaves out "
            f"{name!r}, too"
        )
    close = "" if sign == " " else hint(missing[0], [one for one in features if one != name])
    raise BadInput(
        f"--hierarchy: {name!r} is spelled as a product or power of {quoted(missing)}, but there is no such "
        f"column{close}; add it, leave out {name!r} by --force-out, or say by --product-sign what stands "
        "between factors"
    )
