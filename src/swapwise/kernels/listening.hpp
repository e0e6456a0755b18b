// Ctrl-C in the middle of long kernels.
#pragma once

#include <atomic>
#include <chrono>

#include "arrays.hpp"

namespace swapwise {

// Lets Python handle the signals that came in, and throws what they raise. A kernel calls it in its outer
// loops; it costs next to nothing, for Python is asked every 20 milliseconds at most. Defined in module.cpp.
void raise_if_interrupted();

namespace listening {

// Kernels run in many threads, but Python hears signals in one of them only. Others have nothing to ask, but
// end when they are told to.
inline thread_local bool is_deaf = false;
inline thread_local const std::atomic<bool> *stop = nullptr;

// What ends a thread that was told to stop.
struct Stopped {};

inline thread_local std::chrono::steady_clock::time_point last;

inline bool is_due() {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Stopped();
    if (is_deaf) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(20)) return false;
    last = now;
    return true;
}

}  // namespace listening

// Calls it after every MANY numbers, for loops whose turns are so short that a look at the clock would show.
class Listener {
  public:
    // Some more numbers have been worked on.
    void after(Index numbers) {
        _unheard += numbers;
        if (_unheard < MANY) return;
        _unheard = 0;
        raise_if_interrupted();
    }

  private:
    static constexpr Index MANY = 100'000;
    Index _unheard = 0;
};

}  // namespace swapwise
