#include <fmt/format.h>

#include <string>

#include "px/syntax/syntax.h"

namespace hoist::px::syntax {
namespace {

std::string text_of(const TypeName& type) { return type.scalar + (type.is_array ? "[]" : ""); }

std::string list(const std::vector<ExpressionPointer>& values) {
  std::string text;
  for (const ExpressionPointer& value : values) {
    text += (text.empty() ? "" : ", ") + print(*value);
  }
  return text;
}

std::string list(const std::vector<Name>& names) {
  std::string text;
  for (const Name& name : names) text += (text.empty() ? "" : ", ") + name.text;
  return text;
}

std::string text_of(const Parameter& parameter) {
  constexpr std::string_view kDirections[] = {"in ", "out ", "inout "};
  const std::string_view direction = parameter.type.is_array
                                         ? kDirections[static_cast<size_t>(parameter.direction)]
                                         : std::string_view();
  return fmt::format("{} {}{}", parameter.name.text, direction, text_of(parameter.type));
}

class Printer {
 public:
  std::string take() { return std::move(text_); }

  void print(const File& file) {
    for (const Constant& constant : file.constants) this->print(constant);
    for (const Function& function : file.functions) this->print(function);
    for (const Kernel& kernel : file.kernels) this->print(kernel);
    for (const Statement& statement : file.host) this->print(statement);
  }

 private:
  void line(const std::string& text) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += text + '\n';
  }

  void print(const Constant& constant) {
    const std::string count =
        constant.count == nullptr ? "" : fmt::format("[{}]", syntax::print(*constant.count));
    line(fmt::format("constant {} {}{} = {}", constant.name.text, text_of(constant.type), count,
                     list(constant.values)));
  }

  void print(const Function& function) {
    std::string parameters;
    for (const Parameter& parameter : function.parameters) {
      parameters += (parameters.empty() ? "" : ", ") + text_of(parameter);
    }
    line(fmt::format("function {}({}) → {}", function.name.text, parameters,
                     text_of(function.result)));
    block(function.body);
  }

  void print(const Kernel& kernel) {
    line(fmt::format("kernel {}", kernel.name.text));
    ++depth_;
    for (const Parameter& parameter : kernel.parameters) {
      line("parameter " + text_of(parameter));
    }
    for (const SharedArray& shared : kernel.shared) {
      line(fmt::format("shared {} {} {}", shared.name.text, text_of(shared.type),
                       syntax::print(*shared.count)));
    }
    --depth_;
    block(kernel.body);
  }

  void print(const Statement& statement) {
    if (statement.kind == StatementKind::assign) {
      return line("assign " + list(statement.operands));
    }
    std::string text(properties(statement.word).name);
    if (!statement.option.text.empty()) text += ' ' + statement.option.text;
    if (statement.type) text += ' ' + text_of(*statement.type);
    if (!statement.operands.empty()) text += ' ' + list(statement.operands);
    if (!statement.results.empty()) text += " → " + list(statement.results);
    line(text);
    block(statement.body);
    if (statement.otherwise.empty()) return;
    line("ELSE");
    block(statement.otherwise);
  }

  void block(const std::vector<Statement>& statements) {
    ++depth_;
    for (const Statement& statement : statements) print(statement);
    --depth_;
  }

  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string print(const Expression& expression) {
  const auto operand = [&](size_t number) { return print(*expression.operands[number]); };
  switch (expression.kind) {
    case ExpressionKind::index:
      return fmt::format("{}[{}]", expression.text, operand(0));
    case ExpressionKind::vector:
      return fmt::format("{}[{} BY {}]", expression.text, operand(0), operand(1));
    case ExpressionKind::call:
      return fmt::format("{}({})", expression.text, list(expression.operands));
    case ExpressionKind::unary:
      return fmt::format("{}{}", name(expression.unary), operand(0));
    case ExpressionKind::binary:
      return fmt::format("({} {} {})", operand(0), name(expression.binary), operand(1));
    case ExpressionKind::compare:
      return fmt::format("({} {} {})", operand(0), name(expression.comparison), operand(1));
    default:
      return expression.text;
  }
}

std::string print(const File& file) {
  Printer printer;
  printer.print(file);
  return printer.take();
}

}  // namespace hoist::px::syntax
