#include "array/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hoist::array {
namespace {

constexpr std::array<DTypeProperties, 23> kTypes = {{
    {DType::boolean, "BOOL", 1, false, "bool", Holder::numpy, {6, 8}},
    {DType::u8, "U8", 1, false, "uint8", Holder::numpy, {1, 8}},
    {DType::i8, "I8", 1, false, "int8", Holder::numpy, {0, 8}},
    {DType::f8_e5m2, "F8_E5M2", 1, true, "float8_e5m2", Holder::ml_dtypes, {12, 8}},
    {DType::f8_e4m3, "F8_E4M3", 1, true, "float8_e4m3fn", Holder::ml_dtypes, {10, 8}},
    {DType::i16, "I16", 2, false, "int16", Holder::numpy, {0, 16}},
    {DType::u16, "U16", 2, false, "uint16", Holder::numpy, {1, 16}},
    {DType::f16, "F16", 2, true, "float16", Holder::numpy, {2, 16}},
    {DType::bf16, "BF16", 2, true, "bfloat16", Holder::ml_dtypes, {4, 16}},
    {DType::i32, "I32", 4, false, "int32", Holder::numpy, {0, 32}},
    {DType::u32, "U32", 4, false, "uint32", Holder::numpy, {1, 32}},
    {DType::f32, "F32", 4, true, "float32", Holder::numpy, {2, 32}},
    {DType::i64, "I64", 8, false, "int64", Holder::numpy, {0, 64}},
    {DType::u64, "U64", 8, false, "uint64", Holder::numpy, {1, 64}},
    {DType::f64, "F64", 8, true, "float64", Holder::numpy, {2, 64}},
    {DType::c64, "C64", 8, true, "complex64", Holder::numpy, {5, 64}, 1, 2},
    {DType::f8_e8m0, "F8_E8M0", 1, true, "float8_e8m0fnu", Holder::ml_dtypes, {14, 8}},
    {DType::f8_e4m3fnuz, "F8_E4M3FNUZ", 1, true, "float8_e4m3fnuz", Holder::ml_dtypes, {11, 8}},
    {DType::f8_e5m2fnuz, "F8_E5M2FNUZ", 1, true, "float8_e5m2fnuz", Holder::ml_dtypes, {13, 8}},
    {DType::f4, "F4", 1, true, "float4_e2m1fn_x2", Holder::torch, {17, 4}, 2},
    {DType::f6_e2m3, "F6_E2M3", 3, true, "", Holder::none, {15, 6}, 4},
    {DType::f6_e3m2, "F6_E3M2", 3, true, "", Holder::none, {16, 6}, 4},
    {DType::c128, "C128", 16, true, "complex128", Holder::numpy, {5, 128}, 1, 2, false},
}};

constexpr uint64_t kMostElements = uint64_t{1} << 60;

}  // namespace

std::span<const DTypeProperties> all_dtypes() { return kTypes; }

const DTypeProperties* find_dtype(std::string_view safetensors_name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DTypeProperties& type) {
    return type.name == safetensors_name;
  });
  return found == kTypes.end() ? nullptr : &*found;
}

const DTypeProperties* find_dtype(uint8_t number) {
  return number < kTypes.size() ? &kTypes[number] : nullptr;
}

const DTypeProperties* find_dtype(DlpackType type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DTypeProperties& known) {
    return known.dlpack.code == type.code && known.dlpack.bits == type.bits;
  });
  return found == kTypes.end() ? nullptr : &*found;
}

const DTypeProperties& properties(DType dtype) { return kTypes[static_cast<size_t>(dtype)]; }

Result<uint64_t> element_count(std::span<const uint64_t> shape) {
  // A zero among them makes everything else possible.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  uint64_t count = 1;
  for (const uint64_t dimension : shape) {
    if (dimension >= kMostElements / count) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("tensor shape [{}]: 2^60 elements or more", fmt::join(shape, ", ")));
    }
    count *= dimension;
  }
  return count;
}

Result<uint64_t> byte_count(DType dtype, std::span<const uint64_t> shape) {
  const Result<uint64_t> count = element_count(shape);
  if (!count) return count;
  const DTypeProperties& type = properties(dtype);
  if (*count * type.bytes % type.packed != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("tensor shape [{}]: {} {} elements do not fill their last byte",
                            fmt::join(shape, ", "), *count, type.name));
  }
  return *count * type.bytes / type.packed;
}

}  // namespace hoist::array
