// A stretch of steps as a kernel of the IR, a thread for each element: x is the column, y the row
// of a block. Its arguments are the slots that it reads and writes.
#pragma once

#include <string>
#include <vector>

#include "graph/native/stretch.h"
#include "ir/module.h"

namespace hoist::graph::native {

struct LoweredStretch {
  const ir::Kernel* kernel = nullptr;
  std::vector<uint32_t> slots;  // of the arguments
};

// `fuses`: whether the precompiled steps round a product and a sum once (StepTable).
LoweredStretch lower_stretch(ir::Module& module, const std::string& name, const Loop& loop,
                             const Stretch& stretch, bool fuses);

}  // namespace hoist::graph::native
