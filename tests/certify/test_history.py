"""The record of a proof, what is shown while it runs, and where it may stop."""

import pickle
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import swapwise as sw
from swapwise.certify import prover
from swapwise.certify.history import MOST_EVENTS, ProofEvent, ProofHistory
from swapwise.certify.prover import Prover
from swapwise.certify.root import root_node
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from tests.certify.problem_zoo import check_history, enumeration


def regression(samples=60, features=14, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features))
    X[:, 1:] += 0.8 * X[:, :-1]
    return X, X @ rng.standard_normal(features) + 2 * rng.standard_normal(samples)


def problem():
    return sw.LeastSquares(*regression()), sw.Uniform(14, 5)


def proven(run=sw.exact, **options):
    """Run a proof with many parts."""
    with enumeration(closed_form=False):
        return run(*problem(), **options)


def kind_of_node():
    """Return the class of the nodes that bound the problem."""
    objective, constraint = problem()
    return type(root_node(objective, Region.of(constraint), np.array([0]), Clock()))


# What is on the record


def test_the_record_leads_from_the_search_to_the_proof():
    result = proven()
    events = result.certificate.history
    moves = result.history
    assert events[0].upper_bound == np.inf
    assert events[0].value in [move.value for move in moves]
    assert events[0].seconds in [move.seconds for move in moves]
    kinds = list(dict.fromkeys(event.kind for event in events))
    assert kinds == ["", "all", "relaxation", "branching"]
    assert events[-1].upper_bound <= result.value * (1 + 1e-8)
    check_history(problem()[0], result.certificate, result.value)


def test_an_answer_that_is_given_is_known_from_the_beginning():
    answer = [0, 1, 2]
    certificate = proven(sw.certify, result=answer)
    first, *_, last = certificate.history
    assert first == ProofEvent(0.0, certificate.value, np.inf, "", 0)
    assert last.value == certificate.better_value > first.value


def test_without_an_answer_the_search_is_on_the_record():
    certificate = proven(sw.certify)
    assert certificate.history[0].upper_bound == np.inf
    assert certificate.history[0].seconds > 0


def test_a_better_set_is_on_the_record_when_it_is_found():
    """Before the part is done in which it is: that may take long."""
    with enumeration(closed_form=False):
        objective, constraint = problem()
        proof = Prover(objective, constraint, np.array([0]), objective([0]), Clock())
        proof.root = root_node(objective, proof.region, proof.answer, Clock())
        proof.tree.set_root(proof.root)
        seen = []
        proof._show = lambda state: seen.append((state.value, proof.tree.n_nodes, proof.tree.n_open))
        proof.tree.step(Clock())
    assert seen[0][0] > objective([0])
    assert seen[0][1:] == (1, 1)  # the whole is still open


def test_the_record_survives_an_interrupt(monkeypatch):
    node = kind_of_node()
    original, calls = node.tighten, []

    def interrupted(self, *arguments):
        calls.append(None)
        if len(calls) == 5:
            raise KeyboardInterrupt
        original(self, *arguments)

    monkeypatch.setattr(node, "tighten", interrupted)
    certificate = proven().certificate
    monkeypatch.undo()
    assert certificate.status == "INTERRUPTED"
    check_history(problem()[0], certificate, proven().value)


def test_what_is_not_proven_in_the_end_is_not_on_the_record():
    """A function that is not submodular, and says that it is: bounds are below values."""
    wrong = sw.CustomSetFunction(lambda chosen: len(chosen) ** 3, n=6, monotone=True, submodular=True)
    with pytest.warns(UserWarning, match="nothing is proven"):
        certificate = sw.certify(wrong, sw.Uniform(6, 3))
    assert certificate.upper_bound == np.inf
    assert [event.upper_bound for event in certificate.history] == [np.inf] * len(certificate.history)


