"""What answers for programs have in common: the search, the proof, and numbers that JSON can say."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swapwise.certify.certificate import Certificate
    from swapwise.search.result import SearchResult


def written(answer: dict[str, Any]) -> str:
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
