"""Numbers of the likelihoods in ``swapwise.kernels.glm``, for those who do not want to load a compiler."""

GAUSSIAN, LOGISTIC, POISSON, MULTINOMIAL = range(4)
