"""Products and powers among the features, recognised by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

import numpy as np

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import hint, quoted

# The sign between the factors of a product in scikit-learn's names; in R's formulas it is a colon.
BLANK = " "

POWER = re.compile(r"(.+)\^(\d+)")

HOW = (
    "products must be columns of the table whose names spell them, a:b or a^2: in pandas, "
    "table['a:b'] = table['a'] * table['b']; --product-sign says what else stands between factors"
)

#: The exponent of each factor
Factors = dict[str, int]


def parents_of(
    features: Sequence[str], sign: str | None, left_out: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the parents of each product or power, by name: the largest other features that divide it.

    Without a ``sign`` it is ``:`` if a name has that, and else a blank, as scikit-learn writes products. A
    name with blanks none of which separates a feature, such as ``body mass``, is no product.

    >>> parents_of(["a", "b", "a:b", "a^2", "a^2:b"], None)
    {'a:b': ['a', 'b'], 'a^2': ['a'], 'a^2:b': ['a:b', 'a^2']}
    >>> parents_of(["a", "body mass", "a body mass"], None)
    {'a body mass': ['a', 'body mass']}
    """
    from swapwise.constraints.terms import parents_of_powers, sign_between

    between = sign_between(features) if sign is None else sign
    known: dict[str, Factors] = {}
    for name in sorted(features, key=len):  # the factors of a name are shorter
        known[name] = _factors_of(name, between, known, features, left_out)
    variables = list(dict.fromkeys(factor for factors in known.values() for factor in factors))
    place = {variable: number for number, variable in enumerate(variables)}
    powers = np.zeros((len(features), len(variables)), dtype=np.intp)
    for row, name in enumerate(features):
        for factor, exponent in known[name].items():
            powers[row, place[factor]] = exponent
    parents = parents_of_powers(powers)
    if not parents:
        with_sign = "" if sign is None else f" with {sign!r} between its factors"
        raise BadInput(f"--hierarchy: no name is a product or a power of others{with_sign}; {HOW}")
    return {features[term]: [features[parent] for parent in own] for term, own in parents.items()}


def _factors_of(
    name: str, sign: str, known: Mapping[str, Factors], features: Collection[str], left_out: Collection[str]
) -> Factors:
    """Return the factors in a name with their exponents; a name that is no product is its own factor."""
    factors, missing, words = Factors(), list[str](), name.split(sign)
    while words:
        # The longest run of words that is a feature, which may have the sign in its own name.
        runs = [sign.join(words[:end]) for end in range(len(words), 0, -1)]
        run = next((run for run in runs if _base(run, known) is not None), None)
        if run is None:
            power = POWER.fullmatch(words[0])
            missing.append(power[1] if power else words[0])
            words = words[1:]
            continue
        base, exponent = _base(run, known) or (run, 1)
        for factor, own in known[base].items():
            factors[factor] = factors.get(factor, 0) + exponent * own
        words = words[run.count(sign) + 1 :]
    if not missing:
        return factors
    is_power = POWER.fullmatch(name) is not None
    if not factors and not is_power and (sign == BLANK or sign not in name):
        return {name: 1}
    _refuse(name, missing, sign, features, left_out)


def _base(run: str, known: Mapping[str, Factors]) -> tuple[str, int] | None:
    """Return the feature that a part of a name stands for, and its exponent, or None.

    An exponent behind a product is that of its last factor.
    """
    if run in known:
        return run, 1
    power = POWER.fullmatch(run)
    return (power[1], int(power[2])) if power and known.get(power[1]) == {power[1]: 1} else None


def _refuse(
    name: str, missing: list[str], sign: str, features: Collection[str], left_out: Collection[str]
) -> NoReturn:
    if missing[0] in left_out:
        raise BadInput(
            f"--hierarchy: {name!r} needs {missing[0]!r}, which is left out; --force-out leaves out "
            f"{name!r}, too"
        )
    close = "" if sign == BLANK else hint(missing[0], [one for one in features if one != name])
    raise BadInput(
        f"--hierarchy: {name!r} is spelled as a product or power of {quoted(missing)}, but there is no such "
        f"column{close}; add it, leave out {name!r} by --force-out, rename that, or say by --product-sign "
        "what stands between factors"
    )
