"""The result of ``swapwise select``: the fitted estimator, its proof, and both as JSON, HTML and a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.app.cli.as_json import proof_in_json, search_in_json, written
from swapwise.app.cli.checking.columns import Dataset
from swapwise.app.cli.options import Choice, Family
from swapwise.app.cli.output import with_notes
from swapwise.checks import unwarned, warn
from swapwise.clock import Clock
from swapwise.search.plan import OTHERS
from swapwise.search.result import Status

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.app.cli.limits import Limits
    from swapwise.app.cli.problem import Problem
    from swapwise.app.cli.request import Request
    from swapwise.certify.certificate import Certificate
    from swapwise.checks import FloatArray

# How measures of fit are called in JSON.
KEYS = {"R²": "r2", "deviance explained": "deviance_explained", "accuracy": "accuracy"}

# Of families that have an estimator of their own; the others are named to one that takes any.
ESTIMATORS = {
    Family.LINEAR: "SparseRegressor",
    Family.LOGISTIC: "SparseClassifier",
    Family.POISSON: "SparsePoissonRegressor",
}
ANY_FAMILY = "SparseGLMRegressor"


@dataclass(frozen=True, eq=False)
class Selection:
    """A fitted model, what it was fitted to, and what is known of it."""

    model: Any
    dataset: Dataset
    y: Any
    #: The group of every column, or None
    group_of: dict[str, str] | None
    settings: dict[str, str]
    #: What limited the choice
    limits: Limits
    seconds: float
    #: None without --certify, or if that was interrupted too early
    certificate: Certificate | None
    unproven: bool
    #: The warnings about the data and the search
    notes: list[str]
    family: Family
    #: What is added to the linear predictor of every row
    offset: FloatArray | None = None

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
        if by != Choice.CV:
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

        return fit_measures(self.model, self.dataset.X, self.y, self.offset)

    def to_json(self) -> str:
        return _as_json(self)

    def to_html(self) -> str:
        from swapwise.app.report.selection import selection_report

        return selection_report(
            self.model,
            self.dataset.X,
            self.y,
            groups=self.group_of if self.limits.has_groups or self.limits.whole_groups else None,
            certificate=self.certificate,
            asked=with_notes(self.settings, self.notes),
            seconds=self.seconds,
            offset=self.offset,
        )

    def to_bytes(self) -> bytes:
        """Return the fitted model, which takes tables like that of the file, for ``joblib.load``."""
        import joblib

        import swapwise
        from swapwise.app.cli.saving import saved_model

        kind = getattr(swapwise, ESTIMATORS.get(self.family, ANY_FAMILY))
        file = BytesIO()
        joblib.dump(saved_model(self.model, kind, self.dataset, self.y, self.offset), file)
        return file.getvalue()


def select_features(problem: Problem, proof_seconds: float, notes: list[str], *, progress: bool) -> Selection:
    """Fit the estimator of the request, and prove how good it is; warnings are appended to ``notes``."""
    request, dataset = problem.request, problem.dataset
    model = _estimator(problem, progress)
    y = _target(dataset, request.family)
    data = {"X": dataset.X, "y": y} | ({} if problem.offset is None else {"offset": problem.offset})
    clock = Clock()
    model.fit(**data)
    proof = _proof(model, data, proof_seconds, progress) if request.certify else None
    if proof is not None and proof.better is not None and _can_go_on(request):
        model, proof = _with_better(model, data, proof)
    return Selection(
        model,
        dataset,
        y,
        _groups_of_columns(dataset, problem.group_of),
        request.in_words(),
        request.limits,
        clock.seconds(),
        proof,
        unproven=request.certify and proof is None,
        notes=notes,
        family=request.family,
        offset=problem.offset,
    )


def _proof(model: Any, data: dict[str, Any], seconds: float, progress: bool) -> Certificate | None:
    if model.result_.status is Status.INTERRUPTED:
        return None
    try:
        with unwarned():  # it would speak of how to write objectives
            proof: Certificate = model.certify(**data, time_limit=seconds, progress=progress)
    except KeyboardInterrupt:
        return None
    if proof.kind == "all" and not proof.optimal and proof.status is not Status.INTERRUPTED:
        warn("nothing but the fit of all features together bounds this one; --ridge 0.01 helps to prove more")
    return proof


def _can_go_on(request: Request) -> bool:
    return request.choose is None and request.method not in OTHERS


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


def _estimator(problem: Problem, progress: bool) -> Any:
    import swapwise

    request, constraint = problem.request, problem.constraint
    name = ESTIMATORS.get(request.family, ANY_FAMILY)
    options: dict[str, Any] = {
        "method": request.method,
        "ridge": request.ridge,
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


def _target(dataset: Dataset, family: Family) -> Any:
    if family is not Family.LOGISTIC:
        return dataset.y.to_numpy(dtype=float)
    is_text = dataset.y.dtype.kind not in "biuf"
    return dataset.y.astype(str).to_numpy(dtype=object) if is_text else dataset.y.to_numpy()


def _groups_of_columns(dataset: Dataset, group_of_variable: dict[str, str] | None) -> dict[str, str] | None:
    """Return the group of every column: that of its variable, or the variable itself."""
    if group_of_variable is None:
        return dataset.variable_of
    if dataset.variable_of is None:
        return group_of_variable
    return {column: group_of_variable[variable] for column, variable in dataset.variable_of.items()}


def _as_json(selection: Selection) -> str:
    """Return the answer; coefficients and intercept are by class if there are any, of two by the second."""
    result = selection.model.result_
    answer: dict[str, Any] = {
        "asked": selection.settings,
        "chosen": [_feature(selection, row) for row in selection.chosen.itertuples(index=False, name=None)],
        "filled": selection.filled,
        "at_bound": selection.at_bound,
        "intercept": _by_level(selection, selection.intercept),
        "n_rows": len(selection.y),
        "fit": {KEYS[name]: value for name, value in selection.fit_quality.items()},
        "search": search_in_json(result),
        "interrupted": selection.interrupted,
        "seconds": selection.seconds,
        "notes": selection.notes,
    }
    if selection.certificate is not None:
        proof = selection.certificate
        answer["certificate"] = proof_in_json(proof)
        if selection.better:
            answer["certificate"] |= {"better": selection.better, "better_value": proof.better_value}
    if hasattr(selection.model, "alpha_"):
        answer["fit"]["alpha"] = selection.model.alpha_
    if hasattr(selection.model, "path_"):
        answer["size"] = int(selection.model.size_)
        answer["size_chosen_by"] = selection.model.criterion_
        answer["n_folds"] = selection.model.n_folds_
        answer["path"] = selection.model.path_.to_dict("records")
    return written(answer)


def _feature(selection: Selection, row: tuple[Any, ...]) -> dict[str, Any]:
    words = ["feature"] if selection.group_of is None else ["group", "feature"]
    return {
        **dict(zip(words, row, strict=False)),
        "coefficient": _by_level(selection, list(row[len(words) :])),
    }


def _by_level(selection: Selection, numbers: list[float]) -> Any:
    return dict(zip(selection.levels, numbers, strict=True)) if selection.levels else numbers[0]
