// Whose GPU sorts the codes of lines.
#pragma once

namespace hoist::sort {

enum class GpuUse {
  none,
  hoistd,  // that of one which runs
  any,     // else one that this process opens
};

}  // namespace hoist::sort
