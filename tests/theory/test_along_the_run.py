"""Guarantees along the run: never above the true ratio, and never below what they are proven to be."""

from itertools import combinations

import numpy as np
import pytest

import swapwise as sw
from swapwise.constraints.region import Region
from swapwise.search.methods.exhaustive import enumerate_sets
from swapwise.search.plan import METHODS, PIVOTS
from swapwise.theory.along_the_run import FORMULAS, guarantee_at, head_of
from swapwise.theory.bounds import bound_from_concavity, tangent_at
from swapwise.theory.constants import Constant, restricted_constants
from swapwise.theory.guarantees import guarantee
from swapwise.theory.localizable import check_localizability, localizability
from swapwise.theory.methods import fixed_set_ratio
from swapwise.theory.ratios import SubmodularityRatios, submodularity_ratios
from swapwise.theory.runs import guarantee_of
from swapwise.theory.statement import ALONG_THE_RUN

pytestmark = pytest.mark.filterwarnings("ignore:.*linearly independent", "ignore:.*did not raise the value")
COMPLETE = [(i, j) for i in range(4) for j in range(i + 1, 4)]


def some_constraint(rng):
    """One of those that theorems tell apart, on six elements."""
    labels, others = rng.integers(0, 3, (2, 6)).tolist()
    return [
        lambda: sw.Uniform(6, int(rng.integers(1, 5))),
        lambda: sw.Partition(labels, int(rng.integers(1, 3))),
        lambda: sw.Laminar(6, [([0, 1, 2], 1), ([0, 1, 2, 3, 4], 2)]),
        lambda: sw.Graphic(COMPLETE),
        lambda: sw.Intersection(sw.Partition(labels, 1), sw.Partition(others, 1)),
        lambda: sw.BMatching.complete(4, int(rng.integers(1, 3))),
        lambda: sw.Uniform(6, 3).contract([int(rng.integers(6))]),
    ][rng.integers(7)]()


def some_design(rng):
    """Few or many samples, and now and then a duplicate, an empty column, near twins, or another scale."""
    X = rng.standard_normal((rng.choice([4, 8, 30]), 6)) + rng.integers(2) * rng.standard_normal()
    damage = rng.integers(8)
    if damage == 0:
        X[:, rng.integers(6)] = X[:, rng.integers(6)]
    elif damage == 1:
        X[:, rng.integers(6)] = 0.0
    elif damage == 2:
        X[:, 0] = X[:, 1] + 1e-9 * X[:, 2]
    elif damage == 3:
        X[:, 0] *= 1e4
    return X, X @ rng.choice([0.0, 1.0, -2.0], 6) + rng.choice([0.0, 1.0]) * rng.standard_normal(len(X))


def some_objective(rng):
    X, y = some_design(rng)
    near = np.eye(6) + 0.05 * rng.standard_normal((6, 6))
    ridge = float(rng.choice([0.0, 0.0, 0.1, 5.0]))
    return [
        lambda: sw.LeastSquares(X, y + 0.1, ridge=ridge),
        lambda: sw.LeastSquares(X, y + 0.1, ridge=ridge),
        lambda: sw.LeastSquares(near, rng.choice([1.0, 1.1, 1.4], 6)),
        lambda: sw.LeastSquares(
            np.hstack([X, X[:, ::-1] ** 2]), y + 0.1, groups=[*range(6), *range(6)], ridge=ridge
        ),
        lambda: sw.Logistic(rng.standard_normal((20, 6)), np.arange(20) % 3 > 0, ridge=0.1 + ridge),
        lambda: sw.Coverage([rng.permutation(8)[: rng.integers(5)].tolist() for _ in range(6)]),
        lambda: sw.FacilityLocation(rng.random((4, 6)) ** 2),
    ][rng.integers(7)]()


def runs_of_all_methods(objective, constraint):
    for method in [*PIVOTS, *METHODS]:
        try:
            yield method, sw.maximize(objective, constraint, method)
        except TypeError:
            continue  # the method is not for this problem


@pytest.mark.parametrize("part", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 20))])
def test_no_guarantee_is_above_the_true_ratio(part):
    for seed in range(8 * part, 8 * part + 8):
        rng = np.random.default_rng(seed)
        constraint, objective = some_constraint(rng), some_objective(rng)
        best = sw.maximize(objective, constraint, "exhaustive").value
        for method, result in runs_of_all_methods(objective, constraint):
            for stated in (result.guarantee, *result.guarantee.others):
                assert 0 <= stated.ratio <= 1
                kept = result.value >= stated.ratio * best - 1e-9 * best - 1e-12 * objective.scale
                assert stated.in_expectation or kept, (seed, method, stated, result.value / best)


