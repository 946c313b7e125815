// Element types by the formats of Python's module struct, as buffers tell them.
#pragma once

#include <cstddef>
#include <optional>

#include "array/dtypes.h"

namespace hoist::python {

// By the format and an element's bytes; none: no type that is computed with, or another byte order.
inline std::optional<array::DType> dtype_of_format(const char* format, size_t size) {
  using array::DType;
  if (format == nullptr || format[0] == 0) return std::nullopt;
  if (format[0] == '@' || format[0] == '=' || format[0] == '<') ++format;
  if (format[0] == 0 || format[1] != 0) return std::nullopt;
  const auto of_size = [&](DType one, DType two, DType four, DType eight) {
    return size == 1   ? std::optional(one)
           : size == 2 ? std::optional(two)
           : size == 4 ? std::optional(four)
           : size == 8 ? std::optional(eight)
                       : std::nullopt;
  };
  switch (format[0]) {
    case 'f':
      return DType::f32;
    case '?':
      return DType::boolean;
    case 'e':
      return DType::f16;
    case 'd':
      return DType::f64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return of_size(DType::i8, DType::i16, DType::i32, DType::i64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return of_size(DType::u8, DType::u16, DType::u32, DType::u64);
    default:
      return std::nullopt;
  }
}

}  // namespace hoist::python
