"""The result of ``swapwise select``: the fitted estimator, its proof, and both as JSON, HTML and a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.app.cli.answers import json_text, proof_in_json, proof_of, search_in_json, with_notes
from swapwise.app.cli.checking.columns import Dataset
from swapwise.app.cli.options import FamilyName, SizeCriterion
from swapwise.checks import warn
from swapwise.clock import Clock
from swapwise.search.plan import OTHERS
from swapwise.search.result import Status

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.app.cli.problem import SelectionProblem
    from swapwise.certify.certificate import Certificate

# The names of scores in JSON.
KEYS = {"R²": "r2", "deviance explained": "deviance_explained", "accuracy": "accuracy"}

# Families with an estimator of their own; ANY_FAMILY takes the others by name.
ESTIMATORS = {FamilyName.LINEAR: "SparseRegressor", FamilyName.LOGISTIC: "SparseClassifier"}
ANY_FAMILY = "SparseGLMRegressor"


@dataclass(frozen=True, eq=False)
class Selection:
    """A model that was fitted to a problem, and its proof."""

    problem: SelectionProblem
    model: Any
    #: None without --certify, or if that was interrupted too early
    certificate: Certificate | None
    seconds: float
    #: The warnings about the data and the search
    notes: list[str]

    @property
    def dataset(self) -> Dataset:
        return self.problem.dataset

    @cached_property
    def group_of(self) -> dict[str, str] | None:
        """The group of every column: that of its variable, or the variable itself; None without groups."""
        groups, variable_of = self.problem.group_of, self.dataset.variable_of
        if groups is None or variable_of is None:
            return variable_of if groups is None else groups
        return {column: groups[variable] for column, variable in variable_of.items()}

    @property
    def unproven(self) -> bool:
        """Whether a proof was interrupted before it proved anything."""
        return self.problem.request.options.certify and self.certificate is None

    @property
    def interrupted(self) -> bool:
        proof = None if self.certificate is None else self.certificate.status
        return self.unproven or Status.INTERRUPTED in (self.model.result_.status, proof)

    @property
    def levels(self) -> list[str]:
        """The classes that have coefficients: of two, the second, against the first; none without classes."""
        if not hasattr(self.model, "classes_"):
            return []
        classes = [str(level) for level in self.model.classes_]
        return classes[1:] if len(classes) == 2 else classes

    @property
    def chosen(self) -> pd.DataFrame:
        """The chosen columns with their groups, if any, and coefficients, one group after another.

        The coefficients have one column, or one per level.
        """
        import pandas as pd

        names = self.dataset.X.columns[self.model.support_]
        coefficients = np.atleast_2d(self.model.coef_)[:, self.model.support_].T
        chosen = pd.DataFrame(coefficients, columns=self.levels or ["coefficient"])
        chosen.insert(0, "feature", names, allow_duplicates=True)
        if self.group_of is None:
            return chosen
        chosen.insert(0, "group", [self.group_of[name] for name in names], allow_duplicates=True)
        order = list(dict.fromkeys(self.group_of.values()))
        places = [order.index(self.group_of[name]) for name in names]
        return chosen.iloc[np.argsort(places, kind="stable")]

    @property
    def chosen_by(self) -> str:
        """The criterion that chose the size, with the cross-validated loss if there is one."""
        from swapwise.app.report.facts import loss_name

        path, by = self.model.path_, str(self.model.criterion_)
        if by != SizeCriterion.CV:
            return by
        if self.model.result_.status is Status.INTERRUPTED:
            by += f", of which {self.model.n_folds_} folds were done"
        loss = path.loc[path["size"] == self.model.size_, "cv_mean"].iloc[0]
        return f"{by}: {loss_name(self.model)} {loss:.4g} on rows left out"

    @property
    def better(self) -> list[str]:
        """The variables of a better choice that the proof has found."""
        found = None if self.certificate is None else self.certificate.better
        return [] if found is None else [self.dataset.variables[element] for element in found]

    @property
    def filled(self) -> list[str]:
        """The variables that add nothing, and were chosen only to meet a lower limit."""
        return [self.dataset.variables[element] for element in self.model.result_.filled]

    @property
    def at_bound(self) -> list[str]:
        """The variables with a coefficient at one of its bounds."""
        return [self.dataset.variables[element] for element in self.model.result_.at_bound]

    @property
    def intercept(self) -> list[float]:
        return [float(value) for value in np.ravel(self.model.intercept_)]

    @property
    def fit_quality(self) -> dict[str, float]:
        from swapwise.app.report.facts import fit_measures

        return fit_measures(self.model, self.dataset.X, self.problem.y, self.problem.offset)

    def to_json(self) -> str:
        """Return the answer; coefficients are by class if there are any, of two by the second."""
        result = self.model.result_
        answer: dict[str, Any] = {
            "asked": self.problem.request.in_words(),
            "chosen": [_feature(self, row) for row in self.chosen.itertuples(index=False, name=None)],
            "filled": self.filled,
            "at_bound": self.at_bound,
            "intercept": _by_level(self, self.intercept),
            "n_rows": len(self.dataset.y),
            "fit": {KEYS[name]: value for name, value in self.fit_quality.items()},
            "search": search_in_json(result),
            "interrupted": self.interrupted,
            "seconds": self.seconds,
            "notes": self.notes,
        }
        if self.certificate is not None:
            proof = self.certificate
            answer["certificate"] = proof_in_json(proof)
            if self.better:
                answer["certificate"] |= {"better": self.better, "better_value": proof.better_value}
        if hasattr(self.model, "alpha_"):
            answer["fit"]["alpha"] = self.model.alpha_
        if hasattr(self.model, "path_"):
            answer["size"] = int(self.model.size_)
            answer["size_chosen_by"] = self.model.criterion_
            answer["n_folds"] = self.model.n_folds_
            answer["path"] = self.model.path_.to_dict("records")
        return json_text(answer)

    def to_html(self) -> str:
        from swapwise.app.report.selection import selection_report

        limits = self.problem.request.limits
        return selection_report(
            self.model,
            self.dataset.X,
            self.problem.y,
            groups=self.group_of if limits.has_groups or limits.whole_groups else None,
            certificate=self.certificate,
            asked=with_notes(self.problem.request.in_words(), self.notes),
            seconds=self.seconds,
            offset=self.problem.offset,
        )

    def to_bytes(self) -> bytes:
        """Return the fitted model, which takes tables like that of the file, for ``joblib.load``."""
        import joblib

        import swapwise
        from swapwise.app.cli.saving import saved_model

        problem, file = self.problem, BytesIO()
        kind = getattr(swapwise, ESTIMATORS.get(problem.request.family, ANY_FAMILY))
        joblib.dump(saved_model(self.model, kind, self.dataset, problem.y, problem.offset), file)
        return file.getvalue()


def select_features(problem: SelectionProblem, notes: list[str], *, progress: bool) -> Selection:
    """Fit the estimator of the request, and prove how good it is; warnings are appended to ``notes``."""
    request, options = problem.request, problem.request.options
    model, clock = _estimator(problem, progress), Clock()
    data = {"X": problem.dataset.X, "y": problem.y}
    data |= {} if problem.offset is None else {"offset": problem.offset}
    model.fit(**data)
    proof = proof_of(model, data, options.proof_seconds, progress) if options.certify else None
    if proof is not None:
        if proof.kind == "all" and not proof.optimal and proof.status is not Status.INTERRUPTED:
            warn(
                "nothing but the fit of all features together bounds this one; "
                "--ridge 0.01 helps to prove more"
            )
        if proof.better is not None and request.choose is None and options.method not in OTHERS:
            model, proof = _with_better(model, data, proof)
    return Selection(problem, model, proof, clock.seconds(), notes)


def _with_better(model: Any, data: dict[str, Any], proof: Certificate) -> tuple[Any, Certificate]:
    """Search again from the better choice that a proof has found; keep the model if that fails."""
    from sklearn.base import clone

    again = clone(model).set_params(start=proof.better)
    try:
        again.fit(**data)
    except KeyboardInterrupt:
        return model, proof
    found = again.result_
    if found.value <= model.result_.value:
        return model, proof
    warn("the proof has found a better choice than the search, and this is it")
    return again, replace(proof, value=found.value, support=found.support, better=None, better_value=None)


def _estimator(problem: SelectionProblem, progress: bool) -> Any:
    import swapwise

    request, constraint = problem.request, problem.constraint
    name = ESTIMATORS.get(request.family, ANY_FAMILY)
    options: dict[str, Any] = {
        "method": request.options.method,
        "ridge": request.options.ridge,
        "groups": problem.dataset.variable_of,
        "forced": problem.forced or None,
        "progress": progress,
    } | problem.coefficients
    if name == ANY_FAMILY:
        options["family"] = request.family.value
    if request.choose is None:
        return getattr(swapwise, name)(constraint, **options)
    path = {"sizes": request.sizes, "criterion": request.choose.value}
    return getattr(swapwise, f"{name}CV")(constraint, **path, **options)


def _feature(selection: Selection, row: tuple[Any, ...]) -> dict[str, Any]:
    words = ["feature"] if selection.group_of is None else ["group", "feature"]
    return {
        **dict(zip(words, row, strict=False)),
        "coefficient": _by_level(selection, list(row[len(words) :])),
    }


def _by_level(selection: Selection, numbers: list[float]) -> Any:
    return dict(zip(selection.levels, numbers, strict=True)) if selection.levels else numbers[0]
