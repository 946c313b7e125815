// A new index of all that can still be read of a damaged one: patterns of its store's tables and
// log, and of its snapshot, whose checksums hold.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hoist::match {

struct RepairReport {
  uint64_t saved = 0;         // patterns
  uint64_t lost = 0;          // of those that were acknowledged, as far as is known
  bool is_lost_known = true;  // false: neither a ledger nor a point of the chain was whole
  // How many of the lost ones are lost because their symbols were in what is damaged.
  uint64_t without_symbols = 0;
  bool is_damaged = false;  // something was
};

// Makes `target`, where nothing may be yet; `path` stays as it is. `not_found` where there is no
// index, `corrupt` where nothing can be read, `unavailable` where a process writes to it. Patterns
// get ids anew, in the order of the old ones.
Result<RepairReport> repair_index(const std::string& path, const std::string& target);

}  // namespace hoist::match
