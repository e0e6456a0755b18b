// Gibbs sampling of an Ising model.
#pragma once

#include <cmath>

#include "arrays.hpp"
#include "listening.hpp"

namespace swapwise::gibbs {

// Draw every spin again given its neighbours, in index order, once for each row of `uniforms`.
//
// Vertex v has the neighbours neighbours[v] with couplings couplings[v]. With weights exp(Σ w_uv x_u x_v) a
// spin is +1 with probability σ(2 Σ_u w_uv x_u). `spins` is changed in place. Randomness comes from outside,
// so that one seed governs the whole of an instance.
inline void sweep(Vec<double> spins, Mat<const Index> neighbours, Table couplings, Table uniforms) {
    Listener listener;
    for (Index turn = 0; turn < uniforms.rows; ++turn) {
        for (Index v = 0; v < spins.size; ++v) {
            listener.after(neighbours.columns + 1);
            double pull = 0.0;
            for (Index k = 0; k < neighbours.columns; ++k) pull += couplings(v, k) * spins[neighbours(v, k)];
            spins[v] = uniforms(turn, v) * (1.0 + std::exp(-2.0 * pull)) < 1.0 ? 1.0 : -1.0;
        }
    }
}

}  // namespace swapwise::gibbs
