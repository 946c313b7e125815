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
    {"relu", elementwise, 1, false},
    {"to_bool", elementwise, 1, false},
    {"astype", elementwise, 1, false},
    {"bitwise_invert", elementwise, 1, false},
    {"add", elementwise, 2, true},
    {"subtract", elementwise, 2, false},
    {"multiply", elementwise, 2, true},
    {"divide", elementwise, 2, false},
    {"minimum", elementwise, 2, true},
    {"maximum", elementwise, 2, true},
    {"pow", elementwise, 2, false},
    {"floor_divide", elementwise, 2, false},
    {"remainder", elementwise, 2, false},
    {"bitwise_and", elementwise, 2, true},
    {"bitwise_or", elementwise, 2, true},
    {"bitwise_xor", elementwise, 2, true},
    {"bitwise_left_shift", elementwise, 2, false},
    {"bitwise_right_shift", elementwise, 2, false},
    {"equal", elementwise, 2, true},
    {"not_equal", elementwise, 2, true},
    {"less", elementwise, 2, false},
    {"less_equal", elementwise, 2, false},
    {"greater", elementwise, 2, false},
    {"greater_equal", elementwise, 2, false},
    {"where", elementwise, 3, false},
    {"sum", reduction, 1, false},
    {"mean", reduction, 1, false},
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
