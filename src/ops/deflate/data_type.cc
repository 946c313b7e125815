#include "ops/deflate/data_type.h"

#include <zlib.h>

#include <algorithm>

namespace hoist::deflate {
namespace {

constexpr size_t kFirstBlock = 16383;
constexpr size_t kStep = 4096;

// Bytes that no text holds: 0 to 6, 14 to 25, 28 to 31. Written without branches, so that the
// compiler makes vector code of the loop.
bool holds_binary(const std::byte* data, size_t size) {
  unsigned char found = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    found |=
        static_cast<unsigned char>((byte <= 6) | (static_cast<unsigned char>(byte - 14) <= 11) |
                                   (static_cast<unsigned char>(byte - 28) <= 3));
  }
  return found != 0;
}

bool holds_binary(std::span<const std::byte> data) {
  for (size_t at = 0; at < data.size(); at += kStep) {
    if (holds_binary(data.data() + at, std::min(kStep, data.size() - at))) return true;
  }
  return false;
}

}  // namespace

std::optional<int> data_type_of(std::span<const std::byte> input) {
  const size_t sure = std::min(input.size(), kFirstBlock);
  if (holds_binary(input.first(sure))) return Z_BINARY;
  // A text may hold other bytes, but needs one of these to count as a text.
  const bool has_text =
      std::any_of(input.begin(), input.begin() + static_cast<ptrdiff_t>(sure), [](std::byte byte) {
        const auto value = static_cast<unsigned char>(byte);
        return value >= 32 || value == 9 || value == 10 || value == 13;
      });
  if (!has_text || holds_binary(input.subspan(sure))) return {};
  return Z_TEXT;
}

}  // namespace hoist::deflate
