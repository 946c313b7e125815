// Casts that change nothing.
#include "graph/program/rules.h"

namespace hoist::graph::program {
namespace {

using Made = std::optional<Id>;
using C = Canonicaliser;

bool is_cast(const Node& node) { return node.op == Op::cast || node.op == Op::to_bool; }

// Whether a number of the narrow type comes back from the wide one as it was.
bool comes_back(DType wide, DType narrow) {
  if (narrow == DType::boolean || is_free_cast(narrow, wide)) return true;
  if (wide == DType::boolean) return false;
  if (is_float(narrow)) return wide == DType::f64;
  if (is_integer(wide)) return bytes_of(wide) >= bytes_of(narrow);
  const size_t bits = 8 * bytes_of(narrow) - (is_unsigned(narrow) ? 0 : 1);
  return bits <= (wide == DType::f64 ? 53 : wide == DType::f32 ? 24 : wide == DType::f16 ? 11 : 8);
}

Made cast_to_itself(C& c, const Node& node) {
  if (!is_cast(node) || c[node.inputs[0]].dtype != node.dtype || node.op == Op::to_bool) return {};
  return node.inputs[0];
}
Made cast_and_back(C& c, const Node& node) {
  if (!is_cast(node) || !is_cast(c[node.inputs[0]])) return {};
  const Id from = c[node.inputs[0]].inputs[0];
  const bool fits = c[from].dtype == node.dtype && comes_back(c[node.inputs[0]].dtype, node.dtype);
  return fits ? Made(from) : Made();
}

constexpr Rule kCasts[] = {
    {"cast to its own type", cast_to_itself},
    {"cast to a wider type and back", cast_and_back},
};

}  // namespace

std::span<const Rule> cast_rules() { return kCasts; }

}  // namespace hoist::graph::program
