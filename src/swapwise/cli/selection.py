"""The answer of ``swapwise select``: the estimator that fits the question, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.checks import unwarned, warn
from swapwise.cli.answer import as_json
from swapwise.cli.compiling import Stopwatch, timed
from swapwise.cli.options import Choice, Family
from swapwise.cli.reading.columns import Design
from swapwise.clock import plain_interrupts
from swapwise.search.plan import OTHERS
from swapwise.search.result import Status

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.certify.certificate import Certificate
    from swapwise.cli.problem import Problem
    from swapwise.cli.question import Question

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
    watch: Stopwatch
    #: What is proven; None if nothing was asked for, or if that was interrupted too early
    certificate: Certificate | None
    unproven: bool
    #: What was said of the data and of the search
    notes: list[str]

    @property
    def interrupted(self) -> bool:
        """Whether somebody did not wait for the end."""
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

        The coefficients have one column, or one for each of the levels.
        """
        import pandas as pd

        names = self.design.X.columns[self.model.support_]
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
        """What chose the size, and how well the rows that were left out are predicted, if any were."""
        from swapwise.report.plots import LOSSES

        path, by = self.model.path_, str(self.model.criterion_)
        if by != Choice.CV:
            return by
        if self.model.result_.status is Status.INTERRUPTED:
            by += f", of which {self.model.n_folds_} folds were done"
        loss = path.loc[path["size"] == self.model.size_, "cv_mean"].iloc[0]
        return f"{by}: {LOSSES[type(self.model).__name__]} {loss:.4g} on rows left out"

    @property
    def better(self) -> list[str]:
        """The variables of a better choice that a proof has found, and that is not this one."""
        found = None if self.certificate is None else self.certificate.better
        return [] if found is None else [self.design.variables[element] for element in found]

    @property
    def intercept(self) -> list[float]:
        """The intercept, or that of each level."""
        return [float(value) for value in np.ravel(self.model.intercept_)]

    @property
    def fit_quality(self) -> dict[str, float]:
        """How good the fit is, by what measures it."""
        from swapwise.report.facts import fit_measures

        return fit_measures(self.model, self.design.X, self.y)

    def to_json(self) -> str:
        """Return the answer for programs."""
        return as_json(self)

    def to_html(self) -> str:
        """Return the answer as a page with charts."""
        from swapwise.report.selection import selection_report

        return selection_report(
            self.model,
            self.design.X,
            self.y,
            # Variables that are groups of their own columns would only be listed twice.
            groups=None if self.group_of == self.design.variable_of else self.group_of,
            certificate=self.certificate,
            asked=self.asked,
            seconds=self.watch.seconds,
        )

    def to_bytes(self) -> bytes:
        """Return the fitted model, which takes tables like that of the file, as ``joblib.load`` reads it."""
        import joblib
        from sklearn.pipeline import make_pipeline

        file = BytesIO()
        prepare = self.design.transformer.restricted_to(self.design.X.columns[self.model.support_])
        joblib.dump(make_pipeline(prepare, self.model), file)
        return file.getvalue()


def select_features(
    problem: Problem, proof_seconds: float, notes: list[str], *, quiet: bool, progress: bool
) -> Selection:
    """Fit the estimator that the question asks for; ``notes`` grow with what there is to say."""
    question, design = problem.question, problem.design
    model = _estimator(question, problem.constraint, design.variable_of, progress)
    y = _target(design, question.family)
    with timed(quiet) as watch:
        model.fit(design.X, y)
        proof = _proof(model, design.X, y, proof_seconds, progress) if question.certify else None
        if proof is not None and proof.better is not None and _can_go_on(question):
            model, proof = _with_better(model, design.X, y, proof)
    return Selection(
        model,
        design,
        y,
        _groups_of_columns(design, problem.group_of),
        question.in_words(),
        watch,
        proof,
        unproven=question.certify and proof is None,
        notes=notes,
    )


def _proof(model: Any, X: pd.DataFrame, y: Any, seconds: float, progress: bool) -> Certificate | None:
    """Return what can be proven of a choice, None if there is no patience for that."""
    if model.result_.status is Status.INTERRUPTED:
        return None
    try:
        with unwarned(), plain_interrupts():  # it would speak of how to write objectives
            proof: Certificate = model.certify(X, y, time_limit=seconds, progress=progress)
    except KeyboardInterrupt:
        return None
    if proof.kind == "all" and not proof.optimal and proof.status is not Status.INTERRUPTED:
        warn("nothing but the fit of all features together bounds this one; --ridge 0.01 helps to prove more")
    return proof


def _can_go_on(question: Question) -> bool:
    """Tell whether the search can begin anew at another choice."""
    return question.choose is None and question.method not in OTHERS


def _with_better(model: Any, X: pd.DataFrame, y: Any, proof: Certificate) -> tuple[Any, Certificate]:
    """Return the model of the better choice that a proof has found, or of one that is better still."""
    from sklearn.base import clone

    again = clone(model).set_params(start=proof.better)
    try:
        with plain_interrupts():
            again.fit(X, y)
    except KeyboardInterrupt:
        return model, proof
    found = again.result_
    if found.value <= model.result_.value:
        return model, proof
    warn("the proof has found a better choice than the search, and this is it")
    return again, replace(proof, value=found.value, support=found.support, better=None, better_value=None)


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
