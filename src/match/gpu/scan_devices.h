// Which devices the searches of an index use.
#pragma once

#include <memory>
#include <string_view>

#include "match/gpu/gpu_scan.h"

namespace hoist::match {

// "cuda:N", or several of them with commas between: scans on these. "cpu": none. "auto": none as
// well, as long as no figures say from where on a GPU is faster. `invalid_argument` for another
// name, `unavailable` or `not_found` without such a device.
Result<std::unique_ptr<GpuScan>> make_gpu_scan(std::string_view names);

}  // namespace hoist::match