@pytest.mark.parametrize("seed", range(40))
def test_with_exact_ratios_every_theorem_holds(seed):
    """γ, β and α by enumeration guarantee more than eigenvalues, and no more than there is."""
    rng = np.random.default_rng(seed)
    constraint, objective = some_constraint(rng), some_objective(rng)
    s = constraint.max_size()
    ratios = submodularity_ratios(objective, max(1, s))
    best = sw.maximize(objective, constraint, "exhaustive").value
    for method, result in runs_of_all_methods(objective, constraint):
        if method in PIVOTS or s == 0:
            continue
        run = [each for each in result.strategies if each.name == method][-1]
        stated = guarantee(method, constraint, ratios, details={**METHODS[method]().options, **run.details})
        if stated.in_expectation:
            draws = [sw.maximize(objective, constraint, method, random_state=i).value for i in range(60)]
            assert np.mean(draws) + 3 * np.std(draws) / np.sqrt(60) >= stated.ratio * best - 1e-9, method
        else:
            assert result.value >= stated.ratio * best - 1e-9, (method, stated)


def mean_value(f, matroid, chosen=np.empty(0, dtype=np.intp)):  # noqa: B008
    """The mean over all random choices of random residual greedy, by recursion."""
    gains = np.array([f(np.union1d(chosen, [e])) - f(chosen) for e in range(f.n)])
    fits = [e for e in np.argsort(-gains, kind="stable") if e not in chosen]
    rest = np.setdiff1d(matroid.extend(chosen, fits), chosen)
    if not len(rest):
        return f(chosen)
    return np.mean([mean_value(f, matroid, np.union1d(chosen, [e])) for e in rest])


def test_random_residual_greedy_where_losses_are_much_larger_than_gains():
    """For β > 2 + 1/γ the ratio with γ alone is the larger one."""
    one = Constant(1.0, "exact")
    gamma, matroid = Constant(2 / 7, "exact"), sw.Uniform(12, 11)
    for beta, formula in [(5.4, "γ/(γ + β)"), (5.6, "(γ/(1 + γ))²")]:
        known = SubmodularityRatios(11, gamma, gamma, one, Constant(beta, "exact"), one)
        stated = guarantee("random-residual-greedy", matroid, known)
        assert stated.formula == formula
        assert stated.ratio == pytest.approx(max(gamma / (gamma + beta), (gamma / (1 + gamma)) ** 2))


@pytest.mark.parametrize("s", [1, 2, 3, 5, 11, 100])
def test_the_recursion_of_random_residual_greedy_reaches_the_ratio_with_gamma(s):
    """O, what is left of the optimum, is random, and a round gains γ (f(O) − f(S))/(s − i) or more."""
    for gamma in np.linspace(0.01, 1, 100):
        missing = np.cumprod([1.0, *(1 - gamma / (s - j) for j in range(s))])
        value = best = 0.0
        for i in range(s):
            value += gamma / (s - i) * max(0.0, 1 - missing[s - i] - value)
            best = max(best, value)
        assert best >= (gamma / (1 + gamma)) ** 2


