#include "px/emit/expression_text.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <string_view>

#include "ir/arithmetic.h"
#include "px/emit/names.h"

namespace hoist::px {
namespace {

using ir::BinaryOperator;
using ir::Expression;
using ir::Scalar;
using Kind = Expression::Kind;

// How strongly C++ binds, the strongest first.
enum Binding { primary, prefix, product, sum, other };

struct Text {
  std::string text;
  Binding binding = primary;
};

// In parentheses where it binds less than `weakest`.
std::string within(const Text& operand, Binding weakest) {
  return operand.binding <= weakest ? operand.text : fmt::format("({})", operand.text);
}

// Sums and products go without parentheses where C++ needs none: a * b + c. Elsewhere few readers
// know the order, and compilers warn.
Text infix(const Text& left, std::string_view op, const Text& right, Binding binding) {
  const bool is_sum = binding == product || binding == sum;
  const Binding weakest_left = is_sum ? binding : prefix;
  const Binding weakest_right = binding == sum ? product : prefix;
  return {fmt::format("{} {} {}", within(left, weakest_left), op, within(right, weakest_right)),
          binding};
}

Text call(std::string_view function, const std::string& arguments) {
  return {fmt::format("{}({})", function, arguments), primary};
}

bool is_wide(Scalar type) { return ir::bits(type) >= 32; }
// What C++ computes modulo 2^n by itself.
bool wraps_by_itself(Scalar type) { return type == Scalar::u32 || type == Scalar::u64; }

class Writer {
 public:
  explicit Writer(const Scope& scope) : scope_(scope) {}

  Text text(const Expression& e) const {
    const auto operand = [&](size_t i) { return text(*e.operands[i]); };
    switch (e.kind) {
      case Kind::constant:
        return constant(e.type.scalar, e.bits);
      case Kind::parameter:
        return {scope_.parameter(e.parameter)};
      case Kind::variable:
        return {scope_.variable(e.variable)};
      case Kind::id:
        return {scope_.id(e.id(), e.dimension)};
      case Kind::length:
        return {scope_.length(e.array)};
      case Kind::load:
        return load(e);
      case Kind::unary:
        return unary(e);
      case Kind::binary:
        return binary(e);
      case Kind::compare:
        return comparison(e);
      case Kind::select:
        return {fmt::format("{} ? {} : {}", within(operand(0), prefix), within(operand(1), prefix),
                            within(operand(2), prefix)),
                other};
      case Kind::cast:
        return cast(e);
      case Kind::bitcast:
        return call(fmt::format("bits_as<{}>", type_name(e.type)), operand(0).text);
      case Kind::builtin:
        return call(ir::name(e.builtin()), arguments(e));
      case Kind::call:
        return call(function_name(*e.function), arguments(e, scope_.first_argument()));
      case Kind::lane:
        return {fmt::format("{}.lane[{}]", within(operand(0), primary), e.dimension)};
      case Kind::vector:
        return {fmt::format("{}{{{{{}}}}}", type_name(e.type), arguments(e))};
    }
    return {};
  }

  static Text constant(Scalar type, uint64_t bits);

 private:
  std::string arguments(const Expression& e, std::string list = {}) const {
    for (const Expression* operand : e.operands) {
      if (!list.empty()) list += ", ";
      list += text(*operand).text;
    }
    return list;
  }

  Text load(const Expression& e) const {
    const std::string index = text(*e.operands[0]).text;
    std::string value = scope_.checked_load(e, index);
    if (value.empty()) {
      const std::string array = scope_.array(e.array);
      value = e.type.is_vector()
                  ? fmt::format("load_vector<{}>({}, {})", e.type.lanes, array, index)
                  : fmt::format("{}[{}]", array, index);
    }
    if (e.type == Scalar::boolean) return {value + " != 0", other};
    return {value};
  }

  // An operator of C++ on a type that C++ would compute as an int.
  Text narrowed(const Expression& e, const Text& plain) const {
    if (is_wide(e.type.scalar)) return plain;
    return call(type_name(e.type), plain.text);
  }

