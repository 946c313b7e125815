// Cuts several sorted files into ranges that can be merged each on its own.
//
// A cut is a line of one of the files; it divides every file at the first line that does not come
// before it, where equal lines of an earlier file come before and those of a later file after, as
// in the merged order. So also a single line repeated through all files can be cut. Lines to cut at
// are sampled evenly, so the ranges are of about equal size; the places in the other files are
// found by bisection with a few reads each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "ops/sort/compare.h"

namespace hoist::sort {

// Bytes [begin, end) of a regular file: whole lines, of which the last may lack its terminator.
struct FileRange {
  int fd = -1;
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Cut {
  std::string line;               // the first line behind the cut
  uint32_t source = 0;            // the file that it is from
  std::vector<uint64_t> offsets;  // in each file, where the part behind the cut starts
};

// Cuts for ranges of about `range_bytes`, in order. Lines longer than 1/64 of that (256 bytes
// and 64 KiB at the extremes) are never cut at, so ranges of very long lines may be much larger.
// The files are trusted to be in order; where they are not, offsets are still starts of lines and
// each file's never decrease.
Result<std::vector<Cut>> plan_cuts(std::span<const FileRange> files, const Comparator& comparator,
                                   char terminator, uint64_t range_bytes, ThreadPool& pool);

}  // namespace hoist::sort
