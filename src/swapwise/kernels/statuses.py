"""What ``swapwise.kernels.climb`` says of a search, for those who do not want to load a compiler."""

GOING_ON, DONE, DEPENDENT = range(3)
