// How many bytes tensors take whose type is not known: what their file tells of it.
//
// A tensor begins at its offset and ends before the next one, or before the end of the file.
// Between its last byte and the next tensor lie fewer bytes of padding than the alignment. So a
// tensor of R rows in an extent of G bytes has rows of k bytes with G - alignment < R k <= G, and k
// is a whole number. All tensors of a type need the same bytes for an element. Where exactly one
// such ratio serves all tensors of the type, it is the type's, and each tensor's size is known;
// else a tensor is taken with its padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace hoist::tensors {

struct UnknownExtent {
  uint64_t rows = 0;      // 1 or more
  uint64_t elements = 0;  // of a row, 1 or more
  uint64_t extent = 0;    // bytes, padding included
};

// Bytes for elements; in lowest terms.
struct BytesRatio {
  uint64_t bytes = 0;
  uint64_t elements = 0;

  // The bytes of a row; nothing where that is no whole number.
  std::optional<uint64_t> row_bytes(uint64_t row_elements) const;
  friend bool operator==(const BytesRatio&, const BytesRatio&) = default;
};

// Whether all of them can be of this type.
bool serves_all(const BytesRatio& ratio, std::span<const UnknownExtent> tensors,
                uint64_t alignment);
// The one that serves all of them, tensors of one type.
std::optional<BytesRatio> unambiguous_ratio(std::span<const UnknownExtent> tensors,
                                            uint64_t alignment);

}  // namespace hoist::tensors
