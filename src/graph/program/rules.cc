#include "graph/program/rules.h"

#include <cmath>

namespace hoist::graph::program {
namespace {

using Made = std::optional<Id>;
using C = Canonicaliser;

bool is_zero(std::optional<double> number, bool is_negative) {
  return number && *number == 0 && std::signbit(*number) == is_negative;
}

// `id` in the node's place, if no broadcast lies between them.
Made in_place(const C& c, const Node& node, Id id) {
  return c[id].shape == node.shape ? Made(id) : Made();
}

// The other input of a commutative operation one of whose inputs is a number that `fits`.
template <typename Fits>
Made beside_number(const C& c, const Node& node, Op op, const Fits& fits) {
  if (node.op != op) return {};
  for (const size_t i : {0, 1}) {
    const auto number = c.number(node.inputs[i]);
    if (!number || !fits(*number)) continue;
    if (const Made other = in_place(c, node, node.inputs[1 - i])) return other;
  }
  return {};
}

Made divided_by(const C& c, const Node& node, double number) {
  if (node.op != Op::divide || c.number(node.inputs[1]) != number) return {};
  return in_place(c, node, node.inputs[0]);
}

// Whether a number and its inverse are neither 0 nor subnormal nor infinite.
bool has_inverse(double number, DType dtype) {
  const auto is_normal = [&](double x) {
    return dtype == DType::f64 ? std::isnormal(x) : std::isnormal(static_cast<float>(x));
  };
  return is_normal(number) && is_normal(1 / number);
}

// Whether the input is an operation `op`; its input then.
Made inside(const C& c, Id id, Op op) { return c[id].op == op ? Made(c[id].inputs[0]) : Made(); }

Made times_one(C& c, const Node& node) {
  return beside_number(c, node, Op::multiply, [](double x) { return x == 1; });
}
Made times_minus_one(C& c, const Node& node) {
  const Made x = beside_number(c, node, Op::multiply, [](double x) { return x == -1; });
  return x ? Made(c.make(Op::negate, {*x})) : Made();
}
Made by_one(C& c, const Node& node) { return divided_by(c, node, 1); }
Made by_minus_one(C& c, const Node& node) {
  const Made x = divided_by(c, node, -1);
  return x ? Made(c.make(Op::negate, {*x})) : Made();
}

// Both round the same quotient, where the inverse of a power of two is exact.
Made by_power_of_two(C& c, const Node& node) {
  if (node.op != Op::divide) return {};
  const auto number = c.number(node.inputs[1]);
  int exponent = 0;
  if (!number || !has_inverse(*number, node.dtype)) return {};
  if (std::fabs(std::frexp(*number, &exponent)) != 0.5) return {};
  const Made x = in_place(c, node, node.inputs[0]);
  return x ? Made(c.make(Op::multiply, {*x, c.graph().number(1 / *number, node.dtype)})) : Made();
}

Made plus_minus_zero(C& c, const Node& node) {
  return beside_number(c, node, Op::add, [](double x) { return is_zero(x, true); });
}
Made minus_zero(C& c, const Node& node) {
  if (node.op != Op::subtract || !is_zero(c.number(node.inputs[1]), false)) return {};
  return in_place(c, node, node.inputs[0]);
}

Made twice_negated(C& c, const Node& node) {
  return node.op == Op::negate ? inside(c, node.inputs[0], Op::negate) : Made();
}
Made plus_negated(C& c, const Node& node) {
  if (node.op != Op::add) return {};
  for (const size_t i : {1, 0}) {
    const Made x = inside(c, node.inputs[i], Op::negate);
    if (x) return c.make(Op::subtract, {node.inputs[1 - i], *x});
  }
  return {};
}
Made minus_negated(C& c, const Node& node) {
  if (node.op != Op::subtract) return {};
  const Made x = inside(c, node.inputs[1], Op::negate);
  return x ? Made(c.make(Op::add, {node.inputs[0], *x})) : Made();
}
Made both_negated(C& c, const Node& node) {
  if (node.op != Op::multiply && node.op != Op::divide) return {};
  const Made a = inside(c, node.inputs[0], Op::negate);
  const Made b = inside(c, node.inputs[1], Op::negate);
  return a && b ? Made(c.make(node.op, {*a, *b})) : Made();
}

Made absolute_of_sign(C& c, const Node& node) {
  if (node.op != Op::absolute) return {};
  if (inside(c, node.inputs[0], Op::absolute)) return node.inputs[0];
  const Made x = inside(c, node.inputs[0], Op::negate);
  return x && !is_unsigned(node.dtype) ? Made(c.make(Op::absolute, {*x})) : Made();
}
Made relu_of_relu(C& c, const Node& node) {
  if (node.op != Op::relu || !inside(c, node.inputs[0], Op::relu)) return {};
  return node.inputs[0];
}
Made extreme_of_itself(C& c, const Node& node) {
  const bool fits = node.op == Op::minimum || node.op == Op::maximum;
  return fits && node.inputs[0] == node.inputs[1] ? Made(node.inputs[0]) : Made();
}

// rsqrt is defined so.
Made one_by_root(C& c, const Node& node) {
  if (node.op != Op::divide || c.number(node.inputs[0]) != 1.0) return {};
  const Made x = inside(c, node.inputs[1], Op::sqrt);
  return x && c[*x].shape == node.shape ? Made(c.make(Op::rsqrt, {*x})) : Made();
}
Made power_one(C& c, const Node& node) {
  if (node.op != Op::power || c.number(node.inputs[1]) != 1.0) return {};
  return in_place(c, node, node.inputs[0]);
}

Made same_choices(C& c, const Node& node) {
  if (node.op != Op::where || node.inputs[1] != node.inputs[2]) return {};
  return in_place(c, node, node.inputs[1]);
}
Made known_condition(C& c, const Node& node) {
  if (node.op != Op::where || !c[node.inputs[0]].is_number()) return {};
  return in_place(c, node, node.inputs[c[node.inputs[0]].number() != 0 ? 1 : 2]);
}
Made copied(C& c, const Node& node) { return node.op == Op::copy ? Made(node.inputs[0]) : Made(); }

// What follows is for fast_math, or for integers.
Id zeros(C& c, const Node& node) {
  const Id zero = c.graph().number(0, node.dtype);
  return c.make({Op::broadcast, node.dtype, node.shape, {zero}, {}, nullptr});
}
Made plus_zero(C& c, const Node& node) {
  return beside_number(c, node, Op::add, [](double x) { return x == 0; });
}
Made times_zero(C& c, const Node& node) {
  if (!beside_number(c, node, Op::multiply, [](double x) { return x == 0; })) return {};
  return zeros(c, node);
}
Made minus_itself(C& c, const Node& node) {
  if (node.op != Op::subtract || node.inputs[0] != node.inputs[1]) return {};
  return zeros(c, node);
}
Made power_two(C& c, const Node& node) {
  if (node.op != Op::power || c.number(node.inputs[1]) != 2.0) return {};
  return c.make(Op::multiply, {node.inputs[0], node.inputs[0]});
}
Made by_number(C& c, const Node& node) {
  if (node.op != Op::divide) return {};
  const auto number = c.number(node.inputs[1]);
  if (!number || !has_inverse(*number, node.dtype)) return {};
  return c.make(Op::multiply, {node.inputs[0], c.graph().number(1 / *number, node.dtype)});
}
// Fewer divisions: of a row by one number, say.
Made by_fewer(C& c, const Node& node) {
  if (node.op != Op::divide || c[node.inputs[1]].op == Op::constant) return {};
  // The inverse of an empty divisor would be as long as the quotient again, and so on.
  const int64_t divisors = c[node.inputs[1]].elements();
  if (divisors == 0 || divisors > node.elements() / 2) return {};
  const Id inverse = c.make(Op::divide, {c.graph().number(1, node.dtype), node.inputs[1]});
  return c.make(Op::multiply, {node.inputs[0], inverse});
}
Made exp_of_log(C& c, const Node& node) {
  if (node.op == Op::exp) return inside(c, node.inputs[0], Op::log);
  return node.op == Op::log ? inside(c, node.inputs[0], Op::exp) : Made();
}
Made numbers_together(C& c, const Node& node) {
  if (node.op != Op::add && node.op != Op::multiply) return {};
  for (const size_t i : {0, 1}) {
    const Node inner = c[node.inputs[1 - i]];
    if (!c[node.inputs[i]].is_number() || inner.op != node.op) continue;
    for (const size_t k : {0, 1}) {
      if (!c[inner.inputs[k]].is_number()) continue;
      const Id both = c.make(node.op, {inner.inputs[k], node.inputs[i]});
      const Id made = c.make(node.op, {inner.inputs[1 - k], both});
      if (c[made].shape == node.shape) return made;
    }
  }
  return {};
}

// The same for integers.
template <typename Fits>
Made beside_integer(const C& c, const Node& node, Op op, const Fits& fits) {
  if (node.op != op) return {};
  for (const size_t i : {0, 1}) {
    const auto number = c.integer(node.inputs[i]);
    if (!number || !fits(*number)) continue;
    if (const Made other = in_place(c, node, node.inputs[1 - i])) return other;
  }
  return {};
}
Made plus_no_integer(C& c, const Node& node) {
  const auto is_none = [](int64_t x) { return x == 0; };
  const Made x = beside_integer(c, node, Op::add, is_none);
  if (x || node.op != Op::subtract || c.integer(node.inputs[1]) != 0) return x;
  return in_place(c, node, node.inputs[0]);
}
Made times_one_integer(C& c, const Node& node) {
  return beside_integer(c, node, Op::multiply, [](int64_t x) { return x == 1; });
}
Made times_no_integer(C& c, const Node& node) {
  const auto is_none = [](int64_t x) { return x == 0; };
  return beside_integer(c, node, Op::multiply, is_none) ? Made(zeros(c, node)) : Made();
}

constexpr Rule kIntegers[] = {
    {"n + 0 = n - 0 = n", plus_no_integer},
    {"n * 1 = n", times_one_integer},
    {"n * 0 = 0", times_no_integer},
    {"n - n = 0", minus_itself},
    {"(n + c) + d = n + (c + d)", numbers_together},
};

constexpr Rule kExact[] = {
    {"x * 1 = x", times_one},
    {"x * -1 = -x", times_minus_one},
    {"x / 1 = x", by_one},
    {"x / -1 = -x", by_minus_one},
    {"x / 2^k = x * 2^-k", by_power_of_two},
    {"x + -0 = x", plus_minus_zero},
    {"x - 0 = x", minus_zero},
    {"-(-x) = x", twice_negated},
    {"x + (-y) = x - y", plus_negated},
    {"x - (-y) = x + y", minus_negated},
    {"(-x) * (-y) = x * y", both_negated},
    {"|-x| = ||x|| = |x|", absolute_of_sign},
    {"relu(relu(x)) = relu(x)", relu_of_relu},
    {"min(x, x) = x", extreme_of_itself},
    {"1 / sqrt(x) = rsqrt(x)", one_by_root},
    {"x ^ 1 = x", power_one},
    {"where(c, x, x) = x", same_choices},
    {"where(true, x, y) = x", known_condition},
    {"copy(x) = x", copied},
};
constexpr Rule kFastMath[] = {
    {"x + 0 = x", plus_zero},
    {"x * 0 = 0", times_zero},
    {"x - x = 0", minus_itself},
    {"x ^ 2 = x * x", power_two},
    {"x / c = x * (1 / c)", by_number},
    {"rows / s = rows * (1 / s)", by_fewer},
    {"exp(log(x)) = log(exp(x)) = x", exp_of_log},
    {"(x + c) + d = x + (c + d)", numbers_together},
};

}  // namespace

std::span<const Rule> exact_rules() { return kExact; }
std::span<const Rule> integer_rules() { return kIntegers; }
std::span<const Rule> fast_math_rules() { return kFastMath; }

}  // namespace hoist::graph::program
