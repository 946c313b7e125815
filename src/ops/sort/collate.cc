#include "ops/sort/collate.h"

#include <langinfo.h>

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
  uint8_t length[kSlots] = {};
  uint8_t bytes[kSlots][7] = {};
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
  Weight weight;
  if (length >= sizeof out) return weight;
  const void* end = std::memchr(out, 1, length);
  const size_t level =
      end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - out) : length;
  // A longer expansion is left out here and decided by strcoll() like everything that ties.
  if (level > sizeof weight.bytes) return weight;
  weight.length = static_cast<uint8_t>(level);
  std::memcpy(weight.bytes, out, level);
  return weight;
}

Collation::Weight Collation::weight_of_rare(std::string_view character) const {
  static thread_local std::unique_ptr<RareCache> cache;
  if (!cache) cache = std::make_unique<RareCache>();
  uint32_t key = 0;
  std::memcpy(&key, character.data(), character.size());
  const size_t slot = (key * 2654435761u) >> 20;
  Weight weight;
  if (cache->character[slot] != key) {
    weight = probe(character);
    cache->character[slot] = key;
    cache->length[slot] = weight.length;
    std::memcpy(cache->bytes[slot], weight.bytes, sizeof weight.bytes);
    return weight;
  }
  weight.length = cache->length[slot];
  std::memcpy(weight.bytes, cache->bytes[slot], sizeof weight.bytes);
  return weight;
}

size_t Collation::level1(std::string_view text, size_t skip, unsigned char* out,
                         size_t room) const {
  size_t count = 0;
  const size_t wanted = room + 1;
  const auto emit = [&](const Weight& weight) {
    for (size_t k = 0; k < weight.length; ++k) {
      if (skip > 0) {
        --skip;
      } else if (count < wanted) {
        if (count < room) out[count] = weight.bytes[k];
        ++count;
      }
    }
  };
  size_t at = 0;
  while (at < text.size() && count < wanted) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0) break;
    if (byte < 0x80 || !utf8_) {
      emit(single_[byte]);
      ++at;
      continue;
    }
    const std::string_view rest = text.substr(at);
    const size_t length = sequence_length(rest);
    if (length == 1) {
      emit(single_[byte]);
    } else if (length == 2) {
      emit(
          two_[static_cast<size_t>((byte & 31) << 6 | (static_cast<unsigned char>(rest[1]) & 63))]);
    } else {
      emit(weight_of_rare(rest.substr(0, length)));
    }
    at += length;
  }
  return count;
}

}  // namespace hoist::sort
