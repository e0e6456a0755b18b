// Limits on nested sets: a tree of sets, numbered so that parents come before their children.
//
// `leaf` is the smallest set of each element, `parent` and `capacity` are by set; the root, number 0, is the whole
// ground set.
#pragma once

#include "arrays.hpp"

namespace swapwise::nested {

inline void count(Index node, Indices parent, Vec<Index> counts) {
    for (; node > 0; node = parent[node]) ++counts[node];
    ++counts[0];
}

// Add to a mask of chosen elements each of an order in turn that the limits allow.
inline void first_base(Vec<bool> chosen, Indices order, Indices leaf, Indices parent, Indices capacity) {
    auto counts = Vector<Index>::filled(0, parent.size);
    for (Index element = 0; element < chosen.size; ++element) {
        if (chosen[element]) count(leaf[element], parent, counts);
    }
    for (Index element : order) {
        if (chosen[element]) continue;
        Index node = leaf[element];
        while (node > 0 && counts[node] < capacity[node]) node = parent[node];
        if (node == 0 && counts[0] < capacity[0]) {
            chosen[element] = true;
            count(leaf[element], parent, counts);
            if (counts[0] == capacity[0]) break;
        }
    }
}

}  // namespace swapwise::nested
