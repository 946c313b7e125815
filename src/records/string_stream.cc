#include "records/string_stream.h"

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

enum Style : uint8_t { kLengths = 0, kTerminated = 1 };

Error damaged() { return fail(ErrorCode::corrupt, "a stream of strings in the block is damaged"); }

void append_bytes(std::span<const uint8_t> bytes, Effort effort, std::string& out) {
  std::string coded;
  encode_bytes(bytes, effort, coded);
  write_varint(out, coded.size());
  out += coded;
}

std::vector<uint8_t> joined(Strings strings, size_t size, bool terminated) {
  std::vector<uint8_t> bytes(size + (terminated ? strings.size() : 0));
  uint8_t* at = bytes.data();
  for (const std::string_view string : strings) {
    at = std::copy(string.begin(), string.end(), at);
    if (terminated) *at++ = 0;
  }
  return bytes;
}

std::string with_lengths(Strings strings, size_t size, Effort effort) {
  std::vector<int64_t> lengths;
  lengths.reserve(strings.size());
  for (const std::string_view string : strings) {
    lengths.push_back(static_cast<int64_t>(string.size()));
  }
  std::string out(1, static_cast<char>(kLengths));
  encode_integers(lengths, effort, out);
  append_bytes(joined(strings, size, false), effort, out);
  return out;
}

std::string terminated(Strings strings, size_t size, Effort effort) {
  const std::vector<uint8_t> bytes = joined(strings, size, true);
  std::string out(1, static_cast<char>(kTerminated));
  write_varint(out, bytes.size());
  append_bytes(bytes, effort, out);
  return out;
}

Status read_bytes(ByteReader& in, std::span<char> out) {
  const std::span<const std::byte> coded = in.take(read_varint(in));
  if (!in.ok()) return damaged();
  return decode_bytes(coded, {reinterpret_cast<uint8_t*>(out.data()), out.size()});
}

Result<DecodedStrings> decode_with_lengths(ByteReader& in, size_t count, uint64_t most_bytes) {
  const Result<std::vector<int64_t>> lengths = decode_integers(in, count);
  if (!lengths) return lengths.error();
  uint64_t size = 0;
  for (const int64_t length : *lengths) {
    if (length < 0 || static_cast<uint64_t>(length) > most_bytes - size) return damaged();
    size += static_cast<uint64_t>(length);
  }
  DecodedStrings decoded;
  decoded.bytes.resize(size);
  if (Status status = read_bytes(in, decoded.bytes); !status) return status.error();
  decoded.strings.reserve(count);
  const char* at = decoded.bytes.data();
  for (const int64_t length : *lengths) {
    decoded.strings.emplace_back(at, static_cast<size_t>(length));
    at += length;
  }
  return decoded;
}

Result<DecodedStrings> decode_terminated(ByteReader& in, size_t count, uint64_t most_bytes) {
  const uint64_t size = read_varint(in);
  if (!in.ok() || size < count || size - count > most_bytes) return damaged();
  DecodedStrings decoded;
  decoded.bytes.resize(size);
  if (Status status = read_bytes(in, decoded.bytes); !status) return status.error();
  decoded.strings.reserve(count);
  const char* at = decoded.bytes.data();
  const char* const bytes_end = at + size;
  for (size_t i = 0; i < count; ++i) {
    const auto* end = static_cast<const char*>(
        at == bytes_end ? nullptr : std::memchr(at, 0, static_cast<size_t>(bytes_end - at)));
    if (end == nullptr) return damaged();
    decoded.strings.emplace_back(at, static_cast<size_t>(end - at));
    at = end + 1;
  }
  if (at != bytes_end) return damaged();
  return decoded;
}

}  // namespace

void encode_strings(Strings strings, Effort effort, std::string& out) {
  size_t size = 0;
  bool same_length = true;
  bool may_terminate = !strings.empty();
  for (const std::string_view string : strings) {
    size += string.size();
    same_length &= string.size() == strings[0].size();
    may_terminate &= string.find('\0') == std::string_view::npos;
  }
  if (!may_terminate || same_length) {
    out += with_lengths(strings, size, effort);
    return;
  }
  std::string best = terminated(strings, size, effort);
  if (effort == Effort::best) {
    std::string other = with_lengths(strings, size, effort);
    if (other.size() < best.size()) best = std::move(other);
  }
  out += best;
}

Result<DecodedStrings> decode_strings(ByteReader& in, size_t count, uint64_t most_bytes) {
  switch (in.read<uint8_t>()) {
    case kLengths:
      return decode_with_lengths(in, count, most_bytes);
    case kTerminated:
      return decode_terminated(in, count, most_bytes);
    default:
      return in.ok() ? fail(ErrorCode::unsupported,
                            "a stream of strings has an unknown style: this version of Hoist is "
                            "too old")
                     : damaged();
  }
}

}  // namespace hoist::records
