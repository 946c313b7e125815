#include "graph/program/composites.h"

#include <fmt/core.h>

namespace hoist::graph::program {
namespace {

// Adds node after node; what comes after a failure does nothing.
class Chain {
 public:
  explicit Chain(Graph& graph, DType dtype = DType::f32) : graph_(graph), dtype_(dtype) {}

  Id operator()(Op op, std::vector<Id> inputs) {
    return take([&] { return graph_.add_node(op, std::move(inputs)); });
  }
  Id reduce(Op op, Id input, int64_t axis) {
    return take([&] { return graph_.reduce(op, input, {axis}, true); });
  }
  Id number(double value) { return graph_.number(value, dtype_); }

  Result<Id> result(Id id) const { return status_ ? Result<Id>(id) : status_.error(); }

 private:
  template <typename F>
  Id take(const F& make) {
    if (!status_) return 0;
    Result<Id> made = make();
    if (made) return *made;
    status_ = made.error();
    return 0;
  }

  Graph& graph_;
  DType dtype_;
  Status status_;
};

// make(chain, x) for floats; of a type of 16 bits in f32, and rounded once.
template <typename Make>
Result<Id> composed(Graph& graph, Id x, const char* who, const Make& make) {
  const DType dtype = graph[x].dtype;
  if (!is_float(dtype)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} takes floats, not {}: cast it with astype()", who,
                            array::properties(dtype).framework));
  }
  const DType wide = computed_in(Op::exp, dtype);
  Chain chain(graph, wide);
  const Result<Id> result = chain.result(make(chain, graph.cast(x, wide).value()));
  return result ? graph.cast(*result, dtype) : result;
}

}  // namespace

Result<Id> gelu_tanh(Graph& graph, Id given) {
  return composed(graph, given, "gelu", [](Chain& chain, Id x) {
    const Id cube = chain(Op::multiply, {chain(Op::multiply, {x, x}), x});
    const Id inner = chain(Op::add, {x, chain(Op::multiply, {cube, chain.number(0.044715)})});
    const Id scaled = chain(Op::multiply, {inner, chain.number(0.7978845608028654)});
    const Id factor = chain(Op::add, {chain(Op::tanh, {scaled}), chain.number(1)});
    const Id half = chain(Op::multiply, {x, chain.number(0.5)});
    return chain(Op::multiply, {half, factor});
  });
}

Result<Id> gelu_erf(Graph& graph, Id given) {
  return composed(graph, given, "gelu", [](Chain& chain, Id x) {
    const Id scaled = chain(Op::multiply, {x, chain.number(0.7071067811865476)});
    const Id factor = chain(Op::add, {chain(Op::erf, {scaled}), chain.number(1)});
    const Id half = chain(Op::multiply, {x, chain.number(0.5)});
    return chain(Op::multiply, {half, factor});
  });
}

Result<Id> softmax(Graph& graph, Id given, int64_t axis) {
  return composed(graph, given, "softmax", [&](Chain& chain, Id x) {
    const Id shifted = chain(Op::subtract, {x, chain.reduce(Op::reduce_maximum, x, axis)});
    const Id powers = chain(Op::exp, {shifted});
    return chain(Op::divide, {powers, chain.reduce(Op::sum, powers, axis)});
  });
}

Result<Id> log_softmax(Graph& graph, Id given, int64_t axis) {
  return composed(graph, given, "log_softmax", [&](Chain& chain, Id x) {
    const Id shifted = chain(Op::subtract, {x, chain.reduce(Op::reduce_maximum, x, axis)});
    const Id sum = chain.reduce(Op::sum, chain(Op::exp, {shifted}), axis);
    return chain(Op::subtract, {shifted, chain(Op::log, {sum})});
  });
}

Result<Id> normalise(Graph& graph, Id given, double epsilon) {
  return composed(graph, given, "layer_norm", [&](Chain& chain, Id x) {
    const Id centred = chain(Op::subtract, {x, chain.reduce(Op::mean, x, -1)});
    const Id variance = chain.reduce(Op::mean, chain(Op::multiply, {centred, centred}), -1);
    const Id widened = chain(Op::add, {variance, chain.number(epsilon)});
    return chain(Op::multiply, {centred, chain(Op::rsqrt, {widened})});
  });
}

}  // namespace hoist::graph::program
