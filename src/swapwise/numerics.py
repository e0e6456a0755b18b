"""The tolerances that values, gains and proofs share: one place, so that no two of them disagree.

All are relative. Double precision rounds to 1e-16; what a sum, a factorisation or two answers to the same
question may differ by is stated here once.
"""

# A sum of some dozens of numbers is off by no more than this.
SUM = 1e-14

# A value that comes out of a factorisation or of a long sum is off by no more than this. Scores that are
# closer to the best than this are ties: which of two is larger is an accident of rounding, and the smallest
# index wins.
ROUNDING = TIE = 1e-12

# Two values that are closer than this count as equal: a proof calls an answer optimal if no set can be better
# by more. It leaves three digits for what a bound is summed from.
EQUAL = 1e-9
