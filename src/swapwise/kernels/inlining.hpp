// What compilers are told where their own choice costs time.
#pragma once

// ALWAYS_INLINE: a loop that calls a function computes one number at a time.
// NEVER_INLINE: a loop that needs all registers is slower within a function that needs some of them, too.
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE inline __attribute__((noinline))
#elif defined(_MSC_VER)
#define ALWAYS_INLINE __forceinline
#define NEVER_INLINE __declspec(noinline) inline
#else
#define ALWAYS_INLINE inline
#define NEVER_INLINE inline
#endif
