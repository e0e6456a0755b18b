"""Least squares and limits on nested sets in plain NumPy: what the kernels of searches are compared with."""

from typing import NamedTuple

import numpy as np

from swapwise import kernels
from swapwise.kernels import _baseline

LEVELS = {"best": kernels._compiled, "baseline": _baseline}
TIE, LEAST_SHARE = 1e-9, 1e-8


class Problem(NamedTuple):
    """Columns, a response, and the penalty on squared coefficients."""

    A: np.ndarray
    y: np.ndarray
    ridge: float

    @property
    def n(self):
        return self.A.shape[1]

    @property
    def gram(self):
        return self.A.T @ self.A

    @property
    def squares(self):
        return np.diag(self.gram) + self.ridge

    @property
    def floor(self):
        return LEAST_SHARE * self.squares

    @property
    def total(self):
        return float(self.y @ self.y)

    def value(self, columns):
        """Return by how much the best fit on some columns lowers the penalised sum of squares."""
        columns = list(columns)
        system = np.vstack([self.A[:, columns], np.sqrt(self.ridge) * np.eye(len(columns))])
        response = np.append(self.y, np.zeros(len(columns)))
        coef = np.linalg.lstsq(system, response, rcond=1e-7)[0]
        return self.total - float(((response - system @ coef) ** 2).sum())

    def is_independent(self, columns):
        return self.ridge > 0 or np.linalg.matrix_rank(self.A[:, list(columns)], tol=1e-6) == len(columns)

    def quantities(self, chosen, room=None):
        """Return inverse, coupling, coefficients, correlations and squares left: solved for, not updated."""
        chosen = list(chosen)
        size, room = len(chosen), len(chosen) if room is None else room
        products = self.gram[:, chosen]
        inverse = np.linalg.inv(products[chosen] + self.ridge * np.eye(size))
        coef = inverse @ (self.A[:, chosen].T @ self.y)
        corr = self.A.T @ (self.y - self.A[:, chosen] @ coef)
        coupling = products @ inverse
        sigma = self.squares - (coupling * products).sum(axis=1)
        whole = np.zeros((room, room)), np.zeros((self.n, room)), np.zeros(room)
        whole[0][:size, :size], whole[1][:, :size], whole[2][:size] = inverse, coupling, coef
        return (*whole, corr, sigma)


def some_problem(rng, n, ridge, *, copies=True):
    """Return random columns, perhaps zeros and multiples of each other among them."""
    A, y = rng.standard_normal((n + 3, n)), rng.standard_normal(n + 3)
    for j in range(n):
        kind = rng.integers(6)
        if kind == 0:
            A[:, j] = 0.0
        elif kind == 1 and copies and j:
            A[:, j] = rng.choice([-1, 1, 3, 0.1]) * A[:, rng.integers(j)]  # a tie but for rounding
    return Problem(A, y, ridge)


def some_chosen(rng, problem, most=4):
    """Return linearly independent columns, in any order; perhaps none."""
    chosen = []
    for j in rng.permutation(problem.n)[: rng.integers(most + 1)]:
        if problem.is_independent([*chosen, j]):
            chosen.append(int(j))
    return chosen


class Tree(NamedTuple):
    """Limits on nested sets in preorder, as kernels read them."""

    leaf: np.ndarray
    end: np.ndarray
    parent: np.ndarray
    capacity: np.ndarray
    at_least: np.ndarray

    def allows(self, subset):
        return all(self.demand(node, subset) <= most for node, most in enumerate(self.capacity))

    def demand(self, node, subset):
        """Return how many places a set takes, with those for elements that its lower limit asks for."""
        own = sum(self.leaf[element] == node for element in subset)
        within = [child for child in range(node + 1, self.end[node]) if self.parent[child] == node]
        return max(self.at_least[node], own + sum(self.demand(child, subset) for child in within))


def some_tree(rng, n):
    """Return limits, of zero among them: their elements are loops; every other time lower ones, too."""
    parent = [0]
    for node in range(1, rng.integers(1, 5)):
        around = [node - 1]
        while around[-1]:
            around.append(parent[around[-1]])
        parent.append(int(rng.choice(around)))
    end = np.arange(1, len(parent) + 1)
    for node in range(len(parent) - 1, 0, -1):
        end[parent[node]] = max(end[parent[node]], end[node])
    leaf, capacity = rng.integers(0, len(parent), n), rng.integers(0, 4, len(parent))
    tree = Tree(leaf, end, np.array(parent), capacity, np.zeros(len(parent), dtype=int))
    lower = tree._replace(at_least=rng.integers(0, capacity + 1))
    return lower if lower.allows([]) else tree


def grown(rng, tree, fits=lambda subset: True):
    """Return a random start that the limits allow."""
    start = []
    for j in rng.permutation(len(tree.leaf))[: rng.integers(4)]:
        if tree.allows([*start, j]) and fits([*start, j]):
            start.append(int(j))
    return start


def plain_moves(value, tree, fixed, start, threshold, scale):
    """Return the best moves from a start one after the other, as (added, dropped or -1, gain), and the end.

    Of moves that tie, the first is taken: by what is added, then by what is dropped. What can be added
    alone is.
    """
    support, made = sorted(start), []
    while True:
        moves = []
        for added in sorted(set(range(len(tree.leaf))) - set(support)):
            if tree.allows([*support, added]):
                moves.append((added, -1))
                continue
            drops = [i for i in support if not fixed[i]]
            moves += [(added, i) for i in drops if tree.allows({*support, added} - {i})]
        gains = np.array([value({*support, j} - {i}) for j, i in moves]) - value(support)
        if not len(gains) or gains.max() <= threshold:
            return made, support
        best = int(np.argmax(gains >= gains.max() - TIE * (abs(gains.max()) + scale)))
        added, dropped = moves[best]
        support = sorted({*support, added} - {dropped})
        made.append((added, dropped, gains[best]))
