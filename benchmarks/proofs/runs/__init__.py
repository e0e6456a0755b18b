"""Programs at work, each in a process and an environment of its own: nothing is imported here but NumPy and
the program itself.

A run reads ``X.npy`` and ``y.npy`` in its folder, proves what it can in the seconds it has, and reports points
``(seconds, value, bound)`` on the way and, at its end, the support and the peak of memory. Values and bounds
are those of swapwise's objective: R² with the ridge taken off, or the mean log-likelihood above that of no
feature.
"""
