#include "records/string_stream.h"

#include "base/varint.h"
#include "records/integer_stream.h"

namespace hoist::records {

void encode_strings(Strings strings, Effort effort, std::string& out) {
  std::vector<int64_t> lengths;
  lengths.reserve(strings.size());
  size_t size = 0;
  for (const std::string_view string : strings) {
    lengths.push_back(static_cast<int64_t>(string.size()));
    size += string.size();
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(size);
  for (const std::string_view string : strings) {
    bytes.insert(bytes.end(), string.begin(), string.end());
  }
  encode_integers(lengths, effort, out);
  std::string coded;
  encode_bytes(bytes, effort, coded);
  write_varint(out, coded.size());
  out += coded;
}

Result<DecodedStrings> decode_strings(ByteReader& in, size_t count, uint64_t most_bytes) {
  const Error damaged = fail(ErrorCode::corrupt, "a stream of strings in the block is damaged");
  const Result<std::vector<int64_t>> lengths = decode_integers(in, count);
  if (!lengths) return lengths.error();
  uint64_t size = 0;
  for (const int64_t length : *lengths) {
    if (length < 0 || static_cast<uint64_t>(length) > most_bytes - size) return damaged;
    size += static_cast<uint64_t>(length);
  }
  const std::span<const std::byte> coded = in.take(read_varint(in));
  if (!in.ok()) return damaged;
  DecodedStrings decoded;
  decoded.bytes.resize(size);
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(decoded.bytes.data()), size);
  if (Status status = decode_bytes(coded, bytes); !status) return status.error();
  decoded.strings.reserve(count);
  const char* at = decoded.bytes.data();
  for (const int64_t length : *lengths) {
    decoded.strings.emplace_back(at, static_cast<size_t>(length));
    at += length;
  }
  return decoded;
}

}  // namespace hoist::records
