// What the commands that read through damage of a .holo file say of it.
#pragma once

#include <fmt/format.h>

#include "cli/report.h"
#include "tensors/file/reader.h"

namespace hoist::cli {

inline constexpr const char* kRepairMends = ": `hoist tensors repair` mends the file";

inline void warn_of_damaged_metadata(const tensors::HoloTensorReader& reader) {
  if (!reader.metadata_was_damaged()) return;
  warn(fmt::format("the metadata is damaged, a copy of it was read ({}){}", reader.name(),
                   kRepairMends));
}

}  // namespace hoist::cli
