// Random numbers of NumPy's generators, drawn without Python.
#pragma once

#include <nanobind/nanobind.h>
#include <numpy/random/bitgen.h>

#include "arrays.hpp"

namespace swapwise {

// The numbers that `rng.random()` would draw, given `rng.bit_generator.capsule`. The caller holds
// `rng.bit_generator.lock`, for the interpreter may be released.
class RandomNumbers {
  public:
    RandomNumbers() = default;
    explicit RandomNumbers(bitgen_t *source) : _source(source) {}

    // A number from 0 to 1.
    double uniform() const { return _source->next_double(_source->state); }
    // An index below a count.
    Index below(Index count) const { return static_cast<Index>(uniform() * static_cast<double>(count)); }

  private:
    bitgen_t *_source = nullptr;
};

}  // namespace swapwise

namespace nanobind::detail {

template <>
struct type_caster<swapwise::RandomNumbers> {
    NB_TYPE_CASTER(swapwise::RandomNumbers, const_name("types.CapsuleType"))

    bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
        if (!PyCapsule_IsValid(source.ptr(), "BitGenerator")) return false;
        void *generator = PyCapsule_GetPointer(source.ptr(), "BitGenerator");
        value = swapwise::RandomNumbers(static_cast<bitgen_t *>(generator));
        return true;
    }
};

}  // namespace nanobind::detail
