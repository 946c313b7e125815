#include "match/index/pattern_names.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace hoist::match {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr size_t kTextSize = 2 * sizeof(NameDigest);

int value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool parse_digest(std::string_view text, NameDigest& digest) {
  if (text.size() != kTextSize) return false;
  int bad = 0;
  for (size_t i = 0; i < digest.size(); ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    bad |= high | low;
    digest[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return bad >= 0;
}

void write_text(std::span<const uint8_t> digest, char* to) {
  for (size_t i = 0; i < digest.size(); ++i) {
    to[2 * i] = kHex[digest[i] >> 4];
    to[2 * i + 1] = kHex[digest[i] & 15];
  }
}

}  // namespace

NameKey::NameKey(std::string_view text) : text(text), is_digest(parse_digest(text, digest)) {}

uint64_t NameKey::prefix() const {
  char start[sizeof(uint64_t)] = {};
  if (is_digest) {
    write_text(std::span(digest).first(sizeof start / 2), start);
  } else {
    std::memcpy(start, text.data(), std::min(text.size(), sizeof start));
  }
  uint64_t value = 0;
  for (const char c : start) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

uint64_t NameKey::hash() const {
  if (!is_digest) return XXH3_64bits(text.data(), text.size());
  uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

std::string digest_text(const NameDigest& digest) {
  std::string text(kTextSize, '\0');
  write_text(digest, text.data());
  return text;
}

int compare(const NameKey& a, const NameKey& b) {
  if (a.is_digest && b.is_digest) {
    return std::memcmp(a.digest.data(), b.digest.data(), sizeof(NameDigest));
  }
  if (a.is_digest) return std::string_view(digest_text(a.digest)).compare(b.text);
  if (b.is_digest) return a.text.compare(digest_text(b.digest));
  return a.text.compare(b.text);
}

void PatternNames::set(size_t i, const NameKey& name) {
  if (name.is_digest) return set_digest(i, name.digest);
  own_.resize((slots_.size() + 63) / 64);
  own_[i / 64] |= uint64_t{1} << (i % 64);
  const uint64_t offset = pool_.size();
  const auto size = static_cast<uint32_t>(name.text.size());
  pool_.insert(pool_.end(), name.text.begin(), name.text.end());
  std::memcpy(slots_[i].data(), &offset, sizeof offset);
  std::memcpy(slots_[i].data() + sizeof offset, &size, sizeof size);
}

PatternNames::Piece PatternNames::piece(size_t i) const {
  Piece piece{};
  std::memcpy(&piece.offset, slots_[i].data(), sizeof piece.offset);
  std::memcpy(&piece.size, slots_[i].data() + sizeof piece.offset, sizeof piece.size);
  return piece;
}

NameKey PatternNames::key(size_t i) const {
  if (!is_own(i)) return {std::string_view(), slots_[i]};
  const Piece own = piece(i);
  return NameKey(std::string_view(pool_.data() + own.offset, own.size));
}

std::string PatternNames::text(size_t i) const {
  const NameKey name = key(i);
  return name.is_digest ? digest_text(name.digest) : std::string(name.text);
}

uint64_t PatternNames::memory() const {
  return slots_.capacity() * sizeof(NameDigest) + own_.capacity() * sizeof(uint64_t) +
         pool_.capacity();
}

std::optional<size_t> PatternNames::find(const NameKey& name, size_t begin, size_t end) const {
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const int order = compare(key(middle), name);
    if (order == 0) return middle;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

Result<PatternNames> PatternNames::from_columns(std::vector<NameDigest> slots,
                                                std::vector<uint64_t> own, std::vector<char> pool) {
  PatternNames names;
  names.slots_ = std::move(slots);
  names.own_ = std::move(own);
  names.pool_ = std::move(pool);
  if (!names.own_.empty() && names.own_.size() != (names.slots_.size() + 63) / 64) {
    return fail(ErrorCode::corrupt, "damaged names");
  }
  for (size_t i = 0; !names.own_.empty() && i < names.slots_.size(); ++i) {
    if (!names.is_own(i)) continue;
    const Piece piece = names.piece(i);
    if (piece.offset > names.pool_.size() || piece.size > names.pool_.size() - piece.offset) {
      return fail(ErrorCode::corrupt, "damaged names");
    }
  }
  return names;
}

}  // namespace hoist::match
