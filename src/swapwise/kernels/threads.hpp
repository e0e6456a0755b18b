// Loops shared out among threads.
//
// Threads begin and end with the loop: nothing is left that a forked process would miss, and no library is
// needed.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"

namespace swapwise::threads {

// What the threads of a loop share: which chunk is next, and what went wrong in one of them.
class Loop {
  public:
    Loop(Index count, Index chunk) : _count(count), _chunk(chunk) {}

    // Call a function with the beginning and the end of a chunk, for as long as there are any.
    template <class Function>
    void work(const Function &function) {
        while (!_stop.load(std::memory_order_relaxed)) {
            const Index begin = _next.fetch_add(_chunk, std::memory_order_relaxed);
            if (begin >= _count) return;
            function(begin, std::min(begin + _chunk, _count));
        }
    }

    // Do that in another thread than Python's.
    template <class Function>
    void help(const Function &function) noexcept {
        listening::is_deaf = true;
        listening::stop = &_stop;
        try {
            work(function);
        } catch (const listening::Stopped &) {
        } catch (...) {
            const std::lock_guard<std::mutex> guard(_lock);
            if (!_error) _error = std::current_exception();
            _stop = true;
        }
    }

    void stop() { _stop = true; }
    void raise() const {
        if (_error) std::rethrow_exception(_error);
    }

  private:
    const Index _count, _chunk;
    std::atomic<Index> _next{0};
    std::atomic<bool> _stop{false};
    std::mutex _lock;
    std::exception_ptr _error;
};

// Threads that are waited for, whatever happens.
class Helpers {
  public:
    explicit Helpers(Loop &loop) : _loop(loop) {}
    Helpers(const Helpers &) = delete;
    ~Helpers() {
        _loop.stop();  // unless all is done, the caller was interrupted
        join();
    }

    template <class Function>
    void start(Index n, const Function &function) {
        _threads.reserve(n);
        try {
            while (static_cast<Index>(_threads.size()) < n) {
                _threads.emplace_back([this, &function] { _loop.help(function); });
            }
        } catch (const std::system_error &) {  // no more threads are to be had; those that are will do
        }
    }
    void join() {
        for (std::thread &thread : _threads) thread.join();
        _threads.clear();
    }

  private:
    Loop &_loop;
    std::vector<std::thread> _threads;
};

// Call a function with the beginning and the end of every chunk of 0, ..., count - 1, in several threads.
//
// The calling thread takes its share, and it alone listens for signals. What one of them throws ends the
// others at their next chance, and is thrown here.
template <class Function>
void for_each_chunk(Index count, Index chunk, Index n_threads, const Function &function) {
    Loop loop(count, chunk);
    Helpers helpers(loop);
    const Index n_chunks = (count + chunk - 1) / chunk;
    helpers.start(std::max(Index{0}, std::min(n_threads, n_chunks) - 1), function);
    loop.work(function);
    helpers.join();
    loop.raise();
}

}  // namespace swapwise::threads
