"""Targets of every family, drawn for a linear predictor."""

import numpy as np

import swapwise as sw

#: From a random generator and a linear predictor to a target, by objective
TARGETS = {
    sw.Logistic: lambda rng, eta: (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float),
    sw.Poisson: lambda rng, eta: rng.poisson(np.exp(np.clip(0.4 * eta, -3, 3))).astype(float),
    sw.NegativeBinomial: lambda rng, eta: rng.poisson(
        rng.gamma(2.0, 0.5, len(eta)) * np.exp(np.clip(0.4 * eta, -3, 3))
    ).astype(float),
    sw.Gamma: lambda rng, eta: rng.gamma(2.0, np.exp(np.clip(0.4 * eta, -3, 3)) / 2.0),
}
