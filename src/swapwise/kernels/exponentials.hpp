// Exponentials and logarithms that a loop computes several at a time. The library's are a call for each
// number, and most of the work of a likelihood.
#pragma once

#include <cstdint>
#include <cstring>

#include "arrays.hpp"

// A loop that calls a function computes one number at a time.
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define ALWAYS_INLINE __forceinline
#else
#define ALWAYS_INLINE inline
#endif

namespace swapwise {

// The largest number that `exponential` takes.
inline constexpr double LARGEST_EXPONENT = 500.0;

namespace bits {

inline std::uint64_t of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline double as_double(std::uint64_t bits) {
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
// double. What is less than the least normal number is scaled in two steps.
ALWAYS_INLINE double exponential(double v) {
    constexpr double TO_INTEGER = 0x1.8p52;  // a sum with it ends in the binary digits of an integer
    const double value = v < -746.0 ? -746.0 : v;
    const double shifted = fused(value, 1.4426950408889634, TO_INTEGER), k = shifted - TO_INTEGER;
    const double r = fused(k, -LOG_2_LOW, fused(k, -LOG_2_HIGH, value));
    double total = fused(r, 1.0 / 6227020800, 1.0 / 479001600);
    total = fused(r, total, 1.0 / 39916800);
    total = fused(r, total, 1.0 / 3628800);
    total = fused(r, total, 1.0 / 362880);
    total = fused(r, total, 1.0 / 40320);
    total = fused(r, total, 1.0 / 5040);
    total = fused(r, total, 1.0 / 720);
    total = fused(r, total, 1.0 / 120);
    total = fused(r, total, 1.0 / 24);
    total = fused(r, total, 1.0 / 6);
    total = fused(r, total, 1.0 / 2);
    total = fused(r, total, 1.0);
    total = fused(r, total, 1.0);
    const double power = bits::as_double((bits::of(shifted) + 1023 + 128) << 52);
    return total * power * 0x1p-128;
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
ALWAYS_INLINE double logarithm_1p(double x) {
    constexpr std::uint64_t ONE = 0x3ff0000000000000, ROOT_HALF = 0x3fe6a09e667f3bcd;
    constexpr std::uint64_t MANTISSA = 0x000fffffffffffff;
    const double u = 1.0 + x, lost = (x - (u - 1.0)) / u;
    const std::uint64_t moved = bits::of(u) + (ONE - ROOT_HALF);
    const double k = bits::as_double((moved >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    const double f = bits::as_double((moved & MANTISSA) + ROOT_HALF) - 1.0;
    return fused(k, LOG_2_HIGH, log_1p_near_zero(f, fused(k, LOG_2_LOW, lost)));
}

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
