// What the commits of a damaged file say of its blocks.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "base/result.h"
#include "container/moved_frames.h"
#include "container/reader.h"

namespace hoist::records {

// Whether it is a block of rows.
bool is_rows(const container::BlockInfo& block);

struct ListedBlocks {
  std::map<uint64_t, container::Block> blocks;  // by where they were written
  uint64_t last_list = 0;                       // where that was written; 0: there is none
  bool are_all = false;                         // all that the last list counts

  // Whether a block that is not in its place may be one of the file's: a list in front of which it
  // was written would have it.
  bool may_have(const container::MovedFrame& frame) const;
};

// The frames are intact. Fails only where the source cannot be read.
Result<ListedBlocks> read_listed_blocks(const container::Source& source,
                                        std::span<const container::MovedFrame> frames);

// The payload of an intact frame.
Result<container::BlockBytes> read_payload(const container::Source& source,
                                           const container::MovedFrame& frame);

}  // namespace hoist::records
