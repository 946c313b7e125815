// Many patterns learned in one call.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "match/index/index.h"
#include "match/vocabulary/pattern.h"
#include "python/interruptible.h"

namespace hoist::python {

// All without the interpreter's lock. So many patterns or more are learned as a bulk (Index::
// begin_bulk), during which `bulk` is locked: an index has one at a time.
inline constexpr size_t kBulkPatterns = 4096;

// What LearnOptions takes, of one pattern.
struct BulkPattern {
  std::string name;
  uint32_t frequency = 1;
  match::Emotives emotives;
  std::string metadata;
};

// Their names. Patterns that cannot be learned by themselves are refused, with their number, before
// the first is learned; what fails later (a name that is taken, a full disk) and stopping leave
// those before it. Those that were learned are emptied: millions take long to be let go.
Result<std::vector<std::string>> learn_all(match::Index& index, std::mutex& bulk,
                                           std::span<match::PatternText> patterns,
                                           std::span<const BulkPattern> options,
                                           const std::stop_token& stop);

// Patterns in arrays. Pattern i has the events offsets[i]..offsets[i + 1), and event j the symbols
// event_offsets[j]..event_offsets[j + 1); without event offsets each symbol is an event.
class ArrayPatterns {
 public:
  // Texts of the symbols, by their place.
  class Symbols {
   public:
    virtual ~Symbols() = default;
    virtual uint64_t size() const = 0;
    // Into `scratch` where it is made; `corrupt` or `invalid_argument` where there is none.
    virtual Result<std::string_view> at(uint64_t place, std::string& scratch) const = 0;
  };

  // The frequencies are one for each pattern, or none.
  ArrayPatterns(std::unique_ptr<Symbols> symbols, std::vector<int64_t> offsets,
                std::vector<int64_t> event_offsets, bool has_events,
                std::vector<uint32_t> frequencies)
      : symbols_(std::move(symbols)),
        offsets_(std::move(offsets)),
        event_offsets_(std::move(event_offsets)),
        has_events_(has_events),
        frequencies_(std::move(frequencies)) {}
  ArrayPatterns(const ArrayPatterns&) = delete;
  ArrayPatterns& operator=(const ArrayPatterns&) = delete;

  size_t size() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  // Whether offsets and frequencies fit.
  Status check() const;
  // Whether it is new.
  Result<bool> learn_one(match::Index& index, size_t pattern) const;

 private:
  std::unique_ptr<Symbols> symbols_;
  std::vector<int64_t> offsets_;
  std::vector<int64_t> event_offsets_;
  bool has_events_;
  std::vector<uint32_t> frequencies_;
};

// How many of the patterns of all parts, one after the other, are new. All parts are checked before
// the first pattern is learned. Stopping leaves those that were learned until then.
Result<uint64_t> learn_all(match::Index& index, std::mutex& bulk,
                           std::span<const ArrayPatterns* const> parts,
                           const std::stop_token& stop);

// NumPy and Arrow.
void define_array_patterns(nanobind::module_& module);

}  // namespace hoist::python
