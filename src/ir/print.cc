#include "ir/print.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "ir/arithmetic.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

char dimension_name(int dimension) { return "xyz"[dimension]; }

// Variables of one function, each under a name of its own: "i", "i.2".
class Names {
 public:
  Names() = default;
  explicit Names(const std::deque<Variable>& variables) {
    std::map<std::string, int> seen;
    for (const Variable& variable : variables) {
      const int number = ++seen[variable.name];
      if (number > 1) of_[&variable] = fmt::format("{}.{}", variable.name, number);
    }
  }
  const std::string& of(const Variable* variable) const {
    const auto found = of_.find(variable);
    return found == of_.end() ? variable->name : found->second;
  }

 private:
  std::map<const Variable*, std::string> of_;
};

class Printer {
 public:
  Printer() = default;
  explicit Printer(const std::deque<Variable>& variables) : names_(variables) {}

  std::string expression(const Expression& e) const {
    const auto operand = [&](size_t i) { return expression(*e.operands[i]); };
    switch (e.kind) {
      case Kind::constant:
        return constant(e);
      case Kind::parameter:
        return e.parameter->name;
      case Kind::variable:
        return names_.of(e.variable);
      case Kind::id:
        if (e.id() == Id::lane) return std::string(name(e.id()));
        return fmt::format("{}.{}", name(e.id()), dimension_name(e.dimension));
      case Kind::length:
        return fmt::format("length({})", e.array->name);
      case Kind::load:
        if (e.type.is_vector()) {
          return fmt::format("{}[{} * {} : {}]", e.array->name, operand(0), e.type.lanes,
                             name(e.type));
        }
        return fmt::format("{}[{}]", e.array->name, operand(0));
      case Kind::unary:
        return fmt::format("{}{}", name(e.unary_operator()), operand(0));
      case Kind::binary:
        return binary(e);
      case Kind::compare:
        return fmt::format("({} {} {})", operand(0), name(e.comparison()), operand(1));
      case Kind::select:
        return fmt::format("({} ? {} : {})", operand(0), operand(1), operand(2));
      case Kind::cast:
        return fmt::format("{}({})", name(e.type), operand(0));
      case Kind::bitcast:
        return fmt::format("bits_as_{}({})", name(e.type), operand(0));
      case Kind::builtin:
        return fmt::format("{}({})", name(e.builtin()), operands(e));
      case Kind::call:
        return fmt::format("{}({})", e.function->name, operands(e));
      case Kind::lane:
        return fmt::format("{}.{}", operand(0), e.dimension);
      case Kind::vector:
        return fmt::format("{}({})", name(e.type), operands(e));
    }
    return {};
  }

  void block(const Block& block, int depth) {
    for (const Statement& each : block) statement(each, depth);
  }
  void line(int depth, std::string_view content) {
    text_ += fmt::format("{:{}}{}\n", "", depth * 2, content);
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string constant(const Expression& e) {
    const std::string literal = text_of_constant(e.type.scalar, e.bits);
    const bool is_plain =
        e.type == Scalar::i32 || e.type == Scalar::f32 || e.type == Scalar::boolean;
    return is_plain ? literal : fmt::format("{}:{}", literal, name(e.type));
  }

  std::string binary(const Expression& e) const {
    const std::string left = expression(*e.operands[0]);
    const std::string right = expression(*e.operands[1]);
    const std::string_view op = name(e.binary_operator());
    switch (e.binary_operator()) {
      case BinaryOperator::minimum:
      case BinaryOperator::maximum:
      case BinaryOperator::rotate_left:
      case BinaryOperator::rotate_right:
        return fmt::format("{}({}, {})", op, left, right);
      default:
        return fmt::format("({} {} {})", left, op, right);
    }
  }

  std::string operands(const Expression& e) const {
    std::string list;
    for (const Expression* operand : e.operands) {
      if (!list.empty()) list += ", ";
      list += expression(*operand);
    }
    return list;
  }

  std::string declaration(const Variable* variable) const {
    return fmt::format("{} {}: {}", variable->is_mutable ? "var" : "let", names_.of(variable),
                       name(variable->type));
  }

  void braced(std::string_view head, const Block& body, int depth) {
    line(depth, fmt::format("{} {{", head));
    block(body, depth + 1);
  }

  void statement(const Statement& statement, int depth) {
    const auto text = [&](const Expression* e) { return expression(*e); };
    match(
        statement,
        [&](const Declare& s) {
          line(depth, fmt::format("{} = {}", declaration(s.variable), text(s.value)));
        },
        [&](const Assign& s) {
          line(depth, fmt::format("{} = {}", names_.of(s.variable), text(s.value)));
        },
        [&](const Store& s) {
          const std::string width =
              s.value->type.is_vector()
                  ? fmt::format(" * {} : {}", s.value->type.lanes, name(s.value->type))
                  : std::string();
          line(depth,
               fmt::format("{}[{}{}] = {}", s.array->name, text(s.index), width, text(s.value)));
        },
        [&](const If& s) {
          braced(fmt::format("if {}", text(s.condition)), s.then, depth);
          if (!s.otherwise.empty()) braced("} else", s.otherwise, depth);
          line(depth, "}");
        },
        [&](const For& s) {
          braced(fmt::format("for {}: {} from {} to {} step {}", names_.of(s.variable),
                             name(s.variable->type), text(s.from), text(s.to), text(s.step)),
                 s.body, depth);
          line(depth, "}");
        },
        [&](const While& s) {
          braced(fmt::format("while {}", text(s.condition)), s.body, depth);
          line(depth, "}");
        },
        [&](const Break&) { line(depth, "break"); },
        [&](const Continue&) { line(depth, "continue"); },
        [&](const Return& s) {
          line(depth, s.value ? fmt::format("return {}", text(s.value)) : "return");
        },
        [&](const Barrier&) { line(depth, "barrier"); },
        [&](const Shuffle& s) {
          line(depth, fmt::format("{} = shuffle.{}({}, {})", declaration(s.result), name(s.kind),
                                  text(s.value), text(s.amount)));
        },
        [&](const Ballot& s) {
          line(depth, fmt::format("{} = ballot({})", declaration(s.result), text(s.condition)));
        },
        [&](const Reduce& s) {
          line(depth, fmt::format("{} = {}_reduce.{}({})", declaration(s.result),
                                  s.scope == Reduce::Scope::warp ? "warp" : "block", name(s.op),
                                  text(s.value)));
        },
        [&](const Atomic& s) {
          const std::string head = s.old ? declaration(s.old) + " = " : std::string();
          const std::string tail = s.comparand ? ", " + text(s.comparand) : std::string();
          line(depth, fmt::format("{}atomic.{}({}[{}], {}{})", head, name(s.op), s.array->name,
                                  text(s.index), text(s.value), tail));
        });
  }

  Names names_;
  std::string text_;
};

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::in:
      return "in";
    case Direction::out:
      return "out";
    case Direction::inout:
      break;
  }
  return "inout";
}

