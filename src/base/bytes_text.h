// Amounts of memory for people: "812 bytes", "640 KiB", "23 MiB". Whole units, rounded up.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace hoist {

inline std::string bytes_text(uint64_t bytes) {
  constexpr uint64_t kFew = 10;  // so many of a unit are still told in the smaller one
  if (bytes < kFew << 10) return fmt::format("{} bytes", bytes);
  const int shift = bytes < kFew << 20 ? 10 : 20;
  const uint64_t rest = (bytes & ((uint64_t{1} << shift) - 1)) != 0 ? 1 : 0;
  return fmt::format("{} {}", (bytes >> shift) + rest, shift == 10 ? "KiB" : "MiB");
}

}  // namespace hoist
