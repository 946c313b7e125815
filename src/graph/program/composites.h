// Operations that are traced as the primitive ones that they are made of. Of floats; those of 16
// bits are computed in f32 and rounded once.
#pragma once

#include "base/result.h"
#include "graph/program/graph.h"

namespace hoist::graph::program {

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: nine nodes.
Result<Id> gelu_tanh(Graph& graph, Id x);
// x (1 + erf(x / sqrt 2)) / 2: five nodes.
Result<Id> gelu_erf(Graph& graph, Id x);
// exp(x - max) / sum of these: five nodes.
Result<Id> softmax(Graph& graph, Id x, int64_t axis);
// (x - max) - log(sum of exp(x - max)): six nodes.
Result<Id> log_softmax(Graph& graph, Id x, int64_t axis);
// (x - mean) rsqrt(mean((x - mean)^2) + epsilon): seven nodes, over the last axis.
Result<Id> normalise(Graph& graph, Id x, double epsilon);

}  // namespace hoist::graph::program
