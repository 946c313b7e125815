// What was measured on a machine, and what was decided from it.
//
// A profile is a JSON file, $XDG_CACHE_HOME/hoist/profile.json (HOIST_PROFILE=FILE: that file):
//
//   {"format": 1, "machine": {"cpu": "…", "gpu": "", "driver": "", "cpus": 2, "hoist": "0.1.0"},
//    "measured": "2026-11-20T16:00:00Z",
//    "variants": [{"name": "sort/C", "residency": "host",
//      "implementations": [{"name": "original", "points":
//        [{"bytes": 65536, "items": 1, "seconds": 0.0021, "noise": 0.02, "runs": 5, "factor":
//        1}]}],
//      "rows": [{"cpus": 1, "intervals": [{"from": 0, "implementation": "original"}]}]}]}
//
// (and "rows_with_hoistd" of the same form, where something was measured that needs one).
//
// It counts only on the machine and for the version that it was measured with. Reading is bounded
// and validates everything: whatever the bytes are, the result is a sound profile or an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/operation.h"

namespace hoist::placement {

// What a measurement depends on.
struct Machine {
  std::string cpu;     // model name
  std::string gpu;     // models, comma-separated; empty: none
  std::string driver;  // of the GPU
  int cpus = 1;        // usable by affinity and quota
  std::string version;

  // Whether measurements of `profiled` hold here: the same but for the number of CPUs. For fewer of
  // them profiles have rows of their own; of more, those beyond the measured ones are unused.
  bool is_served_by(const Machine& profiled) const;
};

// `root` stands before all paths (for tests); HOIST_THREADS counts as a limit on the CPUs.
Machine this_machine(const std::string& root = {});

// Seconds at one size: the robust mean of the runs, and their noise (robust.h).
struct Point {
  Shape shape;
  double seconds = 0;
  double noise = 0;  // relative to `seconds`
  int runs = 0;
  double factor = 1;  // by which recorded timings of real runs moved it (refine.h)
};

struct MeasuredImplementation {
  std::string name;
  std::vector<Point> points;  // ascending in bytes
};

// The decisions for a number of CPUs.
struct Row {
  int cpus = 1;
  std::vector<Interval> intervals;
};

struct MeasuredVariant {
  std::string name;  // "sort/C"
  Residency residency = Residency::host;
  std::vector<MeasuredImplementation> implementations;
  std::vector<Row> rows;  // ascending in CPUs
  // The same while a hoistd answers; empty: nothing was measured that needs one.
  std::vector<Row> rows_with_hoistd{};

  const MeasuredImplementation* find(std::string_view implementation) const;
  // The row for the most CPUs that are not more than `cpus`; null: none.
  const Row* row_for(int cpus, bool with_hoistd = false) const;
};

struct Profile {
  Machine machine;
  std::string measured;  // when; UTC, ISO 8601
  std::vector<MeasuredVariant> variants;

  const MeasuredVariant* find(std::string_view variant, Residency residency) const;
};

inline constexpr size_t kProfileLimit = 4u << 20;  // bytes of JSON

// Whether it is a profile of any format and machine.
bool looks_like_profile(std::string_view json);

std::string to_json(const Profile& profile);
// `corrupt` for anything that is not wholly a profile of this format.
Result<Profile> parse_profile(std::string_view json);

}  // namespace hoist::placement
