// The metadata of a message from somebody else: a flatbuffer that is checked as it is read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrow/metadata_format.h"
#include "arrow/schema.h"
#include "base/result.h"

namespace hoist::arrow {

enum class Compression : uint8_t { none, lz4, zstd };

struct BatchHead {
  int64_t rows = 0;
  std::vector<NodeRecord> nodes;
  std::vector<BufferRecord> buffers;
  std::vector<int64_t> view_buffers;  // of each array of views, how many follow its first two
  Compression compression = Compression::none;
};

struct MessageHead {
  MessageKind kind = MessageKind::schema;
  bool is_version4 = false;
  int64_t body = 0;           // bytes; not negative
  std::vector<Field> fields;  // schema
  BatchHead batch;            // batch, dictionary
  int64_t dictionary = 0;     // id
  bool is_delta = false;      // these entries follow those that came before
};

// A schema is at most 64 levels deep. `corrupt`, and `unsupported` with what it is.
Result<MessageHead> read_message(std::span<const char> metadata);

}  // namespace hoist::arrow
