// How a front end, or any code, makes kernels and functions:
//
//   Module module("saxpy.px");
//   Expressions& make = module.expressions();
//   KernelBuilder kernel(module, "saxpy");
//   const Array* x = kernel.array("x", Scalar::f32, Direction::in);
//   const Array* y = kernel.array("y", Scalar::f32, Direction::inout);
//   const Expression* a = make.parameter(kernel.parameter("a", Scalar::f32));
//   const Expression* n = make.parameter(kernel.parameter("n", Scalar::i32));
//   kernel.at({.line = 7, .column = 3});  // the place of what follows
//   const Variable* tid = kernel.declare("tid", make.id(Id::thread));
//   const Expression* i = make.variable(tid);
//   Status begun = kernel.begin_if(*make.compare(Comparison::less, i, n));
//   …
//   Status stored = kernel.store(y, i, sum);
//   kernel.end();                          // of the if
//   const Kernel* made = kernel.finish();  // it is the module's now
//
// Expressions come from the module (ir/expression.h), each checked on its own; statements are
// appended to the innermost open block. Names are for messages and for the emitted code's
// readers: they may repeat, in one scope too, and need not be unique. The front end resolves
// them: a Variable must be used inside its scope alone. ir/verify.h checks all that, and what no
// single step can see: collective statements, shared memory, recursion. Call verify() on a whole
// module before it is run.
//
// A variable that declare() makes keeps its value; declare_mutable()'s may be assigned. The
// variable of a for loop cannot.
//
// Errors: `invalid_argument` with the types in words, as those of expressions; the statement is
// then not appended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"

namespace hoist::ir {

// What kernels and functions share.
class BodyBuilder {
 public:
  BodyBuilder(const BodyBuilder&) = delete;
  BodyBuilder& operator=(const BodyBuilder&) = delete;

  void at(Place place) { place_ = place; }

  // An array of the thread's own; its content is undefined at first.
  const Array* local_array(std::string name, Scalar element, uint64_t count);

  const Variable* declare(std::string name, const Expression* value);
  const Variable* declare_mutable(std::string name, const Expression* value);
  Status assign(const Variable* variable, const Expression* value);
  // A vector's lanes go to elements [index * lanes, …).
  Status store(const Array* array, const Expression* index, const Expression* value);

  Status begin_if(const Expression* condition);
  void begin_else();  // after begin_if(), once
  // From, to and step have one integer type, which is the variable's.
  Result<const Variable*> begin_for(std::string name, const Expression* from, const Expression* to,
                                    const Expression* step);
  Status begin_while(const Expression* condition);
  void end();  // of the innermost if or loop
  bool is_in_loop() const;
  Status break_loop();     // `invalid_argument` outside of a loop
  Status continue_loop();  // likewise

 protected:
  BodyBuilder(Module& module, Block& body, std::deque<Variable>& variables,
              std::deque<Array>& arrays)
      : module_(module), variables_(variables), arrays_(arrays), open_{{Frame::body, &body}} {}
  ~BodyBuilder() = default;

  Module& module_;
  Place place_;

  const Variable* new_variable(std::string name, Type type, bool is_mutable = false);
  void append(decltype(Statement::node) node);
  const Array* new_array(Array array) { return &arrays_.emplace_back(std::move(array)); }

 private:
  struct Frame {
    enum Kind { body, branch, loop } kind;
    Block* block;
  };
  Statement& last();

  std::deque<Variable>& variables_;
  std::deque<Array>& arrays_;
  std::vector<Frame> open_;
};

class KernelBuilder : public BodyBuilder {
 public:
  KernelBuilder(Module& module, std::string name, Place place = {});

  // Parameters, in the order of the calls.
  const Array* array(std::string name, Scalar element, Direction direction,
                     bool may_be_another = false);
  const Parameter* parameter(std::string name, Scalar type);

  const Array* shared_array(std::string name, Scalar element, uint64_t count);

  // The thread is done.
  void return_thread() { append(Return{}); }

  void barrier() { append(Barrier{}); }
  Result<const Variable*> shuffle(std::string name, ShuffleKind kind, const Expression* value,
                                  const Expression* amount);
  Result<const Variable*> ballot(std::string name, const Expression* condition);
  Result<const Variable*> reduce(std::string name, Reduce::Scope scope, ReduceOperator op,
                                 const Expression* value);
  // Gives the old value; with an empty name none is declared, and null is given.
  Result<const Variable*> atomic(std::string name, AtomicOperator op, const Array* array,
                                 const Expression* index, const Expression* value,
                                 const Expression* comparand = nullptr);

  // Adds the kernel to the module; the builder is done.
  const Kernel* finish();

 private:
  KernelBuilder(Module& module, std::unique_ptr<Kernel> kernel);
  std::unique_ptr<Kernel> kernel_;
};

class FunctionBuilder : public BodyBuilder {
 public:
  FunctionBuilder(Module& module, std::string name, Scalar result, Place place = {});

  const Parameter* parameter(std::string name, Scalar type);
  // `invalid_argument` where the value's type is another.
  Status return_value(const Expression* value);
  const Function* finish();

 private:
  FunctionBuilder(Module& module, std::unique_ptr<Function> function);
  std::unique_ptr<Function> function_;
};

}  // namespace hoist::ir
