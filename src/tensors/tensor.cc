#include "tensors/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tensors/convert.h"

namespace hoist::tensors {
namespace {

constexpr std::array<DTypeProperties, 23> kTypes = {{
    {DType::boolean, "BOOL", 1, false},
    {DType::u8, "U8", 1, false},
    {DType::i8, "I8", 1, false},
    {DType::f8_e5m2, "F8_E5M2", 1, true},
    {DType::f8_e4m3, "F8_E4M3", 1, true},
    {DType::i16, "I16", 2, false},
    {DType::u16, "U16", 2, false},
    {DType::f16, "F16", 2, true},
    {DType::bf16, "BF16", 2, true},
    {DType::i32, "I32", 4, false},
    {DType::u32, "U32", 4, false},
    {DType::f32, "F32", 4, true},
    {DType::i64, "I64", 8, false},
    {DType::u64, "U64", 8, false},
    {DType::f64, "F64", 8, true},
    {DType::c64, "C64", 8, true, 1, 2},
    {DType::f8_e8m0, "F8_E8M0", 1, true},
    {DType::f8_e4m3fnuz, "F8_E4M3FNUZ", 1, true},
    {DType::f8_e5m2fnuz, "F8_E5M2FNUZ", 1, true},
    {DType::f4, "F4", 1, true, 2},
    {DType::f6_e2m3, "F6_E2M3", 3, true, 4},
    {DType::f6_e3m2, "F6_E3M2", 3, true, 4},
    {DType::c128, "C128", 16, true, 1, 2, false},
}};

constexpr uint64_t kMostElements = uint64_t{1} << 60;

Status check_sizes(DType dtype, size_t bytes, size_t values) {
  const DTypeProperties& type = properties(dtype);
  if (type.components > 1) {
    return fail(ErrorCode::unsupported,
                fmt::format("conversion of {} elements: complex has no real value", type.name));
  }
  if (dtype > DType::c64) {
    return fail(ErrorCode::unsupported,
                fmt::format("conversion of {} elements: they are only kept", type.name));
  }
  if (bytes == values * type.bytes) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("conversion of {} {} elements ({} bytes): it takes {} bytes", values,
                          type.name, bytes, values * type.bytes));
}

}  // namespace

const DTypeProperties* find_dtype(std::string_view safetensors_name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DTypeProperties& type) {
    return type.name == safetensors_name;
  });
  return found == kTypes.end() ? nullptr : &*found;
}

const DTypeProperties* find_dtype(uint8_t number) {
  return number < kTypes.size() ? &kTypes[number] : nullptr;
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

MatrixShape matrix_shape(std::span<const uint64_t> shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {1, shape[0]};
  uint64_t columns = 1;
  for (const uint64_t dimension : shape.subspan(1)) columns *= dimension;
  return {shape[0], columns};
}

Status to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
  if (Status status = check_sizes(dtype, bytes.size(), values.size()); !status) return status;
  convert_to_f32(dtype, bytes.data(), values);
  return {};
}

Status from_f32(std::span<const float> values, DType dtype, std::span<std::byte> bytes) {
  if (Status status = check_sizes(dtype, bytes.size(), values.size()); !status) return status;
  convert_from_f32(values, dtype, bytes.data());
  return {};
}

}  // namespace hoist::tensors
