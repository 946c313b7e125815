// A kernel of the IR under construction, with what every kernel of a tensor program needs: indices
// of one integer type, and the memory of nodes as arguments. Types fit by construction, so what the
// builder refuses is a fault of ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/kernels/lowered.h"
#include "ir/builder.h"

namespace hoist::graph::kernels {

using Value = const ir::Expression*;

class KernelWriter {
 public:
  KernelWriter(ir::Module& module, const std::string& name, ir::Scalar index_type)
      : make(module.expressions()), builder(module, name), index_type_(index_type) {}

  ir::Expressions& make;
  ir::KernelBuilder builder;

  // Indices. What is known is folded.
  ir::Scalar index_type() const { return index_type_; }
  Value index(int64_t number) { return make.integer(index_type_, number); }
  Value plus(Value a, Value b);
  Value plus(Value a, int64_t b) { return plus(a, index(b)); }
  Value times(Value a, int64_t factor);
  Value over(Value a, int64_t divisor);  // of what is not negative
  Value rest(Value a, int64_t divisor);
  Value id(ir::Id id) { return make.cast(index_type_, make.id(id)).value(); }
  Value is_below(Value a, Value b) { return make.compare(ir::Comparison::less, a, b).value(); }
  Value is_from(Value a, int64_t b) {
    return make.compare(ir::Comparison::greater_equal, a, index(b)).value();
  }
  Value smaller(Value a, Value b) { return binary(ir::BinaryOperator::minimum, a, b); }

  Value binary(ir::BinaryOperator op, Value a, Value b) { return make.binary(op, a, b).value(); }
  Value cast(ir::Scalar type, Value a) {
    return a->type.scalar == type ? a : make.cast(type, a).value();
  }
  Value select(Value condition, Value yes, Value no) {
    return make.select(condition, yes, no).value();
  }

  // A variable that holds the value; the value itself where it costs nothing.
  Value let(Value value);
  Value variable(Value start) { return make.variable(builder.declare_mutable("v", start)); }
  void set(Value variable, Value value) { must(builder.assign(variable->variable, value)); }
  Value begin_for(Value from, Value to, Value step) {
    return make.variable(builder.begin_for("i", from, to, step).value());
  }
  void begin_while(Value condition) { must(builder.begin_while(condition)); }
  void begin_if(Value condition) { must(builder.begin_if(condition)); }
  void end() { builder.end(); }
  Value load(const ir::Array* array, Value index, int lanes = 1) {
    return make.load(array, index, lanes).value();
  }
  void store(const ir::Array* array, Value index, Value value) {
    must(builder.store(array, index, value));
  }
  // The value of another lane of the warp.
  Value shuffled(ir::ShuffleKind kind, Value value, int64_t amount) {
    return make.variable(
        builder.shuffle("other", kind, value, make.integer(ir::Scalar::i32, amount)).value());
  }
  // The value of the lane whose number differs by `distance`, a power of two.
  Value exchanged(Value value, int64_t distance) {
    return shuffled(ir::ShuffleKind::exclusive_or, value, distance);
  }
  // The sum of the values of the warp's lanes up to this one, number `lane`.
  Value sum_of_lanes(Value lane, Value value);
  // What all threads of the warp or block make together.
  Value reduce(ir::Reduce::Scope scope, ir::ReduceOperator op, Value value) {
    return make.variable(builder.reduce("all", scope, op, value).value());
  }

  // The memory as an argument, the same one each time.
  const ir::Array* array(Storage storage, const Memory& memory, ir::Direction direction);

  // The step without its grid.
  KernelStep finish();
  // What was refused first.
  const Status& status() const { return status_; }

 private:
  void must(Status status) {
    if (status_ && !status) status_ = std::move(status);
  }

  const ir::Scalar index_type_;
  Status status_;
  std::map<Storage, const ir::Array*> arrays_;
  std::vector<KernelStep::Argument> arguments_;
};

}  // namespace hoist::graph::kernels
