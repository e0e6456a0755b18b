"""Whoever interrupts a fit gets the best so far, wherever the interrupt comes."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import swapwise as sw
from swapwise.estimators import cross_validated, graph_cv
from swapwise.search import restarts
from swapwise.search.path import warm_path
from swapwise.search.plan import resolve

N = 12


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, N))
    return X, X[:, :5] @ np.arange(5, 0, -1) + rng.standard_normal(60)


def objective():
    X, y = data()
    return sw.LeastSquares(X - X.mean(0), y - y.mean())


def interrupt():
    raise KeyboardInterrupt


class InterruptedAt(sw.Oblivious):
    """The best exchange, until somebody loses patience at a certain one."""

    def __init__(self, call):
        self.left = call

    def find_best(self, state, *rest):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return super().find_best(state, *rest)


def uniform_path(sizes, method, **options):
    least_squares = objective()
    constraints = [sw.Uniform(N, size) for size in sizes]
    return warm_path(least_squares, constraints, resolve(least_squares, constraints[0], method), **options)


def test_a_search_returns_the_best_so_far():
    result = sw.maximize(objective(), sw.Uniform(N, 5), InterruptedAt(4))
    assert result.status is sw.Status.INTERRUPTED
    assert len(result.support) == 3
    assert result.value == pytest.approx(objective()(result.support))


@pytest.mark.parametrize("call", range(1, 14))
def test_a_path_keeps_what_it_has(call):
    sizes = [2, 4, 6]
    results = uniform_path(sizes, InterruptedAt(call))
    whole = uniform_path(sizes, sw.Oblivious())
    assert {result.status for result in results} == {sw.Status.INTERRUPTED}
    values = [result.value for result in results]
    assert values == sorted(values)
    for size, result, best in zip(sizes, results, whole, strict=True):
        assert len(result.support) <= size
        assert result.value == pytest.approx(objective()(result.support))
        assert result.value <= best.value + 1e-9
    assert len(results[0].support) >= min(2, call - 1)


def test_a_path_of_a_fold_is_all_or_nothing():
    with pytest.raises(KeyboardInterrupt):
        uniform_path([2, 4], InterruptedAt(3), all_or_nothing=True)


def test_a_path_begins_with_what_is_forced():
    least_squares = objective()
    constraints = [sw.Uniform(N, size).contract([7]) for size in (2, 3)]
    plan = resolve(least_squares, constraints[0], InterruptedAt(1))
    assert [one.support.tolist() for one in warm_path(least_squares, constraints, plan)] == [[7], [7]]


def interrupted_fold(monkeypatch, done, interrupt=interrupt):
    """Let a fold be interrupted after so many others."""
    losses, calls = cross_validated._fold_losses, iter(range(10))

    def fold(*arguments):
        if next(calls) == done:
            interrupt()
        return losses(*arguments)

    monkeypatch.setattr(cross_validated, "_fold_losses", fold)


def test_folds_that_are_done_choose_the_size(monkeypatch):
    X, y = data()
    whole = sw.SparseRegressorCV(sizes=range(1, 9)).fit(X, y)
    interrupted_fold(monkeypatch, 2)
    with pytest.warns(ConvergenceWarning, match="interrupted: the size is chosen by 2 of 5 folds"):
        model = sw.SparseRegressorCV(sizes=range(1, 9)).fit(X, y)
    assert model.result_.status is sw.Status.INTERRUPTED
    assert (whole.n_folds_, model.n_folds_) == (5, 2)
    assert model.size_ == model.path_["size"][model.path_["cv_mean"].idxmin()]
    assert model.support_.tolist() == whole.path_supports_[model.size_ - 1].tolist()
    assert model.selection_frequency_[model.support_].tolist() == [1] * len(model.support_)
    np.testing.assert_allclose(model.coef_, whole.path_coefs_[model.size_ - 1])
    assert model.predict(X).shape == (60,)


def test_without_a_fold_bic_chooses(monkeypatch):
    X, y = data()
    interrupted_fold(monkeypatch, 0)
    with pytest.warns(ConvergenceWarning, match="interrupted: the size is chosen by BIC"):
        model = sw.SparseRegressorCV(sizes=range(1, 9), one_standard_error=True).fit(X, y)
    assert model.size_ == sw.SparseRegressorCV(sizes=range(1, 9), criterion="bic").fit(X, y).size_
    assert model.path_["cv_mean"].isna().all()
    assert (model.criterion, model.criterion_) == ("cv", "bic")


@pytest.mark.parametrize("place", ["search", "search_again"])
def test_an_interrupt_among_restarts_loses_nothing(monkeypatch, place):
    X, y = data()
    whole = sw.SparseRegressorCV(sizes=range(1, 9), criterion="bic").fit(X, y)
    monkeypatch.setattr(restarts, place, lambda *_, **__: interrupt())
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = sw.SparseRegressorCV(sizes=range(1, 9), criterion="bic", n_restarts=3).fit(X, y)
    assert model.result_.status is sw.Status.INTERRUPTED
    assert model.support_.tolist() == whole.support_.tolist()


def test_a_start_that_was_given_is_kept(monkeypatch):
    monkeypatch.setattr(sw.LeastSquares, "start", lambda *_: interrupt())
    result = sw.maximize(objective(), sw.Uniform(N, 5), start=[1, 2])
    assert (result.support.tolist(), result.status) == ([1, 2], sw.Status.INTERRUPTED)


@pytest.mark.parametrize("criterion", ["cv", "bic"])
def test_an_interrupt_on_all_data_leaves_no_time_for_folds(monkeypatch, criterion):
    X, y = data()
    interrupted_fold(monkeypatch, 0, interrupt=lambda: pytest.fail("a fold was begun"))
    model = sw.SparseRegressorCV(sizes=[1, 3], criterion=criterion, method=InterruptedAt(2), start="empty")
    with pytest.warns(ConvergenceWarning, match="the search was interrupted: the answer is the best so far"):
        model.fit(X, y)
    assert model.result_.status is sw.Status.INTERRUPTED
    assert len(model.support_) == 1


def spins():
    rng = np.random.default_rng(0)
    return np.cumprod(np.where(rng.random((200, 5)) < 0.2, -1, 1), axis=1)


def interrupted_folds(monkeypatch, done):
    scores, calls = graph_cv._fold_scores, iter(range(20))

    def interrupted(*arguments, **options):
        if next(calls) == done:
            raise KeyboardInterrupt
        return scores(*arguments, **options)

    monkeypatch.setattr(graph_cv, "_fold_scores", interrupted)


def test_folds_that_are_done_choose_the_number_of_edges(monkeypatch):
    interrupted_folds(monkeypatch, 2)
    with pytest.warns(ConvergenceWarning, match="the number of edges is chosen by 2 of 5 folds"):
        model = sw.IsingGraphCV(criterion="cv").fit(spins())
    assert model.result_.status is sw.Status.INTERRUPTED
    assert model.n_edges_ == model.path_["score_mean"].idxmax()


def test_without_a_fold_bic_chooses_the_number_of_edges(monkeypatch):
    interrupted_folds(monkeypatch, 0)
    with pytest.warns(ConvergenceWarning, match="the number of edges is chosen by BIC"):
        model = sw.IsingGraphCV(criterion="cv").fit(spins())
    assert model.n_edges_ == sw.IsingGraphCV(criterion="bic").fit(spins()).n_edges_
    assert "score_mean" not in model.path_
    assert model.result_.status is sw.Status.INTERRUPTED


def test_a_path_of_graphs_keeps_what_it_has(monkeypatch):
    from swapwise.search.size_path import _SizePathSearch

    monkeypatch.setattr(_SizePathSearch, "_search_around", lambda walk, best: interrupt())
    with pytest.warns(ConvergenceWarning, match="the search was interrupted"):
        model = sw.IsingGraphCV().fit(spins())
    assert model.support_.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert model.result_.status is sw.Status.INTERRUPTED


def test_a_proof_is_interrupted_at_its_root(monkeypatch):
    from swapwise.certify import prover

    monkeypatch.setattr(prover, "root_node", lambda *arguments: interrupt())
    proof = sw.certify(objective(), sw.Uniform(N, 3), [9, 10, 11])
    assert proof.status is sw.Status.INTERRUPTED
