// Numbers of a block's bytes that its encoder and its decoder share (docs/reference/hrec.md).
#pragma once

#include <cstdint>

namespace hoist::records {

inline constexpr uint8_t kBlockVersion = 0;
inline constexpr uint8_t kEndsWithNewline = 1;  // a flag: the last row ends in a line feed

}  // namespace hoist::records