def test_random_residual_greedy_exactly():
    """The mean over all random choices against γ/(γ + β) with exact constants."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        f = sw.LeastSquares(rng.standard_normal((8, 5)) + 0.5, rng.standard_normal(8))
        matroid = sw.Partition(list("aabbb"), [1, 2][seed % 2])
        best = sw.maximize(f, matroid, "exhaustive").value
        ratios = submodularity_ratios(f, matroid.max_size())
        share = guarantee("random-residual-greedy", matroid, ratios).ratio
        assert mean_value(f, matroid) >= share * best - 1e-9
        eigen = restricted_constants(f, matroid.max_size(), 2)
        assert share >= guarantee("random-residual-greedy", matroid, eigen).ratio - 1e-9
        assert (
            guarantee("random-residual-greedy", matroid, eigen).ratio >= 1 / (1 + eigen.M_1 / eigen.m_s) ** 2
        )


def local_optima(objective, constraint, rule):
    """Local optima from every maximal set, each once."""
    found = {}
    for start in enumerate_sets(constraint, maximal=True):
        result = sw.maximize(objective, constraint, rule, start=start)
        found[tuple(result.support)] = result
    return found.values()


@pytest.mark.parametrize("seed", range(8))
def test_at_local_optima_it_is_never_below_the_theorem(seed):
    """(ii) in the documentation: the same m and M guarantee m²/M² there."""
    rng = np.random.default_rng(seed)
    f, matroid = sw.LeastSquares(rng.standard_normal((14, 6)), rng.standard_normal(14)), sw.Graphic(COMPLETE)
    constants = restricted_constants(f, 3, 2)
    for result in local_optima(f, matroid, sw.NonOblivious(float(constants.M_st))):
        stated = guarantee("non-oblivious", matroid, constants)
        assert result.guarantee.beyond_trivial.ratio >= stated.ratio - 1e-9
    coverage = sw.Coverage([rng.permutation(7)[:3].tolist() for _ in range(6)])
    for result in local_optima(coverage, matroid, "oblivious"):
        assert result.guarantee.beyond_trivial.ratio >= 0.5


def test_the_bound_at_a_set_is_tight_for_orthogonal_columns():
    f = sw.LeastSquares(np.eye(4), [4.0, 3.0, 2.0, 1.0])
    for support in combinations(range(4), 2):
        at = np.array(support)
        best = [stated for stated in guarantee_at(f, sw.Uniform(4, 2), at, f(at)) if not stated.trivial]
        assert max(stated.ratio for stated in best) == pytest.approx(f(at) / f([0, 1]), rel=1e-3)


def test_what_the_chosen_elements_span_counts_for_nothing_only_if_that_is_certain():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    y = X @ [1.0, -1.0, 0.5, 0.2, 0.1] + rng.standard_normal(30)
    twins = sw.LeastSquares(np.column_stack([X, X[:, 0]]), y)
    near = sw.LeastSquares(np.column_stack([X, X[:, 0] + 1e-8 * rng.standard_normal(30)]), y)
    kinds = []
    for objective in (twins, near):
        guarantees = guarantee_at(objective, sw.Uniform(6, 2), np.array([0, 1]), objective([0, 1]))
        kinds.append({stated.formula: stated.ratio for stated in guarantees})
    assert kinds[0][FORMULAS["concavity"]] > 0.8
    assert set(kinds[1]) == {FORMULAS["all"]}


def test_a_fixed_set_of_any_step_and_head():
    """The inequality of hard thresholding, at every set, with the share for which it is fixed."""
    rng = np.random.default_rng(0)
    for constraint in (sw.Uniform(6, 2), sw.BMatching.complete(4, 1), sw.Uniform(6, 3).contract([0])):
        f = sw.LeastSquares(rng.standard_normal((14, 6)), rng.standard_normal(14))
        best = sw.maximize(f, constraint, "exhaustive").value
        constants = restricted_constants(f, constraint.max_size(), 2)
        for support in enumerate_sets(constraint, maximal=True):
            tangent = tangent_at(f, support)
            for step in (0.3, 1.0, 3.0, 10.0):
                head = head_of(f, constraint, support, tangent, step)
                share = fixed_set_ratio(constants.m_2s, constants.m_s, step, head) if head > 0 else 0.0
                assert f(support) >= share * best - 1e-9


def test_hard_thresholding_is_judged_by_the_step_on_record():
    f, constraint = sw.LeastSquares(np.eye(3), [2.0, 1.9, 0.1]), sw.Uniform(3, 1)
    options = {"status": sw.Status.COMPLETE, "n_iter": 1, "value": f([1]), "support": np.array([1])}
    for step, least in ((None, 0.0), (0.0, 0.0), (3.0, 0.2)):
        details = {} if step is None else {"step": step}
        stated = guarantee_of(f, constraint, "htp", details=details, **options)
        by_theorem = stated.by_theorem
        assert least <= by_theorem.ratio <= f([1]) / f([0])
        assert by_theorem.vacuous == (least == 0)


@pytest.mark.parametrize(
    "constraint", [sw.OracleSystem(6, lambda chosen: len(chosen) != 5 and len(chosen) < 4)]
)
def test_it_holds_without_a_p(constraint):
    f = sw.LeastSquares(np.eye(6), np.arange(6.0))
    result = sw.maximize(f, constraint, "greedy")
    assert result.guarantee.theorem == ALONG_THE_RUN
    assert result.guarantee.ratio > 0.3


def test_an_unknown_method_has_the_guarantee_of_its_answer():
    stated = guarantee_of(
        sw.Coverage([{1, 2}, {2}, {3}]),
        sw.Uniform(3, 2),
        "of my own",
        status=sw.Status.COMPLETE,
        n_iter=1,
        value=3.0,
        support=np.array([0, 2]),
    )
    assert (stated.ratio, stated.theorem) == (1, ALONG_THE_RUN)
    assert "of my own" in repr(stated.others[-1])


def test_a_bound_is_not_trivial_where_the_value_of_all_elements_is_unknown(monkeypatch):
    """Of many elements it is not computed, and an objective of one's own has no other bound on it."""
    monkeypatch.setattr("swapwise.theory.along_the_run.WHOLE_UP_TO", 2)
    rng = np.random.default_rng(0)
    A, c = rng.standard_normal((20, 6)), rng.standard_normal(6)
    H = A.T @ A / 20 + 0.3 * np.eye(6)
    m, *_, M = np.linalg.eigvalsh(H)
    f = sw.CustomObjective(lambda w: (c @ w - w @ H @ w / 2, c - H @ w), 6, strong_concavity=m, smoothness=M)
    stated = sw.maximize(f, sw.Uniform(6, 2)).guarantee
    assert stated.ratio == pytest.approx(0.747, abs=1e-3)
    assert not stated.trivial
    assert stated.beyond_trivial is stated


