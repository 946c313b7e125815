// The types of the kernel IR: scalars, and short vectors of them for wide loads and stores.
//
// A value of a scalar type is kept as its bits in the low end of a uint64_t, the rest zero
// (ir/arithmetic.h computes with these). bool is one byte in memory; any byte but 0 is true.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "array/dtypes.h"

namespace hoist::ir {

enum class Scalar : uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };
inline constexpr int kScalars = 13;

std::string_view name(Scalar scalar);  // "bool", "i32", "bf16"
std::optional<Scalar> find_scalar(std::string_view name);
array::DType dtype_of(Scalar scalar);
std::optional<Scalar> scalar_of(array::DType dtype);  // none: kernels do not compute with it

constexpr bool is_float(Scalar scalar) { return scalar >= Scalar::f16; }
constexpr bool is_signed(Scalar scalar) { return scalar >= Scalar::i8 && scalar <= Scalar::i64; }
constexpr bool is_integer(Scalar scalar) { return scalar >= Scalar::i8 && scalar <= Scalar::u64; }
constexpr int bytes(Scalar scalar) {
  constexpr uint8_t kBytes[kScalars] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(scalar)];
}
constexpr int bits(Scalar scalar) { return bytes(scalar) * 8; }
// All bits of a value of the type.
constexpr uint64_t mask(Scalar scalar) {
  return scalar == Scalar::boolean ? 1 : ~uint64_t{0} >> (64 - bits(scalar));
}

struct Type {
  Scalar scalar = Scalar::i32;
  uint8_t lanes = 1;  // 1, 2, 4, 8 or 16

  constexpr Type() = default;
  constexpr Type(Scalar of, int count = 1)  // NOLINT(google-explicit-constructor)
      : scalar(of), lanes(static_cast<uint8_t>(count)) {}
  constexpr bool is_vector() const { return lanes > 1; }
  friend constexpr bool operator==(const Type&, const Type&) = default;
};

std::string name(Type type);  // "i32", "f32x4"

}  // namespace hoist::ir
