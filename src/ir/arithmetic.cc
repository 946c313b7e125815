#include "ir/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "array/convert.h"

namespace hoist::ir {
namespace {

// A value of C++ type T for each scalar type; f16 and bf16 are a float that is rounded on its way
// back.
template <typename T>
struct Plain {
  using Value = T;
  static T from(uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      return std::bit_cast<T>(static_cast<Bits>(bits));
    } else {
      return static_cast<T>(bits);
    }
  }
  static uint64_t to(T value) {
    if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<uint32_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<uint64_t>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? 1 : 0;
    } else {
      return static_cast<std::make_unsigned_t<T>>(value);
    }
  }
};
struct Half {
  using Value = float;
  static float from(uint64_t bits) { return array::f16_to_f32(static_cast<uint16_t>(bits)); }
  static uint64_t to(float value) { return array::f32_to_f16(value); }
};
struct Brain {
  using Value = float;
  static float from(uint64_t bits) { return array::bf16_to_f32(static_cast<uint16_t>(bits)); }
  static uint64_t to(float value) { return array::f32_to_bf16(value); }
};

template <typename Use>
auto with_type(Scalar type, Use use) {
  switch (type) {
    case Scalar::boolean:
      return use(Plain<bool>());
    case Scalar::i8:
      return use(Plain<int8_t>());
    case Scalar::i16:
      return use(Plain<int16_t>());
    case Scalar::i32:
      return use(Plain<int32_t>());
    case Scalar::i64:
      return use(Plain<int64_t>());
    case Scalar::u8:
      return use(Plain<uint8_t>());
    case Scalar::u16:
      return use(Plain<uint16_t>());
    case Scalar::u32:
      return use(Plain<uint32_t>());
    case Scalar::u64:
      return use(Plain<uint64_t>());
    case Scalar::f16:
      return use(Half());
    case Scalar::bf16:
      return use(Brain());
    case Scalar::f32:
      return use(Plain<float>());
    case Scalar::f64:
      break;
  }
  return use(Plain<double>());
}

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

template <Integer T>
T divide(T left, T right) {
  if (right == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (right == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(left));
  }
  return static_cast<T>(left / right);
}

template <Integer T>
T remainder(T left, T right) {
  if (right == 0) return left;
  if constexpr (std::is_signed_v<T>) {
    if (right == -1) return 0;
  }
  return static_cast<T>(left % right);
}

template <Integer T>
T shift_left(T value, uint64_t amount) {
  using Unsigned = std::make_unsigned_t<T>;
  if (amount >= sizeof(T) * 8) return 0;
  return static_cast<T>(static_cast<Unsigned>(uint64_t{static_cast<Unsigned>(value)} << amount));
}

template <Integer T>
T shift_right(T value, uint64_t amount) {
  constexpr uint64_t kLast = sizeof(T) * 8 - 1;
  if (amount > kLast) return std::is_signed_v<T> ? static_cast<T>(value >> kLast) : T{0};
  return static_cast<T>(value >> amount);
}

template <Integer T>
T rotate_left(T value, uint64_t amount) {
  constexpr uint64_t kMask = sizeof(T) * 8 - 1;
  return static_cast<T>(
      std::rotl(static_cast<std::make_unsigned_t<T>>(value), static_cast<int>(amount & kMask)));
}

// The amount of a shift or rotation: what is negative is more than any width.
uint64_t amount_of(Scalar type, uint64_t bits) {
  return is_signed(type) ? static_cast<uint64_t>(integer_of(type, bits)) : bits;
}

template <Integer T>
T integer_binary(BinaryOperator op, T left, T right, uint64_t amount) {
  const auto a = static_cast<uint64_t>(left);
  const auto b = static_cast<uint64_t>(right);
  switch (op) {
    case BinaryOperator::add:
      return static_cast<T>(a + b);
    case BinaryOperator::subtract:
      return static_cast<T>(a - b);
    case BinaryOperator::multiply:
      return static_cast<T>(a * b);
    case BinaryOperator::divide:
      return divide(left, right);
    case BinaryOperator::remainder:
      return remainder(left, right);
    case BinaryOperator::minimum:
      return std::min(left, right);
    case BinaryOperator::maximum:
      return std::max(left, right);
    case BinaryOperator::bit_and:
      return static_cast<T>(a & b);
    case BinaryOperator::bit_or:
      return static_cast<T>(a | b);
    case BinaryOperator::bit_xor:
      return static_cast<T>(a ^ b);
    case BinaryOperator::shift_left:
      return shift_left(left, amount);
    case BinaryOperator::shift_right:
      return shift_right(left, amount);
    case BinaryOperator::rotate_left:
      return rotate_left(left, amount);
    case BinaryOperator::rotate_right:
      break;
  }
  return rotate_left(left, 0 - amount);
}

// IEEE 754-2019's minimumNumber.
template <std::floating_point T>
T minimum(T left, T right) {
  if (std::isnan(left)) return right;
  if (left == right) return std::signbit(left) ? left : right;
  return right < left ? right : left;
}

template <std::floating_point T>
T float_binary(BinaryOperator op, T left, T right) {
  switch (op) {
    case BinaryOperator::add:
      return left + right;
    case BinaryOperator::subtract:
      return left - right;
    case BinaryOperator::multiply:
      return left * right;
    case BinaryOperator::divide:
      return left / right;
    case BinaryOperator::minimum:
      return minimum(left, right);
    case BinaryOperator::maximum:
      return -minimum(-left, -right);
    default:
      return left;
  }
}