def test_a_function_of_which_nothing_is_known_is_guaranteed_nothing():
    assert sw.maximize(sw.CustomSetFunction(len, n=3), sw.Uniform(3, 2)).guarantee is None
    zero = sw.maximize(sw.Linear([0.0, 0.0]), sw.Uniform(2, 1)).guarantee
    assert zero.ratio == 1


@pytest.mark.parametrize("seed", range(10))
def test_localizability_at_a_local_optimum_guarantees_more_and_not_too_much(seed):
    rng = np.random.default_rng(seed)
    f, pair = sw.LeastSquares(rng.standard_normal((7, 4)), rng.standard_normal(7)), sw.Uniform(4, 2)
    best = sw.maximize(f, pair, "exhaustive").value
    everywhere = localizability(f, s=2, t=2)
    for result in local_optima(f, pair, "oblivious"):
        here = localizability(f, s=2, t=2, sets=[result.support])
        assert everywhere.ratio() <= here.ratio() + 1e-9
        assert here.ratio() <= result.value / best + 1e-9
        triple = here.alpha, here.beta1, here.beta2
        assert check_localizability(f, *triple, s=2, t=2, sets=[result.support]) is None


@pytest.mark.parametrize(
    ("sets", "message"),
    [([], "at least one set"), ([[0, 1, 2]], "at most s = 2"), ([[9]], "each of the sets")],
)
def test_sets_that_are_none(sets, message):
    with pytest.raises(ValueError, match=message):
        localizability(sw.Linear([1.0, 2.0, 3.0]), s=2, t=2, sets=sets)


def test_the_bound_needs_no_diagonal_to_be_right():
    f = sw.LeastSquares(np.eye(2), [1.0, 1.0])
    region = Region.of(sw.Uniform(2, 1))
    assert bound_from_concavity(f, region, tangent_at(f, np.array([0]))) == np.inf


def test_the_table_has_every_method_and_takes_an_objective():
    table = sw.theory.guarantee_table(sw.Uniform(6, 2), sw.LeastSquares(np.eye(6) + 0.1, np.ones(6)))
    assert {*PIVOTS, *METHODS} <= set(table.method)
    assert table.ratio.is_monotonic_decreasing
    assert (table.reason != "").equals(table.ratio == 0)
    ratios = SubmodularityRatios.of_submodular()
    table = sw.theory.guarantee_table(sw.BMatching.complete(4, 1), ratios).set_index("method")
    assert table.ratio["greedy"] == pytest.approx(1 / 3)
    assert "for a matroid" in table.reason["random-residual-greedy"]
    with pytest.raises(TypeError, match="nothing is known"):
        sw.theory.guarantee_table(sw.Uniform(3, 2), sw.CustomSetFunction(len, n=3))


@pytest.mark.parametrize("forced", [[], [0]])
def test_the_formula_of_submodular_functions_names_the_set_whose_gains_are_summed(forced):
    f = sw.Coverage([{1}, {2, 3, 4, 5}, {3, 4, 5, 6}, {7}, {7}])
    constraint = sw.Uniform(5, 2 + len(forced)).contract(forced)
    good, poor = [*forced, 1, 2], [*forced, 3, 4]
    for support, at, X in [(good, good, "S"), (poor, forced, "F" if forced else "∅")]:
        gains = sorted((f({*at, j}) - f(at) for j in range(5)), reverse=True)
        guarantees = guarantee_at(f, constraint, np.array(support), f(support))
        stated = {one.formula: one.ratio for one in guarantees}
        formula = f"f(S)/(f({X}) + max Σ_T f(j | {X}))"
        assert stated.keys() == {FORMULAS["all"], formula}
        assert stated[formula] == pytest.approx(f(support) / (f(at) + sum(gains[:2])))
