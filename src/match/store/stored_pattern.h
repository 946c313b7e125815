// What is kept of a pattern, and its bytes in the store and in snapshots.
//
// Encodings are little-endian with LEB128 integers. Encoding never fails. Decoding takes untrusted
// bytes: `corrupt` where they end early or go on, where an event is empty, or where a count is more
// than the bytes could hold; what it allocates is bounded by their size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hoist::match {

// What one learning felt like: (name, value), ascending by name.
using Emotives = std::vector<std::pair<std::string, double>>;
// The latest learnings', oldest first.
using EmotiveList = std::vector<Emotives>;

// What changes when a pattern is learned again.
struct PatternState {
  uint32_t frequency = 1;
  EmotiveList emotives;

  friend bool operator==(const PatternState&, const PatternState&) = default;
};

struct StoredPattern {
  uint32_t serial = 0;  // counts the patterns in the order in which they were learned
  std::string name;
  std::vector<uint32_t> symbols;      // vocabulary ids
  std::vector<uint16_t> event_sizes;  // none is 0; they sum up to the number of symbols
  PatternState state;

  friend bool operator==(const StoredPattern&, const StoredPattern&) = default;
};

// What befell a pattern.
struct Change {
  enum class Kind : uint8_t { update = 1, removal = 2 };
  Kind kind = Kind::update;
  uint32_t serial = 0;
  uint32_t length = 0;  // of the pattern
  std::string name;

  friend bool operator==(const Change&, const Change&) = default;
};

void encode_varint(uint64_t value, std::string& out);
void encode_emotives(const EmotiveList& list, std::string& out);
void encode_state(const PatternState& state, std::string& out);
// Without the serial, which is its key.
void encode_pattern(std::string_view name, std::span<const uint32_t> symbols,
                    std::span<const uint16_t> event_sizes, const PatternState& state,
                    std::string& out);
void encode_change(const Change& change, std::string& out);

// Takes values off the front of `bytes`, and remembers when one was not there.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  uint64_t varint();
  uint32_t varint32();
  double number();
  // A length, then as many bytes.
  std::string_view text();
  std::string_view take(size_t size);
  // A count of things of at least `size` bytes each.
  size_t count(size_t size);

  void refuse() { ok_ = false; }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && bytes_.empty(); }
  size_t remaining() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

// One of several things in a row.
EmotiveList decode_emotives(Decoder& decoder);

// The whole of `bytes`.
Result<PatternState> decode_state(std::string_view bytes);
Result<StoredPattern> decode_pattern(uint32_t serial, std::string_view bytes);
Result<Change> decode_change(std::string_view bytes);

}  // namespace hoist::match
