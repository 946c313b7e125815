#include "px/emit/body.h"

#include <fmt/core.h>

#include <utility>

#include "ir/arithmetic.h"

namespace hoist::px {
namespace {

using ir::Expression;
using ir::Scalar;
using Kind = Expression::Kind;

int64_t value_of(const Expression& constant) {
  return ir::integer_of(constant.type.scalar, constant.bits);
}

// What is the same however often it is evaluated while a loop runs.
bool is_fixed(const Expression& e) {
  return e.kind == Kind::constant || e.kind == Kind::parameter ||
         (e.kind == Kind::variable && !e.variable->is_mutable);
}

// Whether the counter, added to once more, still fits its type.
bool ends_inside(const ir::For& loop) {
  if (!loop.step->is_constant()) return false;
  const int64_t step = value_of(*loop.step);
  if (step == 1) return true;
  const Scalar type = loop.variable->type.scalar;
  if (step == -1) return ir::is_signed(type);
  if (!loop.to->is_constant() || step == 0) return false;
  constexpr int64_t kSmall = int64_t{1} << 20;
  const int64_t to = value_of(*loop.to);
  return ir::bits(type) >= 32 && step > 0 && step < kSmall && to >= 0 && to < kSmall;
}

std::string step_text(const std::string& counter, int64_t step) {
  if (step == 1) return "++" + counter;
  return step == -1 ? "--" + counter : fmt::format("{} += {}", counter, step);
}

// Functions know no thread.
class FunctionBody : public Body {
 public:
  using Body::Body;
  std::string id(ir::Id, int) const override { return "0"; }