def test_certificates_of_before_have_no_record():
    certificate = sw.certify(*problem())
    older = object.__new__(sw.Certificate)
    state = {name: value for name, value in vars(certificate).items() if name not in ("history", "n_passes")}
    older.__dict__.update(state)
    copy = pickle.loads(pickle.dumps(older))
    assert (copy.history, copy.n_passes) == ((), None)
    assert replace(certificate, history=()).optimal


# Its length


def closing(n, rate):
    """Return a record in which the distance shrinks n times, by a part that differs from time to time."""
    record = ProofHistory([], 1.0)
    gap = 1.0
    for number in range(1, n + 1):
        gap *= 1.0 - rate * (number % 7 + 1)
        record.note(ProofEvent(float(number), 1.0, 1.0 + gap, "branching", number))
    return record.down_to(1.0)


@pytest.mark.parametrize(("n", "rate"), [(5000, 1e-3), (5000, 1e-5), (50_000, 1e-5)])
def test_a_long_record_is_thinned_out(n, rate):
    events = closing(n, rate)
    assert MOST_EVENTS / 8 < len(events) <= MOST_EVENTS + 1
    assert events[0].seconds == 0
    assert events[-1].seconds == n
    assert events == closing(n, rate)
    gaps = np.array([event.distance for event in events[1:]])
    steps = 1 - gaps[1:] / gaps[:-1]
    assert steps[:-1].max() < 20 * steps[:-1].min()  # as large as each other, within a factor


def test_a_short_record_is_kept_as_a_whole():
    assert len(closing(MOST_EVENTS - 10, 1e-6)) == MOST_EVENTS - 9


def test_moves_of_a_long_search_are_thinned_out():
    value = np.sqrt(np.arange(1, 5001))
    moves = [sw.extending.Event(k, (), (), np.array([0]), value[k], float(k)) for k in range(5000)]
    events = ProofHistory(moves, value[-1]).down_to(np.inf)
    assert MOST_EVENTS / 8 < len(events) <= MOST_EVENTS + 1
    assert (events[0].value, events[-1].value) == (value[0], value[-1])


def test_a_bound_never_rises_on_the_record():
    record = ProofHistory([], 1.0)
    for bound, value in [(3.0, 1.0), (4.0, 1.0), (4.0, 2.0)]:
        record.note(ProofEvent(record._last.seconds + 1, value, bound, f"by {bound:g}", 0))
    assert [event[1:4] for event in record.down_to(3.0)[1:]] == [(1.0, 3.0, "by 3"), (2.0, 3.0, "by 3")]


def test_a_record_with_contradictions_ends():
    record = ProofHistory([], 1.0)
    for number in range(3 * MOST_EVENTS):
        record.note(ProofEvent(number + 1.0, 1.0, -float(number), "wrong", 0))
    assert len(record.down_to(-np.inf)) <= MOST_EVENTS + 1


# From inside the root


def test_bounds_from_inside_the_root_count(monkeypatch):
    """They count although the root runs out of time."""

    def chatty(*arguments):
        root = root_node(*arguments)
        root.observe = lambda kind, bound: None

        def tighten(target, clock):
            for bound in (0.98, 0.97, 0.975):
                root.observe("relaxation", bound)
            raise OutOfTime

        root.tighten = tighten
        return root

    monkeypatch.setattr(prover, "root_node", chatty)
    seen = []
    objective, constraint = problem()
    with enumeration(closed_form=False):
        proof = Prover(objective, constraint, np.array([0]), objective([0]), Clock(), show=seen.append)
        monkeypatch.setattr(proof, "_simple_bounds", lambda clock, thorough: proof.observe_bound("all", 1.0))
        assert proof.run(Clock(), 0.0) == "TIME_LIMIT"
    shown = [state.upper_bound for state in seen]
    assert [bound for bound, after in pairwise(shown) if bound != after] + shown[-1:] == [1.0, 0.98, 0.97]
    assert seen[-1].gap == pytest.approx((0.97 - objective([0])) / 0.97)
    certificate = proof.certificate(1.0)
    assert (certificate.upper_bound, certificate.kind) == (0.97, "relaxation")
    bounds = [(event.upper_bound, event.kind) for event in certificate.history[1:]]
    assert bounds == [(1.0, "all"), (0.98, "relaxation"), (0.97, "relaxation")]


