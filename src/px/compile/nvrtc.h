// NVRTC, CUDA's compiler as a library: found where CUDA is installed, never linked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::px {

// "13.0"; `unavailable`: NVRTC is not installed.
Result<std::string> nvrtc_version();

// Machine code (a cubin) for `architecture`, "sm_90", or PTX for "compute_90". `internal` where
// NVRTC refuses the text, with what it says first; `unavailable` as above.
Result<std::vector<std::byte>> compile_cuda(const std::string& text,
                                            const std::string& architecture,
                                            const std::vector<std::string>& options);

}  // namespace hoist::px
