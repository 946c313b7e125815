// A header and the streams behind it, as dictionary and run-length streams have them:
//
//   magic (2 bytes), version 0 (1), value_bytes (1), zero (4), count (8), bytes of the first part
//   (8), bytes of the second part (8); first part; second part; the rest
//
// Parts of multiples of 16 bytes keep what follows aligned; nothing here asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::codec {

inline constexpr size_t kStreamPartsHeader = 32;

inline constexpr std::string_view kDictionaryMagic = "DI";  // entries, codes (u32)
inline constexpr std::string_view kStringDictionaryMagic =
    "DS";                                                  // lengths (u32), codes (u32), text
inline constexpr std::string_view kRunLengthMagic = "RL";  // values, ends (u64)

struct StreamParts {
  uint64_t count = 0;
  std::span<const std::byte> first;
  std::span<const std::byte> second;
  std::span<const std::byte> rest;
};

// `magic` has two characters.
std::vector<std::byte> join_parts(std::string_view magic, unsigned value_bytes,
                                  const StreamParts& parts);

// Checked against the stream's size; `corrupt` or `unsupported` (a later version) otherwise. The
// parts point into the stream.
Result<StreamParts> split_parts(std::string_view magic, unsigned value_bytes,
                                std::span<const std::byte> stream);

}  // namespace hoist::codec
