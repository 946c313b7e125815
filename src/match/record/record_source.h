// What records are made of besides the state: patterns, and counts over all of them. The index
// implements it; one object serves one call of predict(), from several threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "match/score/block_summary.h"

namespace hoist::match {

// Averages of a pattern's emotives, or one value of its rolling list.
struct Emotive {
  std::string key;
  double value;

  bool operator==(const Emotive&) const = default;
};

// A pattern that may belong into a prediction.
struct Candidate {
  uint64_t id;   // of the source
  uint32_t lcs;  // longest common subsequence with the state; not used where texts are compared
};

class RecordSource {
 public:
  // Events one after the other. Both spans point into the source or into the caller's scratch.
  struct Pattern {
    std::span<const uint32_t> symbols;
    std::span<const uint16_t> event_sizes;
  };

  // The same without the symbols.
  struct Shape {
    uint32_t length;
    std::span<const uint16_t> event_sizes;
  };

  struct Totals {
    uint64_t patterns = 0;             // distinct ones
    uint64_t pattern_frequencies = 0;  // as the reference counts them; the index says how
    uint64_t symbols = 0;              // of the vocabulary
  };

  virtual ~RecordSource() = default;

  // `candidate` is a number of the source's own. None of its events is empty.
  virtual Pattern pattern(uint64_t candidate, std::vector<uint32_t>& scratch) const = 0;
  virtual Shape shape(uint64_t candidate) const = 0;
  // The blocks of each of many candidates with a state, where there is a device that finds them
  // sooner than the caller would; else none. Those that are not known are the caller's to find.
  virtual std::vector<BlockSummary> summarize_blocks(
      [[maybe_unused]] std::span<const uint32_t> state,
      [[maybe_unused]] std::span<const Candidate> candidates,
      [[maybe_unused]] const std::stop_token& stop) const {
    return {};
  }
  virtual std::string name(uint64_t candidate) const = 0;
  // Whether x's name is less than y's.
  virtual bool named_before(uint64_t x, uint64_t y) const = 0;
  virtual uint64_t frequency(uint64_t candidate) const = 0;
  // All values of the rolling list, entry by entry; a key at most once in an entry.
  virtual std::vector<Emotive> emotives(uint64_t candidate) const = 0;

  // How many patterns have a symbol, how often it was learned, and the sum of an emotive over the
  // times that it was. 0 for symbols that the vocabulary does not have.
  virtual uint64_t patterns_with(uint32_t symbol) const = 0;
  virtual uint64_t occurrences(uint32_t symbol) const = 0;
  virtual double affinity(uint32_t symbol, std::string_view emotive) const = 0;
  // UTF-8, of a symbol that a pattern has.
  virtual std::string_view text(uint32_t symbol) const = 0;

  virtual Totals totals() const = 0;
};

}  // namespace hoist::match
