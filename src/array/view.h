// A view of an array in any memory, shaped like DLPack's DLTensor: pointer, device, element type,
// extents and strides, all inline.
//
//   Result<View> view = View::of(data, DType::f32, {rows, columns});
//   Result<View> half = view->slice(0, 0, rows / 2);
//
// A view owns nothing. Strides are in elements, as DLPack's, and may be 0 or negative.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "array/dtype.h"

namespace hoist::array {

// As DLPack numbers devices (DLDeviceType).
enum class DeviceKind : int32_t { cpu = 1, cuda = 2 };

struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  int32_t index = 0;

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

struct View {
  static constexpr size_t kMostDimensions = 8;

  std::byte* data = nullptr;
  DeviceId device;
  DType dtype = DType::u8;
  int32_t rank = 0;
  std::array<int64_t, kMostDimensions> extents{};
  std::array<int64_t, kMostDimensions> strides{};

  // Row-major and without gaps. `unsupported` beyond kMostDimensions; `invalid_argument` where the
  // elements do not fit 60 bits.
  static Result<View> of(void* data, DType dtype, std::span<const uint64_t> shape,
                         DeviceId device = {});

  std::span<const int64_t> shape() const { return {extents.data(), static_cast<size_t>(rank)}; }
  // Whether the elements lie one behind the other in row-major order.
  bool is_contiguous() const;
  uint64_t elements() const;
  // Counts the elements alone. A view of a type whose elements share bytes is always contiguous.
  uint64_t bytes() const;

  // `begin` to `end` of a dimension. `invalid_argument` outside of it; `unsupported` for types
  // whose elements share bytes.
  Result<View> slice(int32_t dimension, int64_t begin, int64_t end) const;
  // Two dimensions exchanged.
  Result<View> transposed(int32_t a, int32_t b) const;
};

}  // namespace hoist::array
