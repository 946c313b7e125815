// Values as tokens, which are entropy-coded, and the bits below them, which are packed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "records/byte_stream.h"

namespace hoist::records {

struct Token {
  uint8_t symbol;
  uint8_t bits;  // of the value below the token, 0 to 61
};

// Below 16 the value itself. Else 16 + 4 (n - 5) + the two bits below the first, for n bits.
constexpr Token token_of(uint64_t value) {
  if (value < 16) return {static_cast<uint8_t>(value), 0};
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const auto next = static_cast<unsigned>(value >> (width - 3) & 3);
  return {static_cast<uint8_t>(16 + 4 * (width - 5) + next), static_cast<uint8_t>(width - 3)};
}

// Appends the stream, which reaches to its end.
void encode_tokens(std::span<const uint64_t> values, Effort effort, std::string& out);
// `corrupt` unless the stream gives exactly out.size() values.
Status decode_tokens(std::span<const std::byte> stream, std::span<uint64_t> out);

}  // namespace hoist::records
