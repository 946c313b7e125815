// Tensors as their users hold them: element type, shape and bytes, row-major and little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::tensors {

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

struct DTypeProperties {
  DType dtype;
  std::string_view name;  // of safetensors: "BF16"
  size_t bytes;           // of an element, or of `packed` elements that share them
  bool is_float;
  size_t packed = 1;           // F4: two in a byte; F6: four in three
  size_t components = 1;       // numbers of an element: complex has two
  bool in_safetensors = true;  // whether that format has the type
};

// nullptr: none is called, or numbered, so.
const DTypeProperties* find_dtype(std::string_view safetensors_name);
const DTypeProperties* find_dtype(uint8_t number);
const DTypeProperties& properties(DType dtype);

using Shape = std::vector<uint64_t>;

// 1 for rank 0. `invalid_argument` where it does not fit 60 bits.
Result<uint64_t> element_count(std::span<const uint64_t> shape);
// `invalid_argument` as above, and where the elements do not fill their last byte.
Result<uint64_t> byte_count(DType dtype, std::span<const uint64_t> shape);

// The matrix that transforms see: rank 0 and 1 are one row, higher ranks keep their first dimension
// as rows.
struct MatrixShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
};
MatrixShape matrix_shape(std::span<const uint64_t> shape);

struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // exactly element_count(shape) elements, any alignment
};

// Element by element, `values` as long as there are elements; `unsupported` for c64 and the types
// after it. Integers beyond a float's precision are rounded, as are f64.
Status to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> values);
// To nearest, ties to even; integers saturate; f8_e4m3 saturates to its largest finite value.
Status from_f32(std::span<const float> values, DType dtype, std::span<std::byte> bytes);

}  // namespace hoist::tensors
