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

# A column of numbers in double precision is known up to this, relative to its length: numbers have 16 digits,
# and measuring, centring or converting them costs some. What a model could only gain by more digits than
# these (from two columns that agree in all of them) is not a property of the data. It is kept out by a
# penalty on every coefficient: half the square of this, times the squared length of the column.
COLUMN_PRECISION = 1e-10
