// Has the kernel give a range of fresh memory its pages, by several threads at once. Who pins
// memory that nobody has touched waits for one thread to clear it, a tenth of a second for 256 MiB.
#pragma once

#include <cstddef>
#include <span>

namespace hoist::device {

// `memory`: whole pages of a mapping that may be written. Where the kernel does not do that (before
// Linux 5.14), or has no memory, nothing happens: whoever touches the pages finds out.
void populate(std::span<std::byte> memory);

}  // namespace hoist::device
