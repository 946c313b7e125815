// Integers as the smallest of: one value repeated, the integer columns of the codec (bit packing,
// runs), a dictionary with entropy-coded codes, tokens with entropy coding and the low bits behind
// them. How many there are is known from elsewhere.
//
// A token is the number of a value's bits and its two bits below the first (values below 16 are
// tokens themselves): what is smooth about a distribution lies in there, and the bits below are as
// good as random. The idea is that of the bins of pcodec and the "extra bits" of Deflate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/byte_stream.h"

namespace hoist::records {

// The first byte of a stream, behind its size.
enum class IntegerMethod : uint8_t {
  constant = 0,
  varints = 1,     // zigzag
  column = 2,      // codec/integer_column.h, of 64 bits
  dictionary = 3,  // at most 256 entries, a code a byte
  from_least = 4,  // tokens of the distance to the least value
  zigzag = 5       // tokens of zigzag values
};

// Appends the stream: its size, a method, its bytes.
void encode_integers(std::span<const int64_t> values, Effort effort, std::string& out);

// Reads one stream of exactly `count` integers. The caller bounds the count: a stream of ten bytes
// can stand for any.
Result<std::vector<int64_t>> decode_integers(ByteReader& in, size_t count);
// The same of a stream without its size.
Result<std::vector<int64_t>> decode_integer_stream(std::span<const std::byte> stream, size_t count);

// The value of all, where the stream says so in a byte or some; moves on only then.
std::optional<int64_t> constant_integers(ByteReader& in);

// About how many bits tokens of these values (zigzag) would take: for choosing between predictions.
double estimate_bits(std::span<const uint64_t> values);

}  // namespace hoist::records
