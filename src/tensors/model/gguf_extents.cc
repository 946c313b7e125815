#include "tensors/model/gguf_extents.h"

#include <algorithm>
#include <numeric>

namespace hoist::tensors {
namespace {

// Candidates times tensors, before it counts as ambiguous: many candidates are left only where all
// tensors are tiny.
constexpr uint64_t kMostTrials = uint64_t{1} << 24;

// The sizes of a row that an extent leaves possible: [first, last], none if first > last.
struct RowBytes {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t count() const { return last < first ? 0 : last - first + 1; }
};

RowBytes possible_rows(const UnknownExtent& tensor, uint64_t alignment) {
  const uint64_t too_small = tensor.extent < alignment ? 0 : tensor.extent - alignment;
  return {too_small / tensor.rows + 1, tensor.extent / tensor.rows};
}

bool serves(const BytesRatio& ratio, const UnknownExtent& tensor, uint64_t alignment) {
  const std::optional<uint64_t> bytes = ratio.row_bytes(tensor.elements);
  const RowBytes possible = possible_rows(tensor, alignment);
  return bytes && *bytes >= possible.first && *bytes <= possible.last;
}

}  // namespace

std::optional<uint64_t> BytesRatio::row_bytes(uint64_t row_elements) const {
  uint64_t product = 0;
  if (row_elements % elements != 0) return std::nullopt;
  if (__builtin_mul_overflow(row_elements / elements, bytes, &product)) return std::nullopt;
  return product;
}

bool serves_all(const BytesRatio& ratio, std::span<const UnknownExtent> tensors,
                uint64_t alignment) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const UnknownExtent& tensor) { return serves(ratio, tensor, alignment); });
}

std::optional<BytesRatio> unambiguous_ratio(std::span<const UnknownExtent> tensors,
                                            uint64_t alignment) {
  if (tensors.empty()) return std::nullopt;
  const auto narrowest = std::min_element(
      tensors.begin(), tensors.end(), [&](const UnknownExtent& a, const UnknownExtent& b) {
        return possible_rows(a, alignment).count() < possible_rows(b, alignment).count();
      });
  const RowBytes possible = possible_rows(*narrowest, alignment);
  if (possible.count() > kMostTrials / tensors.size()) return std::nullopt;
  std::optional<BytesRatio> found;
  for (uint64_t bytes = possible.first; bytes <= possible.last; ++bytes) {
    const uint64_t divisor = std::gcd(bytes, narrowest->elements);
    const BytesRatio ratio{bytes / divisor, narrowest->elements / divisor};
    if (!serves_all(ratio, tensors, alignment)) continue;
    if (found) return std::nullopt;
    found = ratio;
  }
  return found;
}

}  // namespace hoist::tensors
