// Bytes as the smallest of: one value repeated, an entropy-coded section, a Zstandard frame, mixed
// predictions, the bytes themselves. How many there are is known from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace hoist::records {

// The first byte of a stream.
enum class ByteMethod : uint8_t { stored = 0, constant = 1, zstd = 2, entropy = 3, mixed = 4 };

// How hard the encoder tries.
enum class Effort : uint8_t { usual, best };

// Appends the stream: a method, then its bytes up to the stream's end.
void encode_bytes(std::span<const uint8_t> bytes, Effort effort, std::string& out);

// For a text without columns: replaces its stream by one of mixed predictions where it is small,
// and that clearly smaller (codec/mixing.h).
void mix_small_text(std::span<const uint8_t> text, std::string& stream);

// Allocates for an entropy-coded section at most six times the stream's size and 300 KiB.
// `corrupt` unless the stream gives exactly out.size() bytes.
Status decode_bytes(std::span<const std::byte> stream, std::span<uint8_t> out);

// Takes mixed predictions, too, of texts of at most codec::kMaxMixedBytes: they are slow.
Status decode_text_bytes(std::span<const std::byte> stream, std::span<uint8_t> out);

}  // namespace hoist::records