  Text unary(const Expression& e) const {
    const Text value = text(*e.operands[0]);
    const Scalar type = e.type.scalar;
    if (e.unary_operator() == ir::UnaryOperator::invert) {
      if (type == Scalar::boolean) return {"!" + within(value, primary), prefix};
      return narrowed(e, {"~" + within(value, primary), prefix});
    }
    const bool is_plain = ir::is_float(type) || scope_.wrap(e) == Scope::Wrap::never;
    if (is_plain) return {"-" + within(value, primary), prefix};
    return call("negate", value.text);
  }

  Text sum_or_product(const Expression& e, const Text& left, const Text& right) const {
    std::string_view op, function;
    switch (e.binary_operator()) {
      case BinaryOperator::add:
        op = "+", function = "add";
        break;
      case BinaryOperator::subtract:
        op = "-", function = "sub";
        break;
      default:
        op = "*", function = "mul";
        break;
    }
    const Binding binding = function == "mul" ? product : sum;
    const Scalar type = e.type.scalar;
    const Scope::Wrap wrap = scope_.wrap(e);
    if (ir::is_float(type) || wraps_by_itself(type) || wrap == Scope::Wrap::never) {
      return infix(left, op, right, binding);
    }
    const std::string list = fmt::format("{}, {}", left.text, right.text);
    if (wrap == Scope::Wrap::never_near) return call(fmt::format("{}<kNear>", function), list);
    return call(function, list);
  }

  Text division(const Expression& e, const Text& left, const Text& right) const {
    const bool is_quotient = e.binary_operator() == BinaryOperator::divide;
    const Scalar type = e.type.scalar;
    if (ir::is_float(type)) return infix(left, "/", right, product);
    const Expression& by = *e.operands[1];
    const bool is_simple = by.is_constant() && by.bits != 0 && by.bits != ir::mask(type);
    if (is_simple && is_wide(type)) return infix(left, is_quotient ? "/" : "%", right, product);
    return call(is_quotient ? "div" : "rem", fmt::format("{}, {}", left.text, right.text));
  }

  Text shifted(const Expression& e, const Text& left, const Text& right) const {
    const bool is_left = e.binary_operator() == BinaryOperator::shift_left;
    const Scalar type = e.type.scalar;
    const Expression& by = *e.operands[1];
    const bool is_simple = by.is_constant() && by.bits < static_cast<uint64_t>(ir::bits(type)) &&
                           (is_left ? wraps_by_itself(type) : is_wide(type));
    if (is_simple) return infix(left, is_left ? "<<" : ">>", right, other);
    return call(is_left ? "shl" : "shr", fmt::format("{}, {}", left.text, right.text));
  }

  Text bitwise(const Expression& e, const Text& left, const Text& right) const {
    const bool is_bool = e.type == Scalar::boolean;
    switch (e.binary_operator()) {
      case BinaryOperator::bit_and:
        return is_bool ? infix(left, "&&", right, other)
                       : narrowed(e, infix(left, "&", right, other));
      case BinaryOperator::bit_or:
        return is_bool ? infix(left, "||", right, other)
                       : narrowed(e, infix(left, "|", right, other));
      default:
        return is_bool ? infix(left, "!=", right, other)
                       : narrowed(e, infix(left, "^", right, other));
    }
  }

  Text binary(const Expression& e) const {
    const Text left = text(*e.operands[0]);
    const Text right = text(*e.operands[1]);
    const std::string list = fmt::format("{}, {}", left.text, right.text);
    switch (e.binary_operator()) {
      case BinaryOperator::add:
      case BinaryOperator::subtract:
      case BinaryOperator::multiply:
        return sum_or_product(e, left, right);
      case BinaryOperator::divide:
      case BinaryOperator::remainder:
        return division(e, left, right);
      case BinaryOperator::minimum:
        return call("min", list);
      case BinaryOperator::maximum:
        return call("max", list);
      case BinaryOperator::bit_and:
      case BinaryOperator::bit_or:
      case BinaryOperator::bit_xor:
        return bitwise(e, left, right);
      case BinaryOperator::shift_left:
      case BinaryOperator::shift_right:
        return shifted(e, left, right);
      case BinaryOperator::rotate_left:
        return call("rotl", list);
      case BinaryOperator::rotate_right:
        break;
    }
    return call("rotr", list);
  }

