"""Linear and integer programs with a time limit, which can be interrupted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from swapwise.clock import Clock, while_listening

# HiGHS has absolute tolerances of 1e-7 to 1e-6. Objectives are scaled to this size first, so that these are
# negligible. Much larger ones upset it.
OBJECTIVE_SIZE = 2.0**13

# SciPy's number for a program that was stopped by its limit on time.
STOPPED = 1

# Seconds. Most programs take less than the first and are solved in the main thread. Others are solved in a
# thread, while the main one listens for signals, which HiGHS does not. A thread cannot be stopped: after an
# interrupt it runs on to its limit. So limits grow, and no program outlives its caller by more than a few
# times the seconds that it was given before.
FIRST_SECONDS, SECONDS_IN_THREAD, GROWTH = 0.25, 10.0, 4.0


def power_of_two(largest: float) -> float:
    """Return the power of two that brings a number near 1: scaling by it loses no digit."""
    return float(2.0 ** -np.frexp(largest)[1])


def solve_within(clock: Clock, solve: Callable[[float], Any]) -> Any:
    """Return the answer of ``solve(seconds)`` in the time left; each time that it stops, it gets more.

    A program that comes to its end has the answer that it would have without a limit, on every machine. One
    that stops long before its limit had another reason, and is not tried again.
    """
    if current_thread() is not main_thread():  # signals are for the main thread only
        return solve(clock.left())
    seconds, since = min(FIRST_SECONDS, clock.left()), clock.seconds()
    answer, turn = solve(seconds), SECONDS_IN_THREAD
    while answer.status == STOPPED and not clock.is_over and clock.seconds() - since >= 0.9 * seconds:
        left, since = clock.left(), clock.seconds()
        seconds = left if left < 2 * turn else turn
        answer = while_listening(partial(solve, seconds))
        turn *= GROWTH
    return answer
