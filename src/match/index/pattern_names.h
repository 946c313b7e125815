// The names of many patterns. Most are SHA-1 digests in hexadecimal (pattern.h) and take 20 bytes;
// names that users gave take theirs besides.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::match {

using NameDigest = std::array<uint8_t, 20>;

// A name ready to be compared: as a digest where it is the text of one.
struct NameKey {
  explicit NameKey(std::string_view text);
  NameKey(std::string_view text, const NameDigest& digest)
      : text(text), digest(digest), is_digest(true) {}

  // The first eight characters: it orders like the names, but for ties.
  uint64_t prefix() const;
  uint64_t hash() const;

  std::string_view text;  // empty where only the digest is known
  NameDigest digest{};
  bool is_digest = false;
};

std::string digest_text(const NameDigest& digest);
// Negative, 0 or positive, in the order of the texts' bytes.
int compare(const NameKey& a, const NameKey& b);

class PatternNames {
 public:
  PatternNames() = default;
  // So many names, which set() and set_digest() give.
  explicit PatternNames(size_t count) : slots_(count) {}

  void set(size_t i, const NameKey& name);
  // For several threads at once, of different names.
  void set_digest(size_t i, const NameDigest& digest) { slots_[i] = digest; }

  size_t size() const { return slots_.size(); }
  // Its text views this object.
  NameKey key(size_t i) const;
  std::string text(size_t i) const;
  uint64_t memory() const;
  // Which of [begin, end), where the names ascend, is `name`.
  std::optional<size_t> find(const NameKey& name, size_t begin, size_t end) const;

  // The three columns as they are stored. `own` has a bit for each name that is no digest, and is
  // empty where all are.
  std::span<const NameDigest> slots() const { return slots_; }
  std::span<const uint64_t> own() const { return own_; }
  std::span<const char> pool() const { return pool_; }
  // `corrupt` where they do not fit one another.
  static Result<PatternNames> from_columns(std::vector<NameDigest> slots, std::vector<uint64_t> own,
                                           std::vector<char> pool);

 private:
  struct Piece {
    uint64_t offset;
    uint32_t size;
  };
  bool is_own(size_t i) const { return !own_.empty() && (own_[i / 64] >> (i % 64) & 1) != 0; }
  Piece piece(size_t i) const;

  std::vector<NameDigest> slots_;  // a digest, or a piece of the pool
  std::vector<uint64_t> own_;
  std::vector<char> pool_;
};

}  // namespace hoist::match
