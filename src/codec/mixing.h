// Small texts in fewer bytes than other codecs need, at about 1 µs a byte, both ways.
//
// Each bit is coded with a probability that is mixed from what bits were in the same contexts
// before: behind the same bytes, in the same word, behind the last text that ended alike (Mahoney,
// "Adaptive weighing of context models for lossless data compression", Florida Tech CS-2005-16).
// docs/reference/mixing.md has every step. All arithmetic is that of integers: every machine gives
// the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace hoist::codec {

inline constexpr size_t kMaxMixedBytes = size_t{1} << 16;

// At most kMaxMixedBytes. Takes up to 8 MiB of memory.
std::string mix_bytes(std::span<const uint8_t> bytes);

// Memory as above. `corrupt` where the stream is too short or too long, or `out` is larger than
// kMaxMixedBytes; other damage gives other bytes.
Status unmix_bytes(std::span<const std::byte> stream, std::span<uint8_t> out);

}  // namespace hoist::codec
