// Strings of bytes, one after the other: with their lengths beside them, or, where none of them has
// a byte of 0, with such a byte behind each, which compresses better where lengths vary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/byte_stream.h"

namespace hoist::records {

using Strings = std::span<const std::string_view>;

void encode_strings(Strings strings, Effort effort, std::string& out);

struct DecodedStrings {
  std::vector<char> bytes;
  std::vector<std::string_view> strings;  // point into `bytes`
};

// Exactly `count` strings, of at most `most_bytes` together.
Result<DecodedStrings> decode_strings(ByteReader& in, size_t count, uint64_t most_bytes);

}  // namespace hoist::records
