// What Python sees of the kernels. This file is compiled once for each level of vector instructions, into a
// module of its own; swapwise/kernels/__init__.py takes the best that the processor has.

#include "numpy_arrays.hpp"

#include <atomic>

#include "blas.hpp"
#include "blocks.hpp"
#include "bounded_swaps.hpp"
#include "box.hpp"
#include "completions.hpp"
#include "edge_swaps.hpp"
#include "exploration.hpp"
#include "exchanges.hpp"
#include "families.hpp"
#include "fits.hpp"
#include "gaussian.hpp"
#include "gibbs.hpp"
#include "glm.hpp"
#include "ising.hpp"
#include "ising_tables.hpp"
#include "listening.hpp"
#include "moments.hpp"
#include "neighbourhoods.hpp"
#include "knapsack.hpp"
#include "nested.hpp"
#include "pairs.hpp"
#include "perspective.hpp"
#include "perturbations.hpp"
#include "processor.hpp"
#include "swaps.hpp"
#include "unit_columns.hpp"

namespace nb = nanobind;
using namespace swapwise;

void swapwise::raise_if_interrupted() {
    if (!listening::is_due()) return;
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Two threads that come here at once look up the same functions.
const blas::Functions &blas::functions() {
    static blas::Functions found;
    static std::atomic<bool> is_found = false;
    if (!is_found.load(std::memory_order_acquire)) {
        nb::gil_scoped_acquire acquire;
        const auto look_up = [&](auto &function, const char *library, const char *name) {
            const nb::object exported = nb::module_::import_(library).attr("__pyx_capi__");
            const nb::object capsule = exported[name];  // named after the types of the function
            void *pointer = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
            if (pointer == nullptr) throw nb::python_error();
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(pointer);
        };
        look_up(found.dgemm, "scipy.linalg.cython_blas", "dgemm");
        look_up(found.dsyrk, "scipy.linalg.cython_blas", "dsyrk");
        look_up(found.dpotrf, "scipy.linalg.cython_lapack", "dpotrf");
        look_up(found.dpotri, "scipy.linalg.cython_lapack", "dpotri");
        is_found.store(true, std::memory_order_release);
    }
    return found;
}

namespace {

// Kernels on fewer numbers are over in less time than it may take to get the interpreter back from other
// threads.
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

// The same of kernels that go over their numbers many times, so that few of them already take a while.
constexpr Index SMALL_FOR_MANY_TURNS = 500;

// Let other threads run Python while a kernel works on many numbers.
template <Index small = SMALL, class Return, class... Args>
auto released(Return (*kernel)(Args...)) {
    return [kernel](Args... args) -> Return {
        if ((Index{0} + ... + numbers_in(args)) < small) return kernel(args...);
        nb::gil_scoped_release release;
        return kernel(args...);
    };
}
template <class Return, class... Args>
auto released_for_many_turns(Return (*kernel)(Args...)) {
    return released<SMALL_FOR_MANY_TURNS>(kernel);
}

void bind_families(nb::module_ m) {
    m.attr("LOGISTIC") = families::LOGISTIC;
    m.attr("POISSON") = families::POISSON;
    m.attr("MULTINOMIAL") = families::MULTINOMIAL;
    m.attr("GAMMA") = families::GAMMA;
    m.attr("NEGATIVE_BINOMIAL") = families::NEGATIVE_BINOMIAL;
    m.def("derivatives", released(&families::derivatives));
    m.def("divergences", released(&families::divergences));
    m.def("class_divergences", released(&families::class_divergences));
    m.def("shorten_steps", released(&families::shorten_steps));
}

void bind_fits(nb::module_ m) { m.def("by_products", released(&fits::by_products)); }

void bind_glm(nb::module_ m) {
    m.attr("FLOAT64_PRECISION") = glm::FLOAT64_PRECISION;
    m.attr("ARMIJO") = glm::ARMIJO;
    m.attr("HALVINGS") = glm::HALVINGS;
    m.attr("LATE") = glm::LATE;
    m.attr("UNCONVERGED") = glm::UNCONVERGED;
    m.def("definite_solution", released(&glm::definite_solution));
    m.def("refit", released_for_many_turns(&glm::refit));
    m.def("refit_within", released_for_many_turns(&glm::refit_within));
    m.def("values_after", released_for_many_turns(&glm::values_after));
    m.def("values_within", released_for_many_turns(&glm::values_within));
    m.def("box_maximum", released_for_many_turns(&box::maximum));
}

void bind_edge_swaps(nb::module_ m) {
    m.def("grow", released_for_many_turns(&edge_swaps::grow));
    m.def("shuffle", released_for_many_turns(&edge_swaps::shuffle));
}

void bind_exchanges(nb::module_ m) {
    m.def("best_of", released(&exchanges::best_of));
    m.def("best_of_each", released(&exchanges::best_of_each));
    m.def("spelled_out", released(&exchanges::spelled_out));
    m.def("extend", released(&exchanges::extend));
    m.def("best_moves_of_packing", released_for_many_turns(&exchanges::best_moves_of_packing));
    m.def("best_move", released_for_many_turns(&exchanges::best_move));
}

void bind_gibbs(nb::module_ m) { m.def("sweep", released(&gibbs::sweep)); }

void bind_ising(nb::module_ m) {
    m.def("incidence", released(&ising::incidence));
    m.def("evaluate", released(&ising::evaluate));
    m.def("refit", released_for_many_turns(&ising::refit));
    m.def("step_lengths", released(&ising::step_lengths));
    m.def("values_after", released_for_many_turns(&ising::values_after));
}

void bind_neighbourhoods(nb::module_ m) {
    m.attr("MOST_SIGNALS") = neighbourhoods::MOST_SIGNALS;
    m.def("bounds", released_for_many_turns(&neighbourhoods::bounds));
}

void bind_ising_tables(nb::module_ m) {
    m.def("evaluate", released(&ising_tables::evaluate));
    m.def("refit", released_for_many_turns(&ising_tables::refit));
}

void bind_moments(nb::module_ m) {
    m.attr("BLOCK") = moments::BLOCK;
    m.def("scales", released(&moments::scales));
    m.def("by_rows", released(&moments::by_rows<double>));
    m.def("by_rows", released(&moments::by_rows<float>));
    m.def("by_columns", released(&moments::by_columns<double>));
    m.def("by_columns", released(&moments::by_columns<float>));
    m.def("of_stored", released(&moments::of_stored<double, std::int32_t>));
    m.def("of_stored", released(&moments::of_stored<double, std::int64_t>));
}

void bind_pairs(nb::module_ m) {
    m.def("find", released_for_many_turns(&pairs::find));
    m.def("find_close", released_for_many_turns(&pairs::find_close));
}

void bind_swaps(nb::module_ m) {
    m.attr("GOING_ON") = static_cast<int>(swaps::GOING_ON);
    m.attr("DONE") = static_cast<int>(swaps::DONE);
    m.attr("DEPENDENT") = static_cast<int>(swaps::DEPENDENT);
    m.attr("MISSING") = static_cast<int>(swaps::MISSING);
    m.attr("OPTIMAL") = static_cast<int>(swaps::OPTIMAL);
    m.def("grid_gains", released(&swaps::grid_gains));
    m.def("pair_gains", released(&swaps::pair_gains));
    m.def("move_gains", released(&swaps::move_gains));
    m.def("best_of_grid", released(&swaps::best_of_grid));
    m.def("best_of_rows", released(&swaps::best_of_rows));
    m.def("pair_curvatures", released(&swaps::pair_curvatures));
    m.def("remove_slot", released(&swaps::remove_slot));
    m.def("insert_slot", released(&swaps::insert_slot));
    m.def("best_moves", released_for_many_turns(&swaps::best_moves));
    m.def("best_moves_within", released_for_many_turns(&swaps::best_moves_within));
    m.def("best_of_mask", released(&swaps::best_of_mask));
    m.def("make_move", released(&swaps::make_move));
}

void bind_blocks(nb::module_ m) {
    m.def("drop_factors", released(&blocks::drop_factors));
    m.def("addition_gains", released(&blocks::addition_gains));
    m.def("block_solutions", released(&blocks::block_solutions));
    m.def("add_combinations", released(&blocks::add_combinations));
    m.def("pair_gains", released(&blocks::pair_gains));
    m.def("grid_gains", released(&blocks::grid_gains));
    m.def("remaining_blocks", released(&blocks::remaining_blocks));
    m.def("best_moves", released_for_many_turns(&blocks::best_moves));
}

void bind_bounded_swaps(nb::module_ m) {
    m.def("fit", released_for_many_turns(&bounded_swaps::fit));
    m.def("grid_gains", released_for_many_turns(&bounded_swaps::grid_gains));
    m.def("pair_gains", released_for_many_turns(&bounded_swaps::pair_gains));
    m.def("best_of_grid", released_for_many_turns(&bounded_swaps::best_of_grid));
    m.def("best_of_rows", released_for_many_turns(&bounded_swaps::best_of_rows));
}

void bind_completions(nb::module_ m) {
    m.def("find", released_for_many_turns(&completions::find));
    m.def("find_signed", released_for_many_turns(&completions::find_signed));
}

// A C++ object that Python holds on to, and hands back.
template <class T>
nb::capsule held(T object) {
    return nb::capsule(new T(std::move(object)), [](void *pointer) noexcept { delete static_cast<T *>(pointer); });
}
template <class T>
T &in(const nb::capsule &capsule) {
    return *static_cast<T *>(capsule.data());
}

using exploration::Exploration;
using SharedSource = std::shared_ptr<exploration::Source>;

// Products that Python functions compute.
class PythonSource : public exploration::Source {
  public:
    PythonSource(Index samples, nb::callable with_all, nb::callable with_others)
        : _samples(samples), _with_all(std::move(with_all)), _with_others(std::move(with_others)) {}

    Index samples() const override { return _samples; }

    void with_all(Indices elements, Mat<float> products) override {
        nb::gil_scoped_acquire acquire;
        copy(_with_all(copied(elements)), products);
    }
    void with_others(Indices elements, Indices others, Mat<float> products) override {
        nb::gil_scoped_acquire acquire;
        copy(_with_others(copied(elements), copied(others)), products);
    }

  private:
    static Vector<Index> copied(Indices elements) {
        Vector<Index> own(elements.size);
        own.copy(elements);
        return own;
    }
    static void copy(const nb::object &computed, Mat<float> products) {
        const auto numbers = nb::cast<Mat<const float>>(computed, false);
        for (Index i = 0; i < products.rows; ++i) products[i].copy(numbers[i]);
    }

    Index _samples;
    nb::callable _with_all, _with_others;
};

template <class T>
nb::capsule unit_columns(Mat<const T> X, bool by_columns, Numbers shift, Numbers factor, Numbers row_scale) {
    const Index samples = by_columns ? X.columns : X.rows, features = by_columns ? X.rows : X.columns;
    auto columns = std::make_shared<exploration::UnitColumns>(samples, features);
    {
        nb::gil_scoped_release release;
        columns->read(X, by_columns, shift, factor, row_scale);
    }
    return held(SharedSource(columns));
}

using FoundSet = std::pair<Vector<Index>, double>;

Vector<Index> as_elements(const exploration::Set &set) {
    Vector<Index> elements(set.size());
    std::copy(set.begin(), set.end(), elements.begin());
    return elements;
}
FoundSet as_found(const exploration::Set &set, double value) { return {as_elements(set), value}; }

exploration::Set as_set(Indices elements) { return {elements.begin(), elements.end()}; }

void bind_exploration(nb::module_ m) {
    m.def("unit_columns", &unit_columns<double>);
    m.def("unit_columns", &unit_columns<float>);
    m.def("computed_columns", [](Index samples, nb::callable with_all, nb::callable with_others) {
        auto source = std::make_shared<PythonSource>(samples, std::move(with_all), std::move(with_others));
        return held(SharedSource(std::move(source)));
    });
    m.def("begin", [](const nb::capsule &source, Vec<const float> with_y, nested::LimitArrays limits, Flags fixed,
                      Index rank) {
        return held(std::make_unique<Exploration>(in<SharedSource>(source), with_y,
                                                  record_of<nested::Limits>(limits), fixed, rank));
    });
    using Held = std::unique_ptr<Exploration>;
    m.def("join_best", [](const nb::capsule &search, Index bases) {
        nb::gil_scoped_release release;
        in<Held>(search)->begin(bases);
    });
    m.def("join", [](const nb::capsule &search, Indices elements) {
        nb::gil_scoped_release release;
        in<Held>(search)->join_new(as_set(elements));
    });
    m.def("search_once", [](const nb::capsule &search, Indices start) {
        nb::gil_scoped_release release;
        const auto [set, value, is_settled] = in<Held>(search)->search_once(as_set(start));
        return std::make_tuple(as_elements(set), value, is_settled);
    });
    m.def("better", [](const nb::capsule &search, Indices best, double value, Index most_failures,
                       double most_work) {
        nb::gil_scoped_release release;
        const auto found = in<Held>(search)->better(as_set(best), value, most_failures, most_work);
        return found ? as_found(found->first, found->second) : as_found({}, -INFINITE);
    });
    m.def("candidates", [](const nb::capsule &search) {
        return as_found(in<Held>(search)->candidates(), in<Held>(search)->work());
    });
}

void bind_perspective(nb::module_ m) {
    m.def("by_products", released_for_many_turns(&perspective::by_products));
    m.def("by_columns", released_for_many_turns(&perspective::by_columns));
    m.def("overlapping_by_products", released_for_many_turns(&perspective::overlapping_by_products));
    m.def("overlapping_by_columns", released_for_many_turns(&perspective::overlapping_by_columns));
}

void bind_perturbations(nb::module_ m) {
    m.def("local_optima", released_for_many_turns(&perturbations::local_optima));
    m.def("scaled", released(&perturbations::scaled));
}

void bind_gaussian(nb::module_ m) { m.def("select", released_for_many_turns(&gaussian::select)); }

void bind_knapsack(nb::module_ m) {
    m.def("heaviest", released(&knapsack::heaviest));
}

void bind_nested(nb::module_ m) {
    m.def("first_base", released(&nested::first_base));
}

}  // namespace

NB_MODULE(SWAPWISE_MODULE, m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def("best_level", &best_level);
#ifdef SWAPWISE_CHECKED
    m.attr("CHECKED") = true;
#else
    m.attr("CHECKED") = false;
#endif
    bind_blocks(m.def_submodule("blocks"));
    bind_bounded_swaps(m.def_submodule("bounded_swaps"));
    bind_completions(m.def_submodule("completions"));
    bind_exchanges(m.def_submodule("exchanges"));
    bind_exploration(m.def_submodule("exploration"));
    bind_families(m.def_submodule("families"));
    bind_fits(m.def_submodule("fits"));
    bind_glm(m.def_submodule("glm"));
    bind_edge_swaps(m.def_submodule("edge_swaps"));
    bind_gaussian(m.def_submodule("gaussian"));
    bind_gibbs(m.def_submodule("gibbs"));
    bind_ising(m.def_submodule("ising"));
    bind_ising_tables(m.def_submodule("ising_tables"));
    bind_neighbourhoods(m.def_submodule("neighbourhoods"));
    bind_moments(m.def_submodule("moments"));
    bind_knapsack(m.def_submodule("knapsack"));
    bind_nested(m.def_submodule("nested"));
    bind_pairs(m.def_submodule("pairs"));
    bind_perspective(m.def_submodule("perspective"));
    bind_perturbations(m.def_submodule("perturbations"));
    bind_swaps(m.def_submodule("swaps"));
}
