// How the engines of programs get at a GPU while they are measured (program_operation.h): each that
// can use one passes GpuAccess{find_gpu, lend_gpu}.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace hoist::placement {

Status find_gpu();

// A private hoistd at `socket`, with a client that keeps it from ending for want of any, and ends
// it.
Result<std::function<Status()>> lend_gpu(const std::string& socket);

}  // namespace hoist::placement
