#include "graph/program/op.h"

namespace hoist::graph::program {
namespace {

using enum OpKind;

constexpr OpProperties kProperties[] = {
    {"input", leaf, 0, false},
    {"constant", leaf, 0, false},
    {"copy", elementwise, 1, false},
    {"negative", elementwise, 1, false},
    {"abs", elementwise, 1, false},
    {"exp", elementwise, 1, false},
    {"log", elementwise, 1, false},
    {"sqrt", elementwise, 1, false},
    {"rsqrt", elementwise, 1, false},
    {"tanh", elementwise, 1, false},
    {"sigmoid", elementwise, 1, false},
    {"erf", elementwise, 1, false},
    {"exp2", elementwise, 1, false},
    {"expm1", elementwise, 1, false},
    {"log1p", elementwise, 1, false},
    {"log2", elementwise, 1, false},
    {"log10", elementwise, 1, false},
    {"sin", elementwise, 1, false},
    {"cos", elementwise, 1, false},
    {"tan", elementwise, 1, false},
    {"asin", elementwise, 1, false},
    {"acos", elementwise, 1, false},
    {"atan", elementwise, 1, false},
    {"sinh", elementwise, 1, false},
    {"cosh", elementwise, 1, false},
    {"asinh", elementwise, 1, false},
    {"acosh", elementwise, 1, false},
    {"atanh", elementwise, 1, false},
    {"floor", elementwise, 1, false},
    {"ceil", elementwise, 1, false},
    {"trunc", elementwise, 1, false},
    {"round", elementwise, 1, false},
    {"sign", elementwise, 1, false},
    {"relu", elementwise, 1, false},
    {"to_bool", elementwise, 1, false},
    {"astype", elementwise, 1, false},
    {"add", elementwise, 2, true},
    {"subtract", elementwise, 2, false},
    {"multiply", elementwise, 2, true},
    {"divide", elementwise, 2, false},
    {"minimum", elementwise, 2, true},
    {"maximum", elementwise, 2, true},
    {"copysign", elementwise, 2, false},
    {"hypot", elementwise, 2, true},
    {"atan2", elementwise, 2, false},
    {"pow", elementwise, 2, false},
    {"equal", elementwise, 2, true},
    {"not_equal", elementwise, 2, true},
    {"less", elementwise, 2, false},
    {"less_equal", elementwise, 2, false},
    {"greater", elementwise, 2, false},
    {"greater_equal", elementwise, 2, false},
    {"where", elementwise, 3, false},
    {"sum", reduction, 1, false},
    {"mean", reduction, 1, false},
    {"prod", reduction, 1, false},
    {"min", reduction, 1, false},
    {"max", reduction, 1, false},
    {"reshape", view, 1, false},
    {"permute_dims", view, 1, false},
    {"broadcast_to", view, 1, false},
    {"slice", view, 1, false},
    {"matmul", OpKind::matmul, 2, false},
    {"concat", OpKind::concatenate, -1, false},
};
static_assert(sizeof(kProperties) / sizeof(kProperties[0]) == kOps);

}  // namespace

const OpProperties& properties(Op op) { return kProperties[static_cast<size_t>(op)]; }

}  // namespace hoist::graph::program