def test_parts_are_not_told_to_report(monkeypatch):
    """What a part has proven is no bound on all sets."""
    node, reports = kind_of_node(), []
    original = node.tighten

    def reporting(self, *arguments):
        original(self, *arguments)
        self.observe(self.kind, self.own_bound)
        reports.append(isinstance(getattr(self.observe, "__self__", None), Prover))

    monkeypatch.setattr(node, "observe", staticmethod(lambda kind, bound: None), raising=False)
    monkeypatch.setattr(node, "tighten", reporting)
    result = proven()
    monkeypatch.undo()
    assert reports[0]
    assert len(reports) > 1
    assert not any(reports[1:])
    check_history(problem()[0], result.certificate, proven().value)


# A gap for exact


def test_exact_stops_when_the_answer_is_good_enough():
    whole = proven()
    previous = 0
    for gap in (0.5, 0.05, 0.01):
        result = proven(gap=gap)
        assert 0 < result.certificate.gap <= gap
        assert result.certificate.ratio >= 1 - gap
        assert result.status == result.certificate.status == "COMPLETE"
        assert not result.certificate.optimal
        assert not result.certificate.doubt
        assert previous <= result.certificate.n_nodes < whole.certificate.n_nodes
        previous = result.certificate.n_nodes
    assert whole.status == "OPTIMAL"


def test_what_is_proven_optimal_is_called_so_whatever_the_gap():
    result = sw.exact(sw.Linear([1.0, 3.0, 2.0]), sw.Uniform(3, 2), gap=0.3)
    assert result.status == "OPTIMAL"


# Passes over the data


@pytest.mark.parametrize("run", [sw.certify, lambda *problem: sw.exact(*problem).certificate])
def test_passes_of_the_proof_are_counted(run):
    objective, constraint = problem()
    answer = sw.maximize(objective, constraint)
    before = objective.n_passes
    certificate = sw.certify(objective, constraint, answer)
    # One value of the answer is computed before the proof begins.
    assert 0 < certificate.n_passes <= objective.n_passes - before
    again = run(objective, constraint)
    assert 0 < again.n_passes < objective.n_passes - before - certificate.n_passes


def test_passes_of_exact_are_those_of_search_and_proof():
    objective, constraint = problem()
    result = sw.exact(objective, constraint)
    assert result.n_passes == pytest.approx(objective.n_passes, abs=1e-3)
    assert result.certificate.n_passes < result.n_passes


def test_where_passes_are_not_counted_there_are_none():
    assert sw.certify(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1)).n_passes is None


# What is shown


@pytest.mark.parametrize("run", [sw.certify, partial(sw.exact, gap=0.001)])
def test_progress_shows_the_gap(run, capsys):
    result = proven(run, progress=True)
    certificate = getattr(result, "certificate", result)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"value {certificate.value:.6g}  bound {certificate.upper_bound:.6g}" in shown.err
    assert f"gap {100 * (1 - certificate.ratio):.2g} %  {certificate.n_nodes} parts, " in shown.err
    assert "passes" not in shown.err  # the data are in memory


def test_progress_tells_of_passes_over_data_in_chunks(tmp_path, capsys):
    X, y = regression()
    np.save(tmp_path / "X.npy", X)
    objective = sw.LeastSquares(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    certificate = sw.certify(objective, sw.Uniform(14, 2), progress=True)
    assert f"passes: {objective.n_passes:.3g}" in capsys.readouterr().err
    assert certificate.n_passes > 0


def test_progress_changes_nothing():
    quiet, shown = proven(), proven(progress=True)
    assert quiet.support.tolist() == shown.support.tolist()
    assert quiet.certificate.bounds == shown.certificate.bounds
    assert [event[1:] for event in quiet.certificate.history if event.kind] == [
        event[1:] for event in shown.certificate.history if event.kind
    ]
