// One column of integers as the smallest of: a constant, bit-packed tiles, a dictionary, runs. The
// choice is by exact size, so a column never takes more than bit packing and 16 bytes.
//
//   const Result<std::vector<std::byte>> stream = encode_integers<uint32_t>(column);
//   const Result<IntegerColumnInfo> info = inspect_integers(*stream);   // count: allocate, then
//   Status status = decode_integers<uint32_t>(*stream, values);
//
// Types: uint8_t, uint16_t, uint32_t, uint64_t; signed columns as unsigned of the same size. Tiles
// of 1024 values also choose for themselves (bitpack.h), so one column for 2^16 values or more
// loses nothing to smaller ones except where dictionaries or runs suit only a part.
//
// Decoding trusts no byte: `corrupt` for what is damaged, no access outside the spans. The count in
// a stream is a claim, and 32 bytes can claim any: compare it with what is expected before
// allocating. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::codec {

enum class IntegerCoding : uint8_t { constant = 0, bitpack = 1, dictionary = 2, run_length = 3 };

std::string_view name(IntegerCoding coding);

struct IntegerColumnInfo {
  IntegerCoding coding;
  unsigned value_bytes;
  uint64_t count;
};

// Errors are those of encode_bitpack.
template <typename T>
Result<std::vector<std::byte>> encode_integers(std::span<const T> values);

// What the header says, checked in itself; the payload is checked by decoding.
Result<IntegerColumnInfo> inspect_integers(std::span<const std::byte> stream);

// `corrupt` where the stream has another type or count than `out`.
template <typename T>
Status decode_integers(std::span<const std::byte> stream, std::span<T> out);

}  // namespace hoist::codec
