"""What is guaranteed of an answer without a proof of its own.

``constants`` are m and M of an objective, ``ratios`` are γ, β and α, and ``localizability`` is the paper's
(α, β₁, β₂). ``guarantees`` has the theorems on local search, ``methods`` those on the other methods, and
``table`` all of them. ``along_the_run`` is what is certain of the set that was found, from the ``bounds``
that proofs use, too, and ``runs`` takes the best of all for a result.
"""
