// What a node is by itself.
#include <algorithm>

#include "graph/program/graph.h"

namespace hoist::graph::program {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

bool same_values(const Node& a, const Node& b) {
  return a.values == b.values || (a.values && b.values && *a.values == *b.values);
}

}  // namespace

uint64_t hash_of(const Node& node) {
  uint64_t hash = mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.dtype));
  for (const int64_t extent : node.shape) hash = mix(hash, static_cast<uint64_t>(extent));
  for (const Id id : node.inputs) hash = mix(hash, id);
  for (const int64_t number : node.numbers) hash = mix(hash, static_cast<uint64_t>(number));
  // The beginning stands for a large constant.
  if (node.values) {
    const size_t count = std::min<size_t>(node.values->size() * node.values->lane(), 64);
    const auto* const bytes = static_cast<const uint8_t*>(node.values->bytes());
    for (size_t i = 0; i < count; ++i) hash = mix(hash, bytes[i]);
  }
  return hash;
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.inputs == b.inputs &&
         a.numbers == b.numbers && same_values(a, b);
}

int64_t element_count(const Extents& shape) {
  // A product that a 0 comes behind could overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  }
  return count;
}

std::string text_of(const Extents& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

int64_t Node::elements() const { return element_count(shape); }

double Node::number() const {
  switch (lanes_of(dtype)) {
    case Lanes::f32:
      return double{values->f32()[0]};
    case Lanes::f64:
      return values->f64()[0];
    case Lanes::i64:
      return static_cast<double>(values->i64()[0]);
    default:
      return static_cast<double>(static_cast<uint64_t>(values->i64()[0]));
  }
}

Lanes step_lanes(const Graph& graph, const Node& node) {
  const bool is_cast = node.op == Op::cast || node.op == Op::to_bool;
  if (!is_cast && !is_comparison(node.op) && !is_place(node.op)) return lanes_of(node.dtype);
  // Free casts may be left out: u64 beside what fits i64.
  for (const Id input : node.inputs) {
    if (graph[input].dtype == DType::u64) return Lanes::u64;
  }
  return lanes_of(graph[node.inputs[0]].dtype);
}

}  // namespace hoist::graph::program