bool bool_binary(BinaryOperator op, bool left, bool right) {
  switch (op) {
    case BinaryOperator::bit_and:
      return left && right;
    case BinaryOperator::bit_or:
      return left || right;
    default:
      return left != right;
  }
}

template <typename T>
bool compare(Comparison comparison, T left, T right) {
  switch (comparison) {
    case Comparison::equal:
      return left == right;
    case Comparison::not_equal:
      return left != right;
    case Comparison::less:
      return left < right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::greater:
      return left > right;
    case Comparison::greater_equal:
      break;
  }
  return left >= right;
}

// A power of two, so exact in any float type that holds it.
template <std::floating_point From, Integer To>
To saturate(From value) {
  using Limits = std::numeric_limits<To>;
  constexpr From kAbove = static_cast<From>(uint64_t{1} << (Limits::digits - 1)) * 2;
  if (std::isnan(value)) return 0;
  if (value >= kAbove) return Limits::max();
  if (value < static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(value);
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::same_as<To, bool>) {
    if constexpr (std::floating_point<From>) return value < 0 || value > 0;
    return value != From{};
  } else if constexpr (Integer<To> && std::floating_point<From>) {
    return saturate<From, To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <Integer T>
T multiply_high(T left, T right) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(left) * static_cast<Wide>(right)) >> (sizeof(T) * 8));
}

template <Integer T>
T integer_builtin(Builtin builtin, T a, T b) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(a);
  switch (builtin) {
    case Builtin::absolute:
      return a < 0 ? static_cast<T>(0 - uint64_t{bits}) : a;
    case Builtin::population_count:
      return static_cast<T>(std::popcount(bits));
    case Builtin::leading_zeros:
      return static_cast<T>(std::countl_zero(bits));
    case Builtin::trailing_zeros:
      return static_cast<T>(std::countr_zero(bits));
    default:
      return multiply_high(a, b);
  }
}

template <std::floating_point T>
T float_builtin(Builtin builtin, T a, T b, T c) {
  switch (builtin) {
    case Builtin::absolute:
      return std::fabs(a);
    case Builtin::square_root:
      return std::sqrt(a);
    case Builtin::fused_multiply_add:
      return std::fma(a, b, c);
    case Builtin::floor:
      return std::floor(a);
    case Builtin::ceiling:
      return std::ceil(a);
    case Builtin::truncate:
      return std::trunc(a);
    case Builtin::round:
      return std::nearbyint(a);
    case Builtin::reciprocal_square_root:
      return T{1} / std::sqrt(a);
    case Builtin::exp:
      return std::exp(a);
    case Builtin::exp2:
      return std::exp2(a);
    case Builtin::log:
      return std::log(a);
    case Builtin::log2:
      return std::log2(a);
    case Builtin::log10:
      return std::log10(a);
    case Builtin::sin:
      return std::sin(a);
    case Builtin::cos:
      return std::cos(a);
    case Builtin::tan:
      return std::tan(a);
    case Builtin::tanh:
      return std::tanh(a);
    case Builtin::erf:
      return std::erf(a);
    case Builtin::power:
      return std::pow(a, b);
    default:
      return a;
  }
}

}  // namespace

uint64_t unary_bits(UnaryOperator op, Scalar type, uint64_t value) {
  if (op == UnaryOperator::invert) return ~value & mask(type);
  if (is_float(type)) return value ^ uint64_t { 1 } << (bits(type) - 1);
  return (0 - value) & mask(type);
}

uint64_t binary_bits(BinaryOperator op, Scalar type, uint64_t left, uint64_t right, Scalar amount) {
  return with_type(type, [&](auto form) {
    using Form = decltype(form);
    using T = typename Form::Value;
    const T a = Form::from(left);
    const T b = Form::from(right);
    if constexpr (std::same_as<T, bool>) {
      return Form::to(bool_binary(op, a, b));
    } else if constexpr (std::floating_point<T>) {
      return Form::to(float_binary(op, a, b));
    } else {
      return Form::to(integer_binary(op, a, b, amount_of(amount, right)));
    }
  });
}

bool compare_bits(Comparison comparison, Scalar type, uint64_t left, uint64_t right) {
  return with_type(
      type, [&](auto form) { return compare(comparison, form.from(left), form.from(right)); });
}

uint64_t cast_bits(Scalar from, Scalar to, uint64_t value) {
  return with_type(from, [&](auto source) {
    return with_type(to, [&](auto target) {
      return target.to(convert<typename decltype(target)::Value>(source.from(value)));
    });
  });
}

uint64_t builtin_bits(Builtin builtin, Scalar type, std::span<const uint64_t> arguments) {
  const auto argument = [&](size_t i) { return i < arguments.size() ? arguments[i] : 0; };
  return with_type(type, [&](auto form) -> uint64_t {
    using Form = decltype(form);
    using T = typename Form::Value;
    const T a = Form::from(argument(0));
    const T b = Form::from(argument(1));
    if constexpr (std::same_as<T, bool>) {
      return 0;
    } else if constexpr (std::floating_point<T>) {
      if (builtin == Builtin::is_nan) return std::isnan(a) ? 1 : 0;
      return Form::to(float_builtin(builtin, a, b, Form::from(argument(2))));
    } else {
      return Form::to(integer_builtin(builtin, a, b));
    }
  });
}

double real_of(Scalar type, uint64_t bits) {
  return std::bit_cast<double>(cast_bits(type, Scalar::f64, bits));
}

int64_t integer_of(Scalar type, uint64_t bits) {
  return static_cast<int64_t>(cast_bits(type, Scalar::i64, bits));
}

}  // namespace hoist::ir
