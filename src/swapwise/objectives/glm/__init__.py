"""Generalised linear models: a likelihood of a linear predictor on the chosen columns."""

from swapwise.objectives.glm.gamma import Gamma
from swapwise.objectives.glm.logistic import Logistic
from swapwise.objectives.glm.multinomial import Multinomial
from swapwise.objectives.glm.negative_binomial import NegativeBinomial
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.objectives.glm.poisson import Poisson

OBJECTIVES = Logistic, Multinomial, Poisson, Gamma, NegativeBinomial

#: The objective of each family, by its name
FAMILIES: dict[str, type[GeneralizedLinear]] = {objective.family.name: objective for objective in OBJECTIVES}
