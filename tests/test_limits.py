"""Limits on time are kept, and Ctrl-C is heard, in problems that would take minutes or hours."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import swapwise as sw
from swapwise.clock import Clock, OutOfTime, _wait_for_threads, while_listening
from swapwise.constraints.algorithms import programs
from swapwise.constraints.algorithms.matroid_intersection import common_set_within, local_search_weight
from swapwise.constraints.algorithms.max_weight_packing import max_weight_packing, packing_within
from swapwise.constraints.algorithms.programs import STOPPED, solve_within
from swapwise.objectives.fit_bounds import QUICK_FIT, lbfgs_bound

LIMIT = 0.5
# Generous: tests run on machines that are busy with others. All of these took from 10 seconds to hours.
PATIENCE = 3.0


class Ticking(Clock):
    """A clock that is over after so many looks at it, whatever the time."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    @property
    def is_over(self):
        self.looks -= 1
        return self.looks < 0


def ising(n_vertices):
    spins = np.sign(np.random.default_rng(0).standard_normal((500, n_vertices)))
    f = sw.graphs.IsingPseudoLikelihood(spins, ridge=0.01)
    return f, sw.BMatching(f.edges, 2)


def logistic(n_features, ridge=0.001):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, n_features))
    y = X[:, :9].sum(axis=1) + rng.standard_normal(500) > 0
    return sw.Logistic(X, y, ridge=ridge), sw.Uniform(n_features, 10)


def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1000))
    return X, X[:, :30].sum(axis=1) + 3 * rng.standard_normal(2000)


def packing():
    rng = np.random.default_rng(0)
    constraint = sw.SetPacking([set(rng.choice(100, 4, replace=False).tolist()) for _ in range(600)])
    return sw.Linear(rng.random(600) + 1), constraint


def seconds_of(call):
    since = time.perf_counter()
    answer = call()
    return time.perf_counter() - since, answer


