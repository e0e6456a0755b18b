"""That campaigns see what is wrong: each is run on a subject that is broken on purpose."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

import swapwise as sw
from swapwise.app.cli.reading import tables as reading
from swapwise.paper import store
from tests.fuzz import estimators, interrupts, stores, tables


def _claims(check, seeds):
    return {claim for seed in seeds for claim, _ in check(seed).violations}


def test_a_store_that_does_not_check_its_rows_is_seen(monkeypatch):
    monkeypatch.setattr(store, "_checksum", lambda row: "")
    assert "what is not told costs no row" in _claims(stores.check, range(25, 40))


RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((30, 6))
y = X[:, 0] + RANDOM.standard_normal(30)


def _interrupted(run, claims=lambda answer: {}, n_times=2):
    call = interrupts.Call("broken", run, claims=claims)
    random = np.random.default_rng(1)
    return {claim for _ in range(n_times) for claim, _ in interrupts.check_call(call, random).violations}


def _work(seconds):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


def test_a_call_that_does_not_hear_is_seen():
    def deaf():
        ends = time.process_time() + 0.16
        while time.process_time() < ends:
            with suppress(KeyboardInterrupt):
                _work(ends - time.process_time())
        return sw.SparseRegressor(2).fit(X, y)

    assert "an interrupt is heard soon" in _interrupted(deaf)


def test_a_call_that_hears_is_well():
    def listening():
        _work(0.16)
        return sw.SparseRegressor(2).fit(X, y)

    assert not _interrupted(listening)


def test_an_interrupted_answer_that_is_wrong_is_seen():
    def wrong():
        model = sw.SparseRegressor(2).fit(X, y)
        try:
            _work(0.05)
        except KeyboardInterrupt:
            model.coef_ = model.coef_ + 1.0
            model.result_ = sw.SparseRegressor(1).fit(X, y).result_
        return model

    claims = _interrupted(wrong, lambda m: interrupts._claims_of_columns(m, sw.SparseRegressor, X, y, 2))
    assert {
        "an answer that is not the whole says so",
        "other columns have no coefficient",
        "the best so far is fitted",
    } <= claims


def test_weights_that_are_left_out_of_the_fit_are_seen(monkeypatch):
    fit = sw.SparseRegressor.fit

    def careless(self, X, y, sample_weight=None):
        fit(self, X, y, sample_weight)
        self.intercept_ += 0.0 if sample_weight is None else 0.1
        return self

    monkeypatch.setattr(sw.SparseRegressor, "fit", careless)
    monkeypatch.setattr(estimators, "MODELS", {"SparseRegressor": sw.SparseRegressor})
    assert "weights are repetitions in the fit" in _claims(estimators.check, range(3))


def test_a_graph_that_depends_on_the_container_is_seen(monkeypatch):
    fit = sw.IsingGraph.fit

    def careless(self, X, y=None, sample_weight=None):
        fit(self, X, y, sample_weight)
        if not (isinstance(X, np.ndarray) and X.flags.c_contiguous and X.flags.writeable):
            self.adjacency_ = 2 * self.adjacency_
        return self

    monkeypatch.setattr(sw.IsingGraph, "fit", careless)
    monkeypatch.setattr(estimators, "MODELS", {"IsingGraph": sw.IsingGraph})
    assert any("the same answer for" in claim for claim in _claims(estimators.check, range(6)))


def test_a_reader_that_drops_a_row_is_seen(monkeypatch):
    read = reading.read_text
    monkeypatch.setattr(reading, "read_text", lambda *arguments: read(*arguments).iloc[:-1])
    claims = _claims(tables.check, range(12))
    assert {"no cell is lost or shifted", "no cell is lost or shifted by damage"} <= claims


def test_a_reader_that_refuses_for_no_reason_is_seen(monkeypatch):
    def refuse(*_):
        raise ValueError("it did not work")

    monkeypatch.setattr(reading, "read_text", refuse)
    assert {"a plain table is answered", "a refusal has a known reason"} <= _claims(tables.check, range(4))
