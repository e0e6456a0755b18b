"""A slice of the fuzzer, and that it sees what is wrong; ``make fuzz`` checks many more instances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import swapwise as sw
from tests.fuzz import __main__ as fuzz
from tests.fuzz import campaign
from tests.fuzz.campaign import CAMPAIGNS
from tests.fuzz.checks import check
from tests.fuzz.families import FAMILIES
from tests.fuzz.instances import instance_of, some_edges
from tests.fuzz.near_collinear import judge, near_duplicates
from tests.fuzz.oracles import Likelihood, Regression, independent_sets
from tests.fuzz.report import Report

SLICE, CHUNK = 240, 40


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SLICE, CHUNK))
def test_no_claim_is_wrong(first):
    broken = [(seed, *words) for seed in range(first, first + CHUNK) for words in check(seed).violations]
    assert not broken, "\n".join(
        f"python -m tests.fuzz --only {seed}: {claim}: {w}" for seed, claim, w in broken
    )


@pytest.mark.parametrize("name", ["certificates", "estimators", "tables", "interrupts", "stores"])
def test_no_claim_of_another_campaign_is_wrong(name):
    broken = [(seed, *words) for seed in range(8) for words in CAMPAIGNS[name](seed).violations]
    assert not broken, "\n".join(
        f"python -m tests.fuzz --campaign {name} --only {seed}: {claim}: {w}" for seed, claim, w in broken
    )


def test_a_campaign_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    seen = []

    def check_one(seed):
        seen.append(seed)
        report = Report(f"number {seed}", ("number",))
        report.claim("seeds are not 3", seed != 3 or mended, "it is 3")
        return report

    mended = False
    monkeypatch.setitem(CAMPAIGNS, "stores", check_one)
    monkeypatch.setattr(fuzz, "FOLDER", tmp_path)

    def run(*options):
        seen.clear()
        command = ["fuzz", "--campaign", "stores", "--jobs", "1", *options]
        monkeypatch.setattr("sys.argv", command)
        return fuzz.main(), list(seen), capsys.readouterr().out

    code, tried, said = run("--instances", "5")
    assert (code, tried) == (1, [0, 1, 2, 3, 4])
    assert "python -m tests.fuzz --campaign stores --only 3: number 3" in said
    code, tried, said = run("--instances", "8", "--resume")
    assert (code, tried) == (1, [3, 5, 6, 7])
    mended = True
    code, tried, said = run("--instances", "9", "--resume")
    assert (code, tried) == (0, [3, 8])
    assert said.splitlines()[-1].split()[:4] == ["stores", "9", "9", "0"]
    assert run("--instances", "2")[1] == [0, 1]


@pytest.mark.slow
def test_instances_come_in_order_from_several_processes():
    assert [row.seed for row in campaign.run("stores", range(100, 112), 2, 60)] == list(range(100, 112))


@pytest.mark.parametrize(
    "seed",
    [
        22368,  # a proof relied on products of float32 data in single precision
        27403,  # columns that differ by less than arithmetic in doubles can tell
        pytest.param(15932, marks=pytest.mark.slow),  # a fit that does not end, of which f says so
        pytest.param(19178, marks=pytest.mark.slow),  # fits that are led by gradients only
    ],
)
def test_what_was_violated_once_is_not_again(seed):
    assert not check(seed).violations


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6, 1e-7, 1e-9])
def test_no_claim_about_near_duplicates_contradicts_the_objective(distance, dtype):
    for seed in (3, 8, 32):
        counts = judge(near_duplicates(distance, dtype, seed))
        assert not {name for name in counts if name.endswith("/f")}, seed


@pytest.mark.slow
def test_regular_problems_are_proven():
    optimal = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = random.standard_normal((30, 8))
        y = X[:, :3].sum(axis=1) + random.standard_normal(30)
        for f in (
            sw.LeastSquares(X, y),
            sw.Logistic(X, y > 0),
            sw.LeastSquares(X, y, groups=np.arange(8) // 2),
        ):
            optimal += sw.exact(f, sw.Uniform(f.n, 3), time_limit=5).status == "OPTIMAL"
    assert optimal == 60


def test_a_seed_is_always_the_same_instance():
    first, again = instance_of(7), instance_of(7)
    assert str(first) == str(again)
    sets = independent_sets(first.n, first.family.allows, first.family.forced)
    assert sets == independent_sets(again.n, again.family.allows, again.family.forced)
    assert [first.objective.make()(s) for s in sets] == [again.objective.make()(s) for s in sets]


@pytest.mark.slow
def test_a_false_proof_is_seen(monkeypatch):
    true = sw.certify

    def false(f, constraint, result=None, **options):
        found = true(f, constraint, result, **options)
        return replace(found, upper_bound=0.9 * found.value, value=0.9 * found.value)

    monkeypatch.setattr(sw, "certify", false)
    claims = {claim for seed in range(20) for claim, _ in check(seed).violations}
    assert {"no set exceeds the bound", "what is proven optimal is"} <= claims


@pytest.mark.slow
def test_a_false_answer_is_seen(monkeypatch):
    true = sw.maximize

    def false(f, constraint, *arguments, **options):
        found = true(f, constraint, *arguments, **options)
        few = found.support[:0] if not len(constraint.forced) else found.support
        return replace(found, support=few, value=f(few), coef=None)

    monkeypatch.setattr(sw, "maximize", false)
    claims = {claim for seed in range(20) for claim, _ in check(seed).violations}
    assert {"local optimum", "guarantee"} <= claims


@pytest.mark.parametrize("builder", dict.fromkeys(FAMILIES), ids=lambda builder: builder.__name__)
def test_families_allow_what_their_definition_says(builder):
    for seed in range(6):
        random = np.random.default_rng(seed)
        family = builder(random, 6, some_edges(random, 6, simple=False))
        if not family.honest:
            continue
        constraint = family.make()
        everything = independent_sets(6, lambda s: True, ())
        allowed = set(independent_sets(6, family.allows, ()))
        assert {s for s in everything if constraint.is_independent(s)} == allowed
        assert set(constraint.forced.tolist()) == family.forced


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_long_doubles_agree_with_rational_numbers(ridge):
    random = np.random.default_rng(0)
    X, y = random.integers(-3, 4, (6, 5)), random.integers(-3, 4, 6)
    data = Regression(X, y, ridge, weight=np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.25]))
    sets = independent_sets(5, lambda s: len(s) <= 3, ())
    exact = [data.rational(s) for s in sets]
    assert None not in exact
    np.testing.assert_allclose(data.values(sets, 0.0), [float(v) for v in exact], rtol=1e-14, atol=1e-14)


def test_precision_is_a_ridge_on_every_column():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((2, 10)).T * [1.0, 1e4], random.standard_normal(10)
    (value,) = Regression(X, y).values([(0, 1)], 0.1)
    penalised = X.T @ X + 0.01 * np.diag((X**2).sum(axis=0))
    assert value == pytest.approx(y @ X @ np.linalg.solve(penalised, X.T @ y) / (y @ y), rel=1e-12)


@pytest.mark.parametrize("kind", ["logistic", "poisson", "multinomial"])
def test_newtons_method_agrees_with_regular_likelihoods(kind):
    random = np.random.default_rng(2)
    X = random.standard_normal((40, 4))
    y = random.integers(0, 3 if kind == "multinomial" else 2, 40).astype(float)
    maker = {"logistic": sw.Logistic, "poisson": sw.Poisson, "multinomial": sw.Multinomial}[kind]
    f = maker(X, y, 0.01)
    plain = Likelihood(kind, X, y, 0.01, np.full(40, 1 / 40), np.ones((40, 1)), classes=int(y.max()) + 1)
    assert plain.value((0, 2, 3)) == pytest.approx(f([0, 2, 3]), rel=1e-9)
