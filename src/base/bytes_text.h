// Amounts of memory for people: "812 bytes", "640 KiB", "23 MiB". Whole units, rounded up
// where there are many.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace hoist {

inline std::string bytes_text(uint64_t bytes) {
  constexpr uint64_t kFew =
      10;  // so many of a unit, if not whole ones, are told in the smaller one
  const auto fits = [&](uint64_t unit) {
    return bytes >= kFew * unit || (bytes != 0 && bytes % unit == 0);
  };
  const int shift = fits(uint64_t{1} << 20) ? 20 : fits(uint64_t{1} << 10) ? 10 : 0;
  const uint64_t units = (bytes >> shift) + ((bytes & ((uint64_t{1} << shift) - 1)) != 0 ? 1 : 0);
  return fmt::format("{} {}", units, shift == 0 ? "bytes" : shift == 10 ? "KiB" : "MiB");
}

}  // namespace hoist
