// A new measurement beside an earlier one of the same machine.
#pragma once

#include <string>
#include <vector>

#include "placement/profile.h"

namespace hoist::placement {

// Adds to `profile` what it lacks of `before`. A variant that was measured while the machine was
// busy (certainty.h) does not replace a more certain one, unless that lacks an implementation, or
// its sizes: the names of those that stay as they were `before`. Rows are to be decided anew.
std::vector<std::string> keep_earlier(Profile& profile, const Profile& before);

// The same, but what was measured now replaces the earlier, however uncertain it is.
void replace_earlier(Profile& profile, const Profile& before);

}  // namespace hoist::placement