  Text comparison(const Expression& e) const {
    return infix(text(*e.operands[0]), ir::name(e.comparison()), text(*e.operands[1]), other);
  }

  Text cast(const Expression& e) const {
    const Scalar from = e.operands[0]->type.scalar;
    const Scalar to = e.type.scalar;
    const Text value = text(*e.operands[0]);
    const auto is_half = [](Scalar type) { return ir::is_float(type) && ir::bits(type) == 16; };
    const bool is_plain = !is_half(from) && !is_half(to) && to != Scalar::boolean &&
                          (!ir::is_float(from) || ir::is_float(to));
    if (is_plain) return call(type_name(to), value.text);
    return call(fmt::format("to<{}>", type_name(to)), value.text);
  }

  const Scope& scope_;
};

Text float_constant(Scalar type, uint64_t bits) {
  if (ir::bits(type) == 16) return {fmt::format("{}{{{:#06x}}}", ir::name(type), bits)};
  const double value = ir::real_of(type, bits);
  const bool is_single = type == Scalar::f32;
  // No function can initialise a table.
  if (!std::isfinite(value)) {
    return {is_single ? fmt::format("__builtin_bit_cast(f32, {:#010x}u)", bits)
                      : fmt::format("__builtin_bit_cast(f64, {:#018x}ull)", bits)};
  }
  // The shortest text that is read as the same number.
  std::string digits =
      is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  if (is_single) digits += 'f';
  return {digits, digits.front() == '-' ? prefix : primary};
}

Text Writer::constant(Scalar type, uint64_t bits) {
  if (ir::is_float(type)) return float_constant(type, bits);
  const int64_t value = ir::integer_of(type, bits);
  switch (type) {
    case Scalar::boolean:
      return {bits ? "true" : "false"};
    case Scalar::i32:
      if (value == INT32_MIN) return {"(-2147483647 - 1)"};
      return {fmt::format("{}", value), value < 0 ? prefix : primary};
    case Scalar::i64:
      if (value == INT64_MIN) return {"(-9223372036854775807ll - 1)"};
      return {fmt::format("{}ll", value), value < 0 ? prefix : primary};
    case Scalar::u32:
      return {fmt::format("{}u", bits)};
    case Scalar::u64:
      return {fmt::format("{}ull", bits)};
    default:
      return {fmt::format("{}({})", ir::name(type), value)};
  }
}

}  // namespace

std::string type_name(ir::Type type) {
  if (type.is_vector()) return fmt::format("vec<{}, {}>", ir::name(type.scalar), type.lanes);
  return std::string(ir::name(type.scalar));
}

std::string element_name(Scalar element) {
  return element == Scalar::boolean ? "u8" : std::string(ir::name(element));
}

std::string constant_text(Scalar type, uint64_t bits) { return Writer::constant(type, bits).text; }

std::string expression_text(const Expression& expression, const Scope& scope) {
  return Writer(scope).text(expression).text;
}

std::string shuffle_lane(ir::ShuffleKind kind, const std::string& own, const std::string& amount) {
  switch (kind) {
    case ir::ShuffleKind::up:
      return fmt::format("i64({}) - i64({})", own, amount);
    case ir::ShuffleKind::down:
      return fmt::format("i64({}) + i64({})", own, amount);
    case ir::ShuffleKind::exclusive_or:
      return fmt::format("{} ^ ({})", own, amount);
    case ir::ShuffleKind::index:
      break;
  }
  return amount;
}

}  // namespace hoist::px
