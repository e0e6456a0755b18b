"""What is promised of an answer before the search: the paper's theorems.

``constants`` are m and M of an objective, ``localizability`` is the paper's (α, β₁, β₂), and ``guarantees``
are what the theorems say, with these, of a method and of one run.
"""
