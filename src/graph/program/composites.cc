#include "graph/program/composites.h"

namespace hoist::graph::program {
namespace {

// Adds node after node; what comes after a failure does nothing.
class Chain {
 public:
  explicit Chain(Graph& graph) : graph_(graph) {}

  Id operator()(Op op, std::vector<Id> inputs) {
    return take([&] { return graph_.add_node(op, std::move(inputs)); });
  }
  Id reduce(Op op, Id input, int64_t axis) {
    return take([&] { return graph_.reduce(op, input, {axis}, true); });
  }
  Id number(float value) { return graph_.number(value); }

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
  Status status_;
};

}  // namespace

Result<Id> gelu_tanh(Graph& graph, Id x) {
  Chain chain(graph);
  const Id cube = chain(Op::multiply, {chain(Op::multiply, {x, x}), x});
  const Id inner = chain(Op::add, {x, chain(Op::multiply, {cube, chain.number(0.044715f)})});
  const Id scaled = chain(Op::multiply, {inner, chain.number(0.7978845608f)});
  const Id factor = chain(Op::add, {chain(Op::tanh, {scaled}), chain.number(1.0f)});
  const Id half = chain(Op::multiply, {x, chain.number(0.5f)});
  return chain.result(chain(Op::multiply, {half, factor}));
}

Result<Id> gelu_erf(Graph& graph, Id x) {
  Chain chain(graph);
  const Id scaled = chain(Op::multiply, {x, chain.number(0.7071067812f)});
  const Id factor = chain(Op::add, {chain(Op::erf, {scaled}), chain.number(1.0f)});
  const Id half = chain(Op::multiply, {x, chain.number(0.5f)});
  return chain.result(chain(Op::multiply, {half, factor}));
}

Result<Id> softmax(Graph& graph, Id x, int64_t axis) {
  Chain chain(graph);
  const Id shifted = chain(Op::subtract, {x, chain.reduce(Op::reduce_maximum, x, axis)});
  const Id powers = chain(Op::exp, {shifted});
  return chain.result(chain(Op::divide, {powers, chain.reduce(Op::sum, powers, axis)}));
}

Result<Id> log_softmax(Graph& graph, Id x, int64_t axis) {
  Chain chain(graph);
  const Id shifted = chain(Op::subtract, {x, chain.reduce(Op::reduce_maximum, x, axis)});
  const Id sum = chain.reduce(Op::sum, chain(Op::exp, {shifted}), axis);
  return chain.result(chain(Op::subtract, {shifted, chain(Op::log, {sum})}));
}

Result<Id> normalise(Graph& graph, Id x, float epsilon) {
  Chain chain(graph);
  const Id centred = chain(Op::subtract, {x, chain.reduce(Op::mean, x, -1)});
  const Id variance = chain.reduce(Op::mean, chain(Op::multiply, {centred, centred}), -1);
  const Id widened = chain(Op::add, {variance, chain.number(epsilon)});
  return chain.result(chain(Op::multiply, {centred, chain(Op::rsqrt, {widened})}));
}

}  // namespace hoist::graph::program
