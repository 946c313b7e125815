#include "match/store/chain.h"

#include "base/bytes.h"
#include "base/checksum.h"

namespace hoist::match {

ChainPoint next_point(const ChainPoint& at, std::string_view write) {
  const uint64_t parts[] = {at.digest, xxh3_64(write.data(), write.size())};
  ChainPoint next = at;
  ++next.writes;
  next.digest = xxh3_64(parts, sizeof parts);
  return next;
}

void encode_point(const ChainPoint& point, std::string& out) {
  ByteWriter writer;
  for (const uint64_t number : {point.writes, point.digest, point.patterns, point.ingests}) {
    writer.write(number);
  }
  out += writer.bytes();
}

std::optional<ChainPoint> decode_point(std::string_view bytes) {
  if (bytes.size() != kChainPointSize) return std::nullopt;
  ByteReader reader(bytes.data(), bytes.size());
  ChainPoint point;
  for (uint64_t* const number : {&point.writes, &point.digest, &point.patterns, &point.ingests}) {
    *number = reader.read<uint64_t>();
  }
  return point;
}

}  // namespace hoist::match
