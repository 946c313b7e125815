// The element types alone, for kernels too.
#pragma once

#include <cstdint>

namespace hoist::array {

// Numbers are written into files and never change their meaning.
enum class DType : uint8_t {
  boolean = 0,
  u8 = 1,
  i8 = 2,
  f8_e5m2 = 3,
  f8_e4m3 = 4,  // of OCP: finite but for one NaN of each sign
  i16 = 5,
  u16 = 6,
  f16 = 7,
  bf16 = 8,
  i32 = 9,
  u32 = 10,
  f32 = 11,
  i64 = 12,
  u64 = 13,
  f64 = 14,
  c64 = 15,  // complex of two f32
  // Kept as they are: they have no counterpart among the types that are computed with.
  f8_e8m0 = 16,
  f8_e4m3fnuz = 17,
  f8_e5m2fnuz = 18,
  f4 = 19,
  f6_e2m3 = 20,
  f6_e3m2 = 21,
  c128 = 22,  // complex of two f64; NumPy's, not one of safetensors
};

}  // namespace hoist::array