 protected:
  void statement(const ir::Statement& statement) override {
    if (const auto* result = std::get_if<ir::Return>(&statement.node)) {
      lines_.add("return {};", text(result->value));
    } else {
      Body::statement(statement);
    }
  }
  void collective(const ir::Statement&) override {}
  void return_thread(bool) override {}
  std::string atomics(const ir::Array*) const override { return {}; }
};

}  // namespace

std::string Body::length(const ir::Array* array) const {
  return array->space == ir::Space::global ? names_.of(array) + "_length"
                                           : fmt::format("{}ll", array->count);
}

uint32_t Body::site(const ir::Array* array) const { return sites_->add({place_, array->name}); }

std::string Body::checked_load(const Expression& load, const std::string& index) const {
  if (!sites_) return {};
  const std::string function =
      load.type.is_vector() ? fmt::format("load_vector<{}>", load.type.lanes) : "load";
  return fmt::format("check.{}({}, {}, {}, {})", function, array(load.array), index,
                     length(load.array), site(load.array));
}

void Body::know_ranges(const ir::Kernel& kernel, bool near) {
  far_.emplace(kernel, INT32_MAX);
  if (near) near_.emplace(kernel, kNear);
}

Scope::Wrap Body::wrap(const Expression& expression) const {
  if (far_ && far_->never_wraps(expression)) return Wrap::never;
  return near_ && near_->never_wraps(expression) ? Wrap::never_near : Wrap::may;
}

void Body::block(std::span<const ir::Statement> block) {
  for (const ir::Statement& each : block) {
    place_ = each.place;
    statement(each);
  }
}

void Body::declare(const ir::Variable* variable, const std::string& value) {
  lines_.add("{}{} {} = {};", variable->is_mutable ? "" : "const ", type_name(variable->type),
             names_.of(variable), value);
}

void Body::loop_body(const ir::Block& body) {
  ++loops_;
  block(body);
  --loops_;
}

std::string Body::begin_for(const ir::For& loop) {
  const std::string counter = variable(loop.variable);
  const std::string type = type_name(loop.variable->type);
  const std::string from = text(loop.from);
  std::string to = text(loop.to);
  if (ends_inside(loop)) {
    std::string init = fmt::format("{} {} = {}", type, counter, from);
    if (!is_fixed(*loop.to)) {
      const std::string end = names_.fresh(loop.variable->name + "_end");
      init += fmt::format(", {} = {}", end, to);
      to = end;
    }
    const int64_t step = value_of(*loop.step);
    lines_.begin(fmt::format("for ({}; {} {} {}; {})", init, counter, step > 0 ? "<" : ">", to,
                             step_text(counter, step)));
    return {};
  }
  const std::string end = names_.fresh(loop.variable->name + "_end");
  const std::string step = names_.fresh(loop.variable->name + "_step");
  lines_.begin(fmt::format("if ({} {} = {}, {} = {}, {} = {}; has_turn({}, {}, {})) do", type,
                           counter, from, end, to, step, text(loop.step), counter, end, step));
  return fmt::format(" while (next_turn({}, {}, {}));", counter, end, step);
}

void Body::store(const ir::Store& s) {
  const std::string index = text(s.index);
  const std::string value = text(s.value);
  const int lanes = s.value->type.lanes;
  if (sites_) {
    lines_.begin(fmt::format("if (check.is_inside({}, {}, {}, {}))", index, length(s.array), lanes,
                             site(s.array)));
  }
  if (lanes > 1) {
    lines_.add("store_vector({}, {}, {});", array(s.array), index, value);
  } else {
    lines_.add("{}[{}] = {};", array(s.array), index, value);
  }
  if (sites_) lines_.end();
}

void Body::atomic(const ir::Atomic& s) {
  const std::string index = text(s.index);
  const std::string values =
      s.comparand ? fmt::format("{}, {}", text(s.comparand), text(s.value)) : text(s.value);
  std::string_view op = "compare_exchange";
  switch (s.op) {
    case ir::AtomicOperator::add:
      op = "add";
      break;
    case ir::AtomicOperator::minimum:
      op = "minimum";
      break;
    case ir::AtomicOperator::maximum:
      op = "maximum";
      break;
    case ir::AtomicOperator::bit_and:
      op = "bit_and";
      break;
    case ir::AtomicOperator::bit_or:
      op = "bit_or";
      break;
    case ir::AtomicOperator::bit_xor:
      op = "bit_xor";
      break;
    case ir::AtomicOperator::exchange:
      op = "exchange";
      break;
    case ir::AtomicOperator::compare_exchange:
      break;
  }
  std::string call =
      fmt::format("{}::{}(&{}[{}], {})", atomics(s.array), op, array(s.array), index, values);
  if (sites_) {
    call = fmt::format("check.is_inside({}, {}, 1, {}) ? {} : {}(0)", index, length(s.array),
                       site(s.array), call, ir::name(s.array->element));
  }
  if (s.old) {
    declare(s.old, call);
  } else {
    lines_.add("{};", call);
  }
}

void Body::statement(const ir::Statement& statement) {
  ir::match(
      statement, [&](const ir::Declare& s) { declare(s.variable, text(s.value)); },
      [&](const ir::Assign& s) { lines_.add("{} = {};", variable(s.variable), text(s.value)); },
      [&](const ir::Store& s) { store(s); },
      [&](const ir::If& s) {
        lines_.begin(fmt::format("if ({})", text(s.condition)));
        block(s.then);
        if (!s.otherwise.empty()) {
          lines_.begin_else();
          block(s.otherwise);
        }
        lines_.end();
      },
      [&](const ir::For& s) {
        const std::string tail = begin_for(s);
        loop_body(s.body);
        lines_.end(tail);
      },
      [&](const ir::While& s) {
        lines_.begin(fmt::format("while ({})", text(s.condition)));
        loop_body(s.body);
        lines_.end();
      },
      [&](const ir::Break&) { lines_.add("break;"); },
      [&](const ir::Continue&) { lines_.add("continue;"); },
      [&](const ir::Return&) { return_thread(loops_ > 0); },
      [&](const ir::Atomic& s) { atomic(s); }, [&](const auto&) { collective(statement); });
}

std::string array_declaration(const ir::Array& array, std::string_view qualifier,
                              const Names& names) {
  return fmt::format("alignas(16) {}{} {}[{}]", qualifier, element_name(array.element),
                     names.of(&array), array.count);
}

std::string table_initialiser(const ir::Array& table) {
  std::string text = " = {";
  for (size_t i = 0; i < table.values.size(); ++i) {
    text += i % 8 == 0 ? "\n    " : " ";
    text += constant_text(table.element, table.values[i]);
    text += ',';
  }
  return text + "}";
}

std::string combination(ir::ReduceOperator op, const std::string& type) {
  std::string_view made = "sum(a, b)";
  switch (op) {
    case ir::ReduceOperator::add:
      break;
    case ir::ReduceOperator::minimum:
      made = "min(a, b)";
      break;
    case ir::ReduceOperator::maximum:
      made = "max(a, b)";
      break;
    case ir::ReduceOperator::bit_and:
      made = "a & b";
      break;
    case ir::ReduceOperator::bit_or:
      made = "a | b";
      break;
    case ir::ReduceOperator::bit_xor:
      made = "a ^ b";
      break;
  }
  return fmt::format("[]({0} a, {0} b) {{ return {1}; }}", type, made);
}

void emit_functions(const ir::Module& module, Sites* sites, Lines& lines) {
  for (const auto& function : module.functions()) {
    Names names(module, *function);
    std::string parameters = sites ? "const checker& check" : "";
    for (const ir::Parameter* parameter : function->parameters) {
      if (!parameters.empty()) parameters += ", ";
      parameters += fmt::format("const {} {}", type_name(parameter->type), names.of(parameter));
    }
    lines.begin(fmt::format("PX_FUNCTION {} {}({})", type_name(function->result),
                            function_name(*function), parameters));
    for (const ir::Array& array : function->arrays) {
      lines.add("{};", array_declaration(array, "", names));
    }
    FunctionBody body(lines, names, sites);
    body.block(function->body);
    lines.end();
    lines.blank();
  }
}

}  // namespace hoist::px
