#include "px/random/expressions.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/arithmetic.h"

namespace hoist::px {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Scalar;
using ir::Term;

uint64_t random_value(RandomSource& random, Scalar type) {
  const uint64_t all = ir::mask(type);
  if (!ir::is_float(type)) {
    switch (random.below(6)) {
      case 0:
        return static_cast<uint64_t>(random.below(4)) & all;
      case 1:
        return (all - static_cast<uint64_t>(random.below(3))) & all;
      case 2:
        return (all / 2 + static_cast<uint64_t>(random.below(3))) & all;  // around the sign
      case 3:
        return (uint64_t{1} << random.below(ir::bits(type))) & all;
      default:
        return random.bits() & all;
    }
  }
  const auto of = [&](double value) {
    return ir::cast_bits(Scalar::f64, type, std::bit_cast<uint64_t>(value));
  };
  switch (random.below(8)) {
    case 0:
      return of(random.below(2) ? 0.0 : -0.0);
    case 1:
      return of(random.below(20) - 10);
    case 2:
      return of(random.below(2) ? INFINITY : -INFINITY);
    case 3:
      return of(std::ldexp(1.0 + random.below(100) / 64.0, random.below(140) - 70));
    case 4:
      return of(NAN);
    case 5:
      return random.bits() & 0xff;  // subnormal
    default:
      return of((random.below(20001) - 10000) / 128.0);
  }
}

// No NaN: NVVM 13.0 takes NaN >= NaN for true where it computes both itself. Tables have some.
Term RandomExpressions::constant(Scalar type) {
  uint64_t bits = random_value(random_, type);
  if (ir::is_float(type) && std::isnan(ir::real_of(type, bits))) bits = 0;
  return {&make_, make_.constant(type, bits)};
}

Term RandomExpressions::leaf(Scalar type, bool uniform) {
  std::vector<Term> fitting;
  for (const Known& each : known) {
    if (each.term.expression->type == type && (each.is_uniform || !uniform)) {
      fitting.push_back(each.term);
    }
  }
  if (random_.one_in(5)) return constant(type);
  if (fitting.empty()) {
    std::vector<Term> others;
    for (const Known& each : known) {
      const bool is_bits = !ir::is_float(each.term.expression->type.scalar);
      if ((each.is_uniform || !uniform) && is_bits) others.push_back(each.term);
    }
    return others.empty() ? constant(type) : random_.of(others).as(type);
  }
  // What is newest is used most.
  const size_t recent = std::min<size_t>(fitting.size(), 6);
  return random_.one_in(2) ? fitting[fitting.size() - 1 -
                                     static_cast<size_t>(random_.below(static_cast<int>(recent)))]
                           : random_.of(fitting);
}

Term RandomExpressions::any(Scalar type, int depth, bool uniform) {
  if (depth <= 0) return leaf(type, uniform);
  switch (random_.below(8)) {
    case 0:
      return leaf(type, uniform);
    case 1:
      return load(type, depth - 1, uniform);
    case 2:
      return select(boolean(depth - 1, uniform), any(type, depth - 1, uniform),
                    any(type, depth - 1, uniform));
    case 3:
      return call(type, depth - 1, uniform);
    default:
      return type == Scalar::boolean ? boolean(depth, uniform)
                                     : number_of(type, depth - 1, uniform);
  }
}

Term RandomExpressions::index(const ir::Array* array, int depth, bool uniform, int lanes) {
  constexpr Scalar kTypes[] = {Scalar::i32, Scalar::i64, Scalar::u32, Scalar::u8};
  const Scalar type = kTypes[random_.below(4)];
  const Term wish = any(type, depth, uniform);
  if (faults && random_.one_in(4)) return wish;
  // Global arrays are at least as long as they say here (px/random/kernels.cc).
  const auto count =
      static_cast<double>(std::max<uint64_t>(array->count, 64) / static_cast<uint64_t>(lanes));
  const double limit =
      std::min(array->space == ir::Space::global
                   ? count
                   : static_cast<double>(array->count / static_cast<uint64_t>(lanes)),
               ir::is_signed(type) ? 127.0 : 255.0);
  const Term within = wish % limit;
  return ir::is_signed(type) ? select(within < 0, within + limit, within) : within;
}

Term RandomExpressions::load(Scalar type, int depth, bool uniform) {
  std::vector<const ir::Array*> fitting;
  for (const ir::Array* array : arrays) {
    const bool is_uniform = array->space != ir::Space::local;
    if (array->element == type && (is_uniform || !uniform)) fitting.push_back(array);
  }
  if (fitting.empty()) return leaf(type, uniform);
  const ir::Array* array = random_.of(fitting);
  const int lanes = 2 << random_.below(4);
  const bool is_long =
      array->space == ir::Space::global || array->count >= static_cast<uint64_t>(lanes);
  if (is_long && type != Scalar::boolean && random_.one_in(5)) {
    const Term vector = {&make_,
                         make_.load(array, index(array, depth, uniform, lanes), lanes).value()};
    return vector.lane(random_.below(lanes));
  }
  return {&make_, make_.load(array, index(array, depth, uniform)).value()};
}

Term RandomExpressions::call(Scalar type, int depth, bool uniform) {
  std::vector<const ir::Function*> fitting;
  for (const ir::Function* function : functions) {
    if (function->result == type) fitting.push_back(function);
  }
  if (fitting.empty()) return leaf(type, uniform);
  const ir::Function* function = random_.of(fitting);
  std::vector<const ir::Expression*> arguments;
  for (const ir::Parameter* parameter : function->parameters) {
    arguments.push_back(any(parameter->type.scalar, depth - 1, uniform));
  }
  return {&make_, make_.call(function, arguments).value()};
}

Term RandomExpressions::boolean(int depth, bool uniform) {
  const auto part = [&] { return any(Scalar::boolean, depth - 1, uniform); };
  switch (random_.below(7)) {
    case 0:
      return part() & part();
    case 1:
      return part() | part();
    case 2:
      return part() ^ part();
    case 3:
      return ~part();
    case 4: {
      const Scalar type = random_.number_type();
      return any(type, depth - 1, uniform).as(Scalar::boolean);
    }
    default: {
      const Scalar type = random_.number_type();
      return compare(static_cast<ir::Comparison>(random_.below(6)), any(type, depth - 1, uniform),
                     any(type, depth - 1, uniform));
    }
  }
}

Term RandomExpressions::number_of(Scalar type, int depth, bool uniform) {
  switch (random_.below(5)) {
    case 0:
      return converted(type, depth, uniform);
    case 1:
      return builtin(type, depth, uniform);
    default:
      return arithmetic(type, depth, uniform);
  }
}

Term RandomExpressions::arithmetic(Scalar type, int depth, bool uniform) {
  const Term left = any(type, depth, uniform);
  if (random_.one_in(10)) return -left;
  if (ir::is_float(type)) {
    constexpr BinaryOperator kOperators[] = {BinaryOperator::add,      BinaryOperator::subtract,
                                             BinaryOperator::multiply, BinaryOperator::divide,
                                             BinaryOperator::minimum,  BinaryOperator::maximum};
    return binary(kOperators[random_.below(6)], left, any(type, depth, uniform));
  }
  if (random_.one_in(12)) return ~left;
  const auto op = static_cast<BinaryOperator>(random_.below(14));
  if (op < BinaryOperator::shift_left) return binary(op, left, any(type, depth, uniform));
  constexpr Scalar kAmounts[] = {Scalar::i32, Scalar::u8, Scalar::i64, Scalar::u32};
  const Scalar amount = kAmounts[random_.below(4)];
  const Term by = any(amount, depth, uniform);
  return binary(op, left, random_.one_in(4) ? by : by % 16);
}

Term RandomExpressions::builtin(Scalar type, int depth, bool uniform) {
  const auto part = [&] { return any(type, depth, uniform); };
  if (ir::is_float(type)) {
    switch (random_.below(7)) {
      case 0:
        return ir::call(Builtin::square_root, {part()});
      case 1:
        return ir::call(Builtin::fused_multiply_add, {part(), part(), part()});
      case 2:
        return ir::call(Builtin::floor, {part()});
      case 3:
        return ir::call(Builtin::ceiling, {part()});
      case 4:
        return ir::call(Builtin::truncate, {part()});
      case 5:
        return ir::call(Builtin::round, {part()});
      default:
        return ir::call(Builtin::absolute, {part()});
    }
  }
  switch (random_.below(5)) {
    case 0:
      return ir::call(Builtin::population_count, {part()});
    case 1:
      return ir::call(Builtin::leading_zeros, {part()});
    case 2:
      return ir::call(Builtin::trailing_zeros, {part()});
    case 3:
      return ir::call(Builtin::multiply_high, {part(), part()});
    default:
      return ir::call(Builtin::absolute, {part()});
  }
}

Term RandomExpressions::converted(Scalar type, int depth, bool uniform) {
  const Scalar from = random_.type();
  const Term value = any(from, depth, uniform);
  if (from == type) return value;
  const bool same_bits = from != Scalar::boolean && ir::bits(from) == ir::bits(type);
  if (!same_bits || random_.one_in(2)) return value.as(type);
  if (!ir::is_float(from)) {
    // Any NaN is as good as another, and which it is nobody may ask.
    return value.bits_as(type);
  }
  if (ir::is_float(type)) return value.as(type);
  const Term is_number = ~ir::call(Builtin::is_nan, {value});
  return select(is_number, value.bits_as(type), zero(type));
}

}  // namespace hoist::px
