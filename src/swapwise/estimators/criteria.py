"""Which size to choose: information criteria, and the best or nearly best of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("cv", "aic", "bic", "ebic", "gic")


def information_criteria(
    deviance: float,
    n_coefficients: int,
    n_chosen: int,
    *,
    n_samples: int,
    n_features: int,
    gamma: float = 0.5,
) -> dict[str, float]:
    """Return AIC, BIC, EBIC and GIC: deviance plus a penalty on the size of a model; small is good.

    With k free coefficients on s of p features, and N samples, the penalties are

    - AIC (Akaike 1974): ``2k``
    - BIC (Schwarz 1978): ``k log N``
    - EBIC (Chen and Chen 2008): ``k log N + 2 gamma log C(p, s)``
    - GIC (Fan and Tang 2013): ``k log p · log log N``

    >>> table = information_criteria(10.0, 3, 2, n_samples=100, n_features=50)
    >>> {name: round(value, 2) for name, value in table.items()}
    {'aic': 16.0, 'bic': 23.82, 'ebic': 30.93, 'gic': 27.92}
    """
    k, log_n = n_coefficients, np.log(n_samples)
    choices = gammaln(n_features + 1) - gammaln(n_chosen + 1) - gammaln(n_features - n_chosen + 1)
    penalties = {
        "aic": 2.0 * k,
        "bic": k * log_n,
        "ebic": k * log_n + 2 * gamma * choices,
        "gic": k * np.log(n_features) * np.log(max(log_n, 1.0)),  # never negative, however few the samples
    }
    return {name: float(deviance + penalty) for name, penalty in penalties.items()}


def chosen_row(path: pd.DataFrame, criterion: str, one_standard_error: bool) -> int:
    """Return the row that a criterion chooses, of rows in rising order of size; ties go to the smaller size.

    >>> import pandas as pd
    >>> path = pd.DataFrame({"cv_mean": [3.0, 2.1, 2.0], "cv_se": [0.3, 0.2, 0.2]})
    >>> chosen_row(path, "cv", one_standard_error=False), chosen_row(path, "cv", one_standard_error=True)
    (2, 1)
    """
    scores = path["cv_mean" if criterion == "cv" else criterion].to_numpy()
    best = int(np.argmin(scores))
    if not one_standard_error or np.isnan(path["cv_se"].iloc[best]):
        return best
    return int(np.argmax(scores <= scores[best] + path["cv_se"].iloc[best]))
