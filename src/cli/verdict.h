// What the counters say about a finished run, in words.
#pragma once

#include <string>

#include "base/counters.h"

namespace hoist::cli {

// What ran where, and why: one line a program, one for all programs that no engine replaces, and
// one an operation: how much, how long.
std::string summarise(const Counters& counters);

// One line a program: which engine took it over, or why it ran on the original and what would
// change it.
std::string explain_programs(const Counters& counters);

// What the above cannot show: that nothing was seen at all, or more than there are slots for.
// Mostly empty.
std::string what_is_missing(const Counters& counters);

// One line an operation under --verify: how many calls were the same as on the original, and how
// many were not compared, and why.
std::string verification_verdict(const Counters& counters);

}  // namespace hoist::cli
