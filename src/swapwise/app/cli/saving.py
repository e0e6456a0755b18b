"""The model that ``swapwise select`` saves: a scikit-learn pipeline that takes tables as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.app.cli.checking.columns import Dataset, categories_of
from swapwise.checks import IndexArray, unwarned
from swapwise.constraints.uniform import Uniform

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.checks import FloatArray

# Fitted numbers that are copied, so that predictions agree to the last digit.
FITTED = ("coef_", "intercept_", "alpha_")


def saved_model(model: Any, kind: Any, dataset: Dataset, y: Any, offset: FloatArray | None) -> Any:
    """Return a scikit-learn pipeline with the predictions of a fitted model, from its chosen features alone.

    A ``ColumnTransformer`` picks the chosen columns of a table and one-hot encodes text; then comes an
    estimator of ``kind``, fitted to these columns.
    """
    from sklearn.pipeline import Pipeline

    chosen = model.support_ if len(model.support_) else _first_variable(dataset)
    columns = dataset.X.columns[chosen]
    numbers = [name for name in columns if name not in dataset.made_of]
    texts = list(dict.fromkeys(dataset.made_of[name] for name in columns if name in dataset.made_of))
    table = dataset.X[numbers]
    if texts:
        assert dataset.text is not None  # as columns were made of it
        table = table.join(dataset.text[texts])
    prepare = _transformer(table, numbers, texts)
    # The columns of the fit, in the order in which the transformer makes them.
    order = [name for name in columns if name in set(numbers)]
    order += [name for text in texts for name in columns if dataset.made_of.get(name) == text]
    places = dataset.X.columns.get_indexer(order)
    again = _refitted(model, kind, places, prepare.transform(table), y, offset)
    return Pipeline([("columns", prepare), ("model", again)])


def _first_variable(dataset: Dataset) -> IndexArray:
    """Return the columns of one variable, for a model that chose none but must take a table."""
    first = dataset.made_of.get(dataset.X.columns[0])
    same = [dataset.made_of.get(name) == first for name in dataset.X.columns]
    return np.flatnonzero(same) if first is not None else np.zeros(1, dtype=np.intp)


def _transformer(table: pd.DataFrame, numbers: list[str], texts: list[str]) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder

    encode = OneHotEncoder(
        categories=[np.array(categories_of(table[name]), dtype=object) for name in texts],
        drop="first",
        sparse_output=False,
    )
    steps = [("numbers", "passthrough", numbers), ("text", encode, texts)]
    prepare = ColumnTransformer([step for step in steps if step[2]], verbose_feature_names_out=False)
    return prepare.set_output(transform="pandas").fit(table)


def _refitted(
    model: Any, kind: Any, places: IndexArray, X: pd.DataFrame, y: Any, offset: FloatArray | None
) -> Any:
    """Return an estimator fitted to the columns at ``places``, with the model's coefficients of these."""
    known = model.get_params(deep=False)
    again = kind(**{name: known[name] for name in kind().get_params(deep=False) if name in known})
    bounds = model._bounds_as_given()
    groups = None if model.groups is None else np.array(list(model.groups.values()))[places].tolist()
    elements = list(range(len(places)) if groups is None else dict.fromkeys(groups))
    chosen = elements if len(model.support_) else []
    again.set_params(
        constraint=Uniform(len(elements), len(chosen)),
        groups=groups,
        forced=chosen or None,
        bounds=None if bounds is None else list(zip(bounds.lower[places], bounds.upper[places], strict=True)),
        positive=False,
        method="auto",
        start="auto",
        progress=False,
    )
    with unwarned():  # the fit of the choice has warned already
        again.fit(X, y, **({} if offset is None else {"offset": offset}))
    for name in FITTED:
        if hasattr(model, name):
            value = getattr(model, name)
            setattr(again, name, value[..., places] if name == "coef_" else value)
    return again
