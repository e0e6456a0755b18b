// Exponentials and logarithms that a loop computes several at a time. The library's are a call for each
// number, and most of the work of a likelihood.
#pragma once

#include <cstdint>
#include <cstring>

#include "arrays.hpp"
#include "inlining.hpp"

namespace swapwise {

// The largest number that `exponential` takes.
inline constexpr double LARGEST_EXPONENT = 500.0;

namespace bits {

ALWAYS_INLINE std::uint64_t of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
ALWAYS_INLINE double as_double(std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace bits

// The logarithm of 2 in two parts. The first ends in zeros: its product with an exponent is not rounded.
inline constexpr double LOG_2_HIGH = 0.693147180369123816490, LOG_2_LOW = 1.90821492927058770002e-10;

// exp(v) for v up to LARGEST_EXPONENT, to the last digit or the one before.
//
// It is 2ᵏ exp(r) with |r| ≤ ln 2 / 2: a polynomial for exp(r), and k put straight into the exponent of a
// double. What is less than the least normal number is scaled in two steps. Even and odd powers of r are
// summed apart, for two short chains do not wait for each other; 1 and r come last, so that they are rounded
// once.
ALWAYS_INLINE double exponential(double v) {
    constexpr double TO_INTEGER = 0x1.8p52;  // a sum with it ends in the binary digits of an integer
    const double value = v < -746.0 ? -746.0 : v;
    const double shifted = fused(value, 1.4426950408889634, TO_INTEGER), k = shifted - TO_INTEGER;
    const double r = fused(k, -LOG_2_LOW, fused(k, -LOG_2_HIGH, value)), square = r * r;
    double even = fused(square, 1.0 / 479001600, 1.0 / 3628800);
    double odd = fused(square, 1.0 / 6227020800, 1.0 / 39916800);
    even = fused(square, even, 1.0 / 40320);
    odd = fused(square, odd, 1.0 / 362880);
    even = fused(square, even, 1.0 / 720);
    odd = fused(square, odd, 1.0 / 5040);
    even = fused(square, even, 1.0 / 24);
    odd = fused(square, odd, 1.0 / 120);
    even = fused(square, even, 1.0 / 2);
    odd = fused(square, odd, 1.0 / 6);
    const double power = bits::as_double((bits::of(shifted) + 1023 + 128) << 52);
    return (1.0 + fused(square, fused(r, odd, even), r)) * power * 0x1p-128;
}

// log(1 + f) for √½ ≤ 1 + f ≤ √2: with s = f / (2 + f) it is 2 (s + s³/3 + s⁵/5 + …), and 2s = f − s f. What
// is to be added to it, far smaller, is added before the last rounding.
ALWAYS_INLINE double log_1p_near_zero(double f, double more) {
    const double s = f / (2.0 + f), z = s * s;
    double total = fused(z, 2.0 / 21, 2.0 / 19);
    total = fused(z, total, 2.0 / 17);
    total = fused(z, total, 2.0 / 15);
    total = fused(z, total, 2.0 / 13);
    total = fused(z, total, 2.0 / 11);
    total = fused(z, total, 2.0 / 9);
    total = fused(z, total, 2.0 / 7);
    total = fused(z, total, 2.0 / 5);
    total = fused(z, total, 2.0 / 3);
    return f - (s * (f - z * total) - more);
}

// log(1 + x) for finite x > −1; anything for others, but NaN for NaN.
//
// 1 + x, rounded, is 2ᵏ (1 + f), and what rounding took of it is put back.
ALWAYS_INLINE double log_1p(double x) {
    constexpr std::uint64_t ONE = 0x3ff0000000000000, ROOT_HALF = 0x3fe6a09e667f3bcd;
    constexpr std::uint64_t MANTISSA = 0x000fffffffffffff;
    const double u = 1.0 + x, lost = (x - (u - 1.0)) / u;
    const std::uint64_t moved = bits::of(u) + (ONE - ROOT_HALF);
    const double k = bits::as_double((moved >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    const double f = bits::as_double((moved & MANTISSA) + ROOT_HALF) - 1.0;
    return fused(k, LOG_2_HIGH, log_1p_near_zero(f, fused(k, LOG_2_LOW, lost)));
}

// The same for x from 0 to 1, where there is nothing to put back: 1 + x is 1 + f or 2 (1 + f).
ALWAYS_INLINE double log_1p_of_fraction(double x) {
    const bool is_halved = x > 0.41421356237309503;
    const double f = is_halved ? 0.5 * (x - 1.0) : x;
    return log_1p_near_zero(f, is_halved ? LOG_2_LOW : 0.0) + (is_halved ? LOG_2_HIGH : 0.0);
}

}  // namespace swapwise
