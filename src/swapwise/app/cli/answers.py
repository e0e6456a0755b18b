"""Proof, notes and JSON of an answer, the same for ``swapwise select`` and ``graph``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from swapwise.checks import unwarned
from swapwise.search.result import Status

if TYPE_CHECKING:
    from swapwise.certify.certificate import Certificate
    from swapwise.search.result import SearchResult


def proof_of(model: Any, data: dict[str, Any], seconds: float, progress: bool) -> Certificate | None:
    """Certify a fitted model; return None if that, or the fit before, was interrupted."""
    if model.result_.status is Status.INTERRUPTED:
        return None
    try:
        with unwarned():  # warnings of certify are for those who write objectives
            proof: Certificate = model.certify(**data, time_limit=seconds, progress=progress)
    except KeyboardInterrupt:
        return None
    return proof


def with_notes(settings: dict[str, str], notes: list[str]) -> dict[str, str]:
    return settings | {"notes": "; ".join(notes)} if notes else settings


def json_text(answer: dict[str, Any]) -> str:
    return json.dumps(finite(answer), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def search_in_json(result: SearchResult) -> dict[str, Any]:
    ran = [
        {"name": run.name, "moves": run.n_moves, "value": run.value, "seconds": run.seconds}
        for run in result.strategies
    ]
    return {
        "value": result.value,
        "status": result.status.value,
        "moves": result.n_iter,
        "method": result.method,
        "strategies": ran,
    }


def proof_in_json(proof: Certificate) -> dict[str, Any]:
    return {
        "proven_optimal": proof.optimal,
        "trivial_bound": proof.trivial,
        "ratio": proof.ratio,
        "gap": proof.gap,
        "value": proof.value,
        "upper_bound": proof.upper_bound,
        "kind": proof.kind,
        "status": proof.status.value,
        "assumptions": list(proof.assumptions),
        "doubt": proof.doubt,
    }


def finite(value: Any) -> Any:
    """Replace numbers that JSON has not (NaN, infinities) by null, and numpy's numbers by Python's."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
