// Values of a buffer from somebody else, which may lie at any address.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hoist::arrow {

// The i-th T. The buffer has it.
template <typename T>
T value_at(std::string_view buffer, int64_t i) {
  T value;
  std::memcpy(&value, buffer.data() + static_cast<size_t>(i) * sizeof value, sizeof value);
  return value;
}

}  // namespace hoist::arrow