void print_arrays(Printer& printer, const std::deque<Array>& arrays) {
  for (const Array& array : arrays) {
    if (array.space == Space::global) continue;
    printer.line(1, fmt::format("{} {} {}[{}]", array.space == Space::shared ? "shared" : "local",
                                name(array.element), array.name, array.count));
  }
}

std::string text_of_table(const Array& table) {
  std::string text =
      fmt::format("table {} {}[{}] = {{", name(table.element), table.name, table.count);
  for (size_t i = 0; i < table.values.size(); ++i) {
    text += i % 8 == 0 ? "\n  " : " ";
    text += text_of_constant(table.element, table.values[i]) + ",";
  }
  return text + "\n}\n";
}

std::string text_of(const Launch& launch) {
  std::string text = fmt::format("launch {}", launch.kernel->name);
  for (const auto& [word, extents] :
       {std::pair{"blocks", &launch.blocks}, std::pair{"threads", &launch.threads}}) {
    text += fmt::format(" {}", word);
    for (const Expression* extent : *extents) {
      if (extent) text += fmt::format(" {}", text_of(*extent));
    }
  }
  return text + "\n";
}

}  // namespace

std::string text_of_constant(Scalar type, uint64_t bits) {
  if (type == Scalar::boolean) return bits ? "true" : "false";
  if (!is_float(type)) {
    return type == Scalar::u64 ? fmt::format("{}", bits)
                               : fmt::format("{}", integer_of(type, bits));
  }
  const double value = real_of(type, bits);
  const std::string shortest =
      type == Scalar::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  const bool looks_like_integer = shortest.find_first_of(".en") == std::string::npos;
  return looks_like_integer ? shortest + ".0" : shortest;
}

std::string text_of(const Expression& expression) { return Printer().expression(expression); }

std::string text_of(const Kernel& kernel) {
  Printer printer(kernel.variables);
  std::string head = fmt::format("kernel {}(", kernel.name);
  for (const Kernel::Argument& argument : kernel.arguments) {
    if (head.back() != '(') head += ", ";
    head += argument.array ? fmt::format("{} {} {}[]", name(argument.array->direction),
                                         name(argument.array->element), argument.name())
                           : fmt::format("{} {}", name(argument.scalar->type), argument.name());
  }
  printer.line(0, head + ") {");
  print_arrays(printer, kernel.arrays);
  printer.block(kernel.body, 1);
  printer.line(0, "}");
  return printer.take();
}

std::string text_of(const Function& function) {
  Printer printer(function.variables);
  std::string head = fmt::format("function {}(", function.name);
  for (const Parameter* parameter : function.parameters) {
    if (head.back() != '(') head += ", ";
    head += fmt::format("{} {}", name(parameter->type), parameter->name);
  }
  printer.line(0, fmt::format("{}) -> {} {{", head, name(function.result)));
  print_arrays(printer, function.arrays);
  printer.block(function.body, 1);
  printer.line(0, "}");
  return printer.take();
}

std::string text_of(const Module& module) {
  std::string text;
  const auto add = [&](const std::string& part) { text += text.empty() ? part : "\n" + part; };
  for (const Array& table : module.tables()) add(text_of_table(table));
  for (const auto& function : module.functions()) add(text_of(*function));
  for (const auto& kernel : module.kernels()) add(text_of(*kernel));
  std::string launches;
  for (const Launch& launch : module.launches()) launches += text_of(launch);
  if (!launches.empty()) add(launches);
  return text;
}

}  // namespace hoist::ir
