// Two streams fed alike, one through our functions, one through zlib's own: all that a program can
// see of them is compared after every call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/inflate/inflate.h"

namespace hoist::intercept {

// Decisions, taken from given bytes while there are any, then from a generator that they seed.
class Script {
 public:
  explicit Script(std::span<const uint8_t> bytes);
  // Below `limit`.
  uint32_t below(uint32_t limit);
  bool one_in(uint32_t count) { return below(count) == 0; }
  // 0 to `limit`, small numbers as likely as large ones.
  uint32_t any_size(uint32_t limit);
  std::span<const uint8_t> rest() const { return bytes_; }

 private:
  uint32_t next();

  std::span<const uint8_t> bytes_;
  uint64_t state_;
};

// How a stream was made, and is to be read.
struct TestStream {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> dictionary;
  int window_bits = 15;  // for inflateInit2()
};

// Content, level, strategy, flushes, format, dictionary and damage as the script has it.
TestStream make_stream(Script& script);

// Feeds both; empty, or the first difference.
std::string compare_with_zlib(const TestStream& stream, Script& script);

// How many streams our decoder has taken over so far in this process.
uint64_t streams_taken_over();

}  // namespace hoist::intercept
