#include "ops/sort/collate.h"

#include <langinfo.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace hoist::sort {
namespace {

// Length of the UTF-8 sequence that starts here, 1 for a byte that starts none: collation of
// invalid text is strcoll()'s business in the end, this only has to go on.
size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 1;
  }
  return length;
}

// Remembers weights of characters beyond the tables, per thread, by direct mapping.
struct RareCache {
  static constexpr size_t kSlots = 4096;
  uint32_t character[kSlots] = {};
  uint64_t weight[kSlots] = {};
};

}  // namespace

Collation::Collation(bool hard) : hard_(hard) {
  if (!hard) return;
  utf8_ = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
  for (int c = 1; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    single_[static_cast<size_t>(c)] = probe({&byte, 1});
  }
  if (!utf8_) return;
  two_ = std::make_unique<Weight[]>(0x800);
  for (int c = 0x80; c < 0x800; ++c) {
    const char bytes[2] = {static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 63))};
    two_[static_cast<size_t>(c)] = probe({bytes, 2});
  }
}

Collation::Weight Collation::probe(std::string_view character) {
  char out[256];
  const std::string text(character);
  const size_t length = ::strxfrm(out, text.c_str(), sizeof out);
  if (length >= sizeof out) return 0;
  const void* end = std::memchr(out, 1, length);
  const size_t level =
      end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - out) : length;
  // A longer expansion is left out here and decided by strcoll() like everything that ties.
  if (level > kMaximumWeight) return 0;
  Weight bytes = 0;
  std::memcpy(&bytes, out, level);
  return bytes << 8 | level;
}

Collation::Weight Collation::weight_of_rare(std::string_view character) const {
  static thread_local std::unique_ptr<RareCache> cache;
  if (!cache) cache = std::make_unique<RareCache>();
  uint32_t key = 0;
  std::memcpy(&key, character.data(), character.size());
  const size_t slot = (key * 2654435761u) >> 20;
  if (cache->character[slot] != key) {
    cache->weight[slot] = probe(character);
    cache->character[slot] = key;
  }
  return cache->weight[slot];
}

// The weight of the character at `at`, which moves behind it.
Collation::Weight Collation::weight_at(std::string_view text, size_t& at) const {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80 || !utf8_) {
    ++at;
    return single_[byte];
  }
  const std::string_view rest = text.substr(at);
  const size_t length = sequence_length(rest);
  at += length;
  if (length == 1) return single_[byte];
  if (length == 2) {
    return two_[static_cast<size_t>((byte & 31) << 6 | (static_cast<unsigned char>(rest[1]) & 63))];
  }
  return weight_of_rare(rest.substr(0, length));
}

size_t Collation::level1(std::string_view text, size_t skip, unsigned char* out) const {
  size_t at = 0;
  size_t skipped = 0;
  while (skipped + kMaximumWeight <= skip && at < text.size() && text[at] != '\0') {
    skipped += length(weight_at(text, at));
  }
  // Each weight is stored with zeros behind it, which the next one overwrites.
  unsigned char bytes[2 * kMaximumWeight + kLevelBytes + sizeof(Weight)] = {};
  const size_t wanted = skip - skipped;  // less than kMaximumWeight unless the text has ended
  size_t size = 0;
  while (size < wanted + kLevelBytes && at < text.size() && text[at] != '\0') {
    const Weight weight = weight_at(text, at);
    const Weight its_bytes = weight >> 8;
    std::memcpy(bytes + size, &its_bytes, sizeof its_bytes);
    size += length(weight);
  }
  const size_t begin = std::min(wanted, size);
  std::memcpy(out, bytes + begin, kLevelBytes);
  return std::min(size - begin, kLevelBytes);
}

}  // namespace hoist::sort
