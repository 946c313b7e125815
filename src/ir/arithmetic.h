// The exact meaning of the operators (ir/operators.h), on values as bits (ir/type.h). The
// interpreter and the passes compute with these; the emitted C++ and CUDA must give the same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "ir/operators.h"

namespace hoist::ir {

uint64_t unary_bits(UnaryOperator op, Scalar type, uint64_t value);
// A shift's amount is of type `amount`; of the other operators, of `type`.
uint64_t binary_bits(BinaryOperator op, Scalar type, uint64_t left, uint64_t right, Scalar amount);
bool compare_bits(Comparison comparison, Scalar type, uint64_t left, uint64_t right);
uint64_t cast_bits(Scalar from, Scalar to, uint64_t value);
uint64_t builtin_bits(Builtin builtin, Scalar type, std::span<const uint64_t> arguments);

// A value as a number of the host's.
double real_of(Scalar type, uint64_t bits);      // of any float type, exactly
int64_t integer_of(Scalar type, uint64_t bits);  // of any integer type; u64 wraps

}  // namespace hoist::ir
