"""Methods in one pass equal their plain versions, and keep what their theorems promise."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference.neighbours_continuous import sieves, streaming_swaps
from swapwise.paper.methods.streaming import in_the_way
from tests.search.methods.method_zoo import (
    CONSTRAINTS,
    Plain,
    best_value,
    check_everywhere,
    degenerate,
    refuses,
    regression,
    submodular,
)
from tests.search.test_record import check_record

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set")

SEEDS = st.integers(0, 10**6)


def plain_sieve(f, constraint, epsilon, order=None):
    k = constraint.max_size()
    order = range(f.n) if order is None else order
    reach = (1.0, 2.0 * max(1, k))
    return sieves(
        f,
        constraint.is_independent,
        order,
        k,
        epsilon,
        reach,
        lambda v, value, size: (v / 2 - value) / (k - size),
    )


def plain_streak(f, constraint, epsilon, order):
    k = constraint.max_size()
    reach = (1 / (9 * max(1, k) ** 2), max(1, k))
    return sieves(f, constraint.is_independent, order, k, epsilon, reach, lambda tau, value, size: tau / k)


@pytest.mark.parametrize("kind", CONSTRAINTS)
@settings(max_examples=15)
@given(SEEDS)
def test_all_equal_the_plain_versions(kind, seed):
    rng = np.random.default_rng(seed)
    constraint = kind(7, rng)
    f, plain = regression(rng, constraint.n)
    if seed % 2:
        f = submodular(rng, constraint.n)
        plain = Plain(f)
    order = np.random.default_rng(seed).permutation(constraint.n).tolist()
    epsilon = float(rng.uniform(0.05, 0.5))
    found = {
        "sieve": sw.maximize(f, constraint, sw.methods.SieveStreaming(epsilon)),
        "streak": sw.maximize(f, constraint, sw.methods.Streak(epsilon), random_state=seed),
        "streaming": sw.maximize(f, constraint, "streaming"),
    }
    expected = {
        "sieve": plain_sieve(plain, constraint, epsilon),
        "streak": plain_streak(plain, constraint, epsilon, order),
        "streaming": streaming_swaps(plain, constraint.is_independent, range(constraint.n)),
    }
    for name, result in found.items():
        check_record(result, f)
        assert result.value == pytest.approx(expected[name].value, rel=1e-8, abs=1e-9), name
        if not seed % 2:
            assert set(result.support.tolist()) == expected[name].support


@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_sieves_have_half_under_a_size_limit(seed):
    for each in range(seed, seed + 10):
        rng = np.random.default_rng(each)
        f, constraint = submodular(rng), sw.Uniform(7, 1 + each % 5)
        best, epsilon = best_value(f, constraint), float(rng.uniform(0.02, 0.4))
        for order in ("index", "random"):
            method = sw.methods.SieveStreaming(epsilon, order)
            result = sw.maximize(f, constraint, method, random_state=each)
            assert result.value >= (0.5 - epsilon) * best - 1e-9


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_swaps_have_a_share_under_matroids_and_intersections(kind):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        constraint = kind(6, rng)
        f = submodular(rng, constraint.n)
        share = 1 / 4 if constraint.p == 1 else 1 / (4 * constraint.p)
        result = sw.maximize(f, constraint, "streaming")
        assert result.value >= share * best_value(f, constraint) - 1e-9


def test_a_quarter_is_all_but_tight_for_swaps():
    # Each element is just short of twice the one before, so the first stays; then one that is worth all.
    f = sw.Linear([1.0, 1.999])
    assert sw.maximize(f, sw.Uniform(2, 1), "streaming").value == 1.0
    assert sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1), "streaming").value == 2.0


def test_streak_finds_a_share_on_average():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        f, _ = regression(rng)
        constraint = sw.Uniform(7, 3)
        values = [sw.maximize(f, constraint, "streak", random_state=r).value for r in range(4)]
        assert np.mean(values) > 0.3 * best_value(f, constraint)


def test_what_is_in_the_way_under_a_contracted_matroid():
    constraint = sw.Uniform(4, 2).contract([0])
    weights = np.array([0.0, 3.0, 1.0, 1.0])
    assert in_the_way(constraint, np.array([0, 1]), 2, weights) == (1,)
    assert in_the_way(sw.Partition([0, 0], 0), np.array([], dtype=np.intp), 1, np.zeros(2)) is None


@pytest.mark.parametrize("method", ["sieve", "streak", "streaming"])
def test_they_work_everywhere(method):
    check_everywhere(method, sparse=False)


@pytest.mark.parametrize("method", ["sieve", "streak", "streaming"])
@settings(max_examples=15)
@given(SEEDS)
def test_degenerate_data(method, seed):
    rng = np.random.default_rng(seed)
    kind = CONSTRAINTS[seed % len(CONSTRAINTS)]
    constraint = kind(7, rng)
    f = degenerate(rng, constraint.n)
    result = sw.maximize(f, constraint, method)
    check_record(result, f)
    assert 0 not in result.support  # a column of zeros adds nothing


def test_what_the_pass_has_found_is_kept_when_time_is_up():
    f = sw.CustomSetFunction(lambda S: time.sleep(0.001) or float(len(S)), n=200)
    for method in ("sieve", "streaming"):
        result = sw.maximize(f, sw.Uniform(200, 100), method, time_limit=0.3)
        assert result.status is sw.Status.TIME_LIMIT
        assert result.value > 0
        check_record(result, f)


def test_orders():
    f = sw.Linear([1.0, 1.0, 1.5, 1.0])
    draws = {
        tuple(
            sw.maximize(f, sw.Uniform(4, 1), sw.methods.StreamingSwaps("random"), random_state=seed).support
        )
        for seed in range(20)
    }
    assert len(draws) > 1
    assert not sw.methods.StreamingSwaps().draws
    assert repr(sw.methods.Streak()) == "Streak(order='random', epsilon=0.1)"


def test_options_are_checked():
    refuses(sw.methods.SieveStreaming, {"epsilon": 0.0}, {"epsilon": 1.0}, {"epsilon": "a"}, {"order": "up"})
    refuses(sw.methods.Streak, {"epsilon": -1.0}, {"order": 3})
    refuses(sw.methods.StreamingSwaps, {"order": None})
