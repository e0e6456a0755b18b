// What Python sees of the kernels. This file is compiled once for each level of vector instructions, into a module
// of its own; swapwise/kernels/__init__.py takes the best that the processor has.

#include "numpy_arrays.hpp"

#include "edge_swaps.hpp"
#include "gibbs.hpp"
#include "ising.hpp"
#include "ising_tables.hpp"
#include "listening.hpp"
#include "moments.hpp"
#include "nested.hpp"

namespace nb = nanobind;
using namespace swapwise;

void swapwise::raise_if_interrupted() {
    if (!listening::is_due()) return;
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

// Kernels on fewer numbers are over in less time than it may take to get the interpreter back from other threads.
constexpr Index SMALL = 20'000;

template <class T>
Index numbers_in(const T &) {
    return 0;
}
template <class T>
Index numbers_in(const Vec<T> &view) {
    return view.size;
}
template <class T>
Index numbers_in(const Mat<T> &view) {
    return view.rows * view.columns;
}
template <class T>
Index numbers_in(const Cube<T> &view) {
    return view.depth * view.rows * view.columns;
}
template <class... Ts>
Index numbers_in(const std::tuple<Ts...> &views) {
    return std::apply([](const auto &...view) { return (Index{0} + ... + numbers_in(view)); }, views);
}

// Let other threads run Python while a kernel works on many numbers.
template <class Return, class... Args>
auto released(Return (*kernel)(Args...)) {
    return [kernel](Args... args) -> Return {
        if ((Index{0} + ... + numbers_in(args)) < SMALL) return kernel(args...);
        nb::gil_scoped_release release;
        return kernel(args...);
    };
}

// The same for kernels that go over their numbers many times, so that few of them already take a while.
constexpr Index SMALL_FOR_MANY_TURNS = 500;

template <class Return, class... Args>
auto released_for_many_turns(Return (*kernel)(Args...)) {
    return [kernel](Args... args) -> Return {
        if ((Index{0} + ... + numbers_in(args)) < SMALL_FOR_MANY_TURNS) return kernel(args...);
        nb::gil_scoped_release release;
        return kernel(args...);
    };
}

// The name of the best module that this processor can run.
const char *best_level() {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "baseline";
}

void bind_edge_swaps(nb::module_ m) {
    m.def("grow", released_for_many_turns(&edge_swaps::grow));
    m.def("shuffle", released_for_many_turns(&edge_swaps::shuffle));
}

void bind_gibbs(nb::module_ m) { m.def("sweep", released(&gibbs::sweep)); }

void bind_ising(nb::module_ m) {
    m.def("incidence", released(&ising::incidence));
    m.def("evaluate", released(&ising::evaluate));
    m.def("refit", released_for_many_turns(&ising::refit));
    m.def("step_lengths", released(&ising::step_lengths));
    m.def("values_after", released_for_many_turns(&ising::values_after));
}

void bind_ising_tables(nb::module_ m) {
    m.def("evaluate", released(&ising_tables::evaluate));
    m.def("refit", released_for_many_turns(&ising_tables::refit));
}

void bind_moments(nb::module_ m) {
    m.attr("BLOCK") = moments::BLOCK;
    m.def("by_rows", released(&moments::by_rows<double>));
    m.def("by_rows", released(&moments::by_rows<float>));
    m.def("by_columns", released(&moments::by_columns<double>));
    m.def("by_columns", released(&moments::by_columns<float>));
    m.def("of_stored", released(&moments::of_stored<double, std::int32_t>));
    m.def("of_stored", released(&moments::of_stored<double, std::int64_t>));
}

void bind_nested(nb::module_ m) { m.def("first_base", released(&nested::first_base)); }

}  // namespace

NB_MODULE(SWAPWISE_MODULE, m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def("best_level", &best_level);
    bind_edge_swaps(m.def_submodule("edge_swaps"));
    bind_gibbs(m.def_submodule("gibbs"));
    bind_ising(m.def_submodule("ising"));
    bind_ising_tables(m.def_submodule("ising_tables"));
    bind_moments(m.def_submodule("moments"));
    bind_nested(m.def_submodule("nested"));
}
