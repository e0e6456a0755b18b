// Local optima of least squares on few columns: perturbations, each followed by a search in single precision.
#pragma once

#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "listening.hpp"
#include "nested.hpp"
#include "quick.hpp"
#include "random_numbers.hpp"

namespace swapwise::perturbations {

// Local optima around the best of some sets: each is reached from a part of the best one so far.
//
// First come those that the searches from `starts` lead to. Then, `count` times, a share of the best is dropped,
// and does not come back until the set is full again. Returns the sets (padded
// with -1), their values, and a number that grows with the time it took.
inline std::tuple<Matrix<Index>, Vector<double>, Index> local_optima(
    Mat<const float> gram, Vec<const float> with_y, nested::LimitArrays limits, Flags fixed,
    Mat<const Index> starts, Index count, RandomNumbers random) {
    Vector<Index> own(with_y.size);
    for (Index j = 0; j < own.size; ++j) own[j] = j;
    const quick::Model model{gram, own, with_y, record_of<nested::Limits>(limits), fixed};
    const Index room = starts.columns, total = starts.rows + count;
    quick::Tableau at(model, room);
    auto sets = Matrix<Index>::filled(-1, total, room);
    Vector<double> values(total);
    auto barred = Vector<bool>::filled(false, model.with_y.size);
    std::vector<Index> best, kept;
    double most = -INFINITE;
    for (Index number = 0; number < total; ++number) {
        raise_if_interrupted();
        kept.clear();
        if (number < starts.rows) {
            for (Index element : starts[number]) {
                if (element >= 0) kept.push_back(element);
            }
        } else {
            const double share = quick::dropped_share(random.uniform());
            for (Index element : best) {
                barred[element] = !model.fixed[element] && random.uniform() < share;
                if (!barred[element]) kept.push_back(element);
            }
        }
        at.go_to(kept);
        at.grow(barred);
        at.search();
        for (Index element : best) barred[element] = false;
        values[number] = at.value();
        std::copy(at.elements().begin(), at.elements().end(), sets[number].begin());
        if (values[number] > most + quick::LEAST_GAIN) {
            most = values[number];
            best = at.elements();
        }
    }
    return {std::move(sets), std::move(values), at.work()};
}

// A table in single precision, its rows and columns multiplied by factors.
inline Matrix<float> scaled(Table table, Numbers row_factors, Numbers column_factors) {
    Matrix<float> result(table.rows, table.columns);
    for (Index i = 0; i < table.rows; ++i) {
        const double factor = row_factors[i], *row = table[i].begin(), *factors = column_factors.begin();
        float *to = result[i].begin();
#pragma omp simd
        for (Index j = 0; j < table.columns; ++j) to[j] = static_cast<float>(factor * row[j] * factors[j]);
    }
    return result;
}

}  // namespace swapwise::perturbations
