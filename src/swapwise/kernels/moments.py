"""Sums over the samples for every column of a matrix, both in one pass over the data."""

from __future__ import annotations

from numba import njit

# So many columns are looked at together that their sums stay in the fastest cache.
BLOCK = 1024


@njit(cache=True, nogil=True)
def by_rows(matrix, weight, origin, first, last, sums, squares):
    """Fill in Σ w (x − origin) and Σ w (x − origin)² for some columns of a matrix stored by rows."""
    samples = matrix.shape[0]
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        base, plain, squared = origin[begin:end], sums[begin:end], squares[begin:end]
        plain[:], squared[:] = 0.0, 0.0
        paired = samples - samples % 4
        for i in range(0, paired, 4):  # four rows at a time, so that sums are read and written less often
            a, b = matrix[i, begin:end], matrix[i + 1, begin:end]
            c, d = matrix[i + 2, begin:end], matrix[i + 3, begin:end]
            p, q, r, s = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
            for j in range(end - begin):
                x, y, z, t = a[j] - base[j], b[j] - base[j], c[j] - base[j], d[j] - base[j]
                plain[j] += (p * x + q * y) + (r * z + s * t)
                squared[j] += (p * x * x + q * y * y) + (r * z * z + s * t * t)
        for i in range(paired, samples):
            for j in range(end - begin):
                x = matrix[i, begin + j] - base[j]
                plain[j] += weight[i] * x
                squared[j] += weight[i] * x * x


@njit(cache=True, nogil=True)
def of_stored(begin, rows, values, weight, origin, squares):
    """Fill in Σ w (x − origin)² for a matrix of which only some entries are stored, column by column."""
    total = weight.sum()
    for j in range(len(squares)):
        seen, squared = 0.0, 0.0
        for k in range(begin[j], begin[j + 1]):
            rest = values[k] - origin[j]
            seen += weight[rows[k]]
            squared += weight[rows[k]] * rest * rest
        squares[j] = squared + max(total - seen, 0.0) * origin[j] * origin[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def by_columns(columns, weight, origin, first, last, sums, squares):
    """Do the same for a matrix stored by columns, given one a row."""
    for j in range(first, last):
        column, plain, squared = columns[j], 0.0, 0.0
        for i in range(len(column)):
            rest = column[i] - origin[j]
            plain += weight[i] * rest
            squared += weight[i] * rest * rest
        sums[j], squares[j] = plain, squared
