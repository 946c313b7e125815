#include "cli/container/metadata.h"

#include "base/bytes.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

// The JSON library parses and prints by recursion, without a bound.
constexpr int kMaxDepth = 64;

enum Major : uint8_t { kBytes = 2, kText = 3, kArray = 4, kMap = 5, kTag = 6, kSimple = 7 };

constexpr uint8_t kBreak = 0xff;

uint64_t big_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<uint8_t>(byte);
  return value;
}

// Moves behind one CBOR item (RFC 8949, section 3); false where none is there that nests at most
// `depth` deep.
bool skip_item(ByteReader& in, int depth) {
  if (depth == 0) return false;
  const auto head = in.read<uint8_t>();
  const int major = head >> 5;
  const int info = head & 31;
  const bool until_break = info == 31 && major >= kBytes && major <= kMap;
  uint64_t count = info < 24 ? static_cast<uint64_t>(info) : 0;
  if (info >= 24 && info < 28) count = big_endian(in.take(size_t{1} << (info - 24)));
  if (!in.ok() || (info >= 28 && !until_break)) return false;
  if (until_break) {
    for (ByteReader ahead = in; ahead.read<uint8_t>() != kBreak; ahead = in) {
      if (!skip_item(in, depth - 1)) return false;
    }
    in.take(1);
    return in.ok();
  }
  if (major < kBytes || major == kSimple) return true;
  if (major != kTag && count > in.remaining()) return false;
  if (major == kBytes || major == kText) {
    in.take(count);
    return true;
  }
  if (major == kTag) count = 1;
  if (major == kMap) count *= 2;
  for (; count > 0; --count) {
    if (!skip_item(in, depth - 1)) return false;
  }
  return true;
}

}  // namespace

std::optional<ordered_json> decoded_metadata(container::Bytes bytes) {
  ByteReader in(bytes);
  if (!skip_item(in, kMaxDepth) || in.remaining() != 0) return std::nullopt;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  ordered_json value = ordered_json::from_cbor(data, data + bytes.size(), true, false,
                                               ordered_json::cbor_tag_handler_t::ignore);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace hoist::cli
