// The statements of kernels and functions: from syntax to IR.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "px/lower/expression_lowering.h"
#include "px/lower/lowering.h"

namespace hoist::px {

class BodyLowering {
 public:
  BodyLowering(Lowering& lowering, ir::KernelBuilder& kernel)
      : l_(lowering), body_(kernel), kernel_(&kernel), expressions_(lowering, watch_) {}
  BodyLowering(Lowering& lowering, ir::FunctionBuilder& function, const ir::Type& result)
      : l_(lowering),
        body_(function),
        function_(&function),
        result_(result),
        expressions_(lowering, watch_) {}

  // The whole body. The innermost block of names is that of the parameters, and stays.
  void run(const std::vector<syntax::Statement>& body);

 private:
  using Statement = syntax::Statement;

  void statements(const std::vector<Statement>& block);
  void nested(const std::vector<Statement>& block);
  void leave_block();
  void statement(const Statement& statement);
  void word(const Statement& statement);

  // Names and values (assignment_lowering.cc).
  void let(const Statement& statement);
  void local_array(const Statement& statement);
  void assign(const syntax::Expression& place, const syntax::Expression& value);
  void assign_variable(const syntax::Expression& name, const syntax::Expression& value);
  void give(const syntax::Name& name, const ir::Expression* value);
  void adopt(const syntax::Name& name, const ir::Variable* variable, Span span);
  void set(const Symbol& symbol, const syntax::Name& name, const ir::Expression* value);
  void warn_of_hiding(const syntax::Name& name);
  const ir::Expression* typed_result(const std::optional<Value>& value);
  void ids(const Statement& statement, ir::Id id);
  void operation(const Statement& statement);

  // Control flow.
  void branch(const Statement& statement);
  void loop(const Statement& statement);
  void repeat(const Statement& statement);
  void leave(const Statement& statement);
  void return_from(const Statement& statement);

  // What threads do together (collective_lowering.cc).
  void collective(const Statement& statement);
  void shuffle(const Statement& statement, ir::ShuffleKind kind);
  void ballot(const Statement& statement);
  void reduce(const Statement& statement, ir::Reduce::Scope scope);
  void atomic(const Statement& statement);
  std::string declared_name(const Statement& statement) const;

  bool done(const Status& status, Span span);

  Lowering& l_;
  ir::BodyBuilder& body_;
  ir::KernelBuilder* const kernel_ = nullptr;
  ir::FunctionBuilder* const function_ = nullptr;
  const ir::Type result_ = {};
  BoundsWatch watch_;
  ExpressionLowering expressions_;
  // Names that some statement sets after their declaration.
  std::set<std::string> assigned_;
};

}  // namespace hoist::px
