// From a size to a choice in constant time: sorted exact thresholds, and for each power of two the
// first interval that reaches into it, so that a look-up is one table access and, within an octave
// that holds a threshold, a few compares. Thresholds are exact because regret near a break-even
// must not come from rounding sizes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::placement {

enum class Basis : uint8_t { measured, compiled_in };

struct Choice {
  size_t implementation = 0;  // index into the operation's implementations
  uint64_t from = 0;          // chosen from this many bytes on …
  uint64_t until = 0;         // … below this many; UINT64_MAX: without end
  Basis basis = Basis::compiled_in;
  bool operator==(const Choice&) const = default;
};

class DecisionTable {
 public:
  // `cpus` are those that may be assumed free. Measured rows count where the profile has one for
  // the variant and at most that many CPUs; null: no profile. Implementations that are unknown, of
  // another residency or without a CPU to run on leave their interval to the one below it.
  // `with_hoistd`: by the rows for where one answers.
  DecisionTable(const VariantHandle& variant, Residency residency, const Profile* profile, int cpus,
                bool with_hoistd = false);

  const Choice& find(uint64_t bytes) const {
    const Choice* choice = &choices_[start_[static_cast<size_t>(std::bit_width(bytes))]];
    while (choice->until <= bytes && choice->until != UINT64_MAX) ++choice;
    return *choice;
  }

  const std::vector<Choice>& choices() const { return choices_; }

  // The table of this process, built at the first call from its profile, CPUs and load.
  static const DecisionTable& of(const VariantHandle& variant, Residency residency) {
    const DecisionTable* table =
        variant.tables_[static_cast<size_t>(residency)].load(std::memory_order_acquire);
    return table != nullptr ? *table : build(variant, residency);
  }

 private:
  static const DecisionTable& build(const VariantHandle& variant, Residency residency);

  std::vector<Choice> choices_;
  std::array<uint16_t, 65> start_{};  // by the bit width of the size
};

}  // namespace hoist::placement
