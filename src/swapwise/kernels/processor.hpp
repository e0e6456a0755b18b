// Which of the modules the processor can run.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace swapwise {

// Whether there are AVX2 and fused products, and the system keeps their registers. Compilers have a function
// for that, but not all of them the library that it needs.
inline bool has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_OSXSAVE)) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return false;
    unsigned kept, high;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    return (kept & 6) == 6;
#else
    return false;
#endif
}

inline const char *best_level() { return has_avx2() ? "avx2" : "baseline"; }

}  // namespace swapwise
