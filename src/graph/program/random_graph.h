// Random graphs of all operations.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/ops/product.h"
#include "graph/program/composites.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {

// Adds random nodes to a graph.
class RandomGraph {
 public:
  // Half of the graphs are f32 alone.
  explicit RandomGraph(RandomValues& random) : random_(random), mixes_(random.below(2) == 0) {
    rank_ = random_.below(4);
    for (size_t i = 0; i < rank_; ++i) shape_.push_back(extent());
    while (most_elements(shape_) > 60'000) *std::max_element(shape_.begin(), shape_.end()) = 3;
    const size_t inputs = 1 + random_.below(3);
    for (size_t i = 0; i < inputs; ++i) {
      Extents shape = shape_;
      for (int64_t& extent : shape) {
        if (random_.below(5) == 0) extent = 1;
      }
      if (!shape.empty() && random_.below(6) == 0) shape.erase(shape.begin());
      add(graph_.input(type(), shape));
    }
    if (all_.empty()) add(graph_.input(type(), {3, 4}));
    if (random_.below(3) == 0) add(graph_.input(DType::boolean, graph_[all_[0]].shape));
  }

  Graph make(size_t nodes) {
    for (size_t i = 0; i < nodes; ++i) add_node();
    std::vector<Id> outputs = {all_.back()};
    for (size_t i = random_.below(3); i > 0; --i) outputs.push_back(any());
    if (!truths_.empty() && random_.below(2) == 0) outputs.push_back(truths_.back());
    graph_.set_outputs(outputs);
    return std::move(graph_);
  }

 private:
  // What products with it may have, where it has none itself.
  static int64_t most_elements(Extents shape) {
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
    return element_count(shape);
  }
  int64_t extent() {
    static constexpr int64_t kExtents[] = {1, 2, 3, 5, 8, 17, 33, 64, 70, 0};
    const size_t at = random_.below(40);
    return at == 39 ? 1100 : at == 38 ? 0 : kExtents[at % 9];
  }
  Id any() { return all_[all_.size() - 1 - random_.below(std::min<size_t>(all_.size(), 6))]; }
  DType type() {
    static constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                                       DType::i8,  DType::i16,  DType::i32, DType::i64,
                                       DType::u8,  DType::u16,  DType::u32, DType::u64};
    return mixes_ ? kTypes[random_.below(std::size(kTypes))] : DType::f32;
  }
  // As `id` has it.
  Id any_like(Id id) { return graph_.cast(any(), graph_[id].dtype).value(); }
  Id any_float() {
    const Id id = any();
    return is_float(graph_[id].dtype) ? id : graph_.cast(id, float_for(graph_[id].dtype)).value();
  }
  void add(const Result<Id>& id) {
    if (!id || most_elements(graph_[*id].shape) > 60'000) return;
    (graph_[*id].dtype == DType::boolean ? truths_ : all_).push_back(*id);
  }

  void add_node() {
    if (mixes_ && random_.below(6) == 0) return add(graph_.cast(any(), type()));
    if (mixes_ && random_.below(8) == 0) return integers();
    if (random_.below(10) == 0) return along();
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return unary();
      case 3:
      case 4:
      case 5:
        return binary();
      case 6:
      case 7:
        return reduction();
      case 8:
        return view();
      case 9:
        return matmul();
      case 10:
        return choice();
      default:
        return composite();
    }
  }

