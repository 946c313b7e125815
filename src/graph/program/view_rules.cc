// Chains of views are one view, and views that change nothing are none.
#include "graph/program/rules.h"

namespace hoist::graph::program {
namespace {

using Made = std::optional<Id>;
using C = Canonicaliser;

Made same_shape(C& c, const Node& node) {
  const bool fits = node.op == Op::reshape || node.op == Op::broadcast;
  return fits && c[node.inputs[0]].shape == node.shape ? Made(node.inputs[0]) : Made();
}

// The node on the input of its input.
Id on_input_of_input(C& c, const Node& node) {
  Node made = node;
  made.inputs = c[node.inputs[0]].inputs;
  return c.make(std::move(made));
}

Made twice_the_same_view(C& c, const Node& node) {
  const bool fits = node.op == Op::reshape || node.op == Op::broadcast;
  return fits && c[node.inputs[0]].op == node.op ? Made(on_input_of_input(c, node)) : Made();
}

Made permuted_twice(C& c, const Node& node) {
  if (node.op != Op::permute || c[node.inputs[0]].op != Op::permute) return {};
  Node made = node;
  for (int64_t& axis : made.numbers) {
    axis = c[node.inputs[0]].numbers[static_cast<size_t>(axis)];
  }
  made.inputs = c[node.inputs[0]].inputs;
  return c.make(std::move(made));
}

// Also where only axes of length 1 change places: that is a reshape.
Made permuted_in_order(C& c, const Node& node) {
  if (node.op != Op::permute) return {};
  const Node& input = c[node.inputs[0]];
  int64_t last = -1;
  bool is_identity = true;
  for (size_t i = 0; i < node.numbers.size(); ++i) {
    const int64_t axis = node.numbers[i];
    is_identity &= axis == static_cast<int64_t>(i);
    if (input.shape[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return {};
    last = axis;
  }
  if (is_identity) return node.inputs[0];
  return c.make({Op::reshape, node.dtype, node.shape, node.inputs, {}, nullptr});
}

Made whole_slice(C& c, const Node& node) {
  if (node.op != Op::slice || c[node.inputs[0]].shape != node.shape) return {};
  for (size_t i = 0; i < node.shape.size(); ++i) {
    if (node.shape[i] > 1 && node.numbers[2 * i + 1] != 1) return {};
  }
  return node.inputs[0];
}

Made sliced_twice(C& c, const Node& node) {
  if (node.op != Op::slice || c[node.inputs[0]].op != Op::slice) return {};
  const Node& inner = c[node.inputs[0]];
  Node made = node;
  for (size_t i = 0; i < node.shape.size(); ++i) {
    const int64_t begin = inner.numbers[2 * i];
    const int64_t step = inner.numbers[2 * i + 1];
    // As Graph::slice() has them: none begins at 0, one has no step.
    const bool is_empty = node.shape[i] == 0;
    made.numbers[2 * i] = is_empty ? 0 : begin + node.numbers[2 * i] * step;
    made.numbers[2 * i + 1] = node.shape[i] <= 1 ? 1 : node.numbers[2 * i + 1] * step;
  }
  made.inputs = inner.inputs;
  return c.make(std::move(made));
}

Made one_part(C& c, const Node& node) {
  const bool fits = node.op == Op::concatenate && node.inputs.size() == 1;
  return fits ? Made(node.inputs[0]) : Made();
}

constexpr Rule kViews[] = {
    {"reshape, broadcast to the same shape", same_shape},
    {"reshape, broadcast twice", twice_the_same_view},
    {"permute twice", permuted_twice},
    {"permute that changes nothing", permuted_in_order},
    {"slice of everything", whole_slice},
    {"slice of a slice", sliced_twice},
    {"concatenation of one", one_part},
};

}  // namespace

std::span<const Rule> view_rules() { return kViews; }

}  // namespace hoist::graph::program
