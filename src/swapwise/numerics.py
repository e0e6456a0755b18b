"""The tolerances that values, gains and proofs share: one place, so that no two of them disagree.

All are relative. Double precision rounds to 1e-16; the errors of sums and factorisations, and the differences
between two answers to the same question, are bounded here once.
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

# A column that varies by no more than this, relative to its mean or its largest entry, is constant but for
# rounding: a few hundred units in the last place.
CONSTANT = 1e-13

# The relative precision of a column of numbers: the one convention for collinear columns. If
# columns are only known up to ε of their lengths, a fit loses ``ε² ‖a_j‖² w_j²`` per coefficient, on average
# over the errors. This is a ridge, far too small to be seen where columns are independent, and it decides
# what nearly collinear ones explain: a direction of relative length d counts by ``d² / (d² + ε²)``. No column
# has to be called spanned or not, so there is no threshold on which values, gains and proofs could disagree,
# and the answer does not depend on the order of the columns.
#
# A stored number is off by half a unit in its last place: in single precision this is the precision of the
# column. In double precision arithmetic is the limit: a direction of relative length d is off by 1e-16 / d,
# so that a duplicate, which leaves one of length ε, seems to explain (1e-16 / ε)². That has to stay below the
# least gain that a search takes for one, 1e-10.
FLOAT32_PRECISION, FLOAT64_PRECISION = 2.0**-23, 1e-10

# Columns whose least singular value, at unit lengths, is below this many times their precision get a warning
# that their coefficients are arbitrary: in double precision that is 1e-7, the convention of R's ``lm``.
COLLINEAR = 1000.0
