// The same graph in canonical form: constants folded, identities applied, chains of views merged,
// and without what no output depends on.
//
//   Canonical canonical = canonicalise(graph, {.fast_math = false});
//
// Results keep every bit, but for NaNs' payloads, unless fast_math allows more.
#pragma once

#include <cstddef>

#include "graph/program/graph.h"

namespace hoist::graph::program {

struct CanonicalOptions {
  // Rules that round otherwise, or are wrong for infinities, NaN or -0.
  bool fast_math = false;
};

struct Canonical {
  Graph graph;  // with all inputs, in their order
  size_t rewrites = 0;
};

Canonical canonicalise(const Graph& graph, CanonicalOptions options = {});

}  // namespace hoist::graph::program
