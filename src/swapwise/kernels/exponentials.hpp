// Exponentials and logarithms of single numbers, without calls and branches: in a loop, compilers take
// several at a time. Those of the library are a call for each number, and would be most of the work of a
// refit.
#pragma once

#include <cstring>

#include "arrays.hpp"

namespace swapwise {

// The exponential of a number that is not positive, to the last digit but one.
//
// exp(v) = 2ᵏ exp(r) with |r| ≤ ln 2 / 2: a polynomial for exp(r), and k put straight into the exponent.
inline double exp_of_negative(double value) {
    constexpr double TO_WHOLE = 6755399441055744.0;  // 1.5 · 2⁵²: the last bits of sums are whole numbers
    const double v = value < -700.0 ? -700.0 : value;
    const double shifted = fused(v, 1.4426950408889634, TO_WHOLE);
    const double k = shifted - TO_WHOLE;
    const double r = fused(k, -1.90821492927058770002e-10, fused(k, -0.693147180369123816490, v));
    const double square = r * r;  // even and odd powers apart: two short chains do not wait for each other
    double even = fused(square, 1.0 / 479001600.0, 1.0 / 3628800.0);
    double odd = fused(square, 1.0 / 6227020800.0, 1.0 / 39916800.0);
    even = fused(square, even, 1.0 / 40320.0);
    odd = fused(square, odd, 1.0 / 362880.0);
    even = fused(square, even, 1.0 / 720.0);
    odd = fused(square, odd, 1.0 / 5040.0);
    even = fused(square, even, 1.0 / 24.0);
    odd = fused(square, odd, 1.0 / 120.0);
    even = fused(square, even, 0.5);
    odd = fused(square, odd, 1.0 / 6.0);
    even = fused(square, even, 1.0);
    odd = fused(square, odd, 1.0);
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // all but the last bits fall off
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return fused(r, odd, even) * power;
}

// log(1 + x) for x from 0 to 1, to the last digit but one.
//
// 1 + x = m or 2 m with m from √½ to √2, and log m = 2 artanh(z) with z = (m − 1) / (m + 1), a series in z² ≤
// 0.03.
inline double log1p_of_fraction(double x) {
    const bool halved = x > 0.41421356237309503;
    const double z = (halved ? x - 1.0 : x) / (halved ? x + 3.0 : x + 2.0), square = z * z;
    double total = fused(square, 2.0 / 23.0, 2.0 / 21.0);
    total = fused(square, total, 2.0 / 19.0);
    total = fused(square, total, 2.0 / 17.0);
    total = fused(square, total, 2.0 / 15.0);
    total = fused(square, total, 2.0 / 13.0);
    total = fused(square, total, 2.0 / 11.0);
    total = fused(square, total, 2.0 / 9.0);
    total = fused(square, total, 2.0 / 7.0);
    total = fused(square, total, 2.0 / 5.0);
    total = fused(square, total, 2.0 / 3.0);
    return fused(z * square, total, 2.0 * z) + (halved ? 0.69314718055994530942 : 0.0);
}

}  // namespace swapwise
