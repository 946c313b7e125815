// Files as an end of a transfer. What is in the page cache is copied out of it by pread(): a
// mapping would turn a truncated file into SIGBUS. What is not is read past it (O_DIRECT) where the
// file system lets us, straight into pinned memory.
#pragma once

#include <memory>

#include "device/host_end.h"

namespace hoist::device {

Result<std::shared_ptr<HostReader>> open_file_source(HostFile file, uint64_t size);
Result<std::shared_ptr<HostWriter>> open_file_sink(HostFile file);

}  // namespace hoist::device
