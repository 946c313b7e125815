// The edits that lead from one sequence to another, among equally few those that RapidFuzz gives.
#pragma once

#include <cstdint>
#include <vector>

#include "match/fuzz/edit_distances.h"

namespace hoist::match {

struct Edit {
  enum class Kind : uint8_t { replacement, insertion, deletion };
  Kind kind;
  uint64_t source;       // where in the first sequence
  uint64_t destination;  // and in the second
};

// In order of place. Takes time and memory (two bits) by the product of the lengths that equal ends
// leave.
std::vector<Edit> levenshtein_edits(Symbols a, Symbols b);
// Without replacements.
std::vector<Edit> indel_edits(Symbols a, Symbols b);

}  // namespace hoist::match
