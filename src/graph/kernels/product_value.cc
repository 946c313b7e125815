// One element of a product of matrices, by one thread.
#include <array>

#include "graph/kernels/evaluation.h"

namespace hoist::graph::kernels {

using ir::Scalar;

namespace {

// Terms at a time, whose loads do not wait for one another.
constexpr int64_t kTerms = 16;
constexpr int64_t kSums = 4;

Scalar sum_type(Scalar type) {
  if (type == Scalar::f64) return type;
  return ir::is_float(type) ? Scalar::f32 : Scalar::i64;
}

}  // namespace

Value Evaluation::factor(size_t operand, Value first, int64_t step) {
  if (plan_.operands[operand].constant) return operand_of_row(operand);
  const ir::Array* const array = array_of(operand);
  return loaded(array, operand, writer_.let(writer_.load(array, writer_.plus(first, step))));
}

// Where the thread's first factor lies.
Value Evaluation::first_factor(Place& place, size_t operand, int64_t step) {
  const Value index = writer_.let(index_at(place, operand, 1));
  return parts_ == 1 ? index : writer_.let(writer_.plus(index, writer_.times(part_, step)));
}

void Evaluation::prefetch_product(Place& place) {
  const PlannedProduct& product = *plan_.product;
  const int64_t depth = product.depth / parts_;
  if (depth > kTerms || plan_.operands[product.b].constant) return;
  const Value first = first_factor(place, product.b, product.b_step);
  for (int64_t i = 0; i < depth; ++i) {
    prefetched_.push_back(factor(product.b, first, product.b_step * parts_ * i));
  }
}

std::vector<Value> Evaluation::product_at(Place& place, Scalar type) {
  const PlannedProduct& product = *plan_.product;
  const Scalar wide = sum_type(type);
  const bool is_real = ir::is_float(wide);
  const int64_t a_step = product.a_step * parts_;
  const int64_t b_step = product.b_step * parts_;
  const int64_t depth = product.depth / parts_;
  const Value a = first_factor(place, product.a, product.a_step);
  const Value b = first_factor(place, product.b, product.b_step);
  std::array<Value, kSums> sums{};
  for (Value& sum : sums) {
    sum = writer_.variable(is_real ? writer_.make.real(wide, 0) : writer_.make.integer(wide, 0));
  }
  const auto add_terms = [&](Value first, int64_t count) {
    std::vector<std::array<Value, 2>> factors;
    const Value at_a = writer_.let(writer_.plus(a, writer_.times(first, a_step)));
    const Value at_b = writer_.let(writer_.plus(b, writer_.times(first, b_step)));
    for (int64_t i = 0; i < count; ++i) {
      const Value x = factor(product.a, at_a, a_step * i);
      const Value y = prefetched_.empty() ? factor(product.b, at_b, b_step * i)
                                          : prefetched_[static_cast<size_t>(i)];
      factors.push_back({writer_.let(writer_.cast(wide, x)), writer_.let(writer_.cast(wide, y))});
    }
    for (size_t i = 0; i < factors.size(); ++i) {
      const Value sum = sums[i % kSums];
      const auto& [x, y] = factors[i];
      const std::array terms = {x, y, sum};
      writer_.set(sum, is_real
                           ? writer_.make.builtin(ir::Builtin::fused_multiply_add, terms).value()
                           : writer_.binary(ir::BinaryOperator::add, sum,
                                            writer_.binary(ir::BinaryOperator::multiply, x, y)));
    }
  };
  const int64_t whole = prefetched_.empty() ? depth / kTerms * kTerms : 0;
  if (whole != 0) {
    const Value at =
        writer_.begin_for(writer_.index(0), writer_.index(whole), writer_.index(kTerms));
    add_terms(at, kTerms);
    writer_.end();
  }
  if (whole != depth) add_terms(writer_.index(whole), depth - whole);
  const auto add = [&](Value x, Value y) { return writer_.binary(ir::BinaryOperator::add, x, y); };
  Value all = add(add(sums[0], sums[1]), add(sums[2], sums[3]));
  for (int64_t distance = 1; distance < parts_; distance *= 2) {
    const Value mine = writer_.let(all);
    all = add(mine, writer_.exchanged(mine, distance));
  }
  return {writer_.let(writer_.cast(type, all))};
}

}  // namespace hoist::graph::kernels
