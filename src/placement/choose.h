// The question that placement answers: which implementation for this much work?
//
//   static const VariantHandle& crc = *Registry::process().find_variant("checksum/crc32");
//   const Choice& choice = choose(crc, {bytes});
//   kFunctions[choice.implementation](data);
//
// O(1), no lock and no allocation except at the first call for a variant, which reads the profile
// and the load. From then on the answer is fixed: the same process, variant and size give the same
// choice. Thread-safe. Where the machine has no profile that fits it, the compiled-in defaults
// answer; what is not measured is not chosen otherwise.
//
// Not guaranteed: that a choice is right for input of another kind than the measured one (sorted
// rather than random lines), or while other programs change the load.
#pragma once

#include <string>

#include "placement/decision_table.h"
#include "placement/operation.h"
#include "placement/shape.h"

namespace hoist::placement {

inline const Choice& choose(const VariantHandle& variant, const Shape& shape,
                            Residency residency = Residency::host) {
  return DecisionTable::of(variant, residency).find(shape.bytes);
}

// For `hoist doctor`: whether measurements decide in this process, and why (not).
struct ProfileDescription {
  bool on = false;
  std::string why;
};
ProfileDescription describe_profile();

}  // namespace hoist::placement
