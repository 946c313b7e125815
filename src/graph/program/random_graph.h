// Random graphs of all operations.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/program/composites.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {

// Adds random nodes to a graph.
class RandomGraph {
 public:
  explicit RandomGraph(RandomValues& random) : random_(random) {
    rank_ = random_.below(4);
    for (size_t i = 0; i < rank_; ++i) shape_.push_back(extent());
    const size_t inputs = 1 + random_.below(3);
    for (size_t i = 0; i < inputs; ++i) {
      Extents shape = shape_;
      for (int64_t& extent : shape) {
        if (random_.below(5) == 0) extent = 1;
      }
      if (!shape.empty() && random_.below(6) == 0) shape.erase(shape.begin());
      add(graph_.input(DType::f32, shape));
    }
    if (all_.empty()) add(graph_.input(DType::f32, {3, 4}));
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
  int64_t extent() {
    static constexpr int64_t kExtents[] = {1, 2, 3, 5, 8, 17, 33, 64, 70, 0};
    const size_t at = random_.below(40);
    return at == 39 ? 1100 : at == 38 ? 0 : kExtents[at % 9];
  }
  Id any() { return all_[all_.size() - 1 - random_.below(std::min<size_t>(all_.size(), 6))]; }
  void add(const Result<Id>& id) {
    if (!id || graph_[*id].elements() > 60'000) return;
    (graph_[*id].dtype == DType::boolean ? truths_ : all_).push_back(*id);
  }

  void add_node() {
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

  void unary() {
    static constexpr Op kOps[] = {Op::negate, Op::absolute, Op::exp, Op::log,  Op::sqrt, Op::rsqrt,
                                  Op::tanh,   Op::sigmoid,  Op::erf, Op::relu, Op::copy};
    add(graph_.add_node(kOps[random_.below(std::size(kOps))], {any()}));
  }
  void binary() {
    static constexpr Op kOps[] = {Op::add,     Op::subtract, Op::multiply, Op::divide,
                                  Op::minimum, Op::maximum,  Op::power};
    static constexpr float kNumbers[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 0.3f, 4.0f};
    const Op op = kOps[random_.below(std::size(kOps))];
    Id b = any();
    if (random_.below(3) == 0) b = graph_.number(kNumbers[random_.below(std::size(kNumbers))]);
    if (graph_[b].is_number()) b = graph_.reshape(b, Extents(random_.below(4), 1)).value();
    if (random_.below(4) == 0) {
      add(graph_.add_node(op, {b, any()}));
    } else {
      add(graph_.add_node(op, {any(), b}));
    }
  }
  void reduction() {
    static constexpr Op kOps[] = {Op::sum, Op::mean, Op::reduce_minimum, Op::reduce_maximum};
    const Id input = any();
    Extents axes;
    for (size_t i = 0; i < graph_[input].shape.size(); ++i) {
      if (random_.below(2) == 0) axes.push_back(static_cast<int64_t>(i));
    }
    add(graph_.reduce(kOps[random_.below(4)], input, axes, random_.below(3) != 0));
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
      add(graph_.concatenate({input, any(), input}, 0));
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
    if (shape.size() < 2) return;
    if (random_.below(2) == 0) {
      const int64_t columns = extent();
      const Result<Id> b = graph_.input(DType::f32, {shape.back(), columns});
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
    add(graph_.add_node(kOps[random_.below(6)], {any(), any()}));
    if (truths_.empty()) return;
    const Id truth = truths_[random_.below(truths_.size())];
    if (random_.below(2) == 0) return add(graph_.cast(truth, DType::f32));
    add(graph_.add_node(Op::where, {truth, any(), any()}));
  }
  void composite() {
    const Id input = any();
    if (random_.below(3) == 0) return add(gelu_tanh(graph_, input));
    if (graph_[input].shape.empty()) return;
    const auto axis = static_cast<int64_t>(random_.below(graph_[input].shape.size()));
    if (random_.below(3) == 0) return add(log_softmax(graph_, input, axis));
    if (random_.below(2) == 0) return add(normalise(graph_, input, 1e-5f));
    add(softmax(graph_, input, axis));
  }

  RandomValues& random_;
  size_t rank_ = 0;
  Extents shape_;
  Graph graph_;
  std::vector<Id> all_;
  std::vector<Id> truths_;
};

}  // namespace hoist::graph::program
