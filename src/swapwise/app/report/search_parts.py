"""The search of an answer: its moves, its strategies, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swapwise.app.report.parts import PagePart, as_table
from swapwise.app.report.search_history import RecordedMove, moves_chart, moves_of, without_moves
from swapwise.certify.certificate import Certificate
from swapwise.charts.document import table
from swapwise.search.result import SearchResult, Status

#: The number of moves that a page draws and lists, beside those that may lower the value.
MOST_MOVES = 500

_TITLE = "Moves of the search"

_ENDED = {
    Status.LOCAL_OPTIMUM: "at a local optimum, where no allowed move improves the value",
    Status.COMPLETE: "as planned",
    Status.OPTIMAL: "with a proof of optimality",
    Status.ITERATION_LIMIT: "at its limit of moves",
    Status.TIME_LIMIT: "at its time limit",
    Status.INTERRUPTED: "as it was interrupted",
}

_CUT_SHORT = {
    Status.ITERATION_LIMIT: "came to its limit",
    Status.TIME_LIMIT: "ran out of time",
    Status.INTERRUPTED: "was interrupted",
}


def notice_of(result: SearchResult, certificate: Certificate | None) -> str:
    """Return a notice if the search was cut short, or its proof interrupted; else nothing."""
    remarks = []
    if result.status in _CUT_SHORT:
        why = _CUT_SHORT[result.status]
        remarks.append(f"The search {why}: this is the best answer found by then; there may be a better one.")
    proof = result.certificate if certificate is None else certificate
    if proof is not None and not proof.optimal and proof.status is Status.INTERRUPTED:
        remarks.append("The proof was interrupted: its bound could be tightened.")
    return " ".join(remarks)


def search_in_words(result: SearchResult) -> str:
    ended = f"ended {_ENDED[result.status]}"
    if not result.history:
        return f"{without_moves(result)} ({result.method}); {ended}"
    count = f"{len(result.history)} move{'s' * (len(result.history) > 1)}"
    return f"{count} to a value of {result.value:.6g} ({result.method}); {ended}"


def moves_parts(result: SearchResult, name_of: Callable[[int], str]) -> list[PagePart]:
    """Return the value over the moves of a search, what each changed, and what each strategy did.

    Of very many moves some are shown: those that may lower the value, and others at equal distances. A search
    without a move has no part.
    """
    moves = moves_of(result)
    if not moves:
        return []
    words = [f"The record: {search_in_words(result)}."]
    kinds = {move.kind for move in moves}
    if kinds & {"perturbation", "restart"}:
        words.append(
            "At a perturbation or a restart it left a local optimum: the value may fall, and rises again."
        )
    if "backward" in kinds:
        words.append("At a backward step it took an element back: the value falls, and rises again.")
    if moves[0].gain is None:
        words.append("It began with a given set, whose value is not recorded.")
    shown = _shown(moves)
    if len(shown) < len(moves):
        words.append(f"{len(shown)} of the moves are shown here; result_.to_frame() in Python has all.")
    below = _strategies(result) + _table(shown, name_of)
    chart = moves_chart(shown, name_of)
    return [PagePart("moves", _TITLE, " ".join(words), chart, below)]


def _shown(moves: Sequence[RecordedMove]) -> list[RecordedMove]:
    """Return the moves that a page has room for, the first and the last among them."""
    if len(moves) <= MOST_MOVES:
        return list(moves)
    places = {round(place * (len(moves) - 1) / (MOST_MOVES - 1)) for place in range(MOST_MOVES)}
    return [move for place, move in enumerate(moves) if place in places or move.is_leap]


def _strategies(result: SearchResult) -> str:
    if len(result.strategies) < 2:
        return ""
    rows = [
        [f"{rank}. {run.name}", str(run.n_moves), f"{run.value:.6g}", f"{run.seconds:.3g}"]
        for rank, run in enumerate(result.strategies, 1)  # a strategy may run more than once
    ]
    return table(["strategy", "moves", "value reached", "seconds"], rows, "numbers")


def _table(moves: Sequence[RecordedMove], name_of: Callable[[int], str]) -> str:
    several = len({move.strategy for move in moves}) > 1
    rows = []
    for move in moves:
        gain = "" if move.gain is None else f"{move.gain:.4g}"
        by = [move.strategy] if several else []
        rows.append([str(move.number), move.words(name_of), *by, gain, f"{move.value:.6g}"])
    head = ["move", "what", *(["by"] if several else []), "gain", "value"]
    return as_table(head, rows, "numbers named", "The moves as a table")
