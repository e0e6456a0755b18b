"""Theorems on the methods other than local search, by name.

A theorem needs a kind of constraint and constants of the objective; the proofs that are not the cited papers'
own are in the documentation, "How good is my answer?".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, expm1, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from swapwise.constraints.base import Constraint
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.knapsack import Knapsack
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.packing import PackingSystem
from swapwise.constraints.uniform import Uniform
from swapwise.search.methods.potential import PHIS, RATIOS
from swapwise.theory.constants import RestrictedConstants
from swapwise.theory.ratios import SubmodularityRatios
from swapwise.theory.statement import NO_ROUND, NO_THEOREM, Guarantee, nothing

FLAT = "more features than samples, collinear columns, or too many for more than a rough bound"


def flat(name: str) -> Guarantee:
    """Return an empty guarantee because u has no curvature."""
    return nothing(f"{name} is 0 ({FLAT}): a ridge makes it positive")


FLAT_RATIO = nothing("γ is 0: single elements do not show the value of sets")


@dataclass(frozen=True)
class MethodRun:
    name: str
    constraint: Constraint
    #: γ, β and α; from m and M if nothing else is known
    ratios: SubmodularityRatios
    #: m and M, if they are known
    constants: RestrictedConstants | None = None
    #: The number of completed rounds; None if the method came to its own end
    T: int | None = None
    #: The details of the run on the record, and the options of the method
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def s(self) -> int:
        return self.constraint.max_size()

    @property
    def linear(self) -> bool:
        return self.ratios.submodular and float(self.ratios.alpha) == 0.0

    def number(self, name: str, default: float) -> float:
        found = self.details.get(name, default)
        return float(found) if isinstance(found, (int, float)) else default

    def is_flat(self) -> Guarantee | None:
        """Return an empty guarantee if γ is not known to be positive."""
        if float(self.ratios.gamma_s) > 0:
            return None
        return FLAT_RATIO if self.constants is None else flat("m_s")


def of_run(run: MethodRun) -> Guarantee:
    theorem = THEOREMS.get(run.name, Theorem(_unknown, "no theorem"))
    rounds = {"modular": 1, "greedy": run.s, "random-residual-greedy": run.s}.get(run.name, inf)
    if run.name == "random-residual-greedy" and not isinstance(run.constraint, Matroid):
        raise TypeError(f"random-residual-greedy is for a matroid, got {run.constraint!r}; greedy works here")
    anytime = theorem.anytime and isinstance(run.constraint, Uniform)
    if run.T is not None and rounds > run.T and not anytime:
        return nothing(f"{run.name} did not come to its end")
    if run.constraint.p is None and not theorem.any_constraint:
        return nothing(NO_THEOREM)
    return theorem.guarantee(run)


def _exhaustive(run: MethodRun) -> Guarantee:
    return Guarantee(1.0, "exhaustive search", "all sets were seen")


def _random(run: MethodRun) -> Guarantee:
    return nothing("the set is drawn at random")


def _unknown(run: MethodRun) -> Guarantee:
    return nothing(f"no theorem bounds the share of the optimum that {run.name} reaches")


def _recovery(run: MethodRun) -> Guarantee:
    return nothing(
        f"theorems on {run.name} are about recovering a sparse truth, or about larger sets than the "
        "one they are compared with: none bounds its share of the optimum"
    )


def _greedy(run: MethodRun) -> Guarantee:
    p, is_complete = run.constraint.p, run.T is None or run.s <= run.T
    if run.linear and is_complete:
        if isinstance(run.constraint, Matroid) or p == 1:
            return Guarantee(1.0, "Edmonds 1971", "greedy is exact on matroids")
        return Guarantee(1 / float(p or inf), "Jenkyns 1976", "1/p", {"p": float(p or inf)})
    if isinstance(run.constraint, Uniform):
        return _greedy_of_a_size(run)
    if run.ratios.submodular and p is not None:
        return Guarantee(1 / (p + 1), "Fisher, Nemhauser and Wolsey 1978", "1/(p + 1)", {"p": p})
    return nothing("greedy has a guarantee only under a size limit, Uniform")


def _greedy_of_a_size(run: MethodRun) -> Guarantee:
    s = run.s
    T = s if run.T is None else min(s, run.T)
    gamma, alpha = float(run.ratios.gamma), float(run.ratios.alpha)
    if gamma <= 0:
        return flat("m_2s") if run.constants is not None else FLAT_RATIO
    ratio, numbers = 1 - max(0.0, 1 - gamma / s) ** T, {"s": float(s), "T": float(T)}
    if s <= T and alpha > 0:
        curved = (1 - max(0.0, 1 - alpha * gamma / s) ** s) / alpha
        if curved > ratio * (1 + 1e-12):
            numbers = {"gamma": gamma, "alpha": alpha, "s": float(s)}
            return Guarantee(min(1.0, curved), "Bian et al. 2017", "(1 − (1 − αγ/s)^s)/α", numbers)
    if run.ratios.submodular:
        theorem, formula = "Nemhauser, Wolsey and Fisher 1978", "1 − (1 − 1/s)^T"
    elif run.constants is not None:
        theorem, formula = "Elenberg et al. 2018", "1 − (1 − m_2s/(s M_1))^T"
        numbers = {"m_2s": float(run.constants.m_2s), "M_1": float(run.constants.M_1), **numbers}
    else:
        theorem, formula, numbers = "Das and Kempe 2011", "1 − (1 − γ/s)^T", {"gamma": gamma, **numbers}
    return Guarantee(ratio, theorem, formula, numbers, reason=NO_ROUND)


def _cost_benefit(run: MethodRun) -> Guarantee:
    is_one_budget = isinstance(run.constraint, Knapsack) and len(run.constraint.budget) == 1
    if not (is_one_budget and run.ratios.submodular and not len(run.constraint.forced)):
        return nothing("cost-benefit has a guarantee only for submodular functions within one budget")
    return Guarantee((1 - exp(-1)) / 2, "Leskovec et al. 2007", "(1 − 1/e)/2")


def _matching_pursuit(run: MethodRun) -> Guarantee:
    # The steepest addition gains at least max_j ‖g_j‖²/2M_1, which is all that the proof for greedy uses.
    if not isinstance(run.constraint, Uniform):
        return nothing("omp has a guarantee only under a size limit, Uniform")
    if run.constants is None:
        return nothing("omp reads gradients: its theorem needs RestrictedConstants")
    return _greedy_of_a_size(run)


def _modular(run: MethodRun) -> Guarantee:
    factor = run.constraint.max_weight(np.zeros(run.constraint.n)).factor
    if run.linear:
        return Guarantee(factor, "the largest weight", "factor of max_weight", {"factor": factor})
    if run.constants is not None and not run.ratios.submodular:
        return _modular_by_eigenvalues(run.constraint, run.constants, factor)
    gamma, alpha, s = float(run.ratios.gamma), float(run.ratios.alpha), run.s
    if gamma <= 0:
        return FLAT_RATIO
    numbers = {"factor": factor, "s": float(s)}
    if run.ratios.submodular and 1 - alpha <= 1 / s:
        return Guarantee(factor / s, "the best of s elements", "factor/s", numbers)
    numbers |= {"gamma": gamma, "alpha": alpha}
    ratio = factor * gamma * max(1 / s, 1 - alpha)
    return Guarantee(ratio, "modular approximation", "factor γ max(1/s, 1 − α)", numbers)


def _modular_by_eigenvalues(
    constraint: Constraint, constants: RestrictedConstants, factor: float
) -> Guarantee:
    low, theorem = "m_1", "Proposition 25 of Fujii 2020"
    if len(constraint.forced):  # gains beside forced elements curve with all of their coefficients
        low, theorem = "m_s", "modular approximation"
    c = {letter: float(getattr(constants, letter)) for letter in dict.fromkeys((low, "m_s", "M_1", "M_s"))}
    zero = [letter for letter in c if c[letter] <= 0]
    if zero:
        return flat(zero[0])
    formula = f"{low} m_s/(M_1 M_s)" if factor == 1 else f"{factor:.4g} {low} m_s/(M_1 M_s)"
    ratio = factor * c[low] * c["m_s"] / (c["M_1"] * c["M_s"])
    return Guarantee(min(1.0, ratio), theorem, formula, c)


def _residual(run: MethodRun) -> Guarantee:
    if run.linear:
        return Guarantee(1.0, "Edmonds 1971", "greedy is exact on matroids")
    if (none := run.is_flat()) is not None:
        return none
    gamma, beta = float(run.ratios.gamma_s), float(run.ratios.beta_s)
    ratio, weaker = gamma / (gamma + beta), (gamma / (1 + gamma)) ** 2
    if weaker > ratio:  # for β > 2 + 1/γ; never with the bounds by eigenvalues
        theorem, formula = "Chen, Feldman and Karbasi 2018", "(γ/(1 + γ))²"
        return Guarantee(weaker, theorem, formula, {"gamma": gamma}, in_expectation=True)
    formula, numbers = "γ/(γ + β)", {"gamma": gamma, "beta": beta}
    if run.ratios.submodular:
        formula, numbers = "1/2", {}
    elif run.constants is not None:
        formula = "1/(1 + (M_1/m_s)²)"
        numbers = {"m_s": float(run.constants.m_s), "M_1": float(run.constants.M_1)}
    return Guarantee(ratio, "Thiery and Ward 2022", formula, numbers, in_expectation=True)


def fixed_set_ratio(m_2s: float, m_s: float, step: float, head: float = 1.0) -> float:
    """Return the guaranteed share of the optimum of a fixed set of hard thresholding.

    A set S is fixed for a step η if its weights ``‖w_i + η g_i‖²`` are at least ``head`` times those of every
    independent set, with w the fit on S and g the gradient there. Then
    ``f(S) ≥ max f / (1 + (1/(m η² h) − min(1/(m η²), m)) / m_s)`` with m = m_2s and h = head.
    """
    steep = 1 / (m_2s * step**2)
    return 1 / (1 + (steep / head - min(steep, m_2s)) / m_s)


def _fixed_set(run: MethodRun) -> Guarantee:
    formula = "1/(1 + (1/(m_2s η² h) − min(1/(m_2s η²), m_2s))/m_s)"
    if run.constants is None:
        return nothing(f"{run.name} reads gradients: its theorem needs RestrictedConstants")
    step, head = run.number("step", 0.0), run.number("head", 1.0)
    if not (0 < step < inf and head > 0):
        return nothing(
            f"it is not known for which step {run.name} would stay at its answer", "fixed set", formula
        )
    m_2s, m_s = float(run.constants.m_2s), float(run.constants.m_s)
    if m_2s <= 0:
        return flat("m_2s")
    numbers = {"m_2s": m_2s, "m_s": m_s, "η": step, "h": head}
    return Guarantee(fixed_set_ratio(m_2s, m_s, step, head), "fixed set", formula, numbers)


def distorted_share(gamma: float, beta: float, phi: float, levels: float = inf) -> float:
    """Return the share of the optimum at a local optimum of the distorted potential; 0 if φ is too small.

    ``γ²(1 − e^{−φ})/φ`` for ``φ ≥ β(1 − γ) + γ²``. With ℓ colours, φ stands for φ/β:
    ``γ²/(βφ) · (1 − (1 + φ/ℓ)^{−ℓ})`` for ``βφ ≥ β(1 − γ) + γ²``.
    """
    needed = beta * (1 - gamma) + gamma**2
    if levels == inf:
        return -(gamma**2) * expm1(-phi) / phi if phi >= needed * (1 - 1e-12) else 0.0
    share = gamma**2 / (beta * phi) * (1 - (1 + phi / levels) ** -levels)
    return share if beta * phi >= needed * (1 - 1e-12) else 0.0


def _filmus_ward(run: MethodRun) -> Guarantee:
    if not isinstance(run.constraint, Matroid):
        return nothing("filmus-ward has a guarantee only under a matroid")
    if not run.ratios.submodular:
        return nothing("filmus-ward has a guarantee only for submodular functions; see distorted")
    levels = run.number("levels", inf)
    if levels == inf:
        return Guarantee(1 - exp(-1), "Filmus and Ward 2014", "1 − 1/e")
    ratio = distorted_share(1.0, 1.0, 1.0, levels)
    return Guarantee(ratio, "Buchbinder and Feldman 2024", "1 − (1 + 1/ℓ)^−ℓ", {"ℓ": levels})


def _distorted(run: MethodRun) -> Guarantee:
    if not isinstance(run.constraint, Matroid):
        return nothing("distorted has a guarantee only under a matroid")
    if "phi" not in run.details:
        return nothing("it is not known for which φ distorted came to a local optimum")
    if (none := run.is_flat()) is not None:
        return none
    levels, last = run.number("levels", inf), float(run.details["phi"])
    # The φ are tried in falling order, and the guarantee is the best over those up to the last one.
    planned = run.details.get("phis") or (PHIS if levels == inf else RATIOS)
    visited = {last, *(phi for phi in planned if phi >= last)}
    # γ is for A and B of up to s elements each, β for those with s together.
    gamma, beta = float(run.ratios.gamma), float(run.ratios.beta_s)
    ratio, phi = max((distorted_share(gamma, beta, phi, levels), phi) for phi in visited)
    formula = "γ²(1 − e^−φ)/φ" if levels == inf else "γ²/(βφ) · (1 − (1 + φ/ℓ)^−ℓ)"
    numbers = {"gamma": gamma, "beta": beta, "φ": phi} | ({} if levels == inf else {"ℓ": levels})
    reason = "no φ that was visited is as large as β(1 − γ) + γ², with what is known of γ and β"
    return Guarantee(ratio, "Thiery and Ward 2022", formula, numbers, reason=reason)


def _sieve(run: MethodRun) -> Guarantee:
    if not (isinstance(run.constraint, Uniform) and run.ratios.submodular):
        return nothing("sieve has a guarantee only for submodular functions under a size limit")
    epsilon = run.details.get("epsilon")
    if epsilon is None:
        return nothing("which epsilon sieve worked with is not known", "Badanidiyuru et al. 2014", "1/2 − ε")
    ratio, numbers = max(0.0, 0.5 - float(epsilon)), {"ε": float(epsilon)}
    return Guarantee(ratio, "Badanidiyuru et al. 2014", "1/2 − ε", numbers, reason="ε is too large")


def _streak(run: MethodRun) -> Guarantee:
    theorem, formula = "Elenberg et al. 2017", "(1 − ε) (γ/2) (3 − e^−γ/2 − 2√(2 − e^−γ/2))"
    if not isinstance(run.constraint, Uniform):
        return nothing("streak has a guarantee only under a size limit, Uniform")
    if run.details.get("order", "random") != "random" or run.details.get("epsilon") is None:
        return nothing("streak has a guarantee only in random order, with a known ε", theorem, formula)
    gamma, epsilon = float(run.ratios.gamma), float(run.details["epsilon"])
    if gamma <= 0:
        return FLAT_RATIO if run.constants is None else flat("m_2s")
    share = gamma / 2 * (3 - exp(-gamma / 2) - 2 * sqrt(2 - exp(-gamma / 2)))
    numbers = {"gamma": gamma, "ε": epsilon}
    return Guarantee((1 - epsilon) * share, theorem, formula, numbers, in_expectation=True)


def _streaming(run: MethodRun) -> Guarantee:
    known = isinstance(run.constraint, (Matroid, Intersection, PackingSystem))
    if not (known and run.ratios.submodular and run.constraint.p):
        return nothing("streaming has a guarantee only for submodular functions in intersections of matroids")
    p = run.constraint.p
    if p == 1:
        return Guarantee(0.25, "Chakrabarti and Kale 2014", "1/4")
    return Guarantee(1 / (4 * p + 2), "Chakrabarti and Kale 2014", "1/(4p + 2)", {"p": float(p)})


def _ordered(run: MethodRun) -> Guarantee:
    p = run.constraint.p
    if not (run.ratios.submodular and p and run.constraint.group_limits() is not None):
        return nothing("ordered has a guarantee only for submodular functions under packings")
    return Guarantee(2 / (p + 3), "Ward 2012", "2/(p + 3)", {"p": float(p)})


class Theorem(NamedTuple):
    """The guarantee of a method as a function of its run, and what the theorem needs, in words."""

    guarantee: Callable[[MethodRun], Guarantee]
    #: Conditions on the constraint, the objective and the run
    needs: str
    #: Whether it holds without a p
    any_constraint: bool = False
    #: Whether it holds after any number of rounds, under a size limit
    anytime: bool = False


THEOREMS: dict[str, Theorem] = {
    "greedy": Theorem(_greedy, "Uniform and γ, or a submodular function", anytime=True),
    "cost-benefit": Theorem(_cost_benefit, "one budget; a submodular function", any_constraint=True),
    "omp": Theorem(_matching_pursuit, "Uniform; m and M", anytime=True),
    "random-residual-greedy": Theorem(_residual, "a matroid; γ and β"),
    "modular": Theorem(_modular, "γ, or m and M"),
    "htp": Theorem(_fixed_set, "m, and the step for which the set is fixed", any_constraint=True),
    "iht": Theorem(_fixed_set, "m, and the step for which the set is fixed", any_constraint=True),
    "filmus-ward": Theorem(_filmus_ward, "a matroid; a submodular function"),
    "distorted": Theorem(_distorted, "a matroid; γ and β"),
    "sieve": Theorem(_sieve, "Uniform; a submodular function"),
    "streak": Theorem(_streak, "Uniform; γ; elements in random order"),
    "streaming": Theorem(_streaming, "an intersection of p matroids; a submodular function"),
    "ordered": Theorem(_ordered, "limits on groups; a submodular function"),
    "random": Theorem(_random, "nothing is known", any_constraint=True),
    "exhaustive": Theorem(_exhaustive, "few sets", any_constraint=True),
    **{
        name: Theorem(_recovery, "no guarantee is known", any_constraint=True)
        for name in ("density", "foba", "cosamp", "grasp", "clash", "arht", "frank-wolfe")
    },
}
