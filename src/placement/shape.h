// How much work a call is, and where its data lies.
#pragma once

#include <cstdint>

namespace hoist::placement {

// The size that costs are measured and decided over. `items` are what the bytes come in: files,
// messages, rows. Decisions are made by bytes; where the number of items changes what is best, the
// operation has a variant for few and one for many.
struct Shape {
  uint64_t bytes = 0;
  uint64_t items = 1;
};

enum class Residency : uint8_t { host, device };

}  // namespace hoist::placement
