"""Searches with restarts, as estimators make them, without an estimator."""

from typing import NamedTuple

import numpy as np

from swapwise.checks import as_generator
from swapwise.clock import Clock
from swapwise.maximize import THEORY
from swapwise.search.plan import resolve
from swapwise.search.restarts import RestartProblem, restart
from swapwise.search.result import SearchResult
from swapwise.search.working_sets import working_set


class Searches(NamedTuple):
    best: SearchResult
    frequency: np.ndarray


def best_of_searches(
    objective, constraint, method="auto", *, n_restarts=0, time_limit=None, random_state=None, **options
):
    plan = resolve(objective, constraint, method, hooks=THEORY, **options)
    rng, clock, models = as_generator(random_state), Clock(time_limit), plan.models(objective, constraint)
    first = plan.search(objective, constraint, rng, clock, models=models)
    problem = RestartProblem(objective, constraint, plan, working_set(models))
    return Searches(*restart(problem, first, n_restarts, rng, clock))
