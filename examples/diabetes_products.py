"""Diabetes with squares and products: at most two of the squares, and the size by cross-validation.

A laminar matroid (two squares, and so many terms in all) along a path of sizes.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import swapwise as sw


def products() -> tuple[pd.DataFrame, pd.Series]:
    """Return the ten columns, their squares and products, by name; sex has but two values, so no square."""
    data = load_diabetes(as_frame=True)
    expand = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
    return expand.fit_transform(data.data).drop(columns="sex^2"), data.target


def main(folder: Path) -> sw.SparseRegressorCV:
    """Fit the path, draw it with the chosen terms, and return the fitted estimator."""
    X, y = products()
    squares = np.flatnonzero(X.columns.str.endswith("^2"))
    two_squares = sw.Laminar(X.shape[1], [(squares, 2)])
    model = sw.SparseRegressorCV(
        two_squares, sizes=range(1, 16), criterion="cv", cv=10, one_standard_error=True
    ).fit(X, y)

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), constrained_layout=True)
    sw.plot_path(model, left)
    standard = (X - X.mean()) / X.std()
    shown = sw.SparseRegressor(two_squares.truncate(model.size_)).fit(standard, y)
    kinds = np.where(
        X.columns.str.endswith("^2"), "squares", np.where(X.columns.str.contains(" "), "products", "plain")
    )
    sw.plot_support(shown, right, groups=pd.Series(kinds, index=X.columns))
    figure.savefig(folder / "diabetes-products.png", dpi=110)
    plt.close(figure)
    return model


if __name__ == "__main__":
    fitted = main(Path())
    print(fitted.path_.round(3).to_string(index=False))
    print("chosen:", ", ".join(fitted.feature_names_in_[fitted.support_]))
