"""Programs at work, each in a process of its own; only NumPy and the program itself are imported.

A run reads ``X.npy`` and ``y.npy`` in its folder, proves what it can in the seconds it has, and reports the
points ``(seconds, value, bound)`` that it reached, the support and the peak of memory. Values and bounds are
those of swapwise's objective: R² less the ridge, or the mean log-likelihood above that of no feature.
"""
