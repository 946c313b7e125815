// Numbers as they are written, before they have a type: a literal takes the type of what it meets.
// Literals that meet one another are computed exactly, as long as they fit 64 bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/operators.h"
#include "ir/type.h"

namespace hoist::px {

struct Literal {
  bool is_real = false;
  __int128 integer = 0;  // from -2^63 to 2^64 - 1
  double real = 0;
  bool wraps = false;  // ~0 is all ones of an unsigned type, too

  double number() const { return is_real ? real : static_cast<double>(integer); }
};

// "12", "0xff", "0b101", "1_000"; none where it does not fit 64 bits or is no number.
std::optional<Literal> parse_integer(std::string_view text);
std::optional<Literal> parse_real(std::string_view text);

// None where two literals do not decide it: a rotation, bits of a real.
Result<std::optional<Literal>> compute(ir::BinaryOperator op, const Literal& left,
                                       const Literal& right);
std::optional<Literal> compute(ir::UnaryOperator op, const Literal& value);
bool compute(ir::Comparison comparison, const Literal& left, const Literal& right);

// The type of a literal that meets none: i32, or i64 or u64 where it does not fit; f32.
ir::Scalar own_type(const Literal& literal);

// The bits of the literal as that type has it. `invalid_argument` where it does not fit, with a
// message that says what does: "300 does not fit u8, which holds 0 to 255".
Result<uint64_t> bits_of(const Literal& literal, ir::Scalar type);

std::string text_of(const Literal& literal);

}  // namespace hoist::px
