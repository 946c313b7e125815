// --verify: a sample of the take-overs is done twice, by the engine and by the original program,
// and compared. On a difference the user gets the original's result, and the operation is switched
// off until the note about it is removed (takeover/switched_off.h).
//
// The sample is drawn by HOIST_VERIFY, a rate from 0 to 1. Both results are kept in unlinked files
// in $TMPDIR (or /tmp) until they are compared; standard input that is no regular file is kept
// there, too, so that both can read it. A run that cannot be compared is done once, and counted
// as "verify: left out (REASON)".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takeover/switched_off.h"
#include "takeover/takeover.h"

namespace hoist {

// Call when the engine would start its work, which must have no other effect than what it writes
// to standard output and standard error. `inputs` names all that it reads, "-" standing for
// standard input. Nothing: go on with the work (also in the child process that does the engine's
// part). Else the exit status: all is done.
std::optional<int> verify_run(const Takeover& takeover, std::string_view operation,
                              std::span<const std::string> inputs);

// Counts a run that was drawn but cannot be done twice, and why not.
void verify_left_out(std::string_view operation, std::string_view why);

}  // namespace hoist
