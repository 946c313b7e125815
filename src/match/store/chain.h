// How far a store has come. Every write to it carries the next point of a chain, so that what is
// read later tells whether a write between two others, or the last one, is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hoist::match {

struct ChainPoint {
  uint64_t writes = 0;    // until here
  uint64_t digest = 0;    // of the writes, each with the digest before it
  uint64_t patterns = 0;  // that are there
  uint64_t ingests = 0;   // files of patterns that came beside the log

  friend bool operator==(const ChainPoint&, const ChainPoint&) = default;
};

// The point behind `at` and a write of these bytes. The caller counts patterns and ingests.
ChainPoint next_point(const ChainPoint& at, std::string_view write);

inline constexpr size_t kChainPointSize = 32;
void encode_point(const ChainPoint& point, std::string& out);
// Nothing where it has not exactly kChainPointSize bytes.
std::optional<ChainPoint> decode_point(std::string_view bytes);

}  // namespace hoist::match
