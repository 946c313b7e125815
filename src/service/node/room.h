// Whether the disk takes writes again after one failed.
#pragma once

#include <string>

namespace hoist::service {

// Writes some megabytes into the folder and takes them away again.
bool has_room(const std::string& folder);

}  // namespace hoist::service
