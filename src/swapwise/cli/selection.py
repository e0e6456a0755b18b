"""The answer of ``swapwise select``: the estimator that fits the question, and what is told of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.cli.columns import Design
from swapwise.cli.limits import DEFAULT_SIZE
from swapwise.cli.options import Family
from swapwise.constraints.uniform import Uniform
from swapwise.search.result import Status

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.cli.question import Question
    from swapwise.theory.certificate import Certificate

ESTIMATORS = {
    Family.LINEAR: "SparseRegressor",
    Family.LOGISTIC: "SparseClassifier",
    Family.POISSON: "SparsePoissonRegressor",
}


@dataclass(frozen=True, eq=False)
class Selection:
    """A fitted model, what it was fitted to, and what is known of it."""

    model: Any
    design: Design
    y: Any
    #: The group of every column, or None
    group_of: dict[str, str] | None
    asked: dict[str, str]
    seconds: float
    certificate: Certificate | None

    @property
    def interrupted(self) -> bool:
        """Whether somebody did not wait for the end."""
        proof = None if self.certificate is None else self.certificate.status
        return Status.INTERRUPTED in (self.model.result_.status, proof)

    @property
    def chosen(self) -> pd.DataFrame:
        """The chosen columns with their groups, if any, and coefficients, one group after another."""
        import pandas as pd

        names = self.design.X.columns[self.model.support_]
        coefficients = pd.DataFrame(np.atleast_2d(self.model.coef_)[:, self.model.support_].T)
        coefficients.columns = self._levels()
        coefficients.insert(0, "feature", names)
        if self.group_of is None:
            return coefficients
        coefficients.insert(0, "group", [self.group_of[name] for name in names])
        order = list(dict.fromkeys(self.group_of.values()))
        return coefficients.sort_values("group", key=lambda column: column.map(order.index), kind="stable")

    def _levels(self) -> list[str]:
        """Return what each column of coefficients is of: for three classes or more, there is one for each."""
        if np.ndim(self.model.coef_) == 1 or len(self.model.coef_) == 1:
            return ["coefficient"]
        return [f"coefficient of {level}" for level in self.model.classes_]

    @property
    def fit_quality(self) -> tuple[str, float]:
        """What measures the fit, and how good it is."""
        from sklearn.metrics import d2_log_loss_score

        X = self.design.X
        if hasattr(self.model, "classes_"):
            probabilities = self.model.predict_proba(X)
            explained = d2_log_loss_score(self.y, probabilities, labels=self.model.classes_)
            return "deviance explained", float(explained)
        name = "R²" if self.asked["family"] == Family.LINEAR else "deviance explained"
        return name, float(self.model.score(X, self.y))

    def to_json(self) -> str:
        """Return the answer for programs."""
        name, quality = self.fit_quality
        result = self.model.result_
        answer: dict[str, Any] = {
            "asked": self.asked,
            "chosen": self.chosen.to_dict("records"),
            "intercept": np.asarray(self.model.intercept_).tolist(),
            "fit": {"measure": name, "value": quality},
            "search": {"value": float(result.value), "status": result.status.value, "moves": result.n_iter},
            "seconds": self.seconds,
        }
        if self.certificate is not None:
            proof = self.certificate
            answer["certificate"] = {
                "ratio": float(proof.ratio),
                "value": float(proof.value),
                "upper_bound": float(proof.upper_bound),
                "kind": proof.kind,
            }
        if hasattr(self.model, "path_"):
            # By pandas: numbers that are not there become null.
            answer["path"] = json.loads(self.model.path_.to_json(orient="records"))
        return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"

    def to_html(self) -> str:
        """Return the answer as a page with charts."""
        from swapwise.report.selection import selection_report

        return selection_report(
            self.model,
            self.design.X,
            self.y,
            groups=self.group_of,
            certificate=self.certificate,
            asked=self.asked,
            seconds=self.seconds,
        )

    def to_bytes(self) -> bytes:
        """Return the fitted model as ``joblib.load`` reads it."""
        import joblib

        file = BytesIO()
        joblib.dump(self.model, file)
        return file.getvalue()


def select_features(question: Question, design: Design, *, progress: bool) -> Selection:
    """Fit the estimator that the question asks for."""
    variables = design.variables
    constraint, group_of_variable = question.limits.constraint(variables, question.force_out)
    if constraint is None and question.choose is None:
        constraint = Uniform(len(variables), min(DEFAULT_SIZE, len(variables)))
    model = _estimator(question, constraint, design.variable_of, progress)
    y = _target(design, question.family)
    began = perf_counter()
    model.fit(design.X, y)
    certificate = None
    if question.certify and model.result_.status is not Status.INTERRUPTED:
        certificate = model.certify(design.X, y)
    seconds = perf_counter() - began
    group_of = _groups_of_columns(design, group_of_variable)
    return Selection(model, design, y, group_of, question.in_words(), seconds, certificate)


def _estimator(question: Question, constraint: Any, groups: dict[str, str] | None, progress: bool) -> Any:
    import swapwise

    name = ESTIMATORS[question.family]
    options = {
        "method": question.method,
        "ridge": question.ridge,
        "groups": groups,
        "forced": question.force_in or None,
        "progress": progress,
    }
    if question.choose is None:
        return getattr(swapwise, name)(constraint, **options)
    path = {"sizes": question.sizes, "criterion": question.choose.value}
    return getattr(swapwise, f"{name}CV")(constraint, **path, **options)


def _target(design: Design, family: Family) -> Any:
    if family is not Family.LOGISTIC:
        return design.y.to_numpy(dtype=float)
    is_text = design.y.dtype.kind not in "biuf"
    return design.y.astype(str).to_numpy(dtype=object) if is_text else design.y.to_numpy()


def _groups_of_columns(design: Design, group_of_variable: dict[str, str] | None) -> dict[str, str] | None:
    """Return the group of every column: that of its variable, or the variable itself."""
    if group_of_variable is None:
        return design.variable_of
    if design.variable_of is None:
        return group_of_variable
    return {column: group_of_variable[variable] for column, variable in design.variable_of.items()}
