// Sequences compared place by place, as they lie in memory.
#pragma once

#include <cstdint>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

// Places that differ; those that only one has differ, too.
uint64_t hamming_distance(const Sequence& a, const Sequence& b);

uint64_t common_prefix(const Sequence& a, const Sequence& b);
uint64_t common_suffix(const Sequence& a, const Sequence& b);

}  // namespace hoist::match
