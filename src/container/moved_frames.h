// Frames that lie elsewhere than where they were written, since bytes came into the file or went
// from it in front of them. A reader sees none of them: a frame header is checked together with its
// own place.
#pragma once

#include <vector>

#include "container/survey.h"

namespace hoist::container {

// `offset` is where the frame was written, as what points to it says.
struct MovedFrame : Frame {
  uint64_t lies_at = 0;  // its header

  uint64_t payload_lies_at() const { return lies_at + (payload_offset() - offset); }
};

// Intact ones among the bytes that no intact frame of the survey covers, in the order of the file.
// Finds those that follow a frame whose header is intact, or that were moved as far as the one
// before them; behind the last frame in its place also others that were moved by at most 16 MiB.
// Frames of a container that is stored inside a block of this one are none. Fails only where the
// source cannot be read. Reads the bytes once or twice, and holds 1 MiB and the payload of one
// frame, of at most limits.block bytes.
Result<std::vector<MovedFrame>> find_moved_frames(const Source& source, const Survey& survey,
                                                  const Limits& limits);

}  // namespace hoist::container
