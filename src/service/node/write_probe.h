// Whether the disk takes writes again after one failed.
#pragma once

#include <string>

namespace hoist::service {

// Writes some megabytes into the folder and takes them away again.
bool takes_files(const std::string& folder);

}  // namespace hoist::service
