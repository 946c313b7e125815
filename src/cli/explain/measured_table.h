// What was measured of a variant, size by size, and what its choices cost beside the fastest.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::cli {

struct MeasuredTime {
  std::string implementation;
  double seconds = 0;
  double uncertainty = 0;  // relative standard error
};

struct MeasuredSize {
  uint64_t bytes = 0;
  std::vector<MeasuredTime> times;  // of those that were measured at this size, one at least
  std::string chosen;
  // What the choice takes beyond the fastest, relative to it, and the standard error of that.
  // Nothing where the choice was not measured at this size.
  std::optional<double> behind;
  double uncertainty = 0;
};

struct MeasuredTable {
  std::string name;
  int cpus = 1;              // that were measured; choices are those for as many
  bool is_measured = false;  // what was chosen, else compiled-in defaults
  // Whether timings of real runs have moved times since (placement/refine.h): decisions rest on the
  // moved ones, and those are shown.
  bool is_refined = false;
  bool with_hoistd = false;                  // choices are those while one answers
  std::vector<std::string> implementations;  // in the profile's order
  std::vector<MeasuredSize> sizes;           // ascending; empty: nothing is measured
};

// `profile` may be null. `with_hoistd`: one answers.
MeasuredTable measured_table(const placement::VariantHandle& variant,
                             const placement::Profile* profile, bool with_hoistd);

void print_table(const MeasuredTable& table);
nlohmann::json json_of(const MeasuredTable& table);

}  // namespace hoist::cli