@pytest.mark.parametrize(("problem", "size"), [(ising, 100), (logistic, 3000)])
class TestProofs:
    def test_certify_keeps_its_limit(self, problem, size):
        f, constraint = problem(size)
        sw.certify(*problem(10), [0])  # so that nothing is compiled while the clock runs
        seconds, certificate = seconds_of(lambda: sw.certify(f, constraint, [0], time_limit=LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert certificate.status == sw.Status.TIME_LIMIT
        assert f([0]) < certificate.upper_bound <= f.upper_bound() * (1 + 1e-9)

    def test_exact_keeps_its_limit(self, problem, size):
        f, constraint = problem(size)
        sw.exact(*problem(10), max_nodes=2)
        seconds, best = seconds_of(lambda: sw.exact(f, constraint, LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert best.status == sw.Status.TIME_LIMIT
        assert best.value <= best.certificate.upper_bound <= f.upper_bound() * (1 + 1e-9)

    def test_without_any_time_the_perfect_fit_is_the_bound(self, problem, size):
        f, constraint = problem(size)
        certificate = sw.certify(f, constraint, [0], time_limit=0.0)
        assert certificate.upper_bound == pytest.approx(f.upper_bound())


class TestBoundsByLBFGS:
    @pytest.mark.parametrize("looks", [0, 1, 3, 10, 1000])
    @pytest.mark.parametrize(("problem", "size"), [(ising, 12), (logistic, 40)])
    def test_no_point_on_the_way_proves_too_much(self, problem, size, looks):
        f, _ = problem(size)
        everything = np.arange(f.n)
        value = f(everything)
        bound = lbfgs_bound(f, everything, Ticking(looks))
        assert value <= bound * (1 + 1e-12)
        assert bound <= (f.upper_bound() if looks < 1000 else value * (1 + 1e-4))

    @pytest.mark.parametrize("kind", ["multinomial", "groups", "poisson", "offset", "part"])
    def test_in_every_model(self, kind):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((60, 12))
        score = X[:, 0] - X[:, 1]
        support = np.arange(12)
        if kind == "multinomial":
            f = sw.Multinomial(X, np.digitize(score, [-1, 1]), ridge=0.01)
        elif kind == "groups":
            f, support = sw.Logistic(X, score > 0, ridge=0.01, groups=np.arange(12) // 3), np.arange(4)
        elif kind == "poisson":
            f = sw.Poisson(X, rng.poisson(np.exp(score / 2)), ridge=0.01)
        else:
            f = sw.Logistic(X, score > 0, ridge=0.01, offset=score if kind == "offset" else None)
            support = support[: 12 if kind == "offset" else 5]
        value = f(support)
        assert value * (1 - 1e-9) <= lbfgs_bound(f, support, Clock()) <= value + 1e-4 * f.scale

    def test_without_a_ridge_separable_data_have_the_perfect_fit_as_their_bound(self):
        f, _ = logistic(700, ridge=0.0)
        assert lbfgs_bound(f, np.arange(700), Clock()) <= f.upper_bound()

    def test_fits_that_take_long_are_not_made(self, monkeypatch):
        f, _ = logistic(1500)
        assert f.likelihood.newton_seconds(1500) > QUICK_FIT > f.likelihood.newton_seconds(100)
        monkeypatch.setattr(type(f), "_fit", lambda *_: pytest.fail("all columns were fitted together"))
        monkeypatch.setattr(type(f), "coef", lambda *_: np.zeros(1500))
        assert 0 < f.upper_bound(np.arange(1500)) < f.upper_bound()

    def test_an_objective_of_ones_own_is_bounded_by_what_it_has_climbed(self):
        target = np.linspace(1, 2, 50) * np.geomspace(1, 100, 50)

        def value(w):
            time.sleep(0.01)
            return float(target @ w - np.geomspace(1, 100, 50) @ w**2 / 2), target - np.geomspace(
                1, 100, 50
            ) * w

        f = sw.CustomObjective(value, n=50, strong_concavity=1.0)
        best = float((target**2 / np.geomspace(1, 100, 50)).sum()) / 2
        seconds, bound = seconds_of(lambda: f.upper_bound(np.arange(50), Clock(0.05)))
        assert seconds < PATIENCE
        assert best <= bound < np.inf


class TestHeaviestSets:
    def test_an_integer_program_returns_its_bound(self):
        f, constraint = packing()
        seconds, found = seconds_of(lambda: constraint.max_weight(f.weights, time_limit=LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert constraint.is_independent(found.support)
        assert not found.exact
        assert found.weight == pytest.approx(f(found.support))
        assert found.factor == pytest.approx(found.weight / found.upper_bound)
        assert 0.7 < found.factor < 1

    @pytest.mark.parametrize("options", [{"method": "modular"}, {"method": "auto", "start": "modular"}])
    def test_searches_that_rest_on_it_keep_their_limit(self, options):
        f, constraint = packing()
        seconds, result = seconds_of(lambda: sw.maximize(f, constraint, **options, time_limit=LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert result.status == sw.Status.TIME_LIMIT
        assert result.value > 30

    def test_so_do_proofs(self):
        f, constraint = packing()
        seconds, certificate = seconds_of(lambda: sw.certify(f, constraint, [0], time_limit=LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert 39 < certificate.upper_bound < 60  # 39 is reached by a search, 60 by no theorem

    @pytest.mark.parametrize("looks", [*range(12), 20, 50])
    def test_a_packing_and_its_bound_hold_wherever_time_runs_out(self, looks):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            groups = np.array([rng.permutation(9)[:3] for _ in range(30)])
            weights, capacity = rng.integers(1, 20, 30) / 7, rng.integers(1, 3, 9)
            _, largest = max_weight_packing(weights, groups, capacity)
            support, bound, finished, _ = packing_within(weights, groups, capacity, Ticking(looks))
            taken = np.bincount(groups[support].ravel(), minlength=9)
            assert (taken <= capacity).all()
            assert weights[support].sum() <= largest * (1 + 1e-9) <= bound * (1 + 2e-9)
            assert not finished or weights[support].sum() == pytest.approx(largest)
            whole = sw.constraints.packing.PackingSystem(groups, capacity)
            found = whole._max_weight(weights, Ticking(looks))
            assert found.weight >= found.factor * largest * (1 - 1e-9)
            assert found.weight >= largest / 3

    @pytest.mark.parametrize("looks", [0, 1, 2, 5, 9, 20, 40])
    def test_so_do_common_sets_of_two_matroids(self, looks):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            edges = [tuple(rng.choice(8, 2, replace=False).tolist()) for _ in range(25)]
            parts = sw.Graphic(edges), sw.Partition(rng.integers(0, 5, 25), 2)
            weights = rng.random(25)
            largest = sw.Intersection(*parts).max_weight(weights).weight
            for found in (
                common_set_within(*parts, weights, Ticking(looks)),
                sw.Intersection(*parts)._max_weight(weights, Ticking(looks)),
            ):
                assert found.weight <= largest + 1e-12
                assert found.upper_bound >= largest - 1e-12
                assert found.weight >= found.factor * largest * (1 - 1e-12)
            assert found.weight >= largest / 2

    @pytest.mark.parametrize("looks", [0, 1, 2, 5, 9])
    def test_and_local_searches_are_no_worse_than_greedy(self, looks):
        rng = np.random.default_rng(0)
        constraint = sw.SetPacking([set(rng.choice(12, 3, replace=False).tolist()) for _ in range(30)])
        weights = rng.random(30)
        support = local_search_weight(constraint, weights, 2, Ticking(looks))
        assert constraint.is_independent(support)
        assert weights[support].sum() >= constraint.max_weight(weights).weight / 3

    def test_the_best_exchange_runs_out_of_time(self):
        _, constraint = packing()
        start = constraint.extend(np.empty(0, dtype=int), np.arange(600))
        with pytest.raises(OutOfTime):
            constraint.best_exchange(start, np.ones(600), np.ones(600), 2, Clock(0.0))

    def test_the_program_of_the_non_oblivious_rule_gets_the_time_that_is_left(self, monkeypatch):
        left = []
        best_exchange = sw.SetPacking.best_exchange

        def watched(self, support, gain, cost, q, clock):
            left.append(clock.left())
            return best_exchange(self, support, gain, cost, q, clock)

        monkeypatch.setattr(sw.SetPacking, "best_exchange", watched)
        X = np.random.default_rng(0).standard_normal((40, 12))
        f = sw.LeastSquares(X, X[:, :4].sum(axis=1))
        constraint = sw.SetPacking([{i, (i + 1) % 12} for i in range(12)])
        result = sw.maximize(f, constraint, sw.NonOblivious("global"), q=2, time_limit=60.0)
        assert result.status == sw.Status.LOCAL_OPTIMUM
        assert len(left) == result.n_iter + 1
        assert 0 < max(left) < 60

    def test_three_matroids_keep_their_limit(self):
        rng = np.random.default_rng(0)
        ends = rng.integers(0, 200, (600, 2))
        forest = sw.Graphic([(int(a), int(b) if a != b else int(b) + 1) for a, b in ends])
        constraint = sw.Intersection(forest, *(sw.Partition(rng.integers(0, 100, 600), 2) for _ in range(2)))
        seconds, found = seconds_of(lambda: constraint.max_weight(rng.random(600), time_limit=LIMIT))
        assert seconds < LIMIT + PATIENCE
        assert found.factor >= 1 / 3


class TestPrograms:
    def test_what_stops_gets_more_time(self, monkeypatch):
        monkeypatch.setattr(programs, "FIRST_SECONDS", 0.01)
        monkeypatch.setattr(programs, "SECONDS_IN_THREAD", 0.02)
        asked = []

        def solve(seconds):
            asked.append(seconds)
            time.sleep(seconds)
            return SimpleNamespace(status=0 if seconds > 0.05 else STOPPED)

        assert solve_within(Clock(), solve).status == 0
        assert asked == [0.01, 0.02, 0.08]

    def test_what_stops_for_another_reason_does_not(self):
        asked = []
        answer = solve_within(
            Clock(), lambda seconds: asked.append(seconds) or SimpleNamespace(status=STOPPED)
        )
        assert answer.status == STOPPED
        assert len(asked) == 1

    def test_a_limit_is_the_end(self):
        asked = []

        def solve(seconds):
            asked.append(seconds)
            time.sleep(seconds)
            return SimpleNamespace(status=STOPPED)

        seconds, answer = seconds_of(lambda: solve_within(Clock(0.4), solve))
        assert answer.status == STOPPED
        assert seconds < PATIENCE
        assert len(asked) <= 3
        assert sum(asked) <= 0.41

    def test_errors_come_out_of_threads(self, monkeypatch):
        monkeypatch.setattr(programs, "FIRST_SECONDS", 0.01)

        def solve(seconds):
            if seconds > 1:
                raise RuntimeError("numerical trouble")
            time.sleep(seconds)
            return SimpleNamespace(status=STOPPED)

        with pytest.raises(RuntimeError, match="numerical trouble"):
            solve_within(Clock(), solve)

    @pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
    def test_what_an_interrupt_leaves_behind_is_waited_for_when_python_ends(self):
        done = []

        def work():
            time.sleep(0.3)  # until it is waited for
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.5)
            done.append(True)

        with pytest.raises(KeyboardInterrupt):
            while_listening(work)
        assert not done
        _wait_for_threads()
        assert done


PROGRAM = """
import signal, sys, warnings
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have jobs in the background ignore it
import numpy as np, swapwise as sw
sys.path.insert(0, {tests!r})
from test_limits import ising, logistic, packing, table
problem = {problem}
{warm_up}
print("begins", flush=True)
try:
    print({call}, flush=True)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""

# So that the interrupt comes while it computes, and not while it is loaded.
LOAD_HIGHS = "sw.SetPacking([{0, 1}, {1, 2}, {0, 2}]).max_weight(np.ones(3))"

CALLS = {
    "certify a graph": (
        "ising(100)",
        "sw.certify(*ising(10), [0])",
        "sw.certify(*problem, [0], time_limit=None).status",
    ),
    "certify a classification": (
        "logistic(3000)",
        "sw.certify(*logistic(10), [0])",
        "sw.certify(*problem, [0], time_limit=None).status",
    ),
    "max_weight": ("packing()", LOAD_HIGHS, "problem[1].max_weight(problem[0].weights)"),
    "modular": ("packing()", LOAD_HIGHS, "sw.maximize(*problem, 'modular').status"),
    "certify under a packing": (
        "packing()",
        "sw.certify(sw.Linear([1.0, 2.0]), sw.SetPacking([{0}, {1}]), [0])",
        "sw.certify(*problem, [0], time_limit=None).status",
    ),
    "search for a graph": ("ising(60)", "", "sw.maximize(*problem, sw.Oblivious()).status"),
    "fit a graph": (
        "np.sign(table()[0][:, :100])",
        "sw.IsingGraph(1).fit(problem[:, :4])",
        "sw.IsingGraph(5, method=sw.Oblivious()).fit(problem).result_.status",
    ),
    "fit a regression": (
        "table()",
        "sw.SparseRegressor(1).fit(problem[0][:, :4], problem[1])",
        "sw.SparseRegressor(30, n_restarts=10**6).fit(*problem).result_.status",
    ),
    "fit a classification": (
        "table()",
        "sw.SparseClassifier(1).fit(problem[0][:, :4], problem[1] > 0)",
        "sw.SparseClassifier(10, n_restarts=10**6).fit(problem[0], problem[1] > 0).result_.status",
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_is_heard(name):
    problem, warm_up, call = CALLS[name]
    tests = str(Path(__file__).parent)
    code = PROGRAM.format(problem=problem, warm_up=warm_up, call=call, tests=tests)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        try:
            answer, _ = process.communicate(timeout=2 * PATIENCE)  # nor does what runs on keep it from ending
        finally:
            process.kill()
        assert process.returncode == 0
    assert answer.strip() == ("KeyboardInterrupt" if name == "max_weight" else "INTERRUPTED")
