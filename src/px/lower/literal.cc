#include "px/lower/literal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "ir/arithmetic.h"

namespace hoist::px {
namespace {

using Wide = __int128;

constexpr Wide kLeast = std::numeric_limits<int64_t>::min();
constexpr Wide kMost = std::numeric_limits<uint64_t>::max();

bool fits(Wide value) { return value >= kLeast && value <= kMost; }

std::string decimal(Wide value) {
  return value < 0 ? fmt::format("{}", static_cast<int64_t>(value))
                   : fmt::format("{}", static_cast<uint64_t>(value));
}

Literal integer_literal(Wide value) { return {.integer = value}; }
Literal real_literal(double value) { return {.is_real = true, .real = value}; }

std::optional<Literal> compute_reals(ir::BinaryOperator op, double left, double right) {
  switch (op) {
    case ir::BinaryOperator::add:
      return real_literal(left + right);
    case ir::BinaryOperator::subtract:
      return real_literal(left - right);
    case ir::BinaryOperator::multiply:
      return real_literal(left * right);
    case ir::BinaryOperator::divide:
      return real_literal(left / right);
    case ir::BinaryOperator::minimum:
      return real_literal(std::fmin(left, right));
    case ir::BinaryOperator::maximum:
      return real_literal(std::fmax(left, right));
    default:
      return std::nullopt;
  }
}

// Shifts of what fits 64 bits by what a literal may be.
Wide shifted_left(Wide value, Wide amount) {
  if (amount < 0 || amount > 64) return value == 0 ? 0 : kMost + 1;
  return value * (Wide{1} << amount);
}

Wide shifted_right(Wide value, Wide amount) {
  return value >> (amount < 0 || amount > 126 ? 126 : static_cast<int>(amount));
}

std::optional<Wide> compute_integers(ir::BinaryOperator op, Wide left, Wide right) {
  switch (op) {
    case ir::BinaryOperator::add:
      return left + right;
    case ir::BinaryOperator::subtract:
      return left - right;
    case ir::BinaryOperator::multiply: {
      Wide product = 0;
      return __builtin_mul_overflow(left, right, &product) ? kMost + 1 : product;
    }
    case ir::BinaryOperator::divide:
      return right == 0 ? 0 : left / right;
    case ir::BinaryOperator::remainder:
      return right == 0 ? left : left % right;
    case ir::BinaryOperator::minimum:
      return left < right ? left : right;
    case ir::BinaryOperator::maximum:
      return left < right ? right : left;
    case ir::BinaryOperator::bit_and:
      return left & right;
    case ir::BinaryOperator::bit_or:
      return left | right;
    case ir::BinaryOperator::bit_xor:
      return left ^ right;
    case ir::BinaryOperator::shift_left:
      return shifted_left(left, right);
    case ir::BinaryOperator::shift_right:
      return shifted_right(left, right);
    default:
      return std::nullopt;
  }
}

template <typename T>
bool compare(ir::Comparison comparison, T left, T right) {
  switch (comparison) {
    case ir::Comparison::equal:
      return left == right;
    case ir::Comparison::not_equal:
      return left != right;
    case ir::Comparison::less:
      return left < right;
    case ir::Comparison::less_equal:
      return left <= right;
    case ir::Comparison::greater:
      return left > right;
    case ir::Comparison::greater_equal:
      return left >= right;
  }
  return false;
}

struct Range {
  Wide least;
  Wide most;
};

Range range_of(ir::Scalar type) {
  const int bits = ir::bits(type);
  if (ir::is_signed(type)) return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
  return {0, (Wide{1} << bits) - 1};
}

}  // namespace

std::optional<Literal> parse_integer(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) base = 16;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) base = 2;
  if (base != 10) text.remove_prefix(2);
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return integer_literal(value);
}

std::optional<Literal> parse_real(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return real_literal(value);
}

Result<std::optional<Literal>> compute(ir::BinaryOperator op, const Literal& left,
                                       const Literal& right) {
  if (left.is_real || right.is_real) return compute_reals(op, left.number(), right.number());
  const bool divides = op == ir::BinaryOperator::divide || op == ir::BinaryOperator::remainder;
  if (divides && right.integer == 0) {
    return fail(ErrorCode::invalid_argument, "a division by zero");
  }
  const std::optional<Wide> value = compute_integers(op, left.integer, right.integer);
  if (!value) return std::optional<Literal>();
  if (!fits(*value)) return fail(ErrorCode::invalid_argument, "the number does not fit 64 bits");
  Literal made = integer_literal(*value);
  made.wraps = left.wraps || right.wraps;
  return std::optional<Literal>(made);
}

std::optional<Literal> compute(ir::UnaryOperator op, const Literal& value) {
  if (op == ir::UnaryOperator::negate) {
    if (value.is_real) return real_literal(-value.real);
    if (!fits(-value.integer)) return std::nullopt;
    return integer_literal(-value.integer);
  }
  if (value.is_real || !fits(~value.integer)) return std::nullopt;
  Literal made = integer_literal(~value.integer);
  made.wraps = true;
  return made;
}

bool compute(ir::Comparison comparison, const Literal& left, const Literal& right) {
  if (left.is_real || right.is_real) return compare(comparison, left.number(), right.number());
  return compare(comparison, left.integer, right.integer);
}

ir::Scalar own_type(const Literal& literal) {
  if (literal.is_real) return ir::Scalar::f32;
  for (const ir::Scalar type : {ir::Scalar::i32, ir::Scalar::i64}) {
    const Range range = range_of(type);
    if (literal.integer >= range.least && literal.integer <= range.most) return type;
  }
  return ir::Scalar::u64;
}

Result<uint64_t> bits_of(const Literal& literal, ir::Scalar type) {
  if (type == ir::Scalar::boolean) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} is no bool", text_of(literal)));
  }
  if (ir::is_float(type)) {
    const uint64_t bits = std::bit_cast<uint64_t>(literal.number());
    const uint64_t made = ir::cast_bits(ir::Scalar::f64, type, bits);
    if (std::isinf(ir::real_of(type, made)) && !std::isinf(literal.number())) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} does not fit {}", text_of(literal), name(type)));
    }
    return made;
  }
  if (literal.is_real) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} is no whole number, and {} holds these", text_of(literal), name(type)));
  }
  const Range range = range_of(type);
  const bool wraps = literal.wraps && literal.integer >= -range.most - 1;
  if ((literal.integer < range.least && !wraps) || literal.integer > range.most) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} does not fit {}, which holds {} to {}", text_of(literal),
                            name(type), decimal(range.least), decimal(range.most)));
  }
  return static_cast<uint64_t>(literal.integer) & ir::mask(type);
}

std::string text_of(const Literal& literal) {
  if (!literal.is_real) return decimal(literal.integer);
  const std::string text = fmt::format("{}", literal.real);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace hoist::px
