// The part of CBOR (RFC 8949) that the metadata of containers uses: definite lengths, text keys.
//
// The writer makes the shortest form of every head. The reader takes untrusted bytes: it stays at
// the end once something is wrong and remembers it (ok()), as ByteReader does; counts of maps and
// arrays are bounded by the bytes that are left, nesting by kMaxDepth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hoist::container {

class CborWriter {
 public:
  // Followed by that many pairs, or elements.
  void map(uint64_t pairs) { head(5, pairs); }
  void array(uint64_t elements) { head(4, elements); }
  void text(std::string_view value);
  void bytes(std::span<const std::byte> value);
  void number(uint64_t value) { head(0, value); }
  void number(double value);

  const std::string& result() const { return out_; }

 private:
  void head(uint8_t major, uint64_t value);

  std::string out_;
};

class CborReader {
 public:
  explicit CborReader(std::span<const std::byte> bytes) : in_(bytes) {}

  bool ok() const { return ok_ && in_.ok(); }
  bool at_end() const { return in_.remaining() == 0; }
  void refuse() { ok_ = false; }

  uint64_t map() { return count(5, 2); }
  uint64_t array() { return count(4, 1); }
  std::string_view text();
  std::span<const std::byte> bytes();
  uint64_t number();
  double real();
  // Any one item.
  void skip(int depth = kMaxDepth);

  static constexpr int kMaxDepth = 16;

 private:
  struct Head {
    uint8_t major = 0;
    uint8_t info = 0;
    uint64_t value = 0;
  };
  Head head();
  uint64_t expect(uint8_t major);
  uint64_t count(uint8_t major, uint64_t items);

  ByteReader in_;
  bool ok_ = true;
};

}  // namespace hoist::container
