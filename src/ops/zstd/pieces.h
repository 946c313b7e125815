// Cutting compressed input between its frames.
#pragma once

#include <cstddef>
#include <vector>

#include "ops/zstd/zstd.h"

namespace hoist::zstd {

// Whole frames that follow one another, and the part of the output that they fill exactly.
struct Piece {
  size_t src = 0;
  size_t src_size = 0;
  size_t dst = 0;
  size_t dst_size = 0;
};

struct Cut {
  std::vector<Piece> pieces;
  size_t output = 0;  // bytes of all frames
  const char* objection = nullptr;
};

// Walks over the frames: a look at every block's header (RFC 8878, 3.1.1.2), none at its content.
// Small frames share a piece of about `piece_size` bytes of output. Objects to input of one frame,
// and to what the original has to judge: damage, frames that do not tell their size, too little
// room.
Cut cut_frames(const hoist_zstd_library& library, const void* src, size_t size, size_t capacity,
               size_t piece_size);

}  // namespace hoist::zstd
