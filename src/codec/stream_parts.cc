#include "codec/stream_parts.h"

#include <fmt/core.h>

#include <cstring>

namespace hoist::codec {
namespace {

struct Header {
  char magic[2];
  uint8_t version;
  uint8_t value_bytes;
  uint32_t zero;
  uint64_t count;
  uint64_t first_bytes;
  uint64_t second_bytes;
};
static_assert(sizeof(Header) == kStreamPartsHeader);

}  // namespace

std::vector<std::byte> join_parts(std::string_view magic, unsigned value_bytes,
                                  const StreamParts& parts) {
  const Header header{{magic[0], magic[1]},
                      0,
                      static_cast<uint8_t>(value_bytes),
                      0,
                      parts.count,
                      parts.first.size(),
                      parts.second.size()};
  std::vector<std::byte> stream(sizeof header);
  std::memcpy(stream.data(), &header, sizeof header);
  stream.reserve(sizeof header + parts.first.size() + parts.second.size() + parts.rest.size());
  for (const std::span<const std::byte> part : {parts.first, parts.second, parts.rest}) {
    stream.insert(stream.end(), part.begin(), part.end());
  }
  return stream;
}

Result<StreamParts> split_parts(std::string_view magic, unsigned value_bytes,
                                std::span<const std::byte> stream) {
  const auto corrupt = [&](const char* what) {
    return fail(ErrorCode::corrupt, fmt::format("{} ({} stream)", what, magic));
  };
  Header header;
  if (stream.size() < sizeof header) return corrupt("shorter than its header");
  std::memcpy(&header, stream.data(), sizeof header);
  if (std::string_view(header.magic, 2) != magic) return corrupt("no such stream");
  if (header.version != 0) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("version {} ({} stream): a newer Hoist reads it", header.version, magic));
  }
  if (header.value_bytes != value_bytes || header.zero != 0) return corrupt("damaged header");
  std::span<const std::byte> left = stream.subspan(sizeof header);
  if (header.first_bytes > left.size()) return corrupt("wrong size");
  const std::span<const std::byte> first = left.first(header.first_bytes);
  left = left.subspan(header.first_bytes);
  if (header.second_bytes > left.size()) return corrupt("wrong size");
  return StreamParts{header.count, first, left.first(header.second_bytes),
                     left.subspan(header.second_bytes)};
}

}  // namespace hoist::codec