  void along() {
    const Id input = any();
    const Extents shape = graph_[input].shape;
    if (shape.empty()) return;
    const size_t axis = random_.below(shape.size());
    const auto at = static_cast<int64_t>(axis);
    const size_t kind = random_.below(4);
    if (kind == 0) return add(graph_.cumulative_sum(input, at));
    if (kind < 3) {
      const Op op = kind == 1 ? Op::argmin : Op::argmax;
      return add(graph_.reduce(op, input, {at}, random_.below(2) == 0));
    }
    if (shape[axis] == 0) return;
    // Places of some array, all inside: remainder(trunc(x), 2 n) - n.
    const Id whole = graph_.cast(random_.below(2) == 0 ? input : any(), DType::i64).value();
    if (graph_[whole].shape.size() != shape.size()) return;
    const Id extent = graph_.integer(shape[axis], DType::i64);
    const Id twice = graph_.integer(2 * shape[axis], DType::i64);
    const Id places =
        *graph_.add_node(Op::subtract, {*graph_.add_node(Op::remainder, {whole, twice}), extent});
    add(graph_.take_along(input, places, at));
  }
  void integers() {
    static constexpr Op kOps[] = {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor, Op::left_shift,
                                  Op::right_shift};
    const Id a = any();
    if (!is_integer(graph_[a].dtype)) return;
    if (random_.below(5) == 0) return add(graph_.add_node(Op::bitwise_invert, {a}));
    add(graph_.add_node(kOps[random_.below(std::size(kOps))], {a, any_like(a)}));
  }
  void unary() {
    static constexpr Op kOps[] = {Op::negate, Op::absolute, Op::relu,  Op::copy, Op::exp,
                                  Op::log,    Op::sqrt,     Op::rsqrt, Op::tanh, Op::sigmoid,
                                  Op::erf,    Op::floor,    Op::round, Op::sign, Op::sin,
                                  Op::cos,    Op::expm1,    Op::log1p, Op::exp2, Op::atan};
    const Op op = kOps[random_.below(std::size(kOps))];
    add(graph_.add_node(op, {takes(op, DType::i64) ? any() : any_float()}));
  }
  void binary() {
    static constexpr Op kOps[] = {Op::add,       Op::subtract, Op::multiply, Op::divide,
                                  Op::minimum,   Op::maximum,  Op::power,    Op::floor_divide,
                                  Op::remainder, Op::hypot};
    static constexpr double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.3, 4.0};
    const Op op = kOps[random_.below(std::size(kOps))];
    const Id a = takes(op, DType::i64) ? any() : any_float();
    Id b = any_like(a);
    if (random_.below(3) == 0) {
      b = graph_.number(kNumbers[random_.below(std::size(kNumbers))], graph_[a].dtype);
    }
    if (graph_[b].is_number()) b = graph_.reshape(b, Extents(random_.below(4), 1)).value();
    if (random_.below(4) == 0) {
      add(graph_.add_node(op, {b, a}));
    } else {
      add(graph_.add_node(op, {a, b}));
    }
  }
  void reduction() {
    static constexpr Op kOps[] = {Op::sum, Op::mean, Op::product, Op::reduce_minimum,
                                  Op::reduce_maximum};
    const Id input = any();
    Extents axes;
    for (size_t i = 0; i < graph_[input].shape.size(); ++i) {
      if (random_.below(2) == 0) axes.push_back(static_cast<int64_t>(i));
    }
    add(graph_.reduce(kOps[random_.below(5)], input, axes, random_.below(3) != 0));
  }
  void view() {
    const Id input = any();
    const Extents shape = graph_[input].shape;
    const size_t rank = shape.size();
    const size_t kind = random_.below(5);
    if (kind == 0) {
      Extents permutation;
      for (size_t i = 0; i < rank; ++i) permutation.push_back(static_cast<int64_t>(i));
      for (size_t i = rank; i > 1; --i)
        std::swap(permutation[i - 1], permutation[random_.below(i)]);
      add(graph_.permute(input, permutation));
    } else if (kind == 1) {
      add(graph_.reshape(input, {-1}));
      if (rank >= 2) add(graph_.reshape(input, {shape[0], -1}));
    } else if (kind == 2) {
      Extents wider = shape;
      wider.insert(wider.begin(), 2);
      add(graph_.broadcast(input, wider));
    } else if (kind == 3) {
      slice(input, shape);
    } else {
      add(graph_.concatenate({input, any_like(input), input}, 0));
      add(graph_.concatenate({input, input}, -1));
    }
  }
  void slice(Id input, const Extents& shape) {
    Extents begins;
    Extents lengths;
    Extents steps;
    for (const int64_t extent : shape) {
      const auto length = static_cast<int64_t>(random_.below(static_cast<size_t>(extent) + 1));
      const auto begin =
          static_cast<int64_t>(random_.below(static_cast<size_t>(extent - length) + 1));
      const bool is_backwards = random_.below(4) == 0;
      lengths.push_back(length);
      begins.push_back(is_backwards && length > 0 ? begin + length - 1 : begin);
      steps.push_back(is_backwards ? -1 : 1);
    }
    add(graph_.slice(input, begins, lengths, steps));
  }
  void matmul() {
    const Id a = any();
    const Extents shape = graph_[a].shape;
    // Deeper ones of few rows add in another order (program.h); DeepProducts has them.
    if (shape.size() < 2 || shape.back() > static_cast<int64_t>(kProductDepth)) return;
    if (random_.below(2) == 0) {
      const int64_t columns = extent();
      if (shape.back() * columns > 60'000) return;
      const Result<Id> b = graph_.input(graph_[a].dtype, {shape.back(), columns});
      return add(graph_.add_node(Op::matmul, {a, *b}));
    }
    Extents order;
    for (size_t i = 0; i < shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    std::swap(order[shape.size() - 1], order[shape.size() - 2]);
    add(graph_.add_node(Op::matmul, {a, *graph_.permute(a, order)}));
  }
  void choice() {
    static constexpr Op kOps[] = {Op::equal,      Op::not_equal, Op::less,
                                  Op::less_equal, Op::greater,   Op::greater_equal};
    const Id compared = any();
    add(graph_.add_node(kOps[random_.below(6)], {compared, any_like(compared)}));
    if (truths_.empty()) return;
    const Id truth = truths_[random_.below(truths_.size())];
    if (random_.below(4) == 0) return add(graph_.cast(truth, type()));
    if (random_.below(4) == 0) {
      static constexpr Op kLogic[] = {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor};
      const Id other = truths_[random_.below(truths_.size())];
      return add(graph_.add_node(kLogic[random_.below(3)], {truth, other}));
    }
    const Id chosen = any();
    add(graph_.add_node(Op::where, {truth, chosen, any_like(chosen)}));
  }
  void composite() {
    const Id input = any_float();
    if (random_.below(3) == 0) return add(gelu_tanh(graph_, input));
    if (graph_[input].shape.empty()) return;
    const auto axis = static_cast<int64_t>(random_.below(graph_[input].shape.size()));
    if (random_.below(3) == 0) return add(log_softmax(graph_, input, axis));
    if (random_.below(2) == 0) return add(normalise(graph_, input, 1e-5f));
    add(softmax(graph_, input, axis));
  }

  RandomValues& random_;
  const bool mixes_;
  size_t rank_ = 0;
  Extents shape_;
  Graph graph_;
  std::vector<Id> all_;
  std::vector<Id> truths_;
};

}  // namespace hoist::graph::program
