"""The answer of ``swapwise select`` for programs, as JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swapwise.cli.selection import Selection

KEYS = {"R²": "r2", "deviance explained": "deviance_explained", "accuracy": "accuracy"}


def as_json(selection: Selection) -> str:
    """Return the answer; coefficients and intercept are by class if there are any, of two by the second."""
    result = selection.model.result_
    answer: dict[str, Any] = {
        "asked": selection.asked,
        "chosen": [_feature(selection, row) for row in selection.chosen.itertuples(index=False, name=None)],
        "intercept": _by_level(selection, selection.intercept),
        "n_rows": len(selection.y),
        "fit": {KEYS[name]: value for name, value in selection.fit_quality.items()},
        "search": {"value": result.value, "status": result.status.value, "moves": result.n_iter},
        "interrupted": selection.interrupted,
        "seconds": selection.watch.seconds,
        "seconds_compiling": selection.watch.compiling,
        "notes": selection.notes,
    }
    if selection.certificate is not None:
        proof = selection.certificate
        answer["certificate"] = {
            "proven_optimal": proof.optimal,
            "trivial_bound": proof.trivial,
            "ratio": proof.ratio,
            "value": proof.value,
            "upper_bound": proof.upper_bound,
            "kind": proof.kind,
            "status": proof.status.value,
            "assumptions": list(proof.assumptions),
            "doubt": proof.doubt,
        }
        if selection.better:
            answer["certificate"] |= {"better": selection.better, "better_value": proof.better_value}
    if hasattr(selection.model, "path_"):
        answer["size"] = int(selection.model.size_)
        answer["size_chosen_by"] = selection.model.criterion_
        answer["n_folds"] = selection.model.n_folds_
        answer["path"] = selection.model.path_.to_dict("records")
    return json.dumps(finite(answer), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _feature(selection: Selection, row: tuple[Any, ...]) -> dict[str, Any]:
    words = ["feature"] if selection.group_of is None else ["group", "feature"]
    return {
        **dict(zip(words, row, strict=False)),
        "coefficient": _by_level(selection, list(row[len(words) :])),
    }


def _by_level(selection: Selection, numbers: list[float]) -> Any:
    return dict(zip(selection.levels, numbers, strict=True)) if selection.levels else numbers[0]


def finite(value: Any) -> Any:
    """Return what JSON can say: null for numbers that are none, and plain numbers for those of numpy.

    >>> finite({"a": [1.5, float("nan")], "b": "text"})
    {'a': [1.5, None], 'b': 'text'}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
