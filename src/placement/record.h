// Timings of real runs, noted for the next refinement of the profile (refine.h).
//
//   record("hash", "sha256sum", "cpu-all", {bytes}, seconds);   // once, when the work is done
//
// One record of fixed size is appended with one write() to `timings` beside the profile, which no
// local file system mixes with another process's. Nothing is written where there is no profile,
// where the directory is not this user's alone, or in a program with raised privileges. Failures
// are silent: a program's own work is done, and must not fail for this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/shape.h"
#include "placement/timings_file.h"

namespace hoist::placement {

// `seconds` is wall time. For a whole program it runs from the start of main: the start of the
// process before it is added when the record is used. Thread-safe.
void record(std::string_view operation, std::string_view variant, std::string_view implementation,
            const Shape& shape, double seconds);

// What one record tells.
struct Timing {
  std::string variant;  // "hash/sha256sum"
  std::string implementation;
  Shape shape;
  double seconds = 0;
  int cpus = 0;       // free at that time (base/load.h)
  uint64_t key = 0;   // hoist_machine_key() (takeover/decisions.h)
  uint64_t time = 0;  // seconds since 1970
};

inline constexpr size_t kTimingSize = HOIST_TIMING_BYTES;
inline constexpr size_t kTimingsLimit = 1u << 20;  // bytes of the file; it then starts again
inline constexpr size_t kTimingsWorthFolding = HOIST_TIMINGS_WORTH_FOLDING;

// Whether a file that begins so holds timings.
bool begins_with_timing(std::string_view bytes);

// Any bytes; what is no valid record (checksum, names, numbers) is left out.
std::string encode_timing(const Timing& timing);
std::vector<Timing> decode_timings(std::string_view bytes);

}  // namespace hoist::placement
