// Numbers and structs of Arrow's metadata, for who writes and who reads it.
#pragma once

#include <cstdint>

namespace hoist::arrow {

inline constexpr int16_t kVersion4 = 3;
inline constexpr int16_t kVersion5 = 4;

enum class MessageKind : uint8_t { schema = 1, dictionary = 2, batch = 3 };

// As the format's structs lie in memory.
struct NodeRecord {
  int64_t length;
  int64_t nulls;
};
struct BufferRecord {
  int64_t offset;
  int64_t size;
};
struct BlockRecord {
  int64_t offset;
  int32_t metadata;
  int32_t unused;
  int64_t body;
};

}  // namespace hoist::arrow
