#include "array/view.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace hoist::array {
namespace {

Status check_dimension(const View& view, int32_t dimension) {
  if (dimension >= 0 && dimension < view.rank) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("dimension {} of an array that has {}", dimension, view.rank));
}

Status check_whole_elements(const View& view) {
  const DTypeProperties& type = properties(view.dtype);
  if (type.packed == 1) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("a part of {} elements, which share bytes", type.name));
}

}  // namespace

Result<View> View::of(void* data, DType dtype, std::span<const uint64_t> shape, DeviceId device) {
  if (shape.size() > kMostDimensions) {
    return fail(ErrorCode::unsupported, fmt::format("an array of {} dimensions: at most {}",
                                                    shape.size(), kMostDimensions));
  }
  const auto size = byte_count(dtype, shape);
  if (!size) return size.error();
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (std::any_of(shape.begin(), shape.end(), [](uint64_t extent) { return extent > kMost; })) {
    return fail(ErrorCode::invalid_argument, "an extent of an array beyond 2^63");
  }
  View view;
  view.data = static_cast<std::byte*>(data);
  view.device = device;
  view.dtype = dtype;
  view.rank = static_cast<int32_t>(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.extents[i] = static_cast<int64_t>(shape[i]);
    view.strides[i] = stride;
    // Without elements no stride counts, and the extents may be too large for one.
    if (*size != 0) stride *= view.extents[i];
  }
  return view;
}

bool View::is_contiguous() const {
  if (elements() == 0) return true;
  int64_t stride = 1;
  for (auto i = static_cast<size_t>(rank); i-- > 0;) {
    if (extents[i] != 1 && strides[i] != stride) return false;
    stride *= extents[i];
  }
  return true;
}

uint64_t View::elements() const {
  if (std::find(shape().begin(), shape().end(), 0) != shape().end()) return 0;
  uint64_t count = 1;
  for (const int64_t extent : shape()) count *= static_cast<uint64_t>(extent);
  return count;
}

uint64_t View::bytes() const {
  const DTypeProperties& type = properties(dtype);
  return elements() * type.bytes / type.packed;
}

Result<View> View::slice(int32_t dimension, int64_t begin, int64_t end) const {
  if (Status valid = check_dimension(*this, dimension); !valid) return valid.error();
  if (Status whole = check_whole_elements(*this); !whole) return whole.error();
  const auto d = static_cast<size_t>(dimension);
  if (begin < 0 || begin > end || end > extents[d]) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} to {} of dimension {}, which has {}",
                                                         begin, end, dimension, extents[d]));
  }
  View part = *this;
  part.extents[d] = end - begin;
  if (part.elements() != 0) {
    part.data += begin * strides[d] * static_cast<int64_t>(properties(dtype).bytes);
  }
  return part;
}

Result<View> View::transposed(int32_t a, int32_t b) const {
  for (const int32_t dimension : {a, b}) {
    if (Status valid = check_dimension(*this, dimension); !valid) return valid.error();
  }
  if (Status whole = check_whole_elements(*this); !whole) return whole.error();
  View turned = *this;
  std::swap(turned.extents[static_cast<size_t>(a)], turned.extents[static_cast<size_t>(b)]);
  std::swap(turned.strides[static_cast<size_t>(a)], turned.strides[static_cast<size_t>(b)]);
  return turned;
}

}  // namespace hoist::array
